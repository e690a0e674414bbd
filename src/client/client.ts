/**
 * One server, one API over both eras.
 *
 * @module
 */
import { HeaderMismatchError, HttpStatusError, McpError } from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { defaultLimits, defaultTimeouts } from "../protocol/limits.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import type { Era, Revision } from "../protocol/revisions.ts";
import type {
  CallToolResult,
  Change,
  ClientCapabilities,
  CompleteResult,
  CompletionReference,
  GetPromptResult,
  ListenFilter,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  LoggingLevel,
  ReadResourceResult,
  Task,
} from "../protocol/types.ts";
import { systemClock, systemRandom } from "../ports.ts";
import type { Clock, Random } from "../ports.ts";
import type { Transport } from "../transport/transport.ts";
import { version } from "../version.ts";
import type { ResultCache } from "./cache.ts";
import type { InputAnswers, PendingInput } from "./input/seam.ts";
import type { Subscription } from "./listen/subscription.ts";
import { walkPages } from "./lists.ts";
import type { ListOptions } from "./lists.ts";
import { negotiate, verdictOf } from "./negotiate.ts";
import type { Verdict } from "./negotiate.ts";
import type { ClientOptions, RequestHandler } from "./options.ts";
import { finalError, Retries } from "./retry.ts";
import type { RequestOptions } from "./session/caller.ts";
import { LegacySession } from "./session/legacy_session.ts";
import type { ClientRequest, ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session/session.ts";
import type { Snapshot } from "./snapshot.ts";
import type { TaskHandle, TaskOptions, TaskRunner } from "./task_support.ts";
import { Tools } from "./tools.ts";

/**
 * A client of one MCP server. Every verb rejects with an `McpError` when the protocol or the connection fails, and with
 * the signal's own reason when the caller gives up; a tool that ran and failed is a result with `isError: true`.
 *
 * Most programs call {@linkcode connect} instead of the constructor.
 */
export class Client implements AsyncDisposable {
  /** @internal */
  readonly clock: Clock;
  /** @internal */
  readonly limits: Limits;
  /** @internal */
  readonly inputs: InputAnswers | undefined;
  readonly #options: ClientOptions;
  readonly #capabilities: ClientCapabilities;
  readonly #timeouts: Timeouts;
  readonly #random: Random;
  readonly #retries: Retries;
  readonly #cache: ResultCache | undefined;
  readonly #tools: Tools;
  readonly #handle: RequestHandler;
  readonly #subscriptions = new Set<Subscription>();
  #transport: Transport;
  #session: Session | undefined;
  #verdict: Verdict | undefined;
  #opening: Promise<Session> | undefined;
  #tasks: TaskRunner | undefined;
  #logLevel: LoggingLevel | undefined;
  #closed = false;
  #proven = false;
  #stopKeepAlive: (() => void) | undefined;
  #lastUsed = 0;

  /**
   * @param transport How to reach the server. The client owns it from now on and closes it.
   */
  constructor(transport: Transport, options: ClientOptions = {}) {
    const { tasks, capabilities = {}, features = {}, handlers } = options;
    if (handlers && !features.inputs) {
      throw new TypeError('Cannot use "handlers": pass "features: { inputs: inputFeature }" too');
    }
    this.#transport = transport;
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.limits = { ...defaultLimits, ...options.limits };
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts };
    const declared = tasks ? withExtension(capabilities, tasks.extension) : capabilities;
    this.inputs = features.inputs?.(handlers ?? {}, declared);
    this.#capabilities = this.inputs?.capabilities ?? declared;
    this.#retries = new Retries({ clock: this.clock, random: this.#random, retry: options.retry });
    this.#cache = options.cache === false ? undefined : features.cache?.(this.clock);
    this.#tools = new Tools(this.limits, options.validator);
    this.#verdict = options.verdict;
    this.#logLevel = options.logLevel;
    this.#handle = (options.middleware ?? []).reduceRight<RequestHandler>(
      (next, layer) => layer(next),
      (request) => this.#run(request),
    );
  }

  /** What the server said about itself; null before the connection. Not trusted. */
  get info(): ServerInfo | null {
    return this.#session?.info ?? null;
  }

  /** The era that is spoken; undefined before the connection. */
  get era(): Era | undefined {
    return this.#session?.era;
  }

  /** The revision that is spoken; undefined before the connection. */
  get revision(): Revision | undefined {
    return this.#session?.revision;
  }

  /** What to remember of this server, as plain JSON: `connect(url, { verdict })` saves the question next time. */
  get verdict(): Verdict | undefined {
    return this.#verdict;
  }

  /** What names the server in errors and logs. */
  get label(): string {
    return this.#transport.label;
  }

  /**
   * Finds out how the server speaks and opens the session. Every verb does it by itself when it is still to be done.
   *
   * @throws {McpError} When the server cannot be reached or has no revision in common.
   */
  async connect(options: { signal?: AbortSignal | undefined } = {}): Promise<this> {
    await this.#ready(options);
    return this;
  }

  /**
   * All tools, page by page, under the caps `limits.pages`, `limits.items`, `limits.tools` and `timeouts.pages`.
   *
   * @param options `cursor` gives one raw page instead: `""` is a cursor, `null` asks for the first page.
   */
  async listTools(options: ListOptions = {}): Promise<ListToolsResult> {
    const result = await this.#list<ListToolsResult>("tools/list", "tools", options);
    if (options.cursor === undefined) this.#tools.clear();
    return this.#tools.take(result, this.era === "modern" && this.#transport.kind === "http");
  }

  /**
   * Calls a tool.
   *
   * @param name The tool's name.
   * @param args Its arguments.
   * @returns The tool's result; `isError` is true when the tool itself failed.
   * @throws {OutcomeUnknownError} When the call broke off after it was sent: it may have run, and is not sent again.
   * @throws {InvalidParamsError} When there is no such tool or the request is malformed.
   * @throws {ProtocolViolationError} When the result is no tool result, or does not fit the tool's output schema.
   */
  async callTool(name: string, args: JsonObject = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    const { tasks } = this.#options;
    const resultTypes = tasks && [tasks.resultType];
    const result = await this.rawToolCall(name, args, resultTypes ? { ...options, resultTypes } : options);
    if (tasks && result.resultType === tasks.resultType) return await this.#taskRunner().adopt(result).result(options);
    return this.#toolResult(name, result);
  }

  /** All resources, page by page. */
  listResources(options: ListOptions = {}): Promise<ListResourcesResult> {
    return this.#list("resources/list", "resources", options);
  }

  /** All resource templates, page by page. */
  listResourceTemplates(options: ListOptions = {}): Promise<ListResourceTemplatesResult> {
    return this.#list("resources/templates/list", "resourceTemplates", options);
  }

  /**
   * Reads a resource.
   *
   * @throws {InvalidParamsError} When there is none.
   */
  readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    return this.#cached("resources/read", { uri }, options) as Promise<JsonObject> as Promise<unknown> as Promise<
      ReadResourceResult
    >;
  }

  /** Watches one resource: short for `listen({ resourceUris: [uri] })`. */
  subscribeResource(uri: string, options: { signal?: AbortSignal | undefined } = {}): Subscription {
    return this.listen({ resourceUris: [uri] }, options);
  }

  /** All prompts, page by page. */
  listPrompts(options: ListOptions = {}): Promise<ListPromptsResult> {
    return this.#list("prompts/list", "prompts", options);
  }

  /** A prompt with its arguments filled in. */
  getPrompt(name: string, args: Record<string, string> = {}, options: RequestOptions = {}): Promise<GetPromptResult> {
    return this.#typed("prompts/get", { name, arguments: args }, options);
  }

  /**
   * Suggestions for a value.
   *
   * @param argument What is being typed: the argument's name and the text so far.
   * @param options `context` holds the values that are known already.
   */
  complete(
    reference: CompletionReference,
    argument: { name: string; value: string },
    options: RequestOptions & { context?: Record<string, string> | undefined } = {},
  ): Promise<CompleteResult> {
    const { context } = options;
    const params = { ref: reference as JsonObject, argument, ...(context && { context: { arguments: context } }) };
    return this.#typed("completion/complete", params, options);
  }

  /**
   * A stream of changes at the server. It is opened at once, re-opened by itself, and ended by `break`, `close` or the signal.
   *
   * @param filter What to hear of; nothing is on unless asked for.
   */
  listen(filter: ListenFilter, options: { signal?: AbortSignal | undefined } = {}): Subscription {
    const feature = this.#options.features?.listen;
    if (!feature) throw new TypeError('Cannot listen: pass "features: { listen: listenFeature }"');
    const subscription = feature.subscribe(
      {
        clock: this.clock,
        random: this.#random,
        open: async (wanted, sink) => {
          const session = await this.#ready({});
          return session.stream?.listen(wanted, sink) ?? feature.modern(session, wanted, sink);
        },
        changed: (change) => this.#changed(change),
      },
      filter,
      options.signal,
    );
    this.#subscriptions.add(subscription);
    return subscription;
  }

  /**
   * How much the server should log to `handlers.log`.
   *
   * @deprecated Logging is deprecated in 2026-07-28.
   */
  async setLogLevel(level: LoggingLevel, options: RequestOptions = {}): Promise<void> {
    this.#logLevel = level;
    await (await this.#ready(options)).setLogLevel(level, options);
  }

  /** Asks whether the server is alive: `ping`, or `server/discover` in the modern era, which has no ping. */
  async ping(options: RequestOptions = {}): Promise<void> {
    const { era } = await this.#ready(options);
    await this.request(era === "modern" ? "server/discover" : "ping", {}, options);
  }

  /**
   * Tells a legacy server that the roots changed. Modern servers ask when they need them.
   *
   * @deprecated Roots are deprecated in 2026-07-28.
   */
  async rootsChanged(): Promise<void> {
    const session = await this.#ready({});
    if (session.era === "legacy") await session.notify("notifications/roots/list_changed", {});
  }

  /** Starts a tool as a task. Needs the option `tasks`. */
  callToolTask(name: string, args: JsonObject = {}, options: TaskOptions = {}): Promise<TaskHandle> {
    return this.#taskRunner().start(name, args, options);
  }

  /** Finds a task again by its id. Needs the option `tasks`. */
  getTask(taskId: string, options: RequestOptions = {}): Promise<TaskHandle> {
    return this.#taskRunner().get(taskId, options);
  }

  /** Waits for a task's result. Needs the option `tasks`. */
  async awaitTask(taskId: string, options: TaskOptions = {}): Promise<CallToolResult> {
    return await (await this.getTask(taskId, options)).result(options);
  }

  /** Asks the server to stop a task. Needs the option `tasks`. */
  async cancelTask(taskId: string, options: RequestOptions = {}): Promise<void> {
    await (await this.getTask(taskId, options)).cancel(options);
  }

  /** Lists the tasks of this client, where a 2025-11-25 server offers it. Needs the option `tasks`. */
  listTasks(options: RequestOptions = {}): Promise<Task[]> {
    return this.#taskRunner().list(options);
  }

  /**
   * Goes on with a call that stopped for input.
   *
   * @param pending From an `InputRequiredError`, of this client or of one in another process.
   * @param answers The answers by the keys of `pending.inputRequests`.
   * @returns The result of the call, as its verb gives it.
   */
  async resume<Result = CallToolResult>(
    pending: PendingInput,
    answers: Record<string, JsonObject>,
    options: RequestOptions = {},
  ): Promise<Result> {
    const { method, params, requestState, round } = pending;
    const missing = Object.keys(pending.inputRequests).find((key) => answers[key] === undefined);
    if (missing !== undefined) throw new TypeError(`Cannot go on: the answer for "${missing}" is missing`);
    const resume = { inputResponses: answers, requestState, round };
    const mirrored = method === "tools/call"
      ? this.#mirrored(params.name as string, params.arguments as JsonObject)
      : undefined;
    const result = await this.request(method, params, { ...options, resume, mirrored });
    return (method === "tools/call" ? this.#toolResult(params.name as string, result) : result) as Result;
  }

  /**
   * Sends any request: through the middleware, with deadlines, retries and the shape check of its result.
   *
   * @returns The result as it came, checked where its method is known.
   */
  request(method: string, params: JsonObject = {}, options: SessionRequestOptions = {}): Promise<JsonObject> {
    return this.#handle({ method, params, options });
  }

  /** Sends any notification. */
  async notify(method: string, params: JsonObject = {}): Promise<void> {
    await (await this.#ready({})).notify(method, params);
  }

  /**
   * This client as plain JSON: `connect(snapshot)` goes on with it elsewhere, without a request. Holds the session id of a
   * legacy session, which is a secret; credentials are not in it.
   */
  snapshot(): Snapshot {
    const { sessionId } = this.#transport;
    return {
      kind: "causeway.snapshot",
      version: 1,
      target: this.#transport.address ?? this.#transport.label,
      ...(this.#verdict && { verdict: this.#verdict }),
      ...(sessionId !== undefined && { sessionId }),
      ...(this.#logLevel && { logLevel: this.#logLevel }),
      tools: this.#tools.all,
    };
  }

  /** Takes over what another client knew. Called by `connect(snapshot)`. */
  restore(snapshot: Snapshot): void {
    this.#verdict = snapshot.verdict;
    this.#logLevel = snapshot.logLevel ?? this.#logLevel;
    this.#tools.take({ tools: snapshot.tools }, snapshot.verdict?.era === "modern");
    const { verdict, sessionId } = snapshot;
    if (verdict?.era !== "legacy" || sessionId === undefined || !verdict.revision || !verdict.info) return;
    this.#session = LegacySession.resume(this.#parts(), { revision: verdict.revision, info: verdict.info, sessionId });
  }

  /** Ends everything: subscriptions, calls in flight, the session at the server, the process. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopKeepAlive?.();
    for (const subscription of this.#subscriptions) subscription.close();
    this.#session?.stop();
    await this.#transport.close();
  }

  /** The same as {@linkcode close}: for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Calls a tool and gives what came, before tasks and output schemas are looked at. For the library's own layers. */
  async rawToolCall(
    name: string,
    args: JsonObject,
    options: SessionRequestOptions,
    extra?: JsonObject,
  ): Promise<JsonObject> {
    this.#tools.prepare(name);
    const params = { name, arguments: args, ...extra };
    const mirrored = this.#mirrored(name, args);
    try {
      return await this.request("tools/call", params, mirrored ? { ...options, mirrored } : options);
    } catch (error) {
      if (!(error instanceof HeaderMismatchError)) throw error;
      // The definitions that the headers were made from are out of date, or were never seen: list once and try again, once.
      this.#cache?.changed({ type: "tools" });
      await this.listTools({ signal: options.signal });
      return await this.request("tools/call", params, { ...options, mirrored: this.#mirrored(name, args) });
    }
  }

  #mirrored(name: string, args: JsonObject): Record<string, string> | undefined {
    return this.#transport.kind === "http" && this.era !== "legacy" ? this.#tools.headers(name, args) : undefined;
  }

  #toolResult(name: string, result: JsonObject): CallToolResult {
    const checked = result as unknown as CallToolResult;
    this.#tools.check(name, checked);
    return checked;
  }

  #taskRunner(): TaskRunner {
    const { tasks } = this.#options;
    if (!tasks) throw new TypeError('Cannot use tasks: pass the option "tasks: taskSupport"');
    return this.#tasks ??= tasks.create(this);
  }

  async #typed<Result>(method: string, params: JsonObject, options: RequestOptions): Promise<Result> {
    return await this.request(method, params, options) as Result;
  }

  /** A list, whole or one raw page; each page may come from the cache. */
  async #list<Result>(method: string, key: string, options: ListOptions): Promise<Result> {
    const page = (cursor: string | null | undefined): Promise<JsonObject> =>
      this.#cached(method, cursor == null ? {} : { cursor }, options);
    if (options.cursor !== undefined) return await page(options.cursor) as Result;
    const items = key === "tools" ? Math.min(this.limits.tools, this.limits.items) : this.limits.items;
    const caps = { pages: this.limits.pages, items, milliseconds: this.#timeouts.pages };
    return await walkPages(key, page, { ...caps, clock: this.clock }) as Result;
  }

  #cached(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const load = (): Promise<JsonObject> => this.request(method, params, options);
    const { signal, onProgress, timeout, timeouts, meta, headers } = options;
    if (!this.#cache || meta || headers) return load();
    return this.#cache.get(method, params, { load, share: !(signal || onProgress || timeout || timeouts) });
  }

  /** The innermost layer: the session, and the retries around it. */
  async #run({ method, params, options }: ClientRequest): Promise<JsonObject> {
    const startedAt = this.#retries.count();
    this.#lastUsed = startedAt;
    let remaining = options;
    for (let attempt = 1;; attempt++) {
      try {
        const session = this.#alive() ?? await this.#ready(options);
        const result = await session.request(method, params, remaining);
        this.#proven = true;
        return result;
      } catch (error) {
        if (this.#verdictFailed(error)) continue;
        const left = (options.timeout ?? options.timeouts?.total ?? this.#timeouts.total) -
          (this.clock.monotonic() - startedAt);
        const delay = this.#retries.delay(error, { method, idempotent: options.idempotent }, attempt);
        if (delay === undefined || delay >= left || this.#closed) throw finalError(error, method, this.label);
        await this.#sleep(delay, options.signal);
        remaining = { ...options, timeouts: { ...options.timeouts, total: left - delay } };
      }
    }
  }

  /** A remembered modern verdict that the server does not live up to is forgotten, once: then it is asked again. */
  #verdictFailed(error: unknown): boolean {
    const refused = error instanceof HttpStatusError && [400, 404, 405].includes(error.status);
    if (!refused || this.#proven || this.era !== "modern" || !this.#options.verdict) return false;
    this.#proven = true;
    this.#verdict = undefined;
    this.#session = undefined;
    return true;
  }

  #alive(): Session | undefined {
    return this.#transport.ended && !this.#closed && this.#options.reconnect !== false ? undefined : this.#session;
  }

  /** The open session; opens or re-opens it where need be, once for all who wait. */
  async #ready(options: { signal?: AbortSignal | undefined }): Promise<Session> {
    options.signal?.throwIfAborted();
    const alive = this.#alive();
    if (alive) return alive;
    this.#opening ??= this.#open().finally(() => this.#opening = undefined);
    return await unlessAborted(this.#opening, options.signal);
  }

  async #open(): Promise<Session> {
    if (this.#transport.ended && !this.#closed) {
      this.#session?.stop();
      await this.#transport.restart?.();
      for (const type of ["tools", "prompts", "resources"] as const) this.#changed({ type, missed: true });
    }
    let session: Session;
    try {
      session = await this.#negotiate();
    } catch (error) {
      if (!wrongBinding(error) || !this.#options.fallback) throw finalError(error, "initialize", this.label);
      session = await this.#fallBack(this.#options.fallback, error);
    }
    this.#session = session;
    this.#verdict = { ...this.#verdict, ...verdictOf(session, this.clock.now()) };
    if (this.#logLevel) await session.setLogLevel(this.#logLevel, {}).catch(() => {});
    this.#keepAlive();
    return session;
  }

  async #negotiate(): Promise<Session> {
    for (let attempt = 1;; attempt++) {
      try {
        return await negotiate(this.#parts(), this.#verdict, {});
      } catch (error) {
        const delay = this.#retries.delay(error, { method: "initialize" }, attempt);
        if (delay === undefined || this.#transport.kind === "channel") throw error;
        await this.#sleep(delay, undefined);
      }
    }
  }

  /** The server may speak the two-endpoint binding of 2024-11-05 (specification: Streamable HTTP, Backwards Compatibility). */
  async #fallBack(make: () => Transport, first: unknown): Promise<Session> {
    await this.#transport.close();
    this.#transport = make();
    try {
      const session = await LegacySession.open(this.#parts(), {});
      this.#verdict = { era: "legacy", binding: "http+sse" };
      return session;
    } catch (error) {
      if (error instanceof McpError) error.cause ??= first;
      throw finalError(first, "initialize", this.label);
    }
  }

  #parts(): SessionParts {
    const { handlers, logger, stream, clientInfo } = this.#options;
    return {
      transport: this.#transport,
      clock: this.clock,
      random: this.#random,
      limits: this.limits,
      timeouts: this.#timeouts,
      clientInfo: clientInfo ?? { name: "causeway", version },
      handlers: handlers ?? {},
      capabilities: this.#capabilities,
      inputs: this.inputs,
      listening: this.#options.features?.listen,
      logger,
      stream: stream ?? true,
      changed: (change) => this.#changed(change),
      logged: (message) => handlers?.log?.(message),
    };
  }

  #changed(change: Change): void {
    this.#cache?.changed(change);
  }

  #keepAlive(): void {
    const { keepAlive } = this.#options;
    if (!keepAlive) return;
    this.#stopKeepAlive?.();
    this.#stopKeepAlive = this.clock.schedule(
      () => {
        const idle = this.clock.monotonic() - this.#lastUsed;
        if (idle >= keepAlive) this.ping().catch(() => {});
        if (!this.#closed) this.#keepAlive();
      },
      keepAlive,
      { background: true },
    );
  }

  #sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.clock.schedule(() => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      }, milliseconds);
      const aborted = (): void => {
        stop();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", aborted, { once: true });
    });
  }
}

/** What `work` gives, unless the caller gives up first; the work itself goes on for the others who wait for it. */
function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

function wrongBinding(error: unknown): boolean {
  return error instanceof HttpStatusError && [400, 404, 405].includes(error.status);
}

function withExtension(capabilities: ClientCapabilities, extension: string): ClientCapabilities {
  return { ...capabilities, extensions: { ...capabilities.extensions, [extension]: {} } };
}

/**
 * One server, one API over both eras: all verbs.
 *
 * @module
 */
import type { ConstantJson, JsonObject } from "../protocol/json_rpc.ts";
import { defaultLimits, fillIn, type Limits } from "../protocol/limits.ts";
import { checked } from "../protocol/modern.ts";
import { isPlain } from "../protocol/shapes/core.ts";
import type {
  CallToolResult,
  Change,
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
  Tool,
} from "../protocol/types.ts";
import type { Clock } from "../ports.ts";
import type { Transport } from "../transport/transport.ts";
import type { ResultCache } from "./cache.ts";
import { CoreClient } from "./core_client.ts";
import type { InputAnswers, PendingInput } from "./input/seam.ts";
import { listTools } from "./lists.ts";
import { lists } from "./listen/change.ts";
import type { Subscription } from "./listen/seam.ts";
import { negotiate, type Verdict } from "./negotiate.ts";
import type { ClientOptions } from "./options.ts";
import { KeepAlive } from "./extras/keep_alive.ts";
import { Outputs } from "./extras/outputs.ts";
import { calmly } from "./extras/progress.ts";
import { resumed } from "./extras/resumed.ts";
import { LegacySession } from "./session/legacy_session.ts";
import { sayLevel } from "./session/modern_session.ts";
import type { ClientRequest, RequestOptions, ServerInfo, SessionRequestOptions } from "./session/request.ts";
import type { Session, SessionParts } from "./session/session.ts";
import type { Snapshot } from "./snapshot.ts";
import type { TaskHandle, TaskOptions, TaskRunner } from "./task_support.ts";
import { type ListOptions, takeTools } from "./tools.ts";
import { listItems, looseRules } from "./extras/items.ts";
import { askOverHttp, isRefusal, isWrongBinding, openAs, openInstead, verdictOf } from "./extras/verdicts.ts";

/**
 * A client of one MCP server. Every verb rejects with an `McpError` when the protocol or the connection fails, and with
 * the signal's own reason when the caller gives up; a tool that ran and failed is a result with `isError: true`.
 * Most programs call `connect` instead of the constructor.
 */
export class Client extends CoreClient {
  /** Upper bounds in force. */
  declare readonly limits: Limits;
  /** The clock in use. */
  declare readonly clock: Clock;
  /** @internal What answers the server's requests. */
  declare readonly inputs: InputAnswers | undefined;
  readonly #options: ClientOptions;
  readonly #outputs: Outputs;
  readonly #cache: ResultCache | undefined;
  readonly #keepAlive: KeepAlive;
  readonly #subscriptions = new Set<Subscription>();
  #tools = new Map<unknown, Tool>();
  #known: Verdict | undefined;
  /** What is known, as long as no result has borne it out. */
  #doubtful: Verdict | undefined;
  #logLevel: LoggingLevel | undefined;
  /** A process or socket was started anew, without a handshake so far: in vain, it is started once more. */
  #shaky: boolean | undefined;

  /**
   * Makes a client; nothing is sent yet.
   *
   * @param transport How to reach the server. The client owns it from now on and closes it.
   */
  constructor(transport: Transport, options: ClientOptions = {}) {
    const { tasks, capabilities } = options;
    super(transport, tasks ? { ...options, capabilities: tasks.declared(capabilities) } : options);
    ({ clock: this.clock, inputs: this.inputs } = this.parts);
    this.parts.tasks = tasks?.create(this);
    this.limits = fillIn(defaultLimits, options.limits);
    this.#options = options;
    this.#outputs = new Outputs(options.validator);
    this.#keepAlive = new KeepAlive(this.clock, options.keepAlive, () => this.ping());
    this.#cache = options.cache === false ? undefined : options.features?.cache?.(this.clock);
    this.#doubtful = this.#known = options.verdict;
    this.#logLevel = options.logLevel;
  }

  /** What to remember of this server, as plain JSON: `connect(url, { verdict })` saves the question next time. */
  get verdict(): Verdict | undefined {
    return this.#known;
  }

  /** As in `CoreClient`; a tool may also answer with a task, and results are checked against the output schema. */
  override callTool(name: string, args: ConstantJson = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    return this.parts.tasks?.call(name, args, options) ?? super.callTool(name, args, options);
  }

  /** As in `CoreClient`; all results are checked, and progress comes calmly: older Python servers tell it on the stream alone. */
  override request(method: string, params: JsonObject = {}, options: SessionRequestOptions = {}): Promise<JsonObject> {
    const { onProgress } = options;
    this.#keepAlive.used();
    const tool = method === "tools/call" && this.#tools.get(params.name);
    const unusable = tool && tool.outputSchema && this.#outputs.prepare(tool);
    if (unusable) return Promise.reject(unusable);
    if (!onProgress) return this.run({ method, params, options });
    return calmly(onProgress, this.clock, (calm) => super.request(method, params, { ...options, onProgress: calm }));
  }

  /** As in {@linkcode CoreClient}, with no part to be passed; the tools are remembered. */
  override async listTools(options: ListOptions = {}): Promise<ListToolsResult> {
    return this.#remember(await listTools(this.parts, options), options.cursor === undefined);
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
    return this.read("resources/read", { uri }, options) as Promise<unknown> as Promise<ReadResourceResult>;
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
    const result: Promise<unknown> = this.request("prompts/get", { name, arguments: args }, options);
    return result as Promise<GetPromptResult>;
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
    const { context, ...rest } = options;
    const params = { ref: reference as JsonObject, argument, ...(context && { context: { arguments: context } }) };
    return this.request("completion/complete", params, rest) as Promise<unknown> as Promise<CompleteResult>;
  }

  /**
   * A stream of changes at the server. It is opened at once, re-opened by itself, and ended by `break`, `close` or the signal.
   *
   * @param filter What to hear of; nothing is on unless asked for.
   */
  listen(filter: ListenFilter, options: { signal?: AbortSignal | undefined } = {}): Subscription {
    const { listen: feature } = this.parts;
    if (!feature) throw new TypeError('Cannot listen without "features.listen"');
    const subscription = feature.subscribe(
      {
        ...this.parts,
        open: async (wanted, sink) => {
          const session = await this.ready({});
          return session.stream?.listen(wanted, sink) ?? feature.modern(session, wanted, sink);
        },
        broke: this.#options.onBreak,
      },
      filter,
      options.signal,
    );
    this.#subscriptions.add(subscription);
    subscription.ended.then(() => this.#subscriptions.delete(subscription));
    if (this.closed) subscription.close();
    return subscription;
  }

  /**
   * How much the server should log to `handlers.log`.
   * @deprecated Logging is deprecated in 2026-07-28.
   */
  async setLogLevel(level: LoggingLevel, options: RequestOptions = {}): Promise<void> {
    this.#logLevel = level;
    if (!sayLevel(await this.ready(options), level)) await this.request("logging/setLevel", { level }, options);
  }

  /** Asks whether the server is alive: `ping`, or `server/discover` in the modern era, which has no ping. */
  async ping(options: RequestOptions = {}): Promise<void> {
    await this.request((await this.ready(options)).era === "modern" ? "server/discover" : "ping", {}, options);
  }

  /**
   * Tells a legacy server that the roots changed. Modern servers ask when they need them.
   * @deprecated Roots are deprecated in 2026-07-28.
   */
  async rootsChanged(): Promise<void> {
    const session = await this.ready({});
    if (session.era === "legacy") await session.notify("notifications/roots/list_changed", {});
  }

  /** Starts a tool as a task. Needs the option `tasks`. */
  callToolTask(name: string, args: ConstantJson = {}, options: TaskOptions = {}): Promise<TaskHandle> {
    return this.#taskRunner().start(name, args, options);
  }

  /** Finds a task again by its id. Needs the option `tasks`. */
  getTask(taskId: string, options: RequestOptions = {}): Promise<TaskHandle> {
    return this.#taskRunner().get(taskId, options);
  }

  /** Waits for a task's result. Needs the option `tasks`. */
  async awaitTask(taskId: string, options: TaskOptions = {}): Promise<CallToolResult> {
    return (await this.getTask(taskId, options)).result(options);
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
   * @throws {TypeError} When an answer is missing.
   */
  async resume<Result = CallToolResult>(
    pending: PendingInput,
    answers: Record<string, JsonObject>,
    options: RequestOptions = {},
  ): Promise<Result> {
    const resume = resumed(pending, answers);
    return await this.request(pending.method, pending.params, { ...options, resume }) as Result;
  }

  /**
   * This client as plain JSON: `connect(snapshot)` goes on with it elsewhere, without a request. Holds the session id of a
   * legacy session, which is a secret; credentials are not in it.
   */
  snapshot(): Snapshot {
    const { sessionId, address = this.label } = this.parts.transport;
    return {
      kind: "causeway.snapshot",
      version: 1,
      target: address,
      ...(this.#known && { verdict: this.#known }),
      ...(sessionId && { sessionId }),
      ...(this.#logLevel && { logLevel: this.#logLevel }),
      tools: [...this.#tools.values()],
    };
  }

  /** Takes over what another client knew. Called by `connect(snapshot)`. */
  restore({ verdict, logLevel, tools }: Snapshot): void {
    this.#doubtful = this.#known = verdict;
    this.#logLevel = logLevel ?? this.#logLevel;
    this.#remember(takeTools({ tools }, this.parts, true, verdict?.era), true);
    // Over HTTP a session without an id has no state at the server; on a pipe there is always a handshake.
    if (verdict?.era !== "legacy" || verdict.binding || this.parts.transport.kind !== "http") return;
    if (!verdict.revision || !verdict.info) return;
    const session = this.session = new LegacySession(this.parts);
    session.agree(verdict.revision, verdict.info);
    this.parts.transport.legacy = session.dress();
    void session.stream?.ready();
  }

  /** Ends it, and every exchange on it. Idempotent. */
  override async close(): Promise<void> {
    this.#keepAlive.stop();
    for (const subscription of this.#subscriptions) subscription.close();
    await super.close();
  }

  #list<Result extends object>(method: string, key: string, options: ListOptions): Promise<Result> {
    return listItems(method, key, { ...this.parts, options });
  }

  #remember(result: ListToolsResult, whole: boolean): ListToolsResult {
    // Clearing it is dear: what an old map held outlives the quick collections.
    if (whole) this.#tools = new Map();
    for (const tool of result.tools) this.#tools.set(tool.name, tool);
    return result;
  }

  /** @internal A request that only reads: the cache stands in between. */
  override read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const { signal, onProgress, timeout, timeouts, meta, headers } = options;
    const load = (): Promise<JsonObject> => this.request(method, params, options);
    if (!this.#cache || meta || headers) return load();
    return this.#cache.get(method, params, { load, share: !(signal || onProgress || timeout || timeouts) });
  }

  /** @internal Takes a result in: the shapes of all methods, and the output schemas of tools. */
  override accepted(request: ClientRequest, result: JsonObject, shape: string): void {
    const isCall = shape === "tools/call";
    if (!(isCall && isPlain(result))) {
      super.accepted(request, result, shape);
      checked(request.method, result, shape || request.method, looseRules);
    }
    const tool = isCall && this.#tools.get(request.params.name);
    if (tool && tool.outputSchema) this.#outputs.check(tool, result);
    this.#doubtful = undefined;
  }

  /** Drops what is out of date. */
  override changed(change: Change): void {
    this.#cache?.changed(change);
  }

  /** @internal After a session was opened: what hung on an older one is made again, and what was kept may be out of date. */
  override async opened(session: Session): Promise<void> {
    this.#shaky = false;
    const level = this.#logLevel;
    this.#known = { ...this.#known, ...verdictOf(session, this.clock.now()) };
    if (session.era === "legacy") this.#doubtful = undefined;
    if (level && !sayLevel(session, level) && session.info.capabilities.logging) {
      await session.request({ method: "logging/setLevel", params: { level }, options: {} }).catch(() => {});
    }
    if (!this.closed) this.#keepAlive.start();
    if (!this.session) return;
    for (const type of lists) this.changed({ type, missed: true });
    await session.stream?.reopened();
  }

  /** What was told of a server and does not hold is forgotten, once; what was sent before is sent again. */
  protected override again(error: unknown, known?: ServerInfo): boolean | void {
    if (!isRefusal(error, this.#doubtful, this.session)) return;
    if (!this.#doubtful) return known && known !== this.info;
    this.#doubtful = this.#known = this.session = undefined;
    return true;
  }

  /** Starts a transport that has died anew. */
  protected override revive(): Promise<void> | void {
    if (!this.#broken()) return;
    this.#shaky = true;
    this.session?.stop();
    return this.parts.transport.restart?.();
  }

  /** @internal A process or socket that has died is started anew with the next request. */
  protected override get usable(): Session | undefined {
    return this.#broken() ? undefined : super.usable;
  }

  /** @internal Goes by what is remembered; a server may speak the binding of 2024-11-05 (specification: Backwards Compatibility). */
  protected override async open(parts: SessionParts): Promise<Session> {
    const { transport } = parts;
    const { fallback, features } = this.#options;
    const isChannel = transport.kind === "channel";
    if (this.#known?.expires as number <= this.clock.now()) this.#known = undefined;
    try {
      if (this.#known?.binding && fallback && !isChannel && !this.closed) throw null;
      return await openAs(this.#known, parts) ?? await negotiate(parts, isChannel ? features?.pipes : askOverHttp);
    } catch (first) {
      if (!fallback || isChannel || (first && (this.closed || !isWrongBinding(first)))) throw first;
      parts.transport = this.parts.transport = fallback();
      const session = await openInstead(parts, first, () => this.closed || (this.parts.transport = transport));
      this.#known = { era: "legacy", binding: "http+sse" };
      return session;
    }
  }

  #broken(): boolean | undefined {
    return (this.#shaky || this.parts.transport.ended) && !this.closed && this.#options.reconnect !== false;
  }

  #taskRunner(): TaskRunner {
    const { tasks } = this.parts;
    if (!tasks) throw new TypeError('Cannot use tasks without "tasks: taskSupport"');
    return tasks;
  }
}

/**
 * The part of the client that every program needs: it finds the era out, keeps the session open, sends requests with
 * deadlines and retries, and calls tools.
 *
 * @module
 */
import {
  ConnectionClosedError,
  HeaderMismatchError,
  InvalidParamsError,
  InvalidRequestError,
  McpError,
  MissingCapabilityError,
  UnsupportedVersionError,
} from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { defaultLimits, defaultTimeouts } from "../protocol/limits.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import type { Era, Revision } from "../protocol/revisions.ts";
import type { CallToolResult, Change, ClientCapabilities, ListToolsResult } from "../protocol/types.ts";
import { systemClock, systemRandom } from "../ports.ts";
import type { Clock, Random } from "../ports.ts";
import type { Transport } from "../transport/transport.ts";
import { version } from "../version.ts";
import type { InputAnswers } from "./input/seam.ts";
import { walkPages } from "./lists.ts";
import type { ListOptions } from "./lists.ts";
import { negotiate, verdictOf } from "./negotiate.ts";
import type { Verdict } from "./negotiate.ts";
import type { ClientOptions, RequestHandler } from "./options.ts";
import { finalError, Retries } from "./retry.ts";
import type { RequestOptions } from "./session/caller.ts";
import type { ClientRequest, ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session/session.ts";
import { Tools } from "./tools.ts";

/**
 * A client that calls tools: what `connect` of `./client` gives. `Client` has the rest of the verbs.
 *
 * Every verb rejects with an `McpError` when the protocol or the connection fails, and with the signal's own reason when
 * the caller gives up; a tool that ran and failed is a result with `isError: true`.
 */
export class CoreClient implements AsyncDisposable {
  /** Upper bounds in force. */
  readonly limits: Limits;
  /** The clock in use. */
  readonly clock: Clock;
  /** What answers the server's requests. */
  readonly inputs: InputAnswers | undefined;
  protected readonly options: ClientOptions;
  protected readonly random: Random;
  protected readonly tools: Tools;
  protected transport: Transport;
  protected session: Session | undefined;
  protected known: Verdict | undefined;
  protected closed = false;
  readonly #timeouts: Timeouts;
  readonly #capabilities: ClientCapabilities;
  readonly #retries: Retries;
  readonly #handle: RequestHandler;
  readonly #closing = new AbortController();
  #opening: Promise<Session> | undefined;
  /** Whether what is known was told and has not been borne out yet. */
  protected doubtful: boolean;

  /**
   * @param transport How to reach the server. The client owns it from now on and closes it.
   */
  constructor(transport: Transport, options: ClientOptions = {}) {
    const { tasks, features, handlers, clock = systemClock, random = systemRandom, middleware = [] } = options;
    if (handlers && !features?.inputs) throw new TypeError('Cannot use "handlers" without "features.inputs"');
    const declared = { ...options.capabilities };
    if (tasks) declared.extensions = { ...declared.extensions, [tasks.extension]: {} };
    this.transport = transport;
    this.options = options;
    this.clock = clock;
    this.random = random;
    this.limits = { ...defaultLimits, ...options.limits };
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.inputs = features?.inputs?.(handlers ?? {}, declared);
    this.#capabilities = this.inputs?.capabilities ?? declared;
    this.#retries = new Retries(clock, random, options.retry);
    this.tools = new Tools(this.limits, options.validator);
    this.known = options.verdict;
    this.doubtful = !!options.verdict;
    this.#handle = middleware.reduceRight<RequestHandler>(
      (next, layer) => layer(next),
      (request) => this.#run(request),
    );
  }

  /** What the server said about itself; null before the connection. Not trusted. */
  get info(): ServerInfo | null {
    return this.session?.info ?? null;
  }

  /** The era that is spoken; undefined before the connection. */
  get era(): Era | undefined {
    return this.session?.era;
  }

  /** The revision that is spoken; undefined before the connection. */
  get revision(): Revision | undefined {
    return this.session?.revision;
  }

  /** What to remember of this server, as plain JSON: `connect(url, { verdict })` saves the question next time. */
  get verdict(): Verdict | undefined {
    return this.known;
  }

  /** What names the server in errors and logs. */
  get label(): string {
    return this.transport.label;
  }

  /**
   * Finds out how the server speaks and opens the session. Every verb does it by itself when it is still to be done.
   *
   * @throws {McpError} When the server cannot be reached or has no revision in common.
   */
  async connect(options: { signal?: AbortSignal | undefined } = {}): Promise<this> {
    await this.ready(options);
    return this;
  }

  /**
   * All tools, page by page, under the caps `limits.pages`, `limits.items`, `limits.tools` and `timeouts.pages`.
   *
   * @param options `cursor` gives one raw page instead: `""` is a cursor, `null` asks for the first page.
   */
  async listTools(options: ListOptions = {}): Promise<ListToolsResult> {
    const result = await this.list("tools/list", "tools", options) as unknown as ListToolsResult;
    return this.tools.take(result, this.#mirrors(), options.cursor === undefined);
  }

  /**
   * Calls a tool.
   *
   * @param name The tool's name.
   * @param args Its arguments.
   * @returns The tool's result; `isError` is true when the tool itself failed.
   * @throws {OutcomeUnknownError} When the connection broke after the call was sent: it may have run, and is not sent again.
   * @throws {PeerExitedError} When the server's process ended in the middle: it may have run too (`delivery` says "unknown").
   * @throws {TimeoutError} When its time is over: it may have run, and the server is told to stop.
   * @throws {InvalidParamsError} When there is no such tool or the request is malformed.
   * @throws {ProtocolViolationError} When the result is no tool result, or does not fit the tool's output schema.
   */
  async callTool(name: string, args: JsonObject = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    return this.tools.check(name, await this.rawToolCall({ name, arguments: args }, options));
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
    await (await this.ready({})).notify(method, params);
  }

  /** Ends everything: calls in flight, the session at the server, the process. Idempotent. */
  async close(): Promise<void> {
    this.closed = true;
    this.#closing.abort(new ConnectionClosedError("The client was closed"));
    this.session?.stop();
    await this.transport.close();
  }

  /** The same as {@linkcode close}: for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Calls a tool and gives what came, before tasks and output schemas are looked at.
   *
   * @param params Of `tools/call`: `name`, `arguments` and what an extension adds.
   */
  async rawToolCall(params: JsonObject, options: SessionRequestOptions = {}): Promise<JsonObject> {
    this.tools.prepare(params.name as string);
    const send = (): Promise<JsonObject> => {
      const mirrored = this.#mirrors() ? this.tools.headers(params) : undefined;
      return this.request("tools/call", params, mirrored ? { ...options, mirrored } : options);
    };
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof HeaderMismatchError)) throw error;
      // The definitions that the headers were made from are out of date, or were never seen: list and try again, once.
      this.changed({ type: "tools" });
      const { signal } = options;
      await this.listTools({ signal });
      return await send();
    }
  }

  /** A list, whole or one raw page. */
  protected async list(method: string, key: "tools" | "items" | string, options: ListOptions): Promise<JsonObject> {
    const page = (cursor: string | null | undefined): Promise<JsonObject> =>
      this.read(method, cursor == null ? {} : { cursor }, options);
    if (options.cursor !== undefined) return await page(options.cursor);
    return await walkPages(key, page, this.limits, { clock: this.clock, milliseconds: this.#timeouts.pages });
  }

  /** A request that only reads: here a cache may stand in between. */
  protected read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return this.request(method, params, options);
  }

  /** Something changed at the server. */
  protected changed(_change: Change): void {}

  /** A session was opened: the first one, or one in the place of another. */
  protected opened(_session: Session): Promise<void> | void {}

  /** The open session; opens or re-opens it where need be, once for all who wait. */
  protected async ready(options: { signal?: AbortSignal | undefined }): Promise<Session> {
    options.signal?.throwIfAborted();
    const { session } = this;
    if (session && !this.#broken()) return session;
    this.#opening ??= this.#open().finally(() => this.#opening = undefined);
    return await unlessAborted(this.#opening, options.signal);
  }

  /** What a session is made of. */
  protected parts(): SessionParts {
    const { handlers = {}, logger, stream = true, clientInfo = { name: "causeway", version }, features } = this.options;
    return {
      transport: this.transport,
      clock: this.clock,
      random: this.random,
      limits: this.limits,
      timeouts: this.#timeouts,
      clientInfo,
      handlers,
      capabilities: this.#capabilities,
      inputs: this.inputs,
      listening: features?.listen,
      logger,
      stream,
      changed: (change) => this.changed(change),
      logged: (message) => {
        try {
          handlers.log?.(message);
        } catch (error) {
          logger?.({ level: "warning", message: "The log handler failed", fields: { error } });
        }
      },
      reopened: async (session) => await this.opened(session),
    };
  }

  /** Opens a session, with retries, all within `timeouts.start`; the seam for what else may be tried. */
  protected async open(): Promise<Session> {
    const endsAt = this.clock.monotonic() + this.#timeouts.start;
    for (let attempt = 1;; attempt++) {
      const start = endsAt - this.clock.monotonic();
      try {
        const parts = this.parts();
        return await negotiate(
          { ...parts, timeouts: { ...parts.timeouts, start } },
          this.known,
          this.options.features?.pipes,
        );
      } catch (error) {
        if (this.#verdictFailed(error)) continue;
        const delay = this.#retries.delay(error, "initialize", attempt);
        const left = endsAt - this.clock.monotonic();
        if (delay === undefined || delay >= left || this.closed || this.transport.kind === "channel") throw error;
        await this.#sleep(delay, undefined);
      }
    }
  }

  /** The innermost layer: the session, and the retries around it. */
  async #run({ method, params, options }: ClientRequest): Promise<JsonObject> {
    const startedAt = this.#retries.count();
    let remaining = options;
    for (let attempt = 1;; attempt++) {
      try {
        const session = this.session && !this.#broken() ? this.session : await this.ready(options);
        const result = await session.request(method, params, remaining);
        this.doubtful = false;
        return result;
      } catch (error) {
        if (this.#verdictFailed(error)) continue;
        const total = options.timeouts?.total ?? options.timeout ?? this.#timeouts.total;
        const left = total - (this.clock.monotonic() - startedAt);
        const delay = this.closed ? undefined : this.#retries.delay(error, method, attempt, options.idempotent);
        if (delay === undefined || delay >= left) throw finalError(error, method, this.label);
        await this.#sleep(delay, options.signal);
        remaining = { ...options, timeouts: { ...options.timeouts, total: left - delay } };
      }
    }
  }

  /** What was told of a server and does not hold is forgotten, once: then the server is asked. */
  #verdictFailed(error: unknown): boolean {
    if (!this.doubtful || !isRefusal(error)) return false;
    this.doubtful = false;
    this.known = this.session = undefined;
    return true;
  }

  #broken(): boolean | undefined {
    return this.transport.ended && !this.closed && this.options.reconnect !== false;
  }

  #mirrors(): boolean {
    return this.era === "modern" && this.transport.kind === "http";
  }

  async #open(): Promise<Session> {
    try {
      if (this.#broken()) {
        this.session?.stop();
        await this.transport.restart?.();
      }
      const session = await this.open();
      this.known = { ...this.known, ...verdictOf(session, this.clock.now()) };
      if (session.era === "legacy") this.doubtful = false;
      await this.opened(session);
      return this.session = session;
    } catch (error) {
      throw finalError(error, "initialize", this.label);
    }
  }

  /** Waits before the next attempt; gives up with the caller, and when the client is closed. */
  #sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    let stop = (): void => {};
    const slept = new Promise<void>((resolve) => stop = this.clock.schedule(resolve, milliseconds));
    return unlessAborted(unlessAborted(slept, signal), this.#closing.signal).finally(stop);
  }
}

const noEndpoint = /^40[045]$/;

/** True for what a server answers that has no such endpoint, or not for this binding. */
export function isWrongBinding(error: unknown): boolean {
  const modern = error instanceof HeaderMismatchError || error instanceof MissingCapabilityError ||
    error instanceof UnsupportedVersionError;
  return error instanceof McpError && !modern && noEndpoint.test(String((error as { status?: number }).status));
}

/** True for what a server answers to the manners of the other era, before it has run anything. */
function isRefusal(error: unknown): boolean {
  if (error instanceof InvalidParamsError) return false;
  return error instanceof InvalidRequestError || error instanceof UnsupportedVersionError || isWrongBinding(error);
}

/** What `work` gives, unless the caller gives up first; the work itself goes on for the others who wait for it. */
function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

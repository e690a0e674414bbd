/**
 * The part of the client that every program needs: it finds the era out, keeps the session open, sends requests with
 * deadlines and retries, and calls tools.
 *
 * @module
 */
import { ConnectionClosedError, HeaderMismatchError } from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { defaultLimits, defaultTimeouts } from "../protocol/limits.ts";
import type { Era, Revision } from "../protocol/revisions.ts";
import type { CallToolResult, Change, ListToolsResult } from "../protocol/types.ts";
import { systemClock, systemRandom } from "../ports.ts";
import type { Transport } from "../transport/transport.ts";
import { version } from "../version.ts";
import { walkPages } from "./lists.ts";
import type { ListOptions } from "./lists.ts";
import { negotiate } from "./negotiate.ts";
import type { ClientOptions, RequestHandler } from "./options.ts";
import { finalError, Retries } from "./retry.ts";
import type { RequestOptions } from "./session/caller.ts";
import type { ClientRequest, ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session/session.ts";
import { Tools } from "./tools.ts";

/** Stands for the request that opens a session. */
const opening: ClientRequest = { method: "initialize", params: {}, options: {} };

/** Options of {@linkcode CoreClient}: those of `Client` without what only that one does. */
export type CoreClientOptions = Omit<
  ClientOptions,
  "cache" | "fallback" | "keepAlive" | "logLevel" | "reconnect" | "tasks" | "validator" | "verdict"
>;

/**
 * A client that calls tools: what `connect` of `./client` gives. `Client` has the rest of the verbs, and remembers servers,
 * checks structured results, re-opens channels and runs tasks.
 *
 * Every verb rejects with an `McpError` when the protocol or the connection fails, and with the signal's own reason when
 * the caller gives up; a tool that ran and failed is a result with `isError: true`.
 */
export class CoreClient implements AsyncDisposable {
  /** @internal What sessions are made of. */
  protected readonly parts: SessionParts;
  /** @internal The tools as they were listed. */
  protected readonly tools: Tools = new Tools();
  /** @internal The open session. */
  protected session: Session | undefined;
  /** Whether it was closed. */
  protected closed = false;
  /** Whether what is known was told and has not been borne out yet. */
  protected doubtful = false;
  readonly #closing = new AbortController();
  readonly #retries: Retries;
  readonly #handle: RequestHandler;
  #opening: Promise<Session> | undefined;

  /**
   * Makes a client; nothing is sent yet.
   *
   * @param transport How to reach the server. The client owns it from now on and closes it.
   */
  constructor(transport: Transport, options: CoreClientOptions = {}) {
    const { features, handlers = {}, clock = systemClock, random = systemRandom, middleware = [] } = options;
    const { capabilities = {}, logger, stream = true, clientInfo = { name: "causeway", version } } = options;
    if (options.handlers && !features?.inputs) throw new TypeError('Cannot use "handlers" without "features.inputs"');
    const inputs = features?.inputs?.(handlers, capabilities);
    this.parts = {
      transport,
      clock,
      random,
      limits: { ...defaultLimits, ...options.limits },
      timeouts: { ...defaultTimeouts, ...options.timeouts },
      clientInfo,
      handlers,
      capabilities: inputs?.capabilities ?? capabilities,
      inputs,
      listening: features?.listen,
      logger,
      stream,
      changed: (change) => this.changed(change),
      reopened: (session) => this.opened(session),
    };
    this.#retries = new Retries(this.parts, options.retry);
    this.#handle = middleware.reduceRight<RequestHandler>(
      (next, layer) => layer(next),
      (request) => this.#run(request) as Promise<JsonObject>,
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

  /** What names the server in errors and logs. */
  get label(): string {
    return this.parts.transport.label;
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
    const result: unknown = await this.list("tools/list", "tools", options);
    return this.tools.take(result as ListToolsResult, this.#mirrors(), options.cursor === undefined);
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
    const result: unknown = await this.rawToolCall({ name, arguments: args }, options);
    (result as CallToolResult).content ??= [];
    return result as CallToolResult;
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
    this.#closing.abort(new ConnectionClosedError("The client is closed"));
    const closed = this.parts.transport.close();
    this.session?.stop();
    await closed;
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
  rawToolCall(params: JsonObject, options: SessionRequestOptions = {}): Promise<JsonObject> {
    return this.#mirrors() ? this.#mirroredCall(params, options) : this.request("tools/call", params, options);
  }

  /** A tool call over modern HTTP. When the definitions that its headers were made from are out of date, they are listed, once. */
  async #mirroredCall(params: JsonObject, options: SessionRequestOptions): Promise<JsonObject> {
    const { clock, limits } = this.parts;
    const endsAt = clock.monotonic() + this.#total(options);
    const send = (rest: SessionRequestOptions): Promise<JsonObject> => {
      const mirrored = this.tools.headers(params, limits);
      return this.request("tools/call", params, mirrored ? { ...rest, mirrored } : rest);
    };
    try {
      return await send(options);
    } catch (error) {
      if (!(error instanceof HeaderMismatchError)) throw error;
      this.changed({ type: "tools" });
      const { signal } = options;
      await this.listTools({ signal, timeout: endsAt - clock.monotonic() });
      const { timeouts } = options;
      return await send({ ...options, timeouts: { ...timeouts, total: endsAt - clock.monotonic() } });
    }
  }

  /** A list, whole or one raw page. */
  protected async list(method: string, key: string, options: ListOptions): Promise<JsonObject> {
    const page = (cursor: string | null | undefined, left?: number): Promise<JsonObject> =>
      // Pages of a list without a time of its own may be shared with others who ask for the same.
      this.read(
        method,
        cursor == null ? {} : { cursor },
        left && options.timeout ? { ...options, timeout: left } : options,
      );
    if (options.cursor !== undefined) return await page(options.cursor);
    const { timeouts } = this.parts;
    const milliseconds = Math.min(options.timeout ?? Infinity, timeouts.pages);
    return await walkPages(key, page, { ...this.parts, milliseconds });
  }

  /** A request that only reads: here a cache may stand in between. */
  protected read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return this.request(method, params, options);
  }

  /** Something changed at the server. */
  protected changed(_change: Change): void {}

  /** @internal A session was opened: the first one, or one in the place of another. */
  protected opened(_session: Session): Promise<void> | void {}

  /** Whether an error is met by opening another session, at once. */
  protected again(_error: unknown): boolean | void {}

  /** @internal The session, if it is open. */
  protected get usable(): Session | undefined {
    return this.session;
  }

  /** @internal The open session; opens or re-opens it where need be, once for all who wait. */
  protected async ready({ signal }: { signal?: AbortSignal | undefined }): Promise<Session> {
    signal?.throwIfAborted();
    return this.usable ??
      await unlessAborted(this.#opening ??= this.#open().finally(() => this.#opening = undefined), signal);
  }

  /** @internal Opens a session; the seam for what else may be tried. */
  protected open(parts: SessionParts): Promise<Session> {
    return negotiate(parts);
  }

  /** Before a session is opened. */
  protected revive(): Promise<void> | void {}

  async #open(): Promise<Session> {
    await this.revive();
    const session = await this.#run(opening) as Session;
    await this.opened(session);
    return this.session = session;
  }

  /** The innermost layer: the session (or what opens it), and the retries around it. */
  async #run(request: ClientRequest): Promise<unknown> {
    const { clock, timeouts, transport } = this.parts;
    const { method, params, options } = request;
    const opens = request === opening;
    const endsAt = clock.monotonic() + (opens ? timeouts.start : this.#total(options));
    if (!opens) this.#retries.count();
    let remaining = options;
    for (let attempt = 1;; attempt++) {
      try {
        if (opens) {
          return await this.open({ ...this.parts, timeouts: { ...timeouts, start: endsAt - clock.monotonic() } });
        }
        const result = await (this.usable ?? await this.ready(options)).request(method, params, remaining);
        this.doubtful = false;
        return result;
      } catch (error) {
        if (this.again(error)) continue;
        const final = this.closed || (opens && transport.kind === "channel");
        const delay = final ? undefined : this.#retries.delay(error, method, attempt, options.idempotent);
        const rest = endsAt - clock.monotonic() - (delay ?? Infinity);
        if (!(rest > 0)) throw finalError(error, method, this.label);
        let stop: (() => void) | undefined;
        const slept = new Promise<void>((resolve) => stop = clock.schedule(resolve, delay as number));
        await unlessAborted(unlessAborted(slept, options.signal), this.#closing.signal).finally(stop);
        remaining = { ...options, timeouts: { ...options.timeouts, total: rest } };
      }
    }
  }

  #total({ timeout, timeouts }: SessionRequestOptions): number {
    return timeouts?.total ?? timeout ?? this.parts.timeouts.total;
  }

  #mirrors(): boolean {
    return this.era === "modern" && this.parts.transport.kind === "http";
  }
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

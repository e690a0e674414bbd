/**
 * The part of the client that every program needs: it finds the era out, keeps the session open, sends requests with
 * deadlines and retries, and calls tools.
 *
 * @module
 */
import { ConnectionClosedError, TimeoutError } from "../protocol/errors.ts";
import type { ConstantJson, JsonObject } from "../protocol/json_rpc.ts";
import { coreLimits, coreTimeouts, fillIn } from "../protocol/limits.ts";
import { checked } from "../protocol/modern.ts";
import type { Era, Revision } from "../protocol/revisions.ts";
import type { CallToolResult, Change, ListToolsResult } from "../protocol/types.ts";
import { systemClock, systemRandom } from "../ports.ts";
import type { Transport } from "../transport/transport.ts";
import { version } from "../version.ts";
import type { ListOptions } from "./tools.ts";
import type { ClientOptions, RequestHandler } from "./options.ts";
import { createRetries, finalError } from "./retry.ts";
import type { Retries } from "./retry.ts";
import type {
  ClientRequest,
  FailedRequest,
  RequestOptions,
  ServerInfo,
  SessionRequestOptions,
} from "./session/request.ts";
import type { Session, SessionParts } from "./session/session.ts";
import { negotiate } from "./negotiate.ts";

/** Options of {@linkcode CoreClient}: those of `Client` without what only that one does. */
export type CoreClientOptions = Omit<
  ClientOptions,
  "cache" | "fallback" | "keepAlive" | "logLevel" | "onBreak" | "reconnect" | "tasks" | "verdict"
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
  declare protected readonly parts: SessionParts;
  /** @internal The open session. */
  declare protected session: Session | undefined;
  /** @internal Whether it was closed. */
  declare closed: boolean | undefined;
  /** @internal Ends the pauses before further attempts, when the client is closed. */
  declare protected closing: AbortController | undefined;
  readonly #retries: Retries;
  /** @internal The middleware, and the open session below it. */
  declare protected readonly run: RequestHandler;
  #opening: Promise<Session> | undefined;

  /**
   * Makes a client; nothing is sent yet.
   *
   * @param transport How to reach the server. The client owns it from now on and closes it.
   */
  constructor(transport: Transport, options: CoreClientOptions = {}) {
    const {
      features = {},
      clock = systemClock,
      random = systemRandom,
      middleware = [],
      capabilities = {},
      stream,
      clientInfo = { name: "causeway", version },
    } = options;
    if (options.handlers && !features.inputs) throw new TypeError('Cannot use "handlers" without "features.inputs"');
    const inputs = features.inputs?.(options);
    const mirror = features.mirror?.();
    this.parts = {
      // Those that sessions and lists look at by themselves; two are made ready below.
      ...features,
      transport,
      clock,
      random,
      limits: fillIn(coreLimits, options.limits),
      timeouts: fillIn(coreTimeouts, options.timeouts),
      clientInfo,
      capabilities: inputs?.capabilities ?? capabilities,
      inputs,
      stream,
      mirror,
      client: () => this,
    };
    this.#retries = createRetries(random, options.retry);
    this.run = middleware.reduceRight<RequestHandler>((next, layer) => layer(next), (request) => {
      const now = clock.monotonic();
      this.#retries.count(now);
      const session = this.usable;
      if (session) return session.request(request, this, now);
      const { timeout, timeouts } = request.options;
      const own = timeouts?.total ?? timeout;
      const endsAt = now + (own ?? this.parts.timeouts.total);
      // A person may be asked while the session is opened: only who set a time wants it to be over then.
      return this.#again(this.#send(request, own && endsAt), request, endsAt);
    });
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
   * @throws {TypeError} When the client was made without `features.lists`: only `Client` always has it.
   */
  async listTools(options: ListOptions = {}): Promise<ListToolsResult> {
    const { lists } = this.parts;
    if (!lists) throw new TypeError('Cannot use "listTools" without "features.lists"');
    return await lists(this.parts, options);
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
  callTool(name: string, args: ConstantJson = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    const result: Promise<unknown> = this.request("tools/call", { name, arguments: args as JsonObject }, options);
    return result as Promise<CallToolResult>;
  }

  /**
   * Sends any request: through the middleware, with deadlines, retries and the shape check of its result.
   *
   * @returns The result as it came, checked where its method is known.
   */
  request(method: string, params: JsonObject = {}, options: SessionRequestOptions = {}): Promise<JsonObject> {
    return this.run({ method, params, options });
  }

  /** Sends any notification. */
  async notify(method: string, params: JsonObject = {}): Promise<void> {
    return (await this.ready({})).notify(method, params);
  }

  /** Ends everything: calls in flight, the session at the server, the process. Idempotent. */
  async close(): Promise<void> {
    this.closed = true;
    this.closing?.abort(new ConnectionClosedError("The client is closed"));
    const closed = this.parts.transport.close();
    this.session?.stop();
    await closed;
  }

  /** The same as {@linkcode close}: for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Aborted when the client is closed. */
  closes(): AbortSignal {
    return (this.closing ??= new AbortController()).signal;
  }

  /** @internal A request that only reads: here a cache may stand in between. */
  read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return this.request(method, params, options);
  }

  /** @internal Takes a result in; throws when it is not what its method promises. */
  accepted({ method }: ClientRequest, result: JsonObject, shape: string): void {
    checked(method, result, shape);
    if (shape === "tools/call") result.content ??= [];
  }

  /** @internal Something changed at the server. */
  changed?(change: Change): void;

  /** @internal A session was opened: the first one, or one in the place of another. */
  opened?(session: Session): Promise<void>;

  /** Whether an error is met by opening another session, at once. */
  protected again?(error: unknown, known?: ServerInfo): boolean | void;

  /** @internal The session, if it is open: not the old one while another is opened in its place. */
  protected get usable(): Session | undefined {
    return this.#opening ? undefined : this.session;
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
  protected revive?(): Promise<void> | void;

  async #open(): Promise<Session> {
    await this.revive?.();
    const { clock, timeouts } = this.parts;
    const { start } = timeouts;
    const open = (rest: number): Promise<Session> =>
      this.open({ ...this.parts, timeouts: { ...timeouts, start: rest } });
    const session = await this.#again(
      open(start),
      { method: "initialize", params: {}, options: {} },
      clock.monotonic() + start,
      undefined,
      open,
    );
    await this.opened?.(session);
    // Closed meanwhile: nobody else would stop it.
    if (this.closed) session.stop();
    return this.session = session;
  }

  async #send(request: ClientRequest, endsAt?: number): Promise<JsonObject> {
    const { options } = request;
    const { timeout, timeouts } = options;
    const { clock, timeouts: usual } = this.parts;
    const controller = new AbortController();
    const most = timeouts?.total ?? timeout ?? usual.total;
    const stop = endsAt
      ? clock.schedule(
        () => controller.abort(new TimeoutError(most === timeout ? "call" : "total", most, { delivery: "not-sent" })),
        endsAt - clock.monotonic(),
      )
      : undefined;
    const session = await unlessAborted(this.ready(options), controller.signal).finally(stop);
    return session.request({ ...request, options: { ...options, endsAt } });
  }

  /** @internal What becomes of a request that failed. */
  failed(error: unknown, { request, totalAt, known }: FailedRequest): Promise<JsonObject> {
    return this.#again(Promise.reject(error), request, totalAt, known);
  }

  /**
   * Tries again, as long as the retry rule lets it.
   *
   * @param work The first attempt.
   * @param endsAt By the monotonic clock.
   * @param known What was known of the server when the first attempt was sent.
   * @param attempt Makes another one, in the milliseconds that are left; sends the request, unless it is given.
   */
  async #again<Value>(
    work: Promise<Value>,
    request: ClientRequest,
    endsAt: number,
    known?: ServerInfo,
    attempt: (rest: number) => Promise<unknown> = () => this.#send(request, endsAt),
  ): Promise<Value> {
    const { method, options } = request;
    const { clock, transport } = this.parts;
    for (let attempts = 1;; work = attempt(endsAt - clock.monotonic()) as Promise<Value>, known = undefined) {
      try {
        return await work;
      } catch (error) {
        if (this.again?.(error, known)) continue;
        const final = this.closed || (method === "initialize" && transport.kind !== "http");
        const delay = final ? Infinity : this.#retries.delay(error, method, attempts++, options.idempotent);
        if (!(endsAt - clock.monotonic() > delay)) throw finalError(error, method, this.label);
        let stop: (() => void) | undefined;
        await unlessAborted(
          unlessAborted(new Promise<void>((resolve) => stop = clock.schedule(resolve, delay)), options.signal),
          this.closes(),
        ).finally(stop);
      }
    }
  }
}

/** What `work` gives, unless the caller gives up first; the work itself goes on for the others who wait for it. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

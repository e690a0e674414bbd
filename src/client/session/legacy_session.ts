/**
 * A session of the handshake era: `initialize`, a session id over HTTP, and requests in both directions
 * (specification 2024-11-05 to 2025-11-25: lifecycle).
 *
 * @module
 */
import { McpError, SessionLostError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { decodeInitialize, decodeLegacy, initializeParams } from "../../protocol/legacy.ts";
import { legacyRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { LoggingLevel, LogMessage } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { LegacyInput } from "../input/seam.ts";
import { changeOf } from "../listen/change.ts";
import type { LegacyListening } from "../listen/seam.ts";
import type { Call, CallHost } from "./call.ts";
import { Caller } from "./caller.ts";
import type { RequestClock, RequestOptions } from "./caller.ts";
import type { ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session.ts";

/** A session as plain JSON. `sessionId` is a secret. */
export interface LegacyState {
  revision: Revision;
  info: ServerInfo;
  sessionId?: string | undefined;
}

/** Speaks the handshake revisions over any transport. */
export class LegacySession implements Session, CallHost {
  readonly era = "legacy";
  revision: Revision = legacyRevisions[0] as Revision;
  info: ServerInfo = { server: undefined, capabilities: {}, instructions: undefined };
  readonly #parts: SessionParts;
  readonly #caller: Caller;
  readonly #input: LegacyInput | undefined;
  readonly stream: LegacyListening | undefined;
  #send: SendOptions = { legacy: true };
  #logLevel: LoggingLevel | undefined;
  #generation = 0;
  #opening: Promise<void> | undefined;

  private constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#caller = new Caller(parts.transport, parts);
    this.#input = parts.inputs?.legacy(parts, () => this.#send);
    this.stream = parts.listening?.legacy(parts, this, () => this.#send);
    if (parts.transport.kind === "channel") {
      parts.transport.open?.({ message: (message) => this.take(message), end() {} });
    }
  }

  /**
   * Opens a session: `initialize`, then `notifications/initialized`.
   *
   * @throws {UnsupportedVersionError} When there is no revision in common.
   * @throws {McpError} Whatever the transport met with.
   */
  static async open(parts: SessionParts, options: RequestOptions): Promise<LegacySession> {
    const session = new LegacySession(parts);
    await session.#initialize(options);
    return session;
  }

  /** Goes on with a session that another client opened. No request is made. */
  static resume(parts: SessionParts, state: LegacyState): LegacySession {
    const session = new LegacySession(parts);
    session.info = state.info;
    session.#agreed(state.revision);
    session.stream?.ready();
    return session;
  }

  async request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject> {
    options.signal?.throwIfAborted();
    const clock = this.#caller.startClock(options);
    for (let round = 1;; round++) {
      try {
        return decodeLegacy(method, await this.#attempt(method, params, options, clock));
      } catch (error) {
        const controller = new AbortController();
        const satisfied = round > this.#parts.limits.inputRounds
          ? undefined
          : this.#input?.satisfy(error, controller.signal);
        if (!satisfied) throw error;
        await this.#caller.within(satisfied, options, clock).finally(() => controller.abort());
      }
    }
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (reason?: unknown): void => reason ? reject(reason) : resolve();
      this.#parts.transport.send({ jsonrpc: "2.0", method, params }, { message() {}, end }, this.#send);
    });
  }

  start(method: string, params: JsonObject, host: CallHost): Call {
    const request = {};
    const clock = this.#caller.startClock(request);
    return this.#caller.start(this.#caller.nextId(), method, params, { host, request, clock, send: this.#send });
  }

  async setLogLevel(level: LoggingLevel, options: RequestOptions): Promise<void> {
    this.#logLevel = level;
    await this.request("logging/setLevel", { level }, options);
  }

  stop(): void {
    this.stream?.stop();
    this.#input?.stop();
    this.#caller.timers.stop();
  }

  /** Takes what belongs to no request as well as what comes beside an answer. */
  take(message: JsonRpcMessage): void {
    if (!("method" in message)) return;
    if ("id" in message) this.requested(message);
    else this.notified(message);
  }

  notified({ method, params }: JsonRpcNotification): void {
    const change = changeOf(method, params);
    if (change) {
      this.#parts.changed(change);
      this.stream?.changed(change);
    } else if (method === "notifications/message" && params) this.#parts.logged(params as unknown as LogMessage);
    else this.#input?.notified(method, params);
  }

  requested(request: JsonRpcRequest): void {
    const { id, method } = request;
    if (method !== "ping" && this.#input) return this.#input.requested(request);
    const body = method === "ping"
      ? { result: {} }
      : { error: { code: -32601, message: `"${method}" is not supported` } };
    this.#parts.transport.send({ jsonrpc: "2.0", id, ...body }, undefined, this.#send);
  }

  /** One request; a session that the server has forgotten is opened anew, once, and the request repeated: it was not run. */
  async #attempt(
    method: string,
    params: JsonObject,
    options: SessionRequestOptions,
    clock: RequestClock,
  ): Promise<JsonObject> {
    const generation = this.#generation;
    try {
      return await this.#call(method, params, options, clock);
    } catch (error) {
      if (!(error instanceof SessionLostError) || method === "initialize") throw error;
      if (generation === this.#generation) await this.#reopen();
      return await this.#call(method, params, options, clock);
    }
  }

  #call(
    method: string,
    params: JsonObject,
    options: SessionRequestOptions,
    clock: RequestClock,
  ): Promise<JsonObject> {
    const id = this.#caller.nextId();
    if (options.meta || options.onProgress || method === "tools/call") {
      const progressToken = options.onProgress || method === "tools/call" ? id : undefined;
      params = {
        ...params,
        _meta: { ...params._meta as JsonObject, ...options.meta, ...(progressToken && { progressToken }) },
      };
    }
    const send = options.headers
      ? { ...this.#send, headers: { ...this.#send.headers, ...options.headers } }
      : this.#send;
    return this.#caller.start(id, method, params, { host: this, request: options, clock, send }).result;
  }

  async #initialize(options: RequestOptions): Promise<void> {
    const { capabilities: declared, clientInfo, timeouts } = this.#parts;
    this.#send = { legacy: true };
    const request = { timeout: timeouts.start, ...options };
    const params = initializeParams(declared, clientInfo);
    const answer = await this.#call("initialize", params, request, this.#caller.startClock(request));
    const { revision, result } = decodeInitialize(answer);
    const { serverInfo: server, capabilities, instructions } = result;
    this.info = { server, capabilities, instructions };
    this.#agreed(revision);
    await this.notify("notifications/initialized", {}).catch((error) => {
      // Some servers answer the notice with an error and work all the same; what is really wrong shows in the next request.
      this.#parts.logger?.({ level: "debug", message: "notifications/initialized was refused", fields: { error } });
    });
    this.stream?.ready();
  }

  #agreed(revision: Revision): void {
    this.revision = revision;
    this.#parts.transport.batches = revision === "2025-03-26";
    this.#send = { legacy: true, headers: { "MCP-Protocol-Version": revision } };
    this.#generation++;
  }

  /** Once, however many requests found the session lost. */
  #reopen(): Promise<void> {
    return this.#opening ??= this.#openAgain().finally(() => this.#opening = undefined);
  }

  async #openAgain(): Promise<void> {
    await this.#parts.transport.restart?.();
    try {
      await this.#initialize({});
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      throw new SessionLostError("The server lost the session and a new one could not be opened", {
        cause: error,
        delivery: "not-sent",
      });
    }
    if (this.#logLevel) await this.request("logging/setLevel", { level: this.#logLevel }, {});
    await this.stream?.reopened();
    for (const type of ["tools", "prompts", "resources"] as const) this.#parts.changed({ type, missed: true });
  }
}

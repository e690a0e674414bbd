/**
 * A session of the handshake era: `initialize`, a session id over HTTP, and requests in both directions
 * (specification 2024-11-05 to 2025-11-25: lifecycle).
 *
 * @module
 */
import { McpError, SessionLostError, TimeoutError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { decodeInitialize, decodeLegacy, initializeParams } from "../../protocol/legacy.ts";
import { legacyRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { LogMessage } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { LegacyInput } from "../input/seam.ts";
import type { LegacyListening } from "../listen/seam.ts";
import type { Call, CallHost } from "./call.ts";
import { Caller } from "./caller.ts";
import type { RequestClock } from "./caller.ts";
import { deliver, unknownServer } from "./session.ts";
import type { ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session.ts";

/** Speaks the handshake revisions over any transport. {@linkcode open} it, or {@linkcode agree} on what is known of it. */
export class LegacySession implements Session, CallHost {
  readonly era = "legacy";
  revision: Revision = legacyRevisions[0] as Revision;
  info: ServerInfo = unknownServer;
  readonly stream: LegacyListening | undefined;
  readonly #parts: SessionParts;
  readonly #caller: Caller;
  readonly #input: LegacyInput | undefined;
  #send: SendOptions = { legacy: true };
  #generation = 0;
  #opening: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    const send = (): SendOptions => this.#send;
    this.#parts = parts;
    this.#caller = new Caller(parts.transport, parts);
    this.#input = parts.inputs?.legacy(parts, send);
    this.stream = parts.listening?.legacy(parts, this, send);
    if (parts.transport.kind === "channel") {
      parts.transport.open?.({ message: (message) => this.take(message), end: (reason) => this.stream?.lost(reason) });
    }
  }

  /**
   * Opens the session: `initialize`, then `notifications/initialized`.
   *
   * @throws {UnsupportedVersionError} When there is no revision in common.
   * @throws {McpError} Whatever the transport met with.
   */
  async open(): Promise<this> {
    const { capabilities, clientInfo, timeouts, logger } = this.#parts;
    this.#send = { legacy: true };
    const request: SessionRequestOptions = { timeout: timeouts.start, named: "start" };
    const params = initializeParams(capabilities, clientInfo);
    const answer = await this.#call("initialize", params, request, this.#caller.startClock(request));
    const { revision, result } = decodeInitialize(answer);
    this.agree(revision, {
      server: result.serverInfo,
      capabilities: result.capabilities,
      instructions: result.instructions,
    });
    await this.notify("notifications/initialized", {}).catch((error) => {
      // Some servers answer the notice with an error and work all the same; what is really wrong shows in the next request.
      logger?.({ level: "debug", message: "notifications/initialized was refused", fields: { error } });
    });
    await this.stream?.ready();
    return this;
  }

  /** Goes on as agreed, here or in another process. No request is made. */
  agree(revision: Revision, info: ServerInfo): void {
    this.revision = revision;
    this.info = info;
    this.#parts.transport.batches = revision === "2025-03-26";
    this.#send = { legacy: true, headers: { "MCP-Protocol-Version": revision } };
    this.#generation++;
  }

  async request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject> {
    options.signal?.throwIfAborted();
    const clock = this.#caller.startClock(options);
    for (let round = 1;; round++) {
      try {
        const result = await this.#attempt(method, params, options, clock);
        // What was asked for as a task is answered by a task: who asked looks at its shape.
        return params.task === undefined ? decodeLegacy(method, result) : result;
      } catch (error) {
        const controller = new AbortController();
        const more = round <= this.#parts.limits.inputRounds;
        const satisfied = more ? this.#input?.satisfy(error, controller.signal) : undefined;
        if (!satisfied) throw error;
        try {
          await this.#caller.wait(satisfied, options, clock);
        } catch (reason) {
          controller.abort(reason);
          // The server need not tell that its user is done: then its own answer stands, and the caller may try again.
          throw reason instanceof TimeoutError ? error : reason;
        }
      }
    }
  }

  start(method: string, params: JsonObject, host: CallHost): Call {
    const clock = this.#caller.startClock({});
    return this.#caller.start(this.#caller.nextId(), method, params, { host, request: {}, clock, send: this.#send });
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return deliver(this.#parts.transport, { jsonrpc: "2.0", method, params }, this.#send);
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
    if (method === "notifications/message" && params) this.#parts.logged(params as unknown as LogMessage);
    this.stream?.notified(method, params);
    this.#input?.notified(method, params);
  }

  requested(request: JsonRpcRequest, call?: Call): void {
    const { id, method } = request;
    if (method !== "ping" && this.#input) {
      return void this.#caller.timers.hold(this.#input.requested(request, call?.result));
    }
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
      if (!(error instanceof SessionLostError)) throw error;
      // Once, however many requests found the session lost.
      if (generation === this.#generation) {
        this.#opening ??= this.#reopen().finally(() => this.#opening = undefined);
        await this.#caller.wait(this.#opening, options, clock);
      }
      return await this.#call(method, params, options, clock);
    }
  }

  #call(method: string, params: JsonObject, options: SessionRequestOptions, clock: RequestClock): Promise<JsonObject> {
    const id = this.#caller.nextId();
    const { meta, headers, onProgress } = options;
    const progressToken = onProgress || method === "tools/call" ? id : undefined;
    if (meta || progressToken) params = { ...params, _meta: { ...params._meta as JsonObject, ...meta, progressToken } };
    const send = headers ? { ...this.#send, headers: { ...this.#send.headers, ...headers } } : this.#send;
    return this.#caller.start(id, method, params, { host: this, request: options, clock, send }).result;
  }

  async #reopen(): Promise<void> {
    try {
      await this.#parts.transport.restart?.();
      await this.open();
    } catch (cause) {
      if (!(cause instanceof McpError)) throw cause;
      throw new SessionLostError("The server lost the session and a new one could not be opened", { cause });
    }
    await this.#parts.reopened(this);
  }
}

/**
 * What both eras have in common: requests with ids and deadlines, notifications, and what comes beside an answer.
 *
 * @module
 */
import type { JsonObject, JsonRpcMessage, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import type { Era, Revision } from "../../protocol/revisions.ts";
import { lowered } from "../../protocol/headers.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { LegacyInput } from "../input/seam.ts";
import type { LegacyListening } from "../listen/seam.ts";
import { Call } from "./call.ts";
import type { CallHost, CallSession } from "./call.ts";
import { Deadlines } from "./deadlines.ts";
import type { CallTimeouts } from "./deadlines.ts";
import type { ClientRequest, RequestOwner, ServerInfo } from "./request.ts";
import type { Session, SessionParts } from "./session.ts";

/** Makes calls on one transport, in the manners that an era adds. */
export abstract class Caller extends Deadlines implements Session, CallSession {
  abstract readonly era: Era;
  abstract revision: Revision;
  info: ServerInfo = { capabilities: {} } as ServerInfo;
  declare readonly firstWait: keyof CallTimeouts;
  /** Legacy: what the server sends on its own account, and what answers its requests. */
  declare stream: LegacyListening | undefined;
  declare protected input: LegacyInput | undefined;
  declare readonly parts: SessionParts;
  /** The id of the last request. They begin at random, so that no answer to another's fits; some servers take no texts, nor more than 31 bits. */
  #id: number;

  constructor(parts: SessionParts) {
    const { transport, clock, random, timeouts } = parts;
    super(clock, timeouts);
    this.parts = parts;
    this.#id = random.bytes(4).reduce((id, byte) => id << 7 ^ byte);
    this.firstWait = transport.kind === "http" ? "headers" : "idle";
    if (transport.kind === "http") return;
    transport.open?.({ message: (message) => this.take(message), end: (reason) => this.stream?.lost(reason) });
  }

  /** Goes on as agreed, here or in another process. No request is made. */
  agree(revision: Revision = this.revision, info: ServerInfo = this.info): this {
    this.revision = revision;
    this.info = info;
    this.parts.transport.batches = revision === "2025-03-26";
    return this;
  }

  protected abstract requested(request: JsonRpcRequest, call?: Call): void;

  abstract accept(result: JsonObject, call: Call): JsonObject | Promise<JsonObject>;

  abstract recover(error: unknown, call: Call): Promise<JsonObject> | undefined;

  /** The headers and marks of a message. */
  abstract dress(method: string, params: JsonObject): SendOptions & { headers: Record<string, string> };

  /** The `_meta` of every message. */
  abstract meta(): JsonObject | undefined;

  request(request: ClientRequest, owner?: RequestOwner, now?: number): Promise<JsonObject> {
    const call = new Call(request, this, undefined, undefined, now);
    call.owner = owner;
    return this.#send(Object.assign(call, request.options.resume)).result;
  }

  start(request: ClientRequest, host: CallHost): Call {
    return this.#send(new Call(request, this, host));
  }

  /** Sends the next round or attempt of a public request. */
  protected next(call: Call, changes: Partial<Pick<Call, "repeats" | "round">>): Promise<JsonObject> {
    return this.#send(Object.assign(new Call(call.request, this, undefined, call), changes)).result;
  }

  /** Waits for `work` between two rounds, but no longer than the request lives, and gives up with its caller. */
  protected wait(work: Promise<JsonObject | void>, call: Call): Promise<JsonObject> {
    return new Call(call.request, this, this, call).follow(work);
  }

  /** Sends a call's request. */
  #send(call: Call): Call {
    if (call.settled) return call;
    const { transport } = this.parts;
    const { request: { method, params: given, options }, input } = call;
    const id = call.id = ++this.#id;
    call.known = this.info;
    const { meta, headers, onProgress } = options;
    const progressToken = onProgress || method === "tools/call" ? id : undefined;
    const own = this.meta();
    let params = input ? { ...given, ...input } : given;
    if (own || meta || progressToken) {
      const { name, arguments: args, _meta: old } = params;
      const _meta: JsonObject = old || meta
        ? { ...old as JsonObject, ...meta, ...own, progressToken }
        : { ...own, progressToken };
      // The usual ones of a tool call are spelled out: a spread with a new key is several times dearer.
      params = args !== undefined && Object.keys(params).length === 2
        ? { name, arguments: args, _meta }
        : { ...params, _meta };
    }
    try {
      options.sent?.(id);
      if (onProgress) this.stream?.hear();
      const dress = transport.kind === "http" ? this.dress(method, params) : undefined;
      if (dress && headers) Object.assign(dress.headers, lowered(headers));
      call.started(transport.send({ jsonrpc: "2.0", id, method, params }, call, dress));
    } catch (error) {
      // What is no JSON, has headers beyond the limits, or is not to be sent any more, cannot be sent.
      call.abort(error);
    }
    return call;
  }

  notify(method: string, params: JsonObject): Promise<void> {
    const _meta = this.meta();
    return new Promise((resolve, reject) => {
      this.parts.transport.send(
        {
          jsonrpc: "2.0",
          method,
          params: _meta ? { ...params, _meta: { ...params._meta as JsonObject, ..._meta } } : params,
        },
        { message() {}, end: (reason) => reason ? reject(reason) : resolve() },
        this.dress(method, params),
      );
    });
  }

  override stop(): void {
    this.stream?.stop();
    this.input?.stop();
    super.stop();
  }

  /** Takes what belongs to no request as well as what comes beside an answer. */
  take(message: JsonRpcMessage, call?: Call): void {
    if (!("method" in message)) return;
    const { method, params } = message;
    if ("id" in message) return this.requested(message, call);
    for (const part of [this.parts.inputs, this.parts.tasks, this.stream, this.input]) {
      part?.notified(method, params, call);
    }
  }
}

/**
 * What both eras have in common: requests with ids and deadlines, notifications, and what comes beside an answer.
 *
 * @module
 */
import type { JsonObject, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import type { Era, Revision } from "../../protocol/revisions.ts";
import type { LogMessage } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { LegacyInput } from "../input/seam.ts";
import type { LegacyListening } from "../listen/seam.ts";
import { Call } from "./call.ts";
import type { CallHost, RequestClock } from "./call.ts";
import { Deadlines } from "./deadlines.ts";
import { unknownServer } from "./session.ts";
import type { ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session.ts";

export type { RequestOptions } from "./session.ts";

/** One public request on its way: its clock, and what its caller said. */
export interface PublicRequest extends RequestClock {
  readonly options: SessionRequestOptions;
}

/** Makes calls on one transport, in the manners that an era adds. */
export abstract class Caller implements Session, CallHost {
  abstract readonly era: Era;
  abstract readonly revision: Revision;
  info: ServerInfo = unknownServer;
  /** Legacy: what the server sends on its own account, and what answers its requests. */
  stream: LegacyListening | undefined;
  protected input: LegacyInput | undefined;
  protected readonly parts: SessionParts;
  protected readonly timers: Deadlines;
  readonly #prefix: string;
  #count = 0;

  constructor(parts: SessionParts) {
    const { transport, clock, random } = parts;
    this.parts = parts;
    this.timers = new Deadlines(clock);
    this.#prefix = Array.from(random.bytes(11), (byte) => (byte % 36).toString(36)).join("") + "-";
    if (transport.kind === "http") return;
    transport.open?.({ message: (message) => this.take(message), end: (reason) => this.stream?.lost(reason) });
  }

  abstract request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject>;

  abstract requested(request: JsonRpcRequest, call?: Call): void;

  /** The headers and marks of a message. */
  protected abstract dress(method: string, params: JsonObject): SendOptions & { headers: Record<string, string> };

  /** The `_meta` of every message. */
  protected abstract meta(): JsonObject | undefined;

  /** Makes good what an error tells of, so that the request can be sent once more; throws the error where it cannot. */
  protected abstract mend(error: unknown, info: ServerInfo, clock: PublicRequest): Promise<void> | void;

  /** Starts the clock of one public request. */
  protected startClock(options: SessionRequestOptions): PublicRequest {
    const { signal, timeout, timeouts: given, named } = options;
    signal?.throwIfAborted();
    const { timeouts: usual, clock } = this.parts;
    const all = timeout !== undefined && { headers: timeout, idle: timeout, total: timeout };
    const timeouts = all || given ? { ...usual, ...all, ...given } : usual;
    return {
      time: clock,
      timers: this.timers,
      options,
      timeouts,
      totalAt: clock.monotonic() + timeouts.total,
      named: named ?? (all ? "call" : undefined),
    };
  }

  /** Sends a request once more, after what the error tells of was made good. */
  protected async resend(
    error: unknown,
    info: ServerInfo,
    { method, params, clock }: { method: string; params: JsonObject; clock: PublicRequest },
  ): Promise<JsonObject> {
    await this.mend(error, info, clock);
    return await this.send(method, params, clock).result;
  }

  /** Sends one request and gives its call. Its id is unguessable in front and counted behind. */
  protected send(method: string, params: JsonObject, clock: PublicRequest, host: CallHost = this): Call {
    const { transport } = this.parts;
    const id = this.#prefix + ++this.#count;
    const { meta, mirrored, headers, onProgress } = clock.options;
    const progressToken = onProgress || method === "tools/call" ? id : undefined;
    const own = this.meta();
    if (own || meta || progressToken) params = withMeta(params, { given: meta, own, progressToken });
    const isHttp = transport.kind === "http";
    const dress = isHttp ? this.dress(method, params) : undefined;
    if (dress && (mirrored || headers)) Object.assign(dress.headers, mirrored, headers);
    const call = new Call(id, method, { clock, host, firstWait: isHttp ? "headers" : "idle" });
    try {
      call.started(transport.send({ jsonrpc: "2.0", id, method, params }, call, dress));
    } catch (error) {
      // What is no JSON cannot be sent.
      call.abort(error);
    }
    return call;
  }

  start(method: string, params: JsonObject, host: CallHost): Call {
    return this.send(method, params, this.startClock({}), host);
  }

  /** Waits for `work`, but no longer than the request lives, and gives up with its caller. */
  protected wait(work: Promise<JsonObject | void>, clock: PublicRequest): Promise<JsonObject> {
    return new Call("", "", { clock, host: this, firstWait: "total" }).follow(work);
  }

  notify(method: string, params: JsonObject): Promise<void> {
    const _meta = this.meta();
    return new Promise((resolve, reject) => {
      this.parts.transport.send(
        { jsonrpc: "2.0", method, params: _meta ? { ...params, _meta } : params },
        { message() {}, end: (reason) => reason ? reject(reason) : resolve() },
        this.dress(method, params),
      );
    });
  }

  stop(): void {
    this.stream?.stop();
    this.input?.stop();
    this.timers.stop();
  }

  /** Takes what belongs to no request as well as what comes beside an answer. */
  take(message: JsonRpcMessage): void {
    if (!("method" in message)) return;
    if ("id" in message) this.requested(message);
    else this.notified(message);
  }

  notified({ method, params }: JsonRpcNotification): void {
    const { handlers, logger } = this.parts;
    try {
      if (method === "notifications/message" && params) handlers.log?.(params as unknown as LogMessage);
    } catch (error) {
      logger?.({ level: "warning", message: "The log handler failed", fields: { error } });
    }
    this.stream?.notified(method, params);
    this.input?.notified(method, params);
  }
}

/** Parameters with their `_meta`. The usual ones of a tool call are spelled out: a spread with a new key is several times dearer. */
function withMeta(
  params: JsonObject,
  { given, own, progressToken }: {
    given: JsonObject | undefined;
    own: JsonObject | undefined;
    progressToken: string | undefined;
  },
): JsonObject {
  const { name, arguments: args, _meta: old } = params;
  const _meta: JsonObject = old || given
    ? { ...old as JsonObject, ...given, ...own, progressToken }
    : own
    ? { ...own, progressToken }
    : { progressToken };
  return args !== undefined && Object.keys(params).length === 2
    ? { name, arguments: args, _meta }
    : { ...params, _meta };
}

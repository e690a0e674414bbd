/**
 * A session of the modern era: no state at the server, one request brings back all that belongs to it
 * (specification 2026-07-28).
 *
 * @module
 */
import { LimitExceededError, UnsupportedVersionError } from "../../protocol/errors.ts";
import { modernHeaders } from "../../protocol/headers.ts";
import type { JsonObject, JsonRpcNotification } from "../../protocol/json_rpc.ts";
import { decodeModern, invalid, modernMeta } from "../../protocol/modern.ts";
import { commonRevision, modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { InputRequiredResult, LoggingLevel, LogMessage } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { Call, CallHost } from "./call.ts";
import { Caller } from "./caller.ts";
import type { RequestClock } from "./caller.ts";
import { deliver, unknownServer } from "./session.ts";
import type { ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session.ts";

const firstStatePause = 50;
const longestStatePause = 250;

/** Speaks 2026-07-28 over any transport. */
export class ModernSession implements Session, CallHost {
  readonly era = "modern";
  revision: Revision;
  info: ServerInfo;
  /** How much the server should log, told on every request. */
  logLevel: LoggingLevel | undefined;
  readonly #parts: SessionParts;
  readonly #caller: Caller;

  constructor(parts: SessionParts, revision: Revision, info: ServerInfo = unknownServer) {
    this.#parts = parts;
    this.#caller = new Caller(parts.transport, parts);
    this.revision = revision;
    this.info = info;
    if (parts.transport.kind === "http") return;
    parts.transport.open?.({
      message: (message) => {
        if ("method" in message) "id" in message ? this.requested() : this.notified(message);
      },
      end() {},
    });
  }

  async request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject> {
    const { signal, resume } = options;
    signal?.throwIfAborted();
    const clock = this.#caller.startClock(options);
    let round = resume?.round ?? 0;
    for (let input = resume?.input;;) {
      const result = await this.#round(method, { ...params, ...input }, options, clock);
      if (decodeModern(method, result, options.resultTypes) !== "input_required") {
        // What took answers is nobody else's: it must not be kept (specification: caching, Cacheable Results).
        return round > 0 && result.ttlMs ? { ...result, ttlMs: 0 } : result;
      }
      const { inputRounds } = this.#parts.limits;
      if (++round > inputRounds) {
        throw new LimitExceededError("limits.inputRounds", inputRounds, round, { delivery: "answered" });
      }
      const { inputRequests, requestState } = result as unknown as InputRequiredResult;
      const controller = new AbortController();
      const at = {
        method,
        params,
        round,
        requestState,
        server: this.#parts.transport.label,
        signal: controller.signal,
      };
      const work = inputRequests && Object.keys(inputRequests).length > 0
        ? this.#parts.inputs?.answerAll(inputRequests, at)
        : this.#pause(round);
      if (!work) throw invalid(method, "it asks for input, which was not declared");
      input = await this.#caller.wait(work, options, clock).catch((reason) => {
        controller.abort(reason);
        throw reason;
      });
      if (requestState !== undefined) input = { ...input, requestState };
    }
  }

  start(method: string, params: JsonObject, host: CallHost): Call {
    const clock = this.#caller.startClock({});
    const send = { headers: this.#headers(method, params) };
    return this.#caller.start(this.#caller.nextId(), method, { ...params, _meta: this.#meta() }, {
      host,
      request: {},
      clock,
      send,
    });
  }

  notify(method: string, params: JsonObject): Promise<void> {
    const headers = this.#headers(method, params);
    return deliver(this.#parts.transport, { jsonrpc: "2.0", method, params: { ...params, _meta: this.#meta() } }, {
      headers,
    });
  }

  stop(): void {
    this.#caller.timers.stop();
  }

  notified({ method, params }: JsonRpcNotification): void {
    if (method === "notifications/message" && params) this.#parts.logged(params as unknown as LogMessage);
  }

  /** A modern server sends no requests: this one is dropped (specification: transports, Messages). */
  requested(): void {
    this.#parts.logger?.({ level: "warning", message: "A modern server sent a request: it was dropped" });
  }

  /** One request and its result; a server that wants another revision gets it, once. */
  async #round(
    method: string,
    params: JsonObject,
    options: SessionRequestOptions,
    clock: RequestClock,
  ): Promise<JsonObject> {
    try {
      return await this.#send(method, params, options, clock);
    } catch (error) {
      const revision = error instanceof UnsupportedVersionError && commonRevision(modernRevisions, error.supported);
      if (!revision) throw error;
      this.revision = revision;
      return await this.#send(method, params, options, clock);
    }
  }

  #send(method: string, params: JsonObject, options: SessionRequestOptions, clock: RequestClock): Promise<JsonObject> {
    const id = this.#caller.nextId();
    const _meta: JsonObject = { ...params._meta as JsonObject, ...options.meta, ...this.#meta() };
    if (options.onProgress || method === "tools/call") _meta.progressToken = id;
    const headers = this.#headers(method, params);
    const send: SendOptions = { headers: Object.assign(headers, options.mirrored, options.headers) };
    return this.#caller.start(id, method, { ...params, _meta }, { host: this, request: options, clock, send }).result;
  }

  /** A round that only hands a state over is paced. */
  #pause(round: number): Promise<undefined> {
    return new Promise((resolve) => {
      this.#parts.clock.schedule(() => resolve(undefined), Math.min(firstStatePause * round, longestStatePause));
    });
  }

  #headers(method: string, params: JsonObject): Record<string, string> {
    return modernHeaders(method, params, this.revision, this.#parts.limits);
  }

  #meta(): JsonObject {
    const { capabilities, clientInfo } = this.#parts;
    return modernMeta({ revision: this.revision, capabilities, clientInfo, logLevel: this.logLevel });
  }
}

/**
 * A session of the modern era: no state at the server, one request brings back all that belongs to it
 * (specification 2026-07-28).
 *
 * @module
 */
import { LimitExceededError, ProtocolViolationError, UnsupportedVersionError } from "../../protocol/errors.ts";
import { modernHeaders } from "../../protocol/headers.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcNotification } from "../../protocol/json_rpc.ts";
import { decodeModern, modernMeta } from "../../protocol/modern.ts";
import { commonRevision, modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { InputRequiredResult, LoggingLevel, LogMessage } from "../../protocol/types.ts";
import type { InputAnswers } from "../input/seam.ts";
import type { Call, CallHost } from "./call.ts";
import { Caller } from "./caller.ts";
import type { RequestClock } from "./caller.ts";
import type { ServerInfo, Session, SessionParts, SessionRequestOptions } from "./session.ts";

const firstStatePause = 50;
const longestStatePause = 250;
const nobody: ServerInfo = { server: undefined, capabilities: {}, instructions: undefined };

/** What a round adds to the original parameters. */
type RoundInput = { inputResponses?: JsonObject; requestState?: string };

/** Speaks 2026-07-28 over any transport. */
export class ModernSession implements Session, CallHost {
  readonly era = "modern";
  revision: Revision;
  info: ServerInfo;
  readonly #parts: SessionParts;
  readonly #caller: Caller;
  #logLevel: LoggingLevel | undefined;
  #meta: JsonObject;

  constructor(parts: SessionParts, revision: Revision, info: ServerInfo = nobody) {
    this.#parts = parts;
    this.#caller = new Caller(parts.transport, parts);
    this.revision = revision;
    this.info = info;
    this.#meta = this.#envelope();
    if (parts.transport.kind === "channel") {
      parts.transport.open?.({ message: (message) => this.#unsolicited(message), end() {} });
    }
  }

  async request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject> {
    options.signal?.throwIfAborted();
    const clock = this.#caller.startClock(options);
    let round = options.resume?.round ?? 0;
    let input = roundInput(options.resume?.inputResponses, options.resume?.requestState);
    for (;;) {
      const result = await this.#round(method, { ...params, ...input }, options, clock);
      if (decodeModern(method, result, options.resultTypes) !== "input_required") return result;
      const limit = this.#parts.limits.inputRounds;
      if (++round > limit) {
        throw new LimitExceededError("limits.inputRounds", limit, round, { method, delivery: "answered" });
      }
      input = await this.#gather({ method, params, round }, result as unknown as InputRequiredResult, options, clock);
    }
  }

  notify(method: string, params: JsonObject): Promise<void> {
    const message = { jsonrpc: "2.0" as const, method, params: { ...params, _meta: this.#meta } };
    return new Promise((resolve, reject) => {
      const end = (reason?: unknown): void => reason ? reject(reason) : resolve();
      this.#parts.transport.send(message, { message() {}, end }, {
        headers: modernHeaders(method, params, this.revision),
      });
    });
  }

  start(method: string, params: JsonObject, host: CallHost): Call {
    const request = {};
    return this.#caller.start(this.#caller.nextId(), method, { ...params, _meta: this.#meta }, {
      host,
      request,
      clock: this.#caller.startClock(request),
      send: { headers: modernHeaders(method, params, this.revision) },
    });
  }

  setLogLevel(level: LoggingLevel): Promise<void> {
    this.#logLevel = level;
    this.#meta = this.#envelope();
    return Promise.resolve();
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

  #unsolicited(message: JsonRpcMessage): void {
    if (!("method" in message)) return;
    if ("id" in message) this.requested();
    else this.notified(message);
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
      if (!(error instanceof UnsupportedVersionError)) throw error;
      const revision = commonRevision(modernRevisions, error.supported);
      if (!revision) throw error;
      this.revision = revision;
      this.#meta = this.#envelope();
      return await this.#send(method, params, options, clock);
    }
  }

  #send(method: string, params: JsonObject, options: SessionRequestOptions, clock: RequestClock): Promise<JsonObject> {
    const id = this.#caller.nextId();
    const _meta: JsonObject = { ...params._meta as JsonObject, ...options.meta, ...this.#meta };
    if (options.onProgress || method === "tools/call") _meta.progressToken = id;
    const headers = modernHeaders(method, params, this.revision);
    const send = {
      headers: options.headers || options.mirrored ? { ...headers, ...options.mirrored, ...options.headers } : headers,
    };
    return this.#caller.start(id, method, { ...params, _meta }, { host: this, request: options, clock, send }).result;
  }

  /** Answers what the server asks for; a round that only hands a state over is paced. */
  async #gather(
    at: { method: string; params: JsonObject; round: number },
    result: InputRequiredResult,
    options: SessionRequestOptions,
    clock: RequestClock,
  ): Promise<RoundInput> {
    const { inputRequests, requestState } = result;
    const controller = new AbortController();
    const { signal } = controller;
    const { inputs, transport, clock: time } = this.#parts;
    const asked = inputRequests && Object.keys(inputRequests).length > 0;
    if (asked && !inputs) {
      throw new ProtocolViolationError("The server asks for input that was not declared", { delivery: "answered" });
    }
    const work = asked
      ? (inputs as InputAnswers).answerAll(inputRequests, { ...at, requestState, server: transport.label, signal })
      : new Promise<undefined>((resolve) => {
        time.schedule(() => resolve(undefined), Math.min(firstStatePause * at.round, longestStatePause));
      });
    try {
      return roundInput(await this.#caller.within(work, options, clock), requestState);
    } finally {
      controller.abort();
    }
  }

  #envelope(): JsonObject {
    const { capabilities, clientInfo } = this.#parts;
    return modernMeta({ revision: this.revision, capabilities, clientInfo, logLevel: this.#logLevel });
  }
}

function roundInput(inputResponses: JsonObject | undefined, requestState: string | undefined): RoundInput {
  return { ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
}

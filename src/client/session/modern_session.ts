/**
 * A session of the modern era: no state at the server, one request brings back all that belongs to it
 * (specification 2026-07-28).
 *
 * @module
 */
import { UnsupportedVersionError } from "../../protocol/errors.ts";
import { modernHeaders } from "../../protocol/headers.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { checkLimit } from "../../protocol/limits.ts";
import { decodeModern, invalid, metaPrefix } from "../../protocol/modern.ts";
import { commonRevision, modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { InputRequiredResult, LoggingLevel } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import { Caller } from "./caller.ts";
import type { ServerInfo, SessionParts, SessionRequestOptions } from "./session.ts";

const revisionKey = metaPrefix + "protocolVersion";
const firstStatePause = 50;
const longestStatePause = 250;

/** Speaks 2026-07-28 over any transport. */
export class ModernSession extends Caller {
  readonly era = "modern";
  revision: Revision;
  readonly #meta: JsonObject;

  constructor(parts: SessionParts, revision: Revision, info?: ServerInfo) {
    super(parts);
    const { clientInfo, capabilities: { roots, ...capabilities } } = parts;
    this.revision = revision;
    if (info) this.info = info;
    this.#meta = {
      [revisionKey]: revision,
      // What is told when roots change exists in the handshake era only.
      [metaPrefix + "clientCapabilities"]: (roots ? { ...capabilities, roots: {} } : capabilities) as JsonObject,
      [metaPrefix + "clientInfo"]: clientInfo as unknown as JsonObject,
    };
  }

  /** How much the server should log, told on every request. */
  set logLevel(level: LoggingLevel) {
    this.#meta[metaPrefix + "logLevel"] = level;
  }

  async request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject> {
    const { inputs, limits: { inputRounds }, transport: { label: server } } = this.parts;
    const clock = this.startClock(options);
    let { input, round }: { input?: JsonObject; round: number } = options.resume ?? { round: 0 };
    for (;;) {
      const all = input ? { ...params, ...input } : params;
      const { info } = this;
      let result: JsonObject;
      try {
        result = await this.send(method, all, clock).result;
      } catch (error) {
        result = await this.resend(error, info, { method, params: all, clock });
      }
      if (decodeModern(method, result, options.resultTypes) !== "input_required") {
        // What took answers is nobody else's: it must not be kept (specification: caching, Cacheable Results).
        return round > 0 && result.ttlMs ? { ...result, ttlMs: 0 } : result;
      }
      checkLimit("inputRounds", inputRounds, ++round, { delivery: "answered" });
      const { inputRequests, requestState } = result as unknown as InputRequiredResult;
      const controller = new AbortController();
      const { signal } = controller;
      const work = inputRequests && Object.keys(inputRequests).length > 0
        ? inputs?.answerAll(inputRequests, { method, params, round, requestState, server, signal })
        : this.#pause(round);
      if (!work) throw invalid(method, "it must not ask for input");
      input = await this.wait(work, clock).catch((reason) => {
        controller.abort(reason);
        throw reason;
      });
      if (requestState !== undefined) input = { ...input, requestState };
    }
  }

  /** A modern server sends no requests: this one is dropped (specification: transports, Messages). */
  requested(): void {
    this.parts.logger?.({ level: "warning", message: "A server's request was dropped" });
  }

  protected dress(method: string, params: JsonObject): SendOptions & { headers: Record<string, string> } {
    return { headers: modernHeaders(method, params, this.revision, this.parts.limits) };
  }

  /** Said on every message (specification: basic, Per-request protocol fields). */
  protected meta(): JsonObject {
    return this.#meta;
  }

  /** A server that wants another revision gets it, once. */
  protected mend(error: unknown): void {
    const revision = error instanceof UnsupportedVersionError && commonRevision(modernRevisions, error.supported);
    if (!revision) throw error;
    this.#meta[revisionKey] = this.revision = revision;
  }

  /** A round that only hands a state over is paced. */
  #pause(round: number): Promise<undefined> {
    return new Promise((resolve) => {
      this.parts.clock.schedule(() => resolve(undefined), Math.min(firstStatePause * round, longestStatePause));
    });
  }
}

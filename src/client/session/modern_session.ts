/**
 * A session of the modern era: no state at the server, one request brings back all that belongs to it
 * (specification 2026-07-28).
 *
 * @module
 */
import { UnsupportedVersionError } from "../../protocol/errors.ts";
import { modernHeaders, plainHeaderValue } from "../../protocol/headers.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { checkLimit } from "../../protocol/limits.ts";
import { invalid, metaPrefix, modernShape } from "../../protocol/modern.ts";
import { commonRevision, modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { LoggingLevel } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { Call } from "./call.ts";
import { Caller } from "./caller.ts";
import type { Session, SessionParts } from "./session.ts";

/** Speaks 2026-07-28 over any transport. */
export class ModernSession extends Caller {
  readonly era = "modern";
  revision: Revision = modernRevisions[0] as Revision;
  readonly #meta: JsonObject;

  constructor(parts: SessionParts) {
    super(parts);
    const { clientInfo, capabilities } = parts;
    this.#meta = {
      [metaPrefix + "protocolVersion"]: "",
      // What is told when roots change exists in the handshake era only.
      [metaPrefix + "clientCapabilities"]: { ...capabilities, ...(capabilities.roots && { roots: {} }) } as JsonObject,
      [metaPrefix + "clientInfo"]: clientInfo as unknown as JsonObject,
    };
  }

  accept(result: JsonObject, call: Call): JsonObject | Promise<JsonObject> {
    const { request, round } = call;
    const { method } = request;
    const shape = modernShape(method, result, request.options.resultTypes);
    this.parts.client().accepted(request, result, shape);
    if (shape === "input_required") return this.#nextRound(result, call);
    // What took answers is nobody else's: it must not be kept (specification: caching, Cacheable Results). Of a task it is its own time.
    if (round > 1 && result.ttlMs && shape === method) result.ttlMs = 0;
    return result;
  }

  /** A server that wants another revision, or headers from other definitions of its tools, gets them, once. */
  recover(error: unknown, call: Call): Promise<JsonObject> | undefined {
    if (call.repeats) return undefined;
    if (error instanceof UnsupportedVersionError) {
      const revision = commonRevision(modernRevisions, error.supported);
      if (!revision) return undefined;
      this.revision = revision;
      return this.next(call, { repeats: true });
    }
    const { client, mirror } = this.parts;
    const renewed = mirror?.renewed(error, call.request, call.totalAt - this.clock.monotonic(), client());
    return renewed?.then(() => this.next(call, { repeats: true }));
  }

  async #nextRound(result: JsonObject, call: Call): Promise<JsonObject> {
    const firstPause = 50;
    const longestPause = 250;
    const { request, round } = call;
    const { inputs, limits } = this.parts;
    checkLimit("inputRounds", limits.inputRounds, round, { delivery: "answered" });
    const wait = (work: Promise<JsonObject | void>): Promise<JsonObject> => this.wait(work, call);
    const input = Object.keys(result.inputRequests ?? {}).length
      ? inputs?.answerRound(result, call, this.parts.transport.label, wait)
      // A round that only hands a state over is paced.
      : wait(
        new Promise((resolve) => {
          this.clock.schedule(resolve, Math.min(firstPause * round, longestPause));
        }),
      );
    if (!input) throw invalid(request.method, "it asks for input");
    const resume = { input: { ...await input, requestState: result.requestState }, round: round + 1 };
    const { owner, totalAt: endsAt } = call;
    // What is tried again from here on is this round: the ones before it have run.
    call.owner = undefined;
    return this.request({ ...request, options: { ...request.options, endsAt, resume } }, owner);
  }

  /** A modern server sends no requests: this one is dropped (specification: transports, Messages). */
  protected requested(): void {
    this.parts.inputs?.dropped();
  }

  dress(method: string, params: JsonObject): SendOptions & { headers: Record<string, string> } {
    const { limits, mirror } = this.parts;
    const headers = modernHeaders(method, params, this.revision, mirror?.encode ?? plainHeaderValue, limits);
    if (method === "tools/call") Object.assign(headers, mirror?.headers(params, limits));
    return { headers, read: mirror?.reads(method) };
  }

  /** Said on every message (specification: basic, Per-request protocol fields); what is put into it is said from then on. */
  override meta(): JsonObject {
    this.#meta[metaPrefix + "protocolVersion"] = this.revision;
    return this.#meta;
  }
}

/** From now on tells a modern server with each request how much it should log; false: it is no modern one. */
export function sayLevel(session: Session, level: LoggingLevel): boolean {
  if (!(session instanceof ModernSession)) return false;
  session.meta()[metaPrefix + "logLevel"] = level;
  return true;
}

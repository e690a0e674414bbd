/**
 * A call that questions of a server may belong to.
 *
 * @module
 */
import { TimeoutError } from "../protocol/errors.ts";
import type { JsonObject, JsonValue } from "../protocol/json_rpc.ts";
import type { InputRequest, LogMessage, Progress } from "../protocol/types.ts";

/** A call that a relay knows: of a client in front of a gateway, or of the run of an agent. */
export interface RelayedCall {
  /** The server behind. */
  readonly server: string;
  /** Names who calls, where that is known. */
  readonly caller: string | undefined;
  /** The `_meta` that the server is given: an object of this call alone, by which it is known again. */
  readonly meta: JsonObject;
  /** Whether a legacy server is asked for a task (false). */
  readonly wantsTask?: boolean | undefined;
  /** Whether its caller cannot be asked: the relay's own handlers answer, where it has some (false). */
  readonly isUnattended?: boolean | undefined;
  /** Takes what the server logs, while somebody is there to hear it. */
  readonly context?: { log(level: LogMessage["level"], data: JsonValue, logger?: string): void } | undefined;
  /** Hears how far the server is, while somebody is there to hear it. */
  readonly progress?: ((progress: Progress) => void) | undefined;
  /**
   * Asks whoever calls something for the server, while the call is open.
   *
   * @param signal Aborted when the server does not want to know any more.
   * @returns The answer as it travels.
   * @throws {MissingCapabilityError} When the caller cannot be asked this.
   */
  ask(request: InputRequest, signal: AbortSignal): Promise<JsonObject>;
  /** It goes on as a task behind, and in front too where the caller can follow one; any other caller waits. */
  goOnAsTask?(): Promise<void>;
}

/** Whether a call failed by being given up while its server has it: that may still ask something for it. */
export function isLate(error: unknown): boolean {
  return error instanceof TimeoutError && error.delivery !== "not-sent";
}

/** By this a call's `_meta` is known again, also where a middleware has made another object of it. It never travels. */
const callKey = Symbol("causeway.call");

/** The calls that a relay knows. */
export class RelayedCalls {
  readonly #calls = new Set<RelayedCall>();

  /** From now on it is one of them. */
  add(call: RelayedCall): void {
    Object.defineProperty(call.meta, callKey, { value: call, enumerable: true, configurable: true });
    this.#calls.add(call);
  }

  /** It is over. */
  delete(call: RelayedCall): void {
    this.#calls.delete(call);
  }

  /** The one with this `_meta`. */
  find(meta: JsonObject | undefined): RelayedCall | undefined {
    const call: RelayedCall | undefined = meta && Reflect.get(meta, callKey);
    return call && this.#calls.has(call) ? call : undefined;
  }

  /** Those at a server. */
  at(server: string): RelayedCall[] {
    return [...this.#calls].filter((call) => call.server === server);
  }
}

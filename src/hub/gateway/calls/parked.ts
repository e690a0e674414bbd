/**
 * Calls that wait for their caller's answers.
 *
 * @module
 */
import type { Passage } from "./passage.ts";

/** How many calls of one caller may wait. */
const most = 1_000;

/** A call that waits. */
export interface ParkedCall {
  readonly passage: Passage;
  /** What ends it with itself. */
  readonly owner: object;
  /** Stops its clock. */
  readonly stop: () => void;
  /** Gives it up. */
  readonly expire: () => void;
}

/** The calls that wait, of all gateways that share a relay: the answers may come to another one. */
export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();

  /** Keeps a call; with one too many of its caller, the oldest of theirs is given up. */
  add(id: string, call: ParkedCall): void {
    this.#calls.set(id, call);
    if (this.#calls.size <= most) return;
    const { caller } = call.passage;
    const own = [...this.#calls.values()].filter(({ passage }) => passage.caller === caller);
    if (own.length > most) own[0]?.expire();
  }

  /** Takes the call of somebody out; undefined when there is none of theirs at this server. */
  take(id: string, { server, caller }: Pick<Passage, "server" | "caller">): ParkedCall | undefined {
    const found = this.#calls.get(id);
    if (found?.passage.server !== server || found.passage.caller !== caller) return undefined;
    this.#calls.delete(id);
    return found;
  }

  /** Forgets a call. */
  delete(id: string): void {
    this.#calls.delete(id);
  }

  /** Gives up all that one gateway has begun. */
  expire(owner: object): void {
    for (const call of [...this.#calls.values()]) if (call.owner === owner) call.expire();
  }
}

/**
 * The shape of the fault matrix: what a call comes to when one thing goes wrong.
 *
 * @module
 */
import type { Delivery } from "../../../mod.ts";

/** What a call comes to. */
export interface Outcome {
  /** `resolves`, or the class that it rejects with. */
  readonly ends: string;
  /** What the error has to say about it; the ledger has to agree. */
  readonly delivery?: Delivery | undefined;
  /** How often the tool ran, by the server's own ledger. */
  readonly ran: number;
  /** How often the request was sent (1). */
  readonly sent?: number;
  /** The option that a time-out or limit names. */
  readonly names?: string;
  /**
   * Milliseconds of virtual time that it takes, exactly. Without it the clock stands still: it was the fault that ended the
   * call, not a timer.
   */
  readonly after?: number;
  /** Requests of the server that were answered, once each (legacy). */
  readonly answers?: number;
  /** On a pipe: messages without a place, which are counted while the call goes on. */
  readonly counted?: number;
}

/** A cell that is proved in another file, or does not apply. */
export interface Elsewhere {
  /** The test file. */
  readonly see?: string;
  /** Why there is nothing to prove here. */
  readonly none?: string;
}

/** One cell of the matrix. */
export type Cell = Outcome | Elsewhere;

/** One row of the matrix over HTTP. */
export interface HttpRow {
  /** The row of the plan: F1 to F48. */
  readonly f: string;
  readonly modern: Cell;
  readonly legacy: Cell;
  /** How many bytes, items or messages the fault makes at most. */
  readonly size?: number;
}

/** True for a cell that the suite runs. */
export function isOutcome(cell: Cell): cell is Outcome {
  return "ends" in cell;
}

/** It resolves with the right text, and the tool ran once. */
export const right: Outcome = { ends: "resolves", ran: 1 };

/** The tool may have run, and nobody knows. */
export function unknown(ran: number, more: Partial<Outcome> = {}): Outcome {
  return { ends: "OutcomeUnknownError", delivery: "unknown", ran, ...more };
}

/** The reply breaks the protocol. */
export function violation(ran: number, delivery: Delivery = "unknown", more: Partial<Outcome> = {}): Outcome {
  return { ends: "ProtocolViolationError", delivery, ran, ...more };
}

/** A limit was hit; the option is named. */
export function limit(names: string, more: Partial<Outcome> = {}): Outcome {
  return { ends: "LimitExceededError", delivery: "unknown", ran: 0, names: `limits.${names}`, ...more };
}

/** A time-out ran out; the option is named. */
export function timeout(names: string, after: number, more: Partial<Outcome> = {}): Outcome {
  return { ends: "TimeoutError", delivery: "unknown", ran: 0, names, after, ...more };
}

/** The server itself said no. */
export function refused(ends: string, more: Partial<Outcome> = {}): Outcome {
  return { ends, delivery: "answered", ran: 0, ...more };
}

/** It certainly did not run. */
export function notSent(ends: string, more: Partial<Outcome> = {}): Outcome {
  return { ends, delivery: "not-sent", ran: 0, ...more };
}

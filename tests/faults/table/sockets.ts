/**
 * The matrix on real sockets: what no `Response` in memory can express.
 *
 * @module
 */
import type { SocketFault } from "../../servers/hostile_socket.ts";
import { type Outcome, right, timeout, unknown, violation } from "./row.ts";

/** One row. */
export interface SocketRow {
  readonly f: string;
  readonly modern: Outcome;
  readonly legacy: Outcome;
  /** What another runtime makes of the same bytes: right too. */
  readonly or?: Outcome;
}

/** Faults of an open connection; those of the connecting have a test of their own. */
export type CallFault = Exclude<SocketFault, "refused" | "reset-at-once" | "stale-connection">;

/** All rows. */
export const socketRows: Readonly<Record<CallFault, SocketRow>> = {
  "healthy": both("-", right),
  "reset-before-headers": both("5", unknown(1)),
  "end-before-headers": both("5", unknown(1)),
  "reset-after-headers": both("6", unknown(1)),
  "reset-mid-stream": both("6", unknown(1)),
  "reset-after-event-id": { f: "7", modern: unknown(1), legacy: unknown(1, { sent: 3 }) },
  "headers-never": both("3", timeout("headers", 300)),
  "headers-drip": both("3", timeout("headers", 300)),
  "half-open": both("9", timeout("idle", 300, { ran: 1 })),
  "truncated-chunk": both("10", unknown(1)),
  "chunks-without-end": both("8", unknown(1)),
  "bad-chunk-size": both("11", unknown(1)),
  "short-length": { ...both("10", unknown(1)), or: violation(1) },
  // Cut in the middle: some runtimes refuse the surplus, others give what the head promised.
  "long-body": { ...both("11", violation(1)), or: unknown(1) },
  // Refused by the runtime at 16 KiB and the like, or by our time-out.
  "headers-endless": { ...both("16", unknown(0)), or: timeout("headers", 300) },
  "status-garbage": both("11", unknown(0)),
  "gzip-garbage": { ...both("11", unknown(0)), or: violation(0) },
  "gzip-truncated": { ...both("10", unknown(0)), or: violation(0) },
};

function both(f: string, outcome: Outcome): SocketRow {
  return { f, modern: outcome, legacy: outcome };
}

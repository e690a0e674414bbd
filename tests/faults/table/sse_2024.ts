/**
 * The matrix over HTTP+SSE of 2024-11-05: what can go wrong with the POSTs and with the opening of the stream.
 *
 * @module
 */
import type { SseFault } from "../support/hostile_sse_2024.ts";
import { limit, notSent, type Outcome, refused, timeout, unknown } from "./row.ts";

/** One row: faults of the GET end `connect`, the others a call. */
export interface SseRow {
  readonly f: string;
  readonly cell: Outcome;
}

/** All rows. Every POST goes over one pipe: one that is refused ends it, and the next call opens a new one. */
export const sseRows: Readonly<Record<SseFault, SseRow>> = {
  "post-never": { f: "3", cell: timeout("idle", 60_000) },
  "post-500": { f: "19", cell: unknown(0) },
  "post-404": { f: "20", cell: unknown(0) },
  "post-401": { f: "24", cell: refused("UnauthorizedError") },
  "post-429": { f: "18", cell: unknown(0) },
  "post-moved": { f: "26", cell: refused("RedirectRefusedError") },
  "post-breaks": { f: "5", cell: unknown(0) },
  "get-never": { f: "3", cell: notSent("TimeoutError", { names: "start", after: 30_000 }) },
  // The remembered binding is doubted, and the server is asked by which one it speaks: what it says to the POST counts.
  "get-404": { f: "20", cell: refused("HttpStatusError", { sent: 2 }) },
  "get-html": { f: "29", cell: notSent("ProtocolViolationError") },
  "get-breaks": { f: "5", cell: notSent("ConnectionClosedError") },
  "endpoint-never": { f: "3", cell: notSent("TimeoutError", { names: "start", after: 30_000 }) },
  "endpoint-foreign": { f: "26", cell: notSent("RedirectRefusedError") },
  "endpoint-garbage": { f: "26", cell: notSent("RedirectRefusedError") },
  "truncated-event": { f: "10", cell: unknown(1) },
  "endless-line": { f: "16", cell: limit("messageBytes", { ran: 1 }) },
};

/**
 * The matrix on pipes that all requests share: both eras in memory (which stands for stdio and WebSocket), and HTTP+SSE of
 * 2024-11-05.
 *
 * @module
 */
import type { PipeFault } from "../support/pipe_faults.ts";
import { type Cell, limit, type Outcome, right, timeout, unknown, violation } from "./row.ts";

/** One row. */
export interface PipeRow {
  readonly f: string;
  readonly modern: Cell;
  readonly legacy: Cell;
  readonly sse2024: Cell;
}

/** The columns. */
export const pipeColumns = ["modern", "legacy", "sse2024"] as const;

/** What names nobody may be noise of a library: it is counted, and the call waits for its own answer. */
const waits: Outcome = timeout("idle", 60_000, { ran: 1, counted: 1 });
const noResultType: Outcome = right;

/** All rows on pipes. */
export const pipeRows: Readonly<Record<PipeFault, PipeRow>> = {
  "bad-json": all("11", waits),
  "noise": all("11", { ...right, counted: 1 }),
  "wrong-id": all("12", waits),
  "string-id": all("12", right),
  "list-id": all("12", waits),
  "null-id": all("12", waits),
  "no-id": all("12", waits),
  "answer-of-another": all("13", { ...right, counted: 1 }),
  "no-jsonrpc": all("15", violation(1)),
  "result-and-error": all("15", violation(1)),
  "neither": all("15", violation(1)),
  "result-not-object": all("15", violation(1)),
  "error-not-object": all("15", violation(1)),
  "error-without-code": all("15", violation(1)),
  "error-without-id": all("15", waits),
  "batch": all("15", waits),
  "text-message": all("15", waits),
  "empty-object": all("15", waits),
  "unknown-result-type": { ...all("15", noResultType), modern: violation(1, "answered") },
  "malformed-result": all("15", violation(1, "answered")),
  "duplicate-answer": all("14", { ...right, counted: 1 }),
  "second-answer-differs": all("14", { ...right, counted: 1 }),
  "server-request": { ...all("30", { ...right, answers: 1 }), modern: right },
  "server-ping": { ...all("30", { ...right, answers: 1 }), modern: right },
  "unknown-notification": all("30", right),
  "progress-flood": all("32", right),
  "progress-backwards": all("32", right),
  "progress-foreign-token": all("32", right),
  "depth-bomb": all("17", limit("jsonDepth", { ran: 1 })),
  "node-bomb": all("17", limit("jsonNodes", { ran: 1 })),
  "silent": all("3", timeout("idle", 60_000, { ran: 1 })),
  "infinite-pages": all("34", { ends: "resolves", ran: 0, sent: 100 }),
  "ends-before": all("8", unknown(0)),
  "ends-after": all("8", unknown(1)),
  "write-throws": {
    ...all("45", unknown(0)),
    sse2024: { none: "its writes are POSTs: see post-* in sse_2024_test.ts" },
  },
  "write-rejects": {
    ...all("45", unknown(0)),
    sse2024: { none: "its writes are POSTs: see post-* in sse_2024_test.ts" },
  },
  "stuck": { ...all("41", timeout("idle", 60_000)), sse2024: { none: "see post-never in sse_2024_test.ts" } },
};

function all(f: string, outcome: Outcome): PipeRow {
  return { f, modern: outcome, legacy: outcome, sse2024: outcome };
}

/**
 * The matrix over HTTP: faults in time, order and amount of bytes.
 *
 * @module
 */
import type { ByteFault } from "../../servers/faults/bytes.ts";
import type { StreamFault } from "../../servers/faults/streams.ts";
import { type HttpRow, limit, type Outcome, right, timeout, unknown, violation } from "./row.ts";

const mebibyte = 2 ** 20;

/** Rows of streams that end, break, stall or swell. `messageBytes` is 1 MiB and `streamBytes` 2 MiB in the suite. */
export const streamRows: Readonly<Record<StreamFault | ByteFault, HttpRow>> = {
  "ends-without-answer": both("8", unknown(1)),
  "ends-after-progress": both("8", unknown(1)),
  "empty-stream": both("8", unknown(0)),
  "truncated-event": both("10", unknown(1)),
  "truncated-json": both("11", violation(1)),
  "breaks-at-once": both("5", unknown(1)),
  "breaks-mid-event": both("6", unknown(1)),
  // Resumed twice, after 500 and 800 ms: the server's `retry: 1` is clamped.
  "breaks-after-event-id": { f: "7", modern: unknown(1), legacy: unknown(1, { sent: 3, after: 1_300 }) },
  "network-error": both("5", unknown(0)),
  "headers-never": both("3", timeout("headers", 30_000)),
  "stalls": both("9", timeout("idle", 60_000)),
  "drip": both("4", timeout("idle", 60_000)),
  "retry-zero": { f: "31", modern: unknown(0), legacy: unknown(0, { sent: 3, after: 1_300 }) },
  // The server asks to wait for 300 s (clamped), which is longer than a call may be idle.
  "retry-huge": { f: "31", modern: unknown(0), legacy: timeout("idle", 60_000) },
  "get-closes": {
    f: "31",
    modern: { none: "there is no GET stream in 2026-07-28" },
    legacy: { see: "reconnect_test.ts" },
  },
  "endless-line": large(limit("messageBytes")),
  "endless-event": large(limit("messageBytes")),
  "endless-comments": large(limit("streamBytes")),
  "endless-messages": large(limit("streamBytes")),
  "endless-json": large(limit("messageBytes")),
  "huge-json": large(limit("messageBytes")),
  "huge-event": large(limit("messageBytes")),
  "gzip-bomb": large(limit("messageBytes")),
  "deflate-bomb": large(limit("messageBytes")),
  "br-bomb": large(limit("messageBytes")),
  "error-body-huge": large(unknown(0)),
  "error-body-endless": large(unknown(0)),
  "depth-bomb": { ...both("17", limit("jsonDepth")), size: 1_000 },
  "node-bomb": { ...both("17", limit("jsonNodes")), size: 600_000 },
  // In memory a body is as long as it is; over a socket the runtime takes the head at its word.
  "length-lie": both("16", right),
  "invalid-utf8": both("11", violation(1)),
};

function both(f: string, outcome: Outcome): HttpRow {
  return { f, modern: outcome, legacy: outcome };
}

function large(outcome: Outcome): HttpRow {
  return { ...both("16", outcome), size: 16 * mebibyte };
}

/**
 * Waiting for a file that another process writes.
 *
 * SQLite's own way of waiting looks less and less often, ten times a second in the end: beside a process that writes without a
 * break, whose pauses are far shorter, somebody who waits so gets nothing for seconds and then gives up.
 *
 * @module
 */
import { McpError } from "../../protocol/errors.ts";

/** Milliseconds between two looks. */
const pause = 1;
const nobody = new Int32Array(new SharedArrayBuffer(4));

/**
 * Does something with the file as soon as no other process keeps it from that. The thread sleeps in between.
 *
 * @param milliseconds How long at most.
 * @throws {McpError} When the time is over.
 */
export function insist<Value>(milliseconds: number, work: () => Value): Value {
  let until: number | undefined;
  for (;;) {
    try {
      return work();
    } catch (cause) {
      if (!/database is (?:locked|busy)/.test(String(cause))) throw cause;
      const now = performance.now();
      until ??= now + milliseconds;
      if (now >= until) {
        const message =
          `Cannot use the database: another process keeps it locked, and "busyTimeout" is ${milliseconds}`;
        throw new McpError(message, { cause });
      }
      Atomics.wait(nobody, 0, 0, pause);
    }
  }
}

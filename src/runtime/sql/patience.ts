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
/**
 * Who has waited this long, in milliseconds, is beside somebody whose pauses are of microseconds: such a pause is met by looks
 * without a break, for 15 of every 50 ms, so that the one who writes has the processor, too.
 */
const denseFrom = 250;
const isDense = (waited: number): boolean => waited > denseFrom && waited % 50 < 15;
const nobody = new Int32Array(new SharedArrayBuffer(4));

/**
 * Does something with the file as soon as no other process keeps it from that. The thread sleeps in between.
 *
 * @param milliseconds How long at most.
 * @throws {McpError} When the time is over.
 */
export function insist<Value>(milliseconds: number, work: () => Value): Value {
  let since: number | undefined;
  for (;;) {
    try {
      return work();
    } catch (cause) {
      if (!/database is (?:locked|busy)/.test(String(cause))) throw cause;
      const now = performance.now();
      since ??= now;
      const waited = now - since;
      if (waited >= milliseconds) {
        const message =
          `Cannot use the database: another process keeps it locked, and "busyTimeout" is ${milliseconds}`;
        throw new McpError(message, { cause });
      }
      if (!isDense(waited)) Atomics.wait(nobody, 0, 0, pause);
    }
  }
}

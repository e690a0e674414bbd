/**
 * What goes wrong inside of what is served, for the person at the terminal: who asks is told no more than that it did.
 *
 * @module
 */
import type { Logger } from "../../../ports.ts";
import { writeError } from "../../terminal.ts";
import { firstLine, oneLine } from "../../text/plain.ts";

/** How long the same is not said again, in milliseconds: what fails is tried again and again. */
const pause = 60_000;
/** How many lines are remembered, and how long one may be, in characters. */
const most = { lines: 100, length: 500 } as const;

/** Makes a logger that says errors on the standard error, each of them once a minute. */
export function createFaultTeller(): Logger {
  const said = new Map<string, number>();
  return ({ level, message, fields }) => {
    if (level !== "error") return;
    const reason = fields?.reason ?? fields?.error;
    const why = reason instanceof Error ? reason.message : reason;
    const line = firstLine(oneLine(why === undefined ? message : `${message}: ${String(why)}`), most.length);
    const now = performance.now();
    if (now - (said.get(line) ?? -Infinity) < pause) return;
    if (said.size >= most.lines) said.clear();
    said.set(line, now);
    void writeError(`causeway: ${line}\n`);
  };
}

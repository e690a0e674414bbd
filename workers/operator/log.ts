/**
 * Log lines of the Worker, one JSON object each: what Workers Logs can be asked about.
 *
 * @module
 */
import type { Logger } from "../../src/ports.ts";
import type { AuditLog } from "../../src/runner/mod.ts";

/** Writes a line; errors by their messages. */
export const logger: Logger = ({ level, message, fields = {} }) => {
  const shown = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.message : value]);
  console.log(JSON.stringify({ level, message, ...Object.fromEntries(shown) }));
};

/** Each decision as a line: who, what, outcome, and the hash of the arguments. */
export const audit: AuditLog = {
  write: (row) => console.log(JSON.stringify({ level: "info", message: "decided", ...row })),
};

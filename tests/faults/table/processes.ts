/**
 * The matrix on child processes, both eras: one row for every fault of `children/server.sh`.
 *
 * @module
 */
import { limit, type Outcome, right, timeout, unknown, violation } from "./row.ts";

/** One row. */
export interface ProcessRow {
  readonly f: string;
  readonly cell: Outcome;
  /** How the process ended, where it did. */
  readonly exit?: { readonly exitCode: number | null; readonly signal: string | null };
}

const exited: Outcome = { ends: "PeerExitedError", delivery: "unknown", ran: 1 };
const silence: Outcome = timeout("idle", 300, { ran: 1 });

/** All rows. */
export const processRows: Readonly<Record<string, ProcessRow>> = {
  "kill": { f: "38", cell: exited, exit: { exitCode: null, signal: "SIGKILL" } },
  "exit": { f: "38", cell: exited, exit: { exitCode: 3, signal: null } },
  "exit-quietly": { f: "38", cell: exited, exit: { exitCode: 0, signal: null } },
  "grandchild": { f: "39", cell: exited, exit: { exitCode: 0, signal: null } },
  "grandchild-kill": { f: "39", cell: exited, exit: { exitCode: null, signal: "SIGKILL" } },
  "close-output": { f: "40", cell: unknown(1) },
  "truncated-line": { f: "10", cell: exited, exit: { exitCode: 0, signal: null } },
  "silent": { f: "3", cell: silence },
  "deaf": { f: "41", cell: silence },
  "close-input": { f: "41", cell: silence },
  "bad-json": { f: "11", cell: { ...silence, counted: 1 } },
  "wrong-id": { f: "12", cell: { ...silence, counted: 1 } },
  "noise": { f: "12", cell: right },
  "duplicate-answer": { f: "14", cell: right },
  "result-and-error": { f: "15", cell: violation(1) },
  "endless-line": { f: "16", cell: limit("messageBytes", { ran: 1 }) },
  "long-line": { f: "16", cell: limit("messageBytes", { ran: 1 }) },
  "stderr-flood": { f: "43", cell: right },
  "notification-flood": { f: "32", cell: right },
  "banner": { f: "44", cell: right },
  "stubborn": { f: "42", cell: right },
};

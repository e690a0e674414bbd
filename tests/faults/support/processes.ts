/**
 * Hostile child processes, their ledger, and how long they are given.
 *
 * @module
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { connect } from "../../../src/entry/local.ts";
import { type Client, type Clock, systemClock } from "../../../mod.ts";
import { isAlive } from "../../suites/spawn.ts";

/** What a process did, by its own ledger, which outlives it. */
export interface ProcessLedger {
  readonly command: { command: string; args: string[] };
  /** How often the tool ran. */
  ran(): number;
  /** How often the program was started. */
  started(): number;
  /** Processes of it, and of those it left behind, that are alive. */
  alive(): number[];
  /** Removes the ledger. */
  remove(): void;
}

/** Makes a program with one fault; nothing is started yet. */
export function hostileProgram(fault: string, era: "modern" | "legacy"): ProcessLedger {
  const folder = mkdtempSync(join(tmpdir(), "causeway-faults-"));
  const file = join(folder, "ledger");
  const lines = () => existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  // The tests run from the repository's root, also where they were compiled to somewhere else.
  const script = join(process.cwd(), "tests/faults/children/server.sh");
  return {
    command: { command: "/bin/sh", args: [script, fault, file, era] },
    ran: () => lines().filter((line) => line === "ran").length,
    started: () => lines().filter((line) => line.startsWith("started")).length,
    alive: () =>
      lines().flatMap((line) => /^(?:started|grandchild) (\d+)$/.exec(line)?.[1] ?? []).map(Number).filter(isAlive),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Connects to a program. */
export function connectProgram(program: ProcessLedger, clock: Clock = systemClock): Promise<Client> {
  return connect(program.command, { limits: { messageBytes: 2 ** 20 }, timeouts: { close: 150 }, clock });
}

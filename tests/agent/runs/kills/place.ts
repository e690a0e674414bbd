/**
 * A file, a ledger, and processes over them that are killed.
 *
 * @module
 */
import { assert } from "@std/assert";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createRuns } from "../../../../src/agent/mod.ts";
import type { DurableRuns, RunEvent, Runs, RunsOptions } from "../../../../src/agent/mod.ts";
import { newerNodePath } from "../../../../tools/test/newer_node.ts";
import { endProcess, startProcess } from "../../../../tools/process.ts";
import { bunPath, denoPath, root } from "../../../../tools/programs.ts";
import { openAnyDatabase } from "../support/database.ts";
import { eventsOf } from "../support/runs.ts";
import { checkTail, checkTally, emptyTally, type LedgerServer, startLedger, tallyRun } from "./ledger.ts";
import { newerProgram } from "./newer_program.ts";
import { idOf, rounds } from "./plan.ts";

/** What processes are told. */
export interface PlaceOptions {
  /** Rounds of each run. */
  readonly rounds?: number;
  /** What they seal with (nothing). */
  readonly secret?: string;
  /** How long runs get to end when no process is killed any more, in milliseconds (30,000). */
  readonly patience?: number;
}

/** How each runtime starts a program. */
async function commandsOf(): Promise<Readonly<Record<string, readonly string[] | undefined>>> {
  const [bun, deno, node] = [bunPath(), denoPath(), await newerNodePath()];
  return {
    bun: bun === undefined ? undefined : [bun],
    deno: deno === undefined ? undefined : [deno, "run", "-A", "--no-check"],
    node: node === undefined ? undefined : [node, "--no-warnings"],
  };
}

/** A place for one test: a file, a ledger, and processes over them. */
export class Place {
  readonly rounds: number;
  readonly accepted: Set<string> = new Set();
  readonly #folder: string;
  readonly #ledger: LedgerServer;
  readonly #command: readonly string[];
  readonly #programs: readonly string[];
  readonly #secret: string;
  readonly #patience: number;
  readonly #running: Set<ChildProcess> = new Set();
  problems = "";
  #next = 0;
  /** Why a process ended that nobody had killed. */
  #endedEarly: Error | undefined;

  /** @param programs The program, and the one that takes its place. */
  constructor(
    parts: { folder: string; ledger: LedgerServer; command: readonly string[]; programs: readonly string[] },
    options: PlaceOptions,
  ) {
    this.#folder = parts.folder;
    this.#ledger = parts.ledger;
    this.#command = parts.command;
    this.#programs = parts.programs;
    this.rounds = options.rounds ?? rounds;
    this.#secret = options.secret ?? "";
    this.#patience = options.patience ?? 30_000;
  }

  get folder(): string {
    return this.#folder;
  }

  get file(): string {
    return join(this.#folder, "runs.db");
  }

  get ledger(): LedgerServer {
    return this.#ledger;
  }

  /** Starts a process, which starts so many new runs; resolves when it is ready. */
  async start(
    count: number,
    { point = "", nth = 1, version = 1 }: { point?: string; nth?: number; version?: number } = {},
  ): Promise<ChildProcess> {
    const first = this.#next;
    this.#next += count;
    const parameters = [this.file, this.#ledger.url, first, count, point, nth, this.rounds, this.#secret].map(String);
    const child = startProcess([...this.#command, this.#programs[version - 1] ?? "", ...parameters]);
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    child.stderr?.setEncoding("utf8").on(
      "data",
      (text: string) => this.problems = (this.problems + text).slice(-4_000),
    );
    const lines = child.stdout && createInterface({ input: child.stdout });
    await new Promise<void>((resolve, reject) => {
      child.once("exit", () => reject(new Error(`A keeper ended early: ${this.problems}`)));
      lines?.on("line", (line) => {
        if (line === "ready") {
          child.once("exit", (code, signal) => {
            if (signal === null) this.#endedEarly = new Error(`A keeper ended with ${code}: ${this.problems}`);
          });
          resolve();
        }
        const [word, id = ""] = line.split(" ");
        if (word === "accepted") this.accepted.add(id);
      });
    });
    return child;
  }

  /** Reads what the processes have left: this one takes no run. */
  async openReader(path: string = this.file, agents: RunsOptions["agents"] = {}): Promise<DurableRuns> {
    const database = await openAnyDatabase(path);
    const sealing = this.#secret === "" ? {} : { secret: this.#secret };
    const runs = createRuns({ database, agents, watchdog: 1_000, ...sealing });
    const close = runs.close.bind(runs);
    return Object.assign(runs, {
      async close() {
        await close();
        database.close?.();
      },
    });
  }

  /** Waits until the first runs are accepted. */
  async accept(count: number): Promise<void> {
    while (!this.accepted.has(idOf(count - 1))) await this.#wait(2);
  }

  /** Waits until all that was accepted has ended. */
  async finish(runs: Runs): Promise<void> {
    const until = Date.now() + this.#patience;
    for (const id of this.accepted) {
      while (!(await runs.get(id))?.end && Date.now() < until) await this.#wait(20);
    }
  }

  async #wait(milliseconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    if (this.#endedEarly) throw this.#endedEarly;
  }

  stop(): void {
    for (const child of this.#running) endProcess(child);
    this.#ledger.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** How many runs have not ended. */
export async function countUnderWay(runs: Runs): Promise<number> {
  return (await runs.list({ limit: 1_000 })).filter(({ end }) => !end).length;
}

/** Kills a process, and waits until it is gone. */
export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  endProcess(child);
  await ended;
}

/** Makes a place, and lets nothing stay of it. */
export async function withPlace(
  runtime: string,
  options: PlaceOptions,
  use: (place: Place) => Promise<void>,
): Promise<void> {
  const command = (await commandsOf())[runtime];
  assert(command, `${runtime} is not installed`);
  const cache = join(root, ".cache", "kills");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "place-"));
  const { build } = await import("esbuild");
  const programs: string[] = [];
  for (const more of [{}, newerProgram]) {
    const program = join(folder, `keeper${programs.length + 1}.mjs`);
    const entryPoints = [join(root, "tests", "agent", "runs", "kills", "keeper.ts")];
    await build({
      entryPoints,
      outfile: program,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      ...more,
    });
    programs.push(program);
  }
  const place = new Place({ folder, ledger: await startLedger(), command, programs }, options);
  try {
    await use(place);
  } finally {
    place.stop();
  }
}

/** Waits until all has ended, and holds it against the ledger. */
export async function judge(
  place: Place,
  what: string,
  tails: readonly Promise<RunEvent[]>[],
  reader: Runs,
): Promise<void> {
  await place.finish(reader);
  const tally = emptyTally();
  const lost: unknown[] = [];
  for (const id of place.accepted) {
    const run = await reader.get(id);
    tallyRun(tally, run, place.ledger.counts, place.rounds);
    if (tally.lost > lost.length) lost.push(run ?? id);
  }
  assert(tally.lost === 0, `${JSON.stringify(tally)}: ${JSON.stringify(lost)} ${place.problems}`);
  checkTally(tally, what);
  for (const [at, tail] of tails.entries()) checkTail(await tail, await eventsOf(reader, idOf(at)));
}

/**
 * Two processes over one file, killed with SIGKILL: at random moments and at each labelled point, on Bun, Deno and Node. Ten random
 * kills and one at each point; `CAUSEWAY_KILLS=full` makes them 100 and 20.
 */
import { assert } from "@std/assert";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { createRuns } from "../../../../src/agent/mod.ts";
import type { RunEvent, Runs } from "../../../../src/agent/mod.ts";
import { newerNodePath } from "../../../../tools/test/newer_node.ts";
import { endProcess, startProcess } from "../../../../tools/process.ts";
import { bunPath, denoPath, root } from "../../../../tools/programs.ts";
import { openAnyDatabase } from "../support/database.ts";
import { points } from "../support/points.ts";
import { eventsOf } from "../support/runs.ts";
import { checkTail, checkTally, emptyTally, type LedgerServer, startLedger, tallyRun } from "./ledger.ts";
import { idOf } from "./plan.ts";

const isFull = process.env["CAUSEWAY_KILLS"] === "full";
const [randomKills, killsAtPoint] = isFull ? [100, 20] : [10, 1];
const skip = "Bun" in globalThis ? false : "Bun kills the processes of all three runtimes";
const options = { skip, timeout: isFull ? 900_000 : 60_000 };

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
class Place {
  readonly accepted: Set<string> = new Set();
  readonly #folder: string;
  readonly #ledger: LedgerServer;
  readonly #command: readonly string[];
  readonly #program: string;
  readonly #running: Set<ChildProcess> = new Set();
  problems = "";
  #next = 0;

  constructor(folder: string, ledger: LedgerServer, command: readonly string[], program: string) {
    this.#folder = folder;
    this.#ledger = ledger;
    this.#command = command;
    this.#program = program;
  }

  get file(): string {
    return join(this.#folder, "runs.db");
  }

  get ledger(): LedgerServer {
    return this.#ledger;
  }

  /** Starts a process, which starts so many new runs; resolves when it is ready. */
  async start(count: number, point = "", nth = 1): Promise<ChildProcess> {
    const first = this.#next;
    this.#next += count;
    const parameters = [this.file, this.#ledger.url, first, count, point, nth].map(String);
    const child = startProcess([...this.#command, this.#program, ...parameters]);
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
        if (line === "ready") resolve();
        const [word, id = ""] = line.split(" ");
        if (word === "accepted") this.accepted.add(id);
      });
    });
    return child;
  }

  /** Waits until the first runs are accepted. */
  async accept(count: number): Promise<void> {
    while (!this.accepted.has(idOf(count - 1))) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  /** Waits until all that was accepted has ended. */
  async finish(runs: Runs): Promise<void> {
    const until = Date.now() + 30_000;
    for (const id of this.accepted) {
      while (!(await runs.get(id))?.end && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  stop(): void {
    for (const child of this.#running) endProcess(child);
    this.#ledger.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function withPlace(runtime: string, use: (place: Place) => Promise<void>): Promise<void> {
  const command = (await commandsOf())[runtime];
  assert(command, `${runtime} is not installed`);
  const cache = join(root, ".cache", "kills");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "place-"));
  const { build } = await import("esbuild");
  const program = join(folder, "keeper.mjs");
  const entry = join(root, "tests", "agent", "runs", "kills", "keeper.ts");
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
  });
  const place = new Place(folder, await startLedger(), command, program);
  try {
    await use(place);
  } finally {
    place.stop();
  }
}

/** Whether a process ends by itself within a time. */
async function endsWithin(child: ChildProcess, milliseconds: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  const late = new Promise<boolean>((resolve) => void setTimeout(() => resolve(false), milliseconds));
  return await Promise.race([once(child, "exit").then(() => true), late]);
}

/** Reads what the processes have left: this one takes no run. */
async function judge(place: Place, what: string, tails: readonly Promise<RunEvent[]>[], reader: Runs): Promise<void> {
  await place.finish(reader);
  const tally = emptyTally();
  for (const id of place.accepted) tallyRun(tally, await reader.get(id), place.ledger.counts);
  assert(tally.lost === 0, `${JSON.stringify(tally)}: ${place.problems}`);
  checkTally(tally, what);
  for (const [at, tail] of tails.entries()) checkTail(await tail, await eventsOf(reader, idOf(at)));
}

describe("processes that are killed", () => {
  test("another process goes on within the watchdog's interval", options, async () => {
    await withPlace("bun", async (place) => {
      const other = await place.start(0);
      const first = await place.start(1);
      await place.accept(1);
      const database = await openAnyDatabase(place.file);
      const reader = createRuns({ database, agents: {} });
      let killed = 0;
      for await (const { event, at } of reader.events(idOf(0))) {
        if (killed > 0 && at > killed) {
          assert(at - killed < 2_000, `it went on after ${at - killed} ms`);
          killed = Infinity;
        }
        if (event.type === "usage" && event.step === 1) {
          endProcess(first);
          killed = Date.now() + 5;
        }
      }
      assert(killed === Infinity && other.exitCode === null, "one was killed, the other is there");
      await judge(place, "bun, one kill", [], reader);
      await reader.close();
      database.close?.();
    });
  });

  for (const runtime of ["bun", "deno", "node"]) {
    test(`${runtime}: ${randomKills} kills at random, two processes over one file`, options, async () => {
      await withPlace(runtime, async (place) => {
        const keepers = [await place.start(4), await place.start(4)];
        const database = await openAnyDatabase(place.file);
        const reader = createRuns({ database, agents: {} });
        await place.accept(2);
        const tails = [0, 1].map((at) => eventsOf(reader, idOf(at)));
        for (let kills = 0; kills < randomKills; kills++) {
          await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 200));
          const victim = kills % 2;
          const child = keepers[victim];
          if (child) {
            const ended = once(child, "exit");
            endProcess(child);
            await ended;
          }
          keepers[victim] = await place.start(2);
        }
        await judge(place, `${runtime}, ${randomKills} random kills`, tails, reader);
        await reader.close();
        database.close?.();
      });
    });

    test(`${runtime}: ${killsAtPoint} kills at each of ${points.length} labelled points`, options, async () => {
      await withPlace(runtime, async (place) => {
        let reached = 0;
        let survivor = await place.start(1);
        for (const point of points) {
          for (let nth = 1; nth <= killsAtPoint; nth++) {
            const victim = await place.start(2, point, point === "alarm arm" ? 1 : 1 + nth % 6).catch(() => undefined);
            // Where the other process was faster, the point is not reached: then it is a kill like any other.
            if (!victim || await endsWithin(victim, 3_000)) reached++;
            else endProcess(victim);
          }
          // The one that is left is changed too, so that it does not do all of the work.
          endProcess(survivor);
          survivor = await place.start(1);
        }
        const database = await openAnyDatabase(place.file);
        const reader = createRuns({ database, agents: {} });
        const kills = killsAtPoint * points.length;
        assert(reached >= kills * 0.8, `${reached} of ${kills} were killed at their point`);
        await judge(place, `${runtime}, ${reached} of ${kills} kills at points`, [], reader);
        await reader.close();
        database.close?.();
      });
    });
  }
});

/**
 * A machine that loses its power, as near as one comes to it: a process stands still at any instruction, its file and its log are
 * copied, and what is behind the log's last whole entry is torn. Each copy is the disk of a machine that starts again, and is held
 * against what the tool had seen until then. `CAUSEWAY_KILLS=full` makes 4 copies 40, on three runtimes.
 */
import { assertEquals } from "@std/assert";
import type { ChildProcess } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { openAnyDatabase } from "../support/database.ts";
import { checkEvents, eventsOf, secret } from "../support/runs.ts";
import { createScriptedAgent } from "../support/scripted_agent.ts";
import { checkTally, emptyTally, tallyRun } from "./ledger.ts";
import { kill, type Place, withPlace } from "./place.ts";

const isFull = process.env["CAUSEWAY_KILLS"] === "full";
const copies = isFull ? 40 : 4;
const skip = !("Bun" in globalThis)
  ? "Bun kills the processes of all three runtimes"
  : process.platform === "win32"
  ? "Windows has no SIGSTOP"
  : false;
const options = { skip, timeout: isFull ? 900_000 : 60_000 };

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A disk after the power was cut, and what was known at that moment. */
interface Cut {
  readonly path: string;
  readonly accepted: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

async function cut(place: Place, child: ChildProcess, number: number): Promise<Cut> {
  const accepted = [...place.accepted];
  const path = join(place.folder, `cut${number}.db`);
  process.kill(child.pid ?? NaN, "SIGSTOP");
  try {
    // What it had sent arrives, and is counted: in several turns, since one timer may be late and come before what was read.
    for (let turn = 0; turn < 10; turn++) await pause(10);
    copyFileSync(place.file, path);
    if (existsSync(`${place.file}-wal`)) copyFileSync(`${place.file}-wal`, `${path}-wal`);
    return { path, accepted, counts: new Map(place.ledger.counts) };
  } finally {
    process.kill(child.pid ?? NaN, "SIGCONT");
  }
}

/** Lets the runs of a cut end on a machine of their own, and gives what all calls came to. */
async function goOn(place: Place, { path, accepted, counts }: Cut): Promise<Map<string, number>> {
  const all = new Map(counts);
  const call = (key: string): Promise<string> => {
    all.set(key, (all.get(key) ?? 0) + 1);
    return Promise.resolve("ok");
  };
  const agent = createScriptedAgent({ rounds: place.rounds, askAfter: 3, call });
  const database = await openAnyDatabase(path);
  assertEquals(Object.values(database.all("pragma integrity_check")[0] ?? {}), ["ok"]);
  database.close?.();
  const runs = await place.openReader(path, { agent });
  assertEquals(
    await runs.list({ limit: 1_000 }).then((kept) => accepted.filter((id) => !kept.some((run) => run.id === id))),
    [],
  );
  await runs.resume();
  for (const id of accepted) {
    for (let run = await runs.get(id); run && !run.end; run = await runs.get(id)) {
      for (const { id: question } of run.questions) await runs.answer(id, question, { action: "accept" });
      await pause(5);
    }
    checkEvents(await eventsOf(runs, id));
  }
  await runs.close();
  return all;
}

describe("a machine that loses its power", () => {
  for (const runtime of isFull ? ["bun", "deno", "node"] : ["bun"]) {
    test(
      `${runtime}: ${copies} cuts at random: what was accepted is there, ends, and no call is made twice`,
      options,
      async () => {
        await withPlace(runtime, { secret }, async (place) => {
          const tally = emptyTally();
          for (let number = 0; number < copies; number++) {
            const child = await place.start(3);
            await pause(Math.random() * 300);
            const disk = await cut(place, child, number);
            // What was being written when the power went.
            if (number % 2 > 0) appendFileSync(`${disk.path}-wal`, crypto.getRandomValues(new Uint8Array(3_000)));
            const all = await goOn(place, disk);
            const reader = await place.openReader(disk.path);
            for (const id of disk.accepted) tallyRun(tally, await reader.get(id), all);
            await reader.close();
            await kill(child);
          }
          checkTally(tally, `${runtime}, ${copies} cuts`);
        });
      },
    );
  }
});

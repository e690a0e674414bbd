/**
 * A process that uses a file store: `program.mjs <work> <folder> <key> [count]`. It tells what it does on its standard output,
 * a line each. It is bundled by `processes.ts` beside it.
 */
import process from "node:process";
import { createHash } from "node:crypto";
import { parentPort } from "node:worker_threads";
import { join } from "node:path";
import { systemClock, systemRandom } from "../../../../src/ports.ts";
import { takeLock } from "../../../../src/runtime/stores/file_lock.ts";
import { createFileStore } from "../../../../src/runtime/stores/file_store.ts";
import { knowSelf } from "../../../../src/runtime/stores/lock_owner.ts";
import { increment } from "./increment.ts";

const [work = "", folder = "", key = "", count = "0"] = process.argv.slice(2);
const store = createFileStore(folder, { lockTimeout: 60_000 });

/** Writes a line, and waits until it is out; a thread tells it to who started it. */
function say(line: string): Promise<void> {
  if (parentPort) return Promise.resolve(parentPort.postMessage(line));
  return new Promise((resolve) => void process.stdout.write(`${line}\n`, () => resolve()));
}

if (work === "count") {
  for (let index = 0; index < Number(count); index++) await increment(store, key);
  await say("done");
} else if (work === "acknowledge") {
  for (let index = 1;; index++) {
    await increment(store, key);
    await say(String(index));
  }
} else if (work === "hold") {
  const path = join(folder, `${createHash("sha256").update(JSON.stringify(key)).digest("hex")}.lock`);
  const until = performance.now() + 60_000;
  await takeLock(path, { timeout: 60_000, until, self: await knowSelf(), clock: systemClock, random: systemRandom });
  await say("held");
  setInterval(() => {}, 1_000);
} else throw new Error(`no such work: ${work}`);

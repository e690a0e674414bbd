// Runs test files one after the other in this process: `node --import loader.mjs?… --test-reporter=…/reporter.mjs
// program.mjs <report> <file>…`. Each file is a suite of its own; the next one is loaded when all tests of it have ended.
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { nextEnd, openReport, tell } from "./reporter.mjs";
import { runFile } from "./scoped_test.mjs";

/** What is left at the end has so many milliseconds to end by itself. */
const grace = 20_000;
const [report = "", ...files] = process.argv.slice(2);
// Output is open from its first use on, for good.
void [process.stdout, process.stderr];
const held = [{ file: "", resources: countResources() }];
let current = "";

openReport(report);
// Many files share what tells of the process.
process.setMaxListeners(0);
const watch = new Worker(new URL("watch.mjs", import.meta.url), { stdin: false });
watch.unref();
// A test that waits for what never comes must not end the process: its time limit needs one that goes on.
const beat = setInterval(() => watch.postMessage(current), 1_000);
watchErrors("prependListener", () => process.exitCode = undefined);
for (const file of files) {
  current = file;
  watch.postMessage(file);
  const end = nextEnd();
  const done = runFile(file, () => import(pathToFileURL(resolve(file)).href));
  if (file === files[0]) watchErrors("on", tellStray);
  await done;
  await end;
  held.push({ file, resources: countResources() });
}
clearInterval(beat);
await watch.terminate();
setTimeout(tellHeld, grace).unref();

/** Node marks the process as failed when an error belongs to no test that runs: that is told of, with the file. */
function tellStray(error) {
  if (!process.exitCode) return;
  const detail = `an error that no running test takes: ${error instanceof Error ? error.stack : String(error)}`;
  tell({ name: "beside its tests", file: current, status: "failed", detail });
}

function watchErrors(how, listener) {
  process[how]("uncaughtException", listener);
  process[how]("unhandledRejection", listener);
}

/** What keeps the process alive was left by a test: each kind with the file after which there was more of it than before. */
function tellHeld() {
  const lines = [...countResources()].flatMap(([name, count]) => {
    const more = count - (held[0].resources.get(name) ?? 0);
    const last = held.findLastIndex(({ resources }) => (resources.get(name) ?? 0) < count);
    return more > 0 ? [`${more} ${name}, after ${held[last + 1]?.file ?? "the last file"}`] : [];
  });
  tell({ name: "the end of the process", status: "failed", detail: `tests left open: ${lines.join("; ")}` });
  process.exit(1);
}

function countResources() {
  const counts = new Map();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

// Runs test files one after the other in this process: `node --import loader.mjs?… program.mjs <report> <file>…`. The
// report gets a JSON line for each test as it ends, so that a run that is killed still tells, and one for the end of a file.
import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { collect, runFile } from "../../../tests/hosts/node_test_shim.ts";

/** So many milliseconds a test has that says nothing else. */
const timeout = 90_000;
/** What is left at the end has so many milliseconds to end by itself. */
const grace = 20_000;
const [report = "", ...files] = process.argv.slice(2);
// Output is open from its first use on, for good.
void [process.stdout, process.stderr];
const held = [{ file: "", resources: countResources() }];
let current = "";

// Many files share what tells of the process.
process.setMaxListeners(0);
const watch = new Worker(new URL("watch.mjs", import.meta.url), { stdin: false });
watch.unref();
// A test that waits for what never comes must not end the process: its time limit needs one that goes on.
const beat = setInterval(() => watch.postMessage(current), 1_000);
for (const event of ["uncaughtException", "unhandledRejection"]) process.on(event, tellStray);
for (const file of files) {
  current = file;
  watch.postMessage(file);
  await collect(file, () => import(pathToFileURL(resolve(file)).href), timeout);
  let [last, count] = [performance.now(), 0];
  await runFile(file, (line) => {
    const now = performance.now();
    tell({ ...line, milliseconds: now - last });
    last = now;
    count++;
  });
  if (count === 0) tell({ name: "the file as a whole", file, status: "failed", detail: "it reported no test" });
  tell({ ended: file });
  held.push({ file, resources: countResources() });
}
clearInterval(beat);
await watch.terminate();
setTimeout(tellHeld, grace).unref();

/** Nobody took it: whichever test it comes from, it is told with the file that runs. */
function tellStray(error) {
  const detail = `an error that no running test takes: ${error instanceof Error ? error.stack : String(error)}`;
  tell({ name: "beside its tests", file: current, status: "failed", detail });
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

function tell(line) {
  appendFileSync(report, `${JSON.stringify(line)}\n`);
}

// A thread beside program.mjs: where that stands still for 90 seconds, in a loop without an end, it ends the process.
import { writeSync } from "node:fs";
import process from "node:process";
import { parentPort } from "node:worker_threads";

const limit = 90_000;
let file = "";
let last = performance.now();

parentPort.on("message", (current) => {
  file = current;
  last = performance.now();
});
setInterval(() => {
  if (performance.now() - last < limit) return;
  writeSync(2, `${file} has held up its process for ${limit / 1000} s\n`);
  process.kill(process.pid, "SIGKILL");
}, 5_000);

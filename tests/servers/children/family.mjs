// family.mjs <leave|stay> [deaf]: starts a grandchild that holds the standard output, tells its number, then ends or stays.
// `deaf`: the grandchild ignores SIGTERM.
import { spawn } from "node:child_process";
import process from "node:process";

const [what, deaf] = process.argv.slice(2);
const script = deaf === "deaf" ? "trap '' TERM; sleep 120" : "exec sleep 120";
const grandchild = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "inherit", "inherit"] });
grandchild.unref();
process.stdout.write(`{"grandchild":${grandchild.pid}}\n`, () => {
  if (what === "leave") process.exit(0);
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
});

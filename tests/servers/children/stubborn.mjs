// Ignores the end of its input and SIGTERM; says when it is ready.
import process from "node:process";

process.on("SIGTERM", () => {});
process.stdin.resume();
setInterval(() => {}, 1000);
process.stdout.write('{"ready":true}\n');

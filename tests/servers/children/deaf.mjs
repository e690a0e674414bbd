// Never reads its input; says when it is ready.
import process from "node:process";

setInterval(() => {}, 1000);
process.stdout.write('{"ready":true}\n');

// flood.mjs <1|2> [bytes]: writes that many bytes (without: for ever) to its standard output or error, then says so.
import { writeSync } from "node:fs";
import process from "node:process";

const file = Number(process.argv[2]);
let left = Number(process.argv[3] ?? Infinity);
const block = new TextEncoder().encode(("y".repeat(1023) + "\n").repeat(64));
while (left > 0) {
  try {
    left -= writeSync(file, left < block.length ? block.subarray(0, left) : block);
  } catch (error) {
    if (error.code !== "EAGAIN") throw error;
  }
}
writeSync(1, '{"flooded":true}\n');

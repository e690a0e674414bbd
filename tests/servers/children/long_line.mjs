// long_line.mjs <bytes>: one line of that many bytes; then stays.
import process from "node:process";

process.stdout.write('{"x":"' + "x".repeat(Number(process.argv[2]) - 8) + '"}\n');
process.stdin.resume();

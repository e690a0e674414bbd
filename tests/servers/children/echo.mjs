// Gives back what it is given, and ends with its input.
import process from "node:process";

process.stdin.pipe(process.stdout);

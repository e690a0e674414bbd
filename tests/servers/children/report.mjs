// Says what it was started with: arguments, environment, folder; then ends.
import process from "node:process";

const report = { args: process.argv.slice(2), env: { ...process.env }, cwd: process.cwd() };
process.stdout.write(JSON.stringify(report) + "\n");

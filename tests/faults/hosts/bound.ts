/**
 * A program for Bun, Deno and Node: `bound.ts <URL> <fault>` calls a server that offers a gigabyte, and prints one JSON line:
 * how the call ended, what it took, and how much the process grew. The server is another process.
 */
import process from "node:process";
import { LimitExceededError, McpError } from "../../../mod.ts";
import { connect } from "../../../src/entry/local.ts";

const [url = ""] = process.argv.slice(2);
const client = await connect(url);
for (let count = 0; count < 20; count++) await client.listTools(); // what a first use loads is not growth
const before = process.memoryUsage().rss;
let peak = before;
const sample = (): void => {
  peak = Math.max(peak, process.memoryUsage().rss);
};
const timer = setInterval(sample, 2);
const startedAt = performance.now();
const end = await client.callTool("echo").then(() => "resolves", (error: unknown) => error);
const took = performance.now() - startedAt;
sample();
clearInterval(timer);
await client.callTool("echo", { text: "next" });
await client.close();
const ends = end instanceof McpError ? end.constructor.name : String(end);
const option = end instanceof LimitExceededError ? end.limit : "";
process.stdout.write(JSON.stringify({ ends, option, took, grown: peak - before }) + "\n", () => process.exit(0));

/**
 * The conformance server: `bun tests/conformance/server.ts` (or `deno run -A`; Node runs its bundle). It serves
 * `http://localhost:$PORT/mcp` on the loopback alone, 3001 without `PORT` (0 takes a free one), and prints one line as
 * soon as it listens, which ends with its URL.
 */
import process from "node:process";
import { createAnswer } from "./host/answer.ts";
import { listen } from "./host/listen.ts";

const { port } = await listen(createAnswer(), Number(process.env["PORT"] ?? 3001));
console.log(`The conformance server listens on http://localhost:${port}/mcp`);

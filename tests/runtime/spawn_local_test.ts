import { bunSpawn } from "../../src/runtime/bun.ts";
import { denoSpawn } from "../../src/runtime/deno.ts";
import { nodeSpawn } from "../../src/runtime/node.ts";
import { spawnSuite } from "../suites/spawn.ts";

// Each runtime proves its own adapter. On Deno, Node's works as well, and costs less than `Deno.Command`.
if ("Bun" in globalThis) spawnSuite("bunSpawn", bunSpawn);
else if ("Deno" in globalThis) spawnSuite("denoSpawn", denoSpawn);
if (!("Bun" in globalThis)) spawnSuite("nodeSpawn", nodeSpawn);

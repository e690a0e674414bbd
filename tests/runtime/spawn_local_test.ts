import { bunSpawn } from "../../src/runtime/bun.ts";
import { denoSpawn } from "../../src/runtime/deno.ts";
import { nodeSpawn } from "../../src/runtime/node.ts";
import { spawnSuite } from "../suites/spawn.ts";

// Each runtime proves its own adapter; Bun and Deno have Node's processes too.
if ("Bun" in globalThis) spawnSuite("bunSpawn", bunSpawn);
else if ("Deno" in globalThis) spawnSuite("denoSpawn", denoSpawn);
else spawnSuite("nodeSpawn", nodeSpawn);

/**
 * The sample as a program, on Bun, Deno and (bundled) Node:
 *
 *     bun tests/interop/server/stdio_program.ts [both|modern|legacy]
 *
 * @module
 */
import process from "node:process";
import { serveStdio } from "../../../src/entry/local.ts";
import { erasOf } from "./eras.ts";
import { createSample } from "./sample.ts";

const serving = await serveStdio(createSample(), { eras: erasOf(process.argv[2] ?? "both") });
await serving.closed;

/** A program that serves `tables` over its standard input and output: started, and called. */
import { join } from "node:path";
import process from "node:process";
import { connect } from "../../../src/entry/local.ts";
import { root } from "../../programs.ts";
import type { StandIn } from "../seam.ts";
import { expect } from "../world.ts";

const sumsStdio: StandIn = async (program) => {
  const args = [
    "run",
    "-A",
    "--no-check",
    "--quiet",
    "--config",
    join(root, "deno.json"),
    program.path,
  ];
  await using client = await connect({ command: process.execPath, args });
  const { structuredContent } = await client.callTool("add", { a: 1, b: 2 });
  expect(JSON.stringify(structuredContent) === '{"sum":3}', "added");
};
export default sumsStdio;

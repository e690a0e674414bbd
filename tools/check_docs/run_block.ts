/** Runs one block of a page: `run_block.ts <stand-in> <file>`, in a folder of its own. A program for Deno. */
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Program, StandIn } from "./seam.ts";

const [use = "nothing", path = ""] = process.argv.slice(2);
const lines: string[] = [];
const program: Program = {
  path,
  lines,
  load: async () => await import(pathToFileURL(path).href),
};
const show = console.log;
console.log = (...values: unknown[]) => {
  lines.push(values.map((value) => typeof value === "string" ? value : JSON.stringify(value)).join(" "));
  show(...values);
};
const { default: run }: { default: StandIn } = await import(new URL(`./stand_ins/${use}.ts`, import.meta.url).href);
await run(program);
process.exit(0);

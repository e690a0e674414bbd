// The hooks that loader.mjs registers; they run in Node's loader thread.
import { readFile } from "node:fs/promises";

let root = "";
let compiled = "";

export function initialize(data) {
  root = data.root;
  compiled = data.compiled;
}

export function resolve(specifier, context, next) {
  if (specifier === "@std/assert") return { url: `${root}tests/support/assert.ts`, shortCircuit: true };
  if (specifier === "node:test" && isOwn(context.parentURL)) {
    return { url: `${root}tests/hosts/node_test_shim.ts`, shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(address, context, next) {
  const [file] = address.split(/[?#]/);
  if (!isOwn(file)) return next(address, context);
  const source = await readFile(new URL(compiled + file.slice(root.length)), "utf8");
  return { format: "module", source, shortCircuit: true };
}

/** Whether it is one of the sources that were compiled. */
function isOwn(address = "") {
  return address.startsWith(root) && address.endsWith(".ts") && !address.includes("/node_modules/");
}

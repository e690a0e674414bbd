/**
 * What may be written without a verb: `causeway github` lists its tools, `causeway github.create_issue title=x` calls one.
 *
 * @module
 */
import type { Written } from "./build.ts";

/** The words with their verb; the same words where they mean nothing without one. */
export async function withVerb(written: Written): Promise<Written> {
  const { command, words, given, fault } = written;
  const [first, ...rest] = words;
  if (command !== undefined || first === undefined || first === "help" || fault || given.help || given.version) {
    return written;
  }
  if (/^(https?|wss?):\/\//i.test(first)) return { ...written, command: rest.length > 0 ? "call" : "tools" };
  const { splitName } = await import("../target/split.ts");
  const found = await splitName(first, given.config?.at(-1));
  if (found === undefined) return written;
  if (found.tool === undefined) return { ...written, command: rest.length > 0 ? "call" : "tools" };
  return { ...written, command: "call" };
}

/**
 * What may be written without a verb: `causeway github` lists its tools, `causeway github.create_issue title=x` calls one.
 *
 * @module
 */
import { findConfigs } from "../target/config.ts";
import type { Written } from "./build.ts";

/** The words with their verb; the same words where they mean nothing without one. */
export async function withVerb(written: Written): Promise<Written> {
  const { command, words, given, fault } = written;
  const [first, ...rest] = words;
  if (command !== undefined || first === undefined || first === "help" || fault || given.help || given.version) {
    return written;
  }
  if (/^(https?|wss?):\/\//i.test(first)) return { ...written, command: rest.length > 0 ? "call" : "tools" };
  const found = await splitName(first, given.config?.at(-1));
  if (found === undefined) return written;
  if (found.tool === undefined) return { ...written, command: rest.length > 0 ? "call" : "tools" };
  return { ...written, command: "call" };
}

/**
 * `server.tool` and `server.tool(…)`, where a config has the server; undefined where none has.
 *
 * @param config The file that was given.
 * @throws {UsageError} When a config cannot be read.
 */
export async function splitName(
  text: string,
  config: string | undefined,
): Promise<{ server: string; tool: string | undefined } | undefined> {
  const open = text.indexOf("(");
  if (/\s/.test(open < 0 ? text : text.slice(0, open))) return undefined;
  const names = (await findConfigs(config)).flatMap(({ names }) => names);
  if (names.includes(text)) return { server: text, tool: undefined };
  const server = names.filter((name) => text.startsWith(`${name}.`)).sort((one, other) => other.length - one.length)[0];
  return server === undefined ? undefined : { server, tool: text.slice(server.length + 1) };
}

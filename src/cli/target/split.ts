/**
 * A server and a tool in one word.
 *
 * @module
 */
import { findConfigs } from "./config.ts";

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
  const isSpaced = (text: string): boolean => /\s/.test(text);
  // With a space it is a program in quotes, unless that space is in the name of a server.
  const spaced = isSpaced(open < 0 ? text : text.slice(0, open));
  const all = (await findConfigs(config, { until: text })).flatMap(({ names }) => names);
  const names = spaced ? all.filter(isSpaced) : all;
  if (names.includes(text)) return { server: text, tool: undefined };
  const server = names.filter((name) => text.startsWith(`${name}.`)).sort((one, other) => other.length - one.length)[0];
  return server === undefined ? undefined : { server, tool: text.slice(server.length + 1) };
}

/**
 * A call as text that can be pasted: for a shell with curl, for our own command, and as TypeScript.
 *
 * @module
 */
import type { JsonObject } from "../../../protocol/json_rpc.ts";

/** A call. */
export interface SnippetCall {
  /** Where the runner is, without a slash at the end. */
  readonly origin: string;
  /** The tool, as it is called by here. */
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What the key is called in the environment of who pastes: no text holds a secret. */
const variable = "CAUSEWAY_KEY";

/** As a command for curl, in a POSIX shell. */
export function curlSnippet({ origin, tool, arguments: given }: SnippetCall): string {
  return [
    `curl -sS ${quoted(`${origin}/api/tools/${encodeURIComponent(tool)}`)}`,
    `-H "Authorization: Bearer $${variable}"`,
    "-H 'Content-Type: application/json'",
    `--data-raw ${quoted(plainJson(given))}`,
  ].join(" \\\n  ");
}

/** As a line for `causeway`, through the runner's gateway. */
export function commandSnippet({ origin, tool, arguments: given }: SnippetCall): string {
  // A word that begins with a dash would be an option.
  const isOption = tool.startsWith("-");
  const options = [`--header "Authorization: Bearer $${variable}"`, `--args ${quoted(plainJson(given))}`];
  const words = `${quoted(`${origin}/mcp`)} ${quoted(tool)}`;
  return isOption ? `causeway call ${options.join(" ")} -- ${words}` : `causeway call ${words} ${options.join(" ")}`;
}

/** As a program, through the runner's gateway. */
export function typescriptSnippet({ origin, tool, arguments: given }: SnippetCall): string {
  return `import { connect } from "@causeway/mcp";

await using client = await connect(${plainJson(`${origin}/mcp`)}, {
  headers: { authorization: \`Bearer \${process.env.${variable}}\` },
});
const result = await client.callTool(${plainJson(tool)}, ${plainJson(given, 2)});
console.log(result.structuredContent ?? result.content);
`;
}

/** One word for a POSIX shell, whatever it holds. */
function quoted(text: string): string {
  return /^[\w./:@=+-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** JSON in which only characters stand that can be seen: the others are written as `\u…`. */
function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(
    /[\p{C}\p{Z}\p{DI}\u{2800}]/gu,
    (character) => character === " " || character === "\n" ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

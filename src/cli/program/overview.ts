/**
 * `causeway --help`: all commands on a page. It is what people ask first, so it waits for nothing that reads words.
 *
 * @module
 */
import { version } from "../../version.ts";
import { exitCodes } from "../failure.ts";
import { pairs, wrap } from "../text/table.ts";
import { commandNames, findCommand, verbsOf } from "./commands.ts";
import { commonOptions, writtenOption } from "./options.ts";

type Row = readonly [term: string, about: string];

/** The page, for a terminal of so many columns. */
export function overviewText(width: number): string {
  const options = Object.keys(commonOptions).map(writtenOption);
  const groups = new Map<string, Row[]>([["Options", options]]);
  for (const name of commandNames()) {
    const spec = findCommand(name);
    const verbs = verbsOf(name);
    const group = (spec ?? findCommand(`${name} ${verbs[0]}`))?.group ?? "Commands";
    const row = [`${name} ${spec ? spec.words : "<verb>"}`.trim(), spec?.about ?? verbs.join(", ")] as const;
    groups.set(group, [...groups.get(group) ?? [], row]);
  }
  const longest = Math.max(...[...groups.values()].flat().map(([term]) => term.length));
  const column = Math.min(longest, Math.floor(width / 2));
  const codes = Object.entries(codeNames).map(([code, what]) => `${code} ${what}`).join(", ");
  return [
    ...wrap("Usage: causeway <command> [words …] [options]", width),
    "",
    ...wrap(`causeway ${version}: MCP servers from a terminal`, width),
    "",
    ...[...groups].map(([name, rows]) => `${name}:\n${pairs(rows, width, column)}`),
    `Target\n${pairs(targets, width)}`,
    ...wrap("Arguments, behind causeway call <target> <tool>", width),
    pairs(callArguments, width),
    ...wrap("Results go to the standard output, all else to the standard error.", width),
    "",
    ...wrap(`causeway help <command> shows one command. Exit codes: ${codes}`, width),
    "",
  ].join("\n");
}

const targets: readonly Row[] = [
  ["https://example.com/mcp", "a URL: https:, http:, wss:, ws:"],
  ["github", "a server of a config: --config, ./causeway.json, ./mcp.json, ./.mcp.json, or your own"],
  ['"bun server.ts --flag"', "a program, in one argument; no shell runs it"],
  ['"API_KEY=… npx -y server"', "the same with a variable: others than PATH, HOME and their like are not inherited"],
];

const callArguments: readonly Row[] = [
  ["key=value", "read by the tool's schema: text, number, true, false, JSON for lists and objects"],
  ["key=value key=other", "a list, where the schema wants one"],
  ["key:=json", "exactly this JSON"],
  ["@file.json   '{\"key\": 1}'", "a whole object"],
  ["-", "a whole object from the standard input"],
];

const codeNames: Readonly<Record<number, string>> = {
  [exitCodes.ok]: "ok",
  [exitCodes.toolFailed]: "the tool failed",
  [exitCodes.usage]: "wrong use (unknown tool, bad arguments, bad config)",
  [exitCodes.authorization]: "authorization",
  [exitCodes.unreachable]: "unreachable",
  [exitCodes.protocol]: "protocol",
  [exitCodes.interrupted]: "interrupted",
};

/**
 * What the user wants to talk to: a URL, a name from a config, or a command line in one argument.
 *
 * @module
 */
import { resolve } from "node:path";
import type { ReadServer } from "../../hub/config/types.ts";
import type { StdioCommand } from "../../transport/stdio.ts";
import { UsageError } from "../failure.ts";
import { didYouMean } from "../../hub/config/nearest.ts";
import { writeWarning } from "../terminal.ts";
import { findConfigs } from "./config.ts";
import { readShellWords } from "./shell_words.ts";
import { readUrl } from "../../egress/url.ts";

/** A server that can be connected to. */
export interface Destination {
  readonly target: string | StdioCommand;
  readonly headers: Readonly<Record<string, string>>;
  /** What a config says of it, how it is named on the command line, and the config's path: where it was a name. */
  readonly entry?: { readonly server: ReadServer; readonly words: string; readonly path?: string } | undefined;
  /** What to add when the program cannot be started: it may have been meant as a name. */
  readonly hint: string;
}

const interpreters: Readonly<Record<string, string>> = {
  ts: "bun",
  js: "node",
  mjs: "node",
  cjs: "node",
  py: "python3",
  sh: "sh",
};
const schemes = ["http:", "https:", "ws:", "wss:"];

/**
 * Finds out what a target is.
 *
 * @param text A URL, a name from the config, or a command line. Words `NAME=value` before the program become variables of
 * its environment, as in a shell.
 * @param options The path of the config, and the headers from the command line.
 * @throws {UsageError} When it is none of these.
 */
export async function resolveTarget(
  text: string,
  options: { config?: string | undefined; headers: Readonly<Record<string, string>> },
): Promise<Destination> {
  const { headers } = options;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { target: checkUrl(text), headers, hint: "" };
  const configs = await findConfigs(options.config, { until: text });
  const config = configs.find(({ names }) => names.includes(text));
  if (config) {
    const entry = (await import("./server_entry.ts")).readServer(config, text);
    const { target } = entry;
    const isSplit = typeof target === "string" || !/\s/.test(target.command);
    // A command with spaces in it fails: then it is said why.
    const hints = isSplit ? [] : entry.warnings.filter((warning) => warning.includes(".command: "));
    for (const warning of entry.warnings) {
      if (!hints.includes(warning)) await writeWarning(warning);
    }
    const words = [text, ...(options.config === undefined ? [] : ["--config", options.config])].join(" ");
    const known = { entry: { server: entry.server, words, path: resolve(config.path) } };
    if (typeof target !== "string") return { ...withoutHeaders(target, headers), hint: hints.join("; "), ...known };
    return { target: checkUrl(target), headers: joined(entry.headers, headers), hint: "", ...known };
  }
  const names = configs.flatMap(({ names }) => names);
  const isOneWord = /^\S*$/.test(text);
  if (isOneWord && options.config !== undefined) {
    const known = names.length > 0 ? `it has ${names.map((name) => `"${name}"`).join(", ")}` : "it has no servers";
    throw new UsageError(`Unknown server "${text}" in "${options.config}"${didYouMean(text, names)}: ${known}`);
  }
  if (/^[\w.-]+:\d+(\/|$)/.test(text)) {
    throw new UsageError(`Cannot use "${text}" as a target: a URL begins with its scheme; write "http://${text}"`);
  }
  if (/^(https?|wss?)[:/]/i.test(text)) throw notUrl(text);
  const command = readCommand(text);
  const paths = configs.map(({ path }) => `"${path}"`).join(", nor ");
  const file = paths && `${paths} has no server of this name${didYouMean(text, names)}`;
  const noServer = file || "nor is there a config ./mcp.json with a server of this name";
  // No server is called like a path.
  const hint = isOneWord ? hintFor(text) || (/^\.*\//.test(text) ? "" : noServer) : "";
  return { ...withoutHeaders(command, headers), hint };
}

/** Those of a config, and over them those of the command line, whose names may be written in other letters. */
function joined(own: Destination["headers"], given: Destination["headers"]): Destination["headers"] {
  const names = Object.keys(given).map((name) => name.toLowerCase());
  const rest = Object.entries(own).filter(([name]) => !names.includes(name.toLowerCase()));
  return { ...Object.fromEntries(rest), ...given };
}

/** What a word may have been meant as that is no program. */
function hintFor(text: string): string {
  const [, ending = ""] = /\.([a-z]+)$/i.exec(text) ?? [];
  const interpreter = Object.hasOwn(interpreters, ending) ? interpreters[ending] : undefined;
  if (interpreter !== undefined) return `a script is started with its interpreter, as in "${interpreter} ${text}"`;
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?(\/|$)/i.test(text)
    ? `a URL begins with its scheme, as in "https://${text}"`
    : "";
}

function notUrl(shown: string): UsageError {
  return new UsageError(`Cannot read the URL "${shown}": write it like "https://example.com/mcp"`);
}

function readCommand(text: string): StdioCommand {
  const env: Record<string, string> = {};
  const read = readShellWords(text);
  if ("open" in read) {
    throw new UsageError(`Cannot read the command ${JSON.stringify(text)}: it ends in ${read.open}; close the quotes`);
  }
  const { words } = read;
  for (let word = words[0]; word !== undefined && /^[A-Za-z_]\w*=/.test(word); word = words[0]) {
    const equals = word.indexOf("=");
    env[word.slice(0, equals)] = word.slice(equals + 1);
    words.shift();
  }
  const [command, ...args] = words;
  if (!command) {
    throw new UsageError('The target is empty: give a URL, a name from a config, or a command such as "bun server.ts"');
  }
  return { command, args, env };
}

function withoutHeaders(target: StdioCommand, headers: Readonly<Record<string, string>>): Destination {
  if (Object.keys(headers).length > 0) {
    throw new UsageError(
      `Cannot send --header to "${target.command}": a program has no headers; give it variables instead`,
    );
  }
  return { target, headers: {}, hint: "" };
}

function checkUrl(text: string): string {
  const shown = text.replace(/\/\/[^/?#]*@/, "//").replace(/\?.*$/s, "?…");
  const url = readUrl(text);
  if (!url) throw notUrl(shown);
  const { protocol, username, password } = url;
  if (!schemes.includes(protocol)) {
    throw new UsageError(`Unknown scheme "${protocol}" in "${shown}": use https:, http:, wss: or ws:`);
  }
  if (username !== "" || password !== "") {
    throw new UsageError(`Cannot use "${shown}" with a user name in it: send --header 'Authorization: …' instead`);
  }
  return text;
}

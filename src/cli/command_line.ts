/**
 * The words after `causeway`. They are taken apart by `parseArgs` of `node:util`: Bun, Deno and Node all have it, so it
 * needs no build and weighs nothing. Its own complaints differ between them, so only its tokens are used.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { readSignInOptions, signInOptions } from "./auth/options.ts";
import type { SignInOptions } from "./auth/options.ts";
import { UsageError } from "./failure.ts";
import { readServeOptions, serveOptions } from "./serve/options.ts";
import type { ServeOptions } from "./serve/options.ts";
import { isHeaderName, isHeaderValue } from "../hub/config/server/headers.ts";
import { didYouMean } from "../hub/config/nearest.ts";

/** What the user asked for. */
export interface CommandLine {
  readonly command: CommandName | "help" | "version";
  /** What follows the command. */
  readonly words: readonly string[];
  /** Print exactly the MCP object. */
  readonly json: boolean;
  /** Milliseconds for the whole command. */
  readonly timeout: number | undefined;
  /** By name, as written. */
  readonly headers: Readonly<Record<string, string>>;
  /** The path of the config file. */
  readonly config: string | undefined;
  /** The arguments of the call as one JSON object. */
  readonly args: string | undefined;
  /** How to sign in: `login` alone has it. */
  readonly signIn?: SignInOptions;
  /** How to serve: `serve` and `bridge` alone have it. */
  readonly serve?: ServeOptions;
}

/** What can stand behind `causeway`. */
export type CommandName = typeof commandNames[number];

const commandNames = ["tools", "call", "login", "logout", "whoami", "serve", "bridge", "servers"] as const;

const options = {
  json: { type: "boolean" },
  timeout: { type: "string" },
  header: { type: "string", multiple: true },
  config: { type: "string" },
  args: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  ...signInOptions,
  ...serveOptions,
} as const;

/** The options that not every command has. */
const owners: Readonly<Partial<Record<keyof typeof options, readonly CommandName[]>>> = {
  args: ["call"],
  header: ["tools", "call", "bridge"],
  ...Object.fromEntries(Object.keys(signInOptions).map((name) => [name, ["login"]])),
  ...Object.fromEntries(Object.keys(serveOptions).map((name) => [name, ["serve", "bridge"]])),
  servers: ["serve"],
  port: ["login", "serve", "bridge"],
};
const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, "": 1_000, m: 60_000 };

/**
 * Reads the words of the command.
 *
 * @throws {UsageError} When they cannot be understood.
 */
export function readCommandLine(
  argv: readonly string[],
): CommandLine {
  const { tokens, positionals } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given: Record<string, string[]> = {};
  for (const token of tokens) {
    if (token.kind === "option") (given[token.name] ??= []).push(checkOption(token));
  }
  const [name, ...words] = positionals;
  const command = given.help ? "help" : given.version ? "version" : commandNames.find((command) => command === name);
  if (command === undefined) throw unknownCommand(name);
  if (command !== "help" && command !== "version") checkOwners(command, given);
  return {
    command,
    words,
    json: given.json !== undefined,
    timeout: readTimeout(given.timeout?.at(-1)),
    headers: readHeaders(given.header ?? []),
    config: given.config?.at(-1),
    args: given.args?.at(-1),
    ...(command === "login" && { signIn: readSignInOptions(given) }),
    ...((command === "serve" || command === "bridge") && { serve: readServeOptions(given) }),
  };
}

function checkOwners(command: CommandName, given: Readonly<Record<string, unknown>>): void {
  for (const [name, owner] of Object.entries(owners)) {
    if (given[name] === undefined || owner.includes(command)) continue;
    const last = owner.slice(-1);
    const commands = [owner.slice(0, -1).join(", "), ...last].filter((part) => part !== "").join(" and ");
    throw new UsageError(`--${name} belongs to causeway ${commands}: leave it out`);
  }
}

/** The value of an option that exists and has one if it takes one. */
function checkOption({ name, rawName, value }: { name: string; rawName: string; value?: string | undefined }): string {
  if (!isOption(name)) {
    if (/^client-?secret$/i.test(name)) {
      throw new UsageError(
        `Cannot take a secret from the command line: use --client-secret-file or the variable CAUSEWAY_CLIENT_SECRET`,
      );
    }
    const names = Object.keys(options).map((known) => `--${known}`);
    throw new UsageError(`Unknown option "${rawName}"${didYouMean(rawName, names)}: causeway --help lists them`);
  }
  if (options[name].type === "boolean") {
    if (value === undefined) return "";
    throw new UsageError(`The option "${rawName}" takes no value: write it alone`);
  }
  if (value !== undefined && value !== "" && !value.startsWith("--")) return value;
  throw new UsageError(`The option "${rawName}" needs a value: causeway --help shows how it is written`);
}

function isOption(name: string): name is keyof typeof options {
  return Object.hasOwn(options, name);
}

function unknownCommand(name: string | undefined): UsageError {
  const usage = "use causeway tools <target> or causeway call <target> <tool>; causeway --help shows more";
  if (name === undefined) return new UsageError(`A command is missing: ${usage}`);
  // `list-tools` and `call-tool` are what others call them.
  const meant = didYouMean(name.replace(/^list-?/i, "").replace(/-?tool$/i, "") || name, commandNames);
  return new UsageError(`Unknown command "${name}"${meant}: ${usage}`);
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  const milliseconds = Math.round(Number(amount) * (units[unit] ?? 1));
  if (milliseconds > 0 && milliseconds <= 2 ** 31 - 1) return milliseconds;
  throw new UsageError(`Cannot read --timeout "${text}": write seconds, or a unit, as in 30, 500ms, 2m`);
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: [string, string][] = lines.map((line) => {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    // The value may be a secret: it is never shown.
    if (isHeaderName(name) && isHeaderValue(value)) return [name, value];
    throw new UsageError(`Cannot read a --header: write it like 'Name: value', in plain characters`);
  });
  return Object.fromEntries(headers);
}

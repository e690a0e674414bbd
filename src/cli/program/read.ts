/**
 * The words after `causeway`, read and checked: which command, what for, and how.
 *
 * @module
 */
import { readSignInOptions } from "../auth/options.ts";
import type { CommandLine } from "../command_line.ts";
import { UsageError } from "../failure.ts";
import type { Fault, Written } from "./build.ts";
import { commandNames, commandTable, findCommand, verbsOf } from "./commands.ts";
import type { CommandSpec } from "./commands.ts";
import { allOptions, ownOptions, takesValue } from "./options.ts";
import { readPlain } from "./plain.ts";
import { withVerb } from "./shorthand.ts";
import { readServeOptions } from "../serve/options.ts";
import { isHeaderName, isHeaderValue } from "../../hub/config/server/headers.ts";
import { didYouMean } from "../../hub/config/nearest.ts";

/** What uses the servers of a config, over a hub whose wire can be heard. */
const heard: readonly string[] = ["run", "search", "serve"];
const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, "": 1_000, m: 60_000 };

/**
 * Reads the words of the command, also those without a verb that a config or a URL gives a meaning.
 *
 * @throws {UsageError} When they cannot be understood.
 */
export async function readWords(argv: readonly string[]): Promise<CommandLine> {
  // The verb is the first word that is neither an option nor the value of one.
  const at = argv.findIndex((word, at) => !word.startsWith("-") && !takesValue(argv[at - 1]));
  // What follows its file is a command of its own, with its own options.
  const isRecord = argv[at] === "record" && argv.length > at + 2;
  const file = argv[at + 1] ?? "";
  if (!isRecord || file.startsWith("-")) {
    const written = readPlain(argv) ?? (await import("./build.ts")).takeApart(argv);
    return judge(await withVerb(written));
  }
  const line = await readWords([...argv.slice(0, at), ...argv.slice(at + 2)]);
  const isHeard = findCommand(line.command)?.connects || heard.includes(line.command);
  if (!isHeard || line.record !== undefined) {
    throw new UsageError(`Cannot record causeway ${line.command}: only commands that use servers are recorded`);
  }
  return { ...line, record: file };
}

/** What was written, judged. */
export function judge(written: Written): CommandLine {
  const { given } = written;
  if (written.fault) throw faultOf(written.fault, written.command);
  for (const [name, values] of Object.entries(given)) checkValues(name, values);
  const { command, words } = given.help
    ? helpOf(written)
    : given.version
    ? { command: "version", words: [] }
    : named(written);
  const spec = findCommand(command);
  const curly = spec?.connects ? words.find((word) => /^[\u2018-\u201f\u00ab]/.test(word)) : undefined;
  if (curly !== undefined) {
    throw new UsageError(
      `Cannot read ${JSON.stringify(curly)}: it begins with a typographic quote, which no shell knows; type " or '`,
    );
  }
  if (given.header && spec && !spec.connects) throw belongs("header");
  const own = Object.fromEntries(
    Object.entries(given).filter(([name]) => Object.hasOwn(ownOptions, name) && name !== "args"),
  );
  const serves = ["serve", "bridge", "agent"].includes(command);
  const isRead = serves || command === "login";
  return {
    command,
    words,
    json: given.json !== undefined,
    timeout: readTimeout(given.timeout?.at(-1)),
    headers: readHeaders(given.header ?? []),
    config: given.config?.at(-1),
    args: given.args?.at(-1),
    ...(given.verbose && { verbose: true }),
    ...(command === "login" && { signIn: readSignInOptions(given) }),
    ...(serves && { serve: readServeOptions(given) }),
    ...(!isRead && Object.keys(own).length > 0 && { options: own }),
  };
}

/** The command that was named. */
function named({ command, words }: Written): { command: string; words: readonly string[] } {
  if (command === undefined && words[0] === "help") return { command: "help", words: words.slice(1) };
  if (command === undefined) throw unknownCommand(words[0]);
  const verbs = verbsOf(command);
  const spec = findCommand(command);
  if (spec?.words === "" && words.length > 0) {
    throw new UsageError(`Unexpected ${JSON.stringify(words[0])} after "${command.split(" ").at(-1)}": leave it out`);
  }
  if (spec || verbs.length === 0) return { command, words };
  const usage = `write causeway ${command} ${verbs.slice(0, -1).join(", ")} or ${verbs.at(-1)}`;
  const [verb] = words;
  if (verb === undefined) throw new UsageError(`It is not said what about the ${command}: ${usage}`);
  throw new UsageError(`Unknown "${verb}"${didYouMean(verb, verbs)}: ${usage}`);
}

function helpOf({ command, words }: Written): { command: string; words: readonly string[] } {
  return { command: "help", words: command === undefined ? words.slice(0, 1) : command.split(" ") };
}

function checkValues(name: string, values: readonly string[]): void {
  if (allOptions[name]?.value === undefined) return;
  if (values.some((value) => value === "" || value.startsWith("--"))) throw needsValue(`--${name}`);
}

/** What to say of an option that cannot be taken. */
function faultOf({ kind, option }: Fault, command: string | undefined): UsageError {
  const [raw = option, value] = option.split("=", 2);
  const name = raw.replace(/^--/, "");
  if (kind === "missing") return needsValue(raw);
  if (/^client-?secret$/i.test(name)) {
    return new UsageError(
      `Cannot take a secret from the command line: use --client-secret-file or the variable CAUSEWAY_CLIENT_SECRET`,
    );
  }
  const known = Object.hasOwn(allOptions, name) ? allOptions[name] : undefined;
  if (!known) {
    const own = findCommand(command ?? "")?.options;
    // Of a command that takes arguments, what others have is not meant.
    const names = Object.keys(allOptions).filter((known) =>
      !own?.includes("args") || own.includes(known) || !Object.hasOwn(ownOptions, known)
    );
    const meant = didYouMean(raw, names.map((known) => `--${known}`));
    const takesArguments = own?.includes("args") && meant === "";
    const advice = takesArguments
      ? `an argument is written without dashes, as in ${raw.replace(/^-+/, "")}=${value ?? "…"}`
      : `causeway help ${command ?? ""}`.trimEnd() + " lists those that there are";
    return new UsageError(`Unknown option "${raw}"${meant}: ${advice}`);
  }
  const isMine = owners(name).some((spec) => spec.name === command) || !Object.hasOwn(ownOptions, name);
  if (value !== undefined && known.value === undefined && isMine) {
    return new UsageError(`The option "${raw}" takes no value: write it alone`);
  }
  if (isMine) return new UsageError(`The option "${raw}" stands before its command: write it behind "${command}"`);
  return belongs(name);
}

function needsValue(option: string): UsageError {
  const value = allOptions[option.slice(2)]?.value ?? "value";
  const quoted = value.includes(" ") ? `'${value}'` : `<${value}>`;
  return new UsageError(`The option "${option}" needs a value: write ${option} ${quoted}`);
}

function owners(name: string): readonly CommandSpec[] {
  return commandTable.filter((spec) => name === "header" ? spec.connects : spec.options?.some((own) => own === name));
}

function belongs(name: string): UsageError {
  const names = owners(name).map((spec) => spec.name);
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} others`] : names;
  const commands = [shown.slice(0, -1).join(", "), ...shown.slice(-1)].filter((part) => part !== "").join(" and ");
  return new UsageError(`--${name} belongs to causeway ${commands}: leave it out`);
}

function unknownCommand(name: string | undefined): UsageError {
  const usage = "use causeway tools <target> or causeway call <target> <tool>; causeway --help shows more";
  if (name === undefined) return new UsageError(`A command is missing: ${usage}`);
  // `list-tools` and `call-tool` are what others call them.
  const meant = didYouMean(name.replace(/^list-?/i, "").replace(/-?tool$/i, "") || name, commandNames());
  return new UsageError(`Unknown command "${name}"${meant}: ${usage}`);
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  const milliseconds = Math.round(Number(amount) * (units[unit] ?? 1));
  if (milliseconds > 0 && milliseconds <= 2 ** 31 - 1) return milliseconds;
  throw new UsageError(
    milliseconds > 0
      ? `Cannot wait as long as --timeout "${text}": write at most 24 days, or leave it out to wait without end`
      : `Cannot read --timeout "${text}": write seconds, or a unit, as in 30, 500ms, 2m`,
  );
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

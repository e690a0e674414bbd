/**
 * What may stand where the cursor is: the scripts of the shells ask for it.
 *
 * @module
 */
import { exitCodes } from "../failure.ts";
import { findConfigs } from "../target/config.ts";
import { writeOut } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import { commandNames, commandTable, findCommand, takesHeader, verbsOf } from "./commands.ts";
import type { CommandSpec } from "./commands.ts";
import { commonOptions, takesValue } from "./options.ts";

/** Prints one word on a line, and answers the exit code. */
export async function complete(words: readonly string[]): Promise<number> {
  const found = await completions(words);
  await writeOut(found.map((word) => `${word}\n`).join(""));
  return exitCodes.ok;
}

/**
 * The words that may stand in the place of the last one; none where a shell should offer files.
 *
 * @param words What stands behind `causeway`, up to the cursor; the last may be empty.
 */
export async function completions(words: readonly string[]): Promise<string[]> {
  const last = words.at(-1) ?? "";
  const before = plainWords(words.slice(0, -1));
  const [name, verb] = before;
  const spec = findCommand(`${name} ${verb}`) ?? findCommand(name ?? "");
  if (takesValue(words.at(-2))) return [];
  if (last.startsWith("-")) return matching(optionsOf(name, spec), last);
  if (name === undefined) return matching([...commandNames(), "help", ...await serverNames()], last);
  if (name === "help") return matching(before.length === 1 ? commandNames() : verbsOf(verb ?? ""), last);
  const verbs = verbsOf(name);
  if (verbs.length > 0 && before.length === 1) return matching(verbs, last);
  if (spec?.name === "completion" && before.length === 1) return matching(["bash", "zsh", "fish"], last);
  const given = before.length - (spec?.name.split(" ").length ?? 1);
  const takesName = /^[<[]target/.test(spec?.words ?? "");
  const takesNames = ["servers remove", "servers enable", "servers disable", "servers doctor", "doctor"];
  if (given === 0 && (takesName || takesNames.includes(spec?.name ?? ""))) return matching(await serverNames(), last);
  return [];
}

/** The words that are neither options nor their values. */
function plainWords(words: readonly string[]): string[] {
  return words.filter((word, at) => !word.startsWith("-") && !takesValue(words[at - 1]));
}

function optionsOf(name: string | undefined, spec: CommandSpec | undefined): string[] {
  const specs = spec ? [spec] : commandTable.filter((one) => one.name.startsWith(`${name} `));
  const own = specs.flatMap(({ options = [] }) => options);
  const isHeader = name === undefined || takesHeader(spec?.name ?? name);
  const common = Object.keys(commonOptions).filter((option) => option !== "header" || isHeader);
  return [...new Set([...own, ...common])].map((option) => `--${option}`);
}

function matching(words: readonly string[], start: string): string[] {
  return [...new Set(words)].filter((word) => word.startsWith(start)).sort();
}

/** Names that a shell takes for one word. */
async function serverNames(): Promise<string[]> {
  try {
    const names = (await findConfigs(undefined, { leaveOut() {} })).flatMap(({ names }) => names);
    return names.filter((name) => oneLine(name) === name && /^[\w.@-]+$/.test(name));
  } catch {
    // A config that cannot be read is told of where it is used.
    return [];
  }
}

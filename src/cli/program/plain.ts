/**
 * Words that nobody has to take apart: a command that talks to a server, and what follows it, without options but `--json`;
 * and a question for help or the version, alone.
 *
 * @module
 */
import type { Written } from "./build.ts";
import { findCommand } from "./commands.ts";

const help = { command: undefined, words: [], given: { help: [""] } };
const versions = { command: undefined, words: [], given: { version: [""] } };
const questions: Readonly<Record<string, Written>> = {
  help: { command: undefined, words: ["help"], given: {} },
  ...{ "--help": help, "-h": help, "--version": versions, "-v": versions },
};

/**
 * Reads such words; undefined for all others. They are the usual ones, and to load what reads any takes longer than to start
 * the server that they name.
 */
export function readPlain(argv: readonly string[]): Written | undefined {
  const [command = "", ...rest] = argv;
  if (rest.length === 0 && Object.hasOwn(questions, command)) return questions[command];
  if (!findCommand(command)?.connects || /\s/.test(command)) return undefined;
  const words = rest.filter((word) => word !== "--json");
  if (words.some((word) => word.startsWith("-"))) return undefined;
  return { command, words, given: words.length < rest.length ? { json: [""] } : {} };
}

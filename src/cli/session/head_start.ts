/**
 * The program of a plain command line, started before anything else of this command is read: it needs longer to boot than
 * we do to understand what is asked.
 *
 * Only lines that cannot be wrong are taken: a verb that talks to one server, a target that can only be a program, and
 * words that need no file and no reading. All others, and those with options, start their program once they are understood.
 *
 * @module
 */
import type { StdioCommand } from "../../transport/stdio.ts";
import { readShellWords } from "../target/shell_words.ts";
import { EarlyChild } from "./early_child.ts";

/** How many words may follow the target of a verb. */
const verbs: ReadonlyMap<string, readonly [least: number, most: number]> = new Map([
  ["tools", [0, 0]],
  ["resources", [0, 0]],
  ["prompts", [0, 0]],
  ["read", [1, 1]],
  ["prompt", [1, Infinity]],
  ["call", [1, Infinity]],
]);

/** The program that a line names beyond doubt; undefined for all other lines. */
export function plainProgram(
  argv: readonly string[],
): { readonly command: string; readonly args: string[] } | undefined {
  const [verb = "", target = "", ...rest] = argv.filter((word) => word !== "--json");
  const [least, most] = verbs.get(verb) ?? [Infinity, 0];
  if (rest.length < least || rest.length > most) return undefined;
  const [name = "x", ...pairs] = rest;
  if (!/^[\w./:-]+$/.test(name) || name.startsWith("-")) return undefined;
  if (!pairs.every((word) => /^[\w.-]+=(?!=)/.test(word) && !word.startsWith("-"))) return undefined;
  const read = readShellWords(target);
  if ("open" in read) return undefined;
  const [command = "", ...args] = read.words;
  // With a path or an option in it, it is hardly a name from a config; if it is one after all, nobody takes the program.
  const isProgram = args.length > 0 && /^[\w.+/-]+$/.test(command) && args.some((word) => /^-|[/\\]/.test(word));
  return isProgram ? { command, args } : undefined;
}

/** The one program that is started so. */
export const headStart = {
  /** Starts the program of a line that names one. That it cannot be started is told to who takes it. */
  async begin(argv: readonly string[]): Promise<void> {
    const program = plainProgram(argv);
    if (program) begun = { ...program, child: await EarlyChild.start(program) };
  },

  /** Gives the program if it is this one, once. */
  take({ command, args = [], env = {}, cwd }: StdioCommand): EarlyChild | undefined {
    if (!begun || cwd !== undefined || Object.keys(env).length > 0) return undefined;
    if (JSON.stringify([command, args]) !== JSON.stringify([begun.command, begun.args])) return undefined;
    const { child } = begun;
    begun = undefined;
    return child;
  },

  /** Ends a program that nobody took. */
  async end(): Promise<void> {
    await begun?.child[Symbol.asyncDispose]();
    begun = undefined;
  },
};

let begun: { readonly command: string; readonly args: readonly string[]; readonly child: EarlyChild } | undefined;

/**
 * The tables as a program of `commander`: it takes words apart, finds commands, and writes help. What it would print or end
 * is caught here, so that the words and the exit codes are ours.
 *
 * @module
 */
import { Command, CommanderError, Option } from "commander";
import { pairs, wrap } from "../text/table.ts";
import { commandNames, commandTable, findCommand, takesHeader, verbsOf } from "./commands.ts";
import type { CommandSpec } from "./commands.ts";
import { commonOptions, writtenOption } from "./options.ts";

/** What was written, before anybody judges it. */
export interface Written {
  /** `tools`, `servers list`; the first word alone where it has no such second one; undefined when there is no known one. */
  readonly command: string | undefined;
  readonly words: readonly string[];
  /** The values of each option by its name: of one without a value, empty texts. */
  readonly given: Readonly<Record<string, readonly string[]>>;
  /** What could not be taken apart. */
  readonly fault?: Fault;
}

/** An option that is not known here, or one whose value is missing. */
export interface Fault {
  readonly kind: "unknown" | "missing";
  /** As it was written. */
  readonly option: string;
}

/** Takes the words apart. */
export function takeApart(argv: readonly string[]): Written {
  const given: Record<string, string[]> = {};
  let found: { command: string | undefined; words: readonly string[] } = { command: undefined, words: [] };
  // Only what may be meant: the making of all of them takes longer than the reading.
  const names = commandNames().filter((name) => argv.includes(name));
  const root = buildProgram(given, { names, found: (command, words) => found = { command, words } });
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const option = /'(-[^ ']*)/.exec(error.message)?.[1] ?? error.message;
    const kind = error.code === "commander.optionMissingArgument" ? "missing" : "unknown";
    return { command: firstCommand(argv), words: [], given, fault: { kind, option } };
  }
  return { ...found, given };
}

/**
 * How a command is written.
 *
 * @param name `tools`, `servers`, `servers list`.
 */
export function helpText(name: string, width: number): string {
  let command: Command = buildProgram({}, { width, names: name.split(" ", 1) });
  command.options.find((option) => option.long === "--header")?.hideHelp(!takesHeader(name));
  for (const word of name.split(" ")) command = command.commands.find((one) => one.name() === word) ?? command;
  return `${command.helpInformation().trimEnd()}\n`;
}

type Found = (command: string | undefined, words: readonly string[]) => void;

/** Which part of the program is wanted. */
interface ProgramPart {
  /** The first words of its commands. */
  readonly names: readonly string[];
  readonly width?: number;
  readonly found?: Found;
}

function buildProgram(
  given: Record<string, string[]>,
  { names, width = 80, found = () => {} }: ProgramPart,
): Command {
  const root = prepare(new Command("causeway"), width)
    .action((words: string[]) => found(undefined, words));
  addOptions(root, Object.keys(commonOptions), given);
  for (const name of names) {
    const spec = findCommand(name);
    const command = root.command(name);
    describe(command, spec);
    addOptions(prepare(command, width), spec?.options ?? [], given);
    command.action((words: string[]) => found(name, words));
    for (const below of commandTable.filter((one) => one.name.startsWith(`${name} `))) {
      const verb = prepare(command.command(below.name.slice(name.length + 1)), width);
      describe(verb, below);
      addOptions(verb, below.options ?? [], given);
      verb.action((words: string[]) => found(below.name, words));
    }
  }
  return root;
}

/** No exit, no output, no help of its own, and words in any number. */
function prepare(command: Command, width: number): Command {
  return command
    .argument("[words...]")
    .allowExcessArguments()
    .exitOverride()
    .helpOption(false)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => {}, writeErr: () => {} })
    .configureHelp({
      helpWidth: width,
      minWidthToWrap: 20,
      ...(width < 60 && { formatItem: (term, _width, about) => pairs([[term, about]], width).trimEnd() }),
      showGlobalOptions: true,
      visibleArguments: () => [],
      subcommandTerm: (one) => `${one.name()} ${one.usage()}`.trim(),
      commandUsage: (one) => wrap(`${fullName(one)} ${one.usage()}`.trim(), width - 8).join("\n  "),
    });
}

function describe(command: Command, spec: CommandSpec | undefined): void {
  const about = spec?.about ?? verbsOf(command.name()).join(", ");
  command.summary(about).description(about).usage(spec ? spec.words || " " : "<verb>");
}

function addOptions(command: Command, names: readonly string[], given: Record<string, string[]>): void {
  for (const name of names) {
    command.addOption(new Option(...writtenOption(name)));
    command.on(`option:${name}`, (value: string | null) => (given[name] ??= []).push(value ?? ""));
  }
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

/** The command that words are about, where they cannot be taken apart. */
function firstCommand(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((word) => commandNames().includes(word));
  const name = argv[at];
  const two = `${name} ${argv[at + 1]}`;
  return findCommand(two) ? two : name;
}

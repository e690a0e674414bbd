/**
 * What the commands that talk to one server have in common.
 *
 * @module
 */
import type { Client } from "../../../client/mod.ts";
import { didYouMean } from "../../../hub/config/nearest.ts";
import type { CommandLine } from "../../command_line.ts";
import { UsageError } from "../../failure.ts";
import { writeError } from "../../terminal.ts";
import { oneLine } from "../../text/plain.ts";

/**
 * The words of a command that takes so many.
 *
 * @param names What each of them is called: `["target", "uri"]`.
 * @throws {UsageError} When there are fewer, or more.
 */
export function exactWords(line: CommandLine, names: readonly string[]): string[] {
  const missing = names.find((_, at) => line.words[at] === undefined);
  const usage = `causeway ${line.command} ${names.map((name) => `<${name}>`).join(" ")}`;
  if (missing !== undefined) throw new UsageError(`The ${missing} is missing: write ${usage}`);
  if (line.words.length > names.length) {
    const why = names.length === 1 ? "put a command with spaces into quotes" : `write ${usage}`;
    throw new UsageError(`Unexpected "${line.words[names.length]}" after the ${names.at(-1)}: ${why}`);
  }
  return [...line.words];
}

/** What of a list is not there, and whether there is anything. */
export interface ListEnds {
  readonly rejected?: readonly { readonly name: string; readonly reason: string }[] | undefined;
  readonly truncated?: string | undefined;
}

/** Tells what a list lacks. */
export async function tellEnds(
  client: Client,
  { rejected = [], truncated }: ListEnds,
  kind: { one: string; count: number },
): Promise<void> {
  for (const { name, reason } of rejected) {
    await writeError(`causeway: left out the ${kind.one} "${oneLine(name)}": ${oneLine(reason)}\n`);
  }
  if (truncated) await writeError(`causeway: the list is not whole: it was cut at the limit of ${truncated}\n`);
  if (kind.count === 0) await writeError(`causeway: "${oneLine(client.label)}" has no ${kind.one}s\n`);
}

/** The error for a name that a server does not have. */
export function unknownName(
  kind: string,
  name: string,
  known: { client: Client; names: readonly string[] },
): UsageError {
  const { client, names } = known;
  return new UsageError(
    `Unknown ${kind} "${name}" at "${oneLine(client.label)}"${
      didYouMean(name, names)
    }: causeway ${kind}s lists what it has`,
  );
}

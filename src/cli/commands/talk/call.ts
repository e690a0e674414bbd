/**
 * `causeway call <target> <tool> [argument …]`: calls one tool.
 *
 * @module
 */
import type { Client } from "../../../client/mod.ts";
import { ProtocolViolationError } from "../../../protocol/errors.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { CallToolResult, Tool } from "../../../protocol/mod.ts";
import { readCallForm } from "../../arguments/call_form.ts";
import { readPieces } from "../../arguments/pieces.ts";
import { buildArguments } from "../../arguments/values.ts";
import type { CommandLine } from "../../command_line.ts";
import { withDeadline } from "../../deadline.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { splitName } from "../../target/split.ts";
import { withClient } from "../../session/session.ts";
import { createProgressLine, writeError, writeOut, writeWarning } from "../../terminal.ts";
import { plainJson } from "../../text/plain.ts";
import { hasRounded, resultText, unsaid } from "../../text/result.ts";
import { unknownName } from "./common.ts";

/** Calls the tool, and answers the exit code. */
export function callTool(line: CommandLine, signal: AbortSignal): Promise<number> {
  return withDeadline(signal, line.timeout, (signal) => call(line, signal));
}

async function call(line: CommandLine, signal: AbortSignal): Promise<number> {
  const { target, name, words, args: inside } = await readCall(line);
  // Files and the standard input come first: what is wrong there is told before anything is started.
  const given = await readPieces(words, line.args, signal);
  const pieces = inside === undefined ? given : [{ object: inside }, ...given];
  return await withClient(target, line, {
    signal,
    async use(client, signal, destination) {
      // Loaded while the server makes its list.
      const [tool, { checkArguments }] = await Promise.all([
        findTool(client, name, signal),
        import("../../arguments/check.ts"),
      ]);
      const args = buildArguments(pieces, tool?.inputSchema);
      const warning = tool && checkArguments(tool, args);
      if (warning !== undefined) await writeWarning(warning);
      const { entry } = destination;
      if (entry?.server.tools ?? entry?.server.pins) {
        await (await import("./left_out.ts")).warnOfLeftOut(destination, name, tool);
      }
      const progress = createProgressLine();
      const idempotent = entry?.server.idempotent?.includes(name) ?? false;
      const result = await client.callTool(name, args, {
        signal,
        idempotent,
        onProgress: (sign) => progress.show(sign),
      })
        .finally(() => progress.clear());
      return await tellResult(result, `the tool "${name}"`, line);
    },
  });
}

/** Prints the result of a tool, and answers the exit code. */
export async function tellResult(result: CallToolResult, what: string, line: CommandLine): Promise<number> {
  await writeOut(line.json ? plainJson(result) + "\n" : resultText(result));
  // A text that says the same has all digits, and is what is shown without --json.
  if (hasRounded(line.json ? result : unsaid(result))) {
    await writeError("causeway: warning: a whole number in the result is beyond 2^53: its last digits may be wrong\n");
  }
  if (!result.isError) return exitCodes.ok;
  await writeError(`causeway: ${what} failed: its result says why\n`);
  return exitCodes.toolFailed;
}

/** A call as it was written. */
interface WrittenCall {
  readonly target: string;
  readonly name: string;
  readonly words: readonly string[];
  /** What stands in parentheses behind the tool's name. */
  readonly args: JsonObject | undefined;
}

/**
 * Reads `<target> <tool> …`, `<target> 'tool(…)' …`, `server.tool …` and `'server.tool(…)' …`.
 *
 * @throws {UsageError} When the target or the tool is missing.
 */
export async function readCall(line: CommandLine): Promise<WrittenCall> {
  const [first, second, ...rest] = line.words;
  const split = first === undefined ? undefined : await splitName(first, line.config);
  if (split?.tool !== undefined) {
    return { target: split.server, ...readCallForm(split.tool), words: line.words.slice(1) };
  }
  if (first === undefined || second === undefined) {
    const missing = first === undefined ? "target" : "tool";
    throw new UsageError(`The ${missing} is missing: write causeway ${line.command} <target> <tool> [key=value …]`);
  }
  return { target: first, ...readCallForm(second), words: rest };
}

/** The tool's definition; undefined when the list was cut short, so that it may be there all the same. */
export async function findTool(client: Client, name: string, signal: AbortSignal): Promise<Tool | undefined> {
  const { tools, rejected = [], truncated } = await client.listTools({ signal });
  const tool = tools.find((found) => found.name === name);
  if (tool || truncated) return tool;
  const left = rejected.find((found) => found.name === name);
  if (left) {
    throw new ProtocolViolationError(`Cannot call the tool "${name}" of "${client.label}": ${left.reason}`);
  }
  const names = tools.map((found) => found.name);
  throw unknownName("tool", name, { client, names });
}

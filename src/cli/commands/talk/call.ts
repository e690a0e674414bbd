/**
 * `causeway call <target> <tool> [argument …]`: calls one tool.
 *
 * @module
 */
import type { Client } from "../../../client/mod.ts";
import { ProtocolViolationError } from "../../../protocol/mod.ts";
import type { Tool } from "../../../protocol/mod.ts";
import { checkArguments } from "../../arguments/check.ts";
import { readPieces } from "../../arguments/pieces.ts";
import { buildArguments } from "../../arguments/values.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { withClient } from "../../session.ts";
import { createProgressLine, writeError, writeOut } from "../../terminal.ts";
import { plainJson } from "../../text/plain.ts";
import { resultText } from "../../text/result.ts";
import { unknownName } from "./common.ts";

/** Calls the tool, and answers the exit code. */
export async function callTool(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target, name, ...words] = line.words;
  if (target === undefined || name === undefined) {
    const missing = target === undefined ? "target" : "tool";
    throw new UsageError(`The ${missing} is missing: write causeway call <target> <tool> [key=value …]`);
  }
  // Files and the standard input come first: what is wrong there is told before anything is started.
  const pieces = await readPieces(words, line.args, signal);
  return await withClient(target, line, {
    signal,
    async use(client, signal, { entry }) {
      const tool = await findTool(client, name, signal);
      const args = buildArguments(pieces, tool?.inputSchema);
      if (tool) checkArguments(tool, args);
      const progress = createProgressLine();
      const idempotent = entry?.server.idempotent?.includes(name) ?? false;
      const result = await client.callTool(name, args, {
        signal,
        idempotent,
        onProgress: (sign) => progress.show(sign),
      })
        .finally(() => progress.clear());
      await writeOut(line.json ? plainJson(result) + "\n" : resultText(result));
      if (!result.isError) return exitCodes.ok;
      await writeError(`causeway: the tool "${name}" failed: its result says why\n`);
      return exitCodes.toolFailed;
    },
  });
}

/** The tool's definition; undefined when the list was cut short, so that it may be there all the same. */
async function findTool(client: Client, name: string, signal: AbortSignal): Promise<Tool | undefined> {
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

/**
 * `causeway tasks detach <target> <tool> [argument …]`: starts a tool as a task, and leaves it to the server.
 *
 * @module
 */
import { taskSupport } from "../../../client/mod.ts";
import type { AuthWorld } from "../../auth/oauth.ts";
import { checkArguments } from "../../arguments/check.ts";
import { readPieces } from "../../arguments/pieces.ts";
import { buildArguments } from "../../arguments/values.ts";
import type { CommandLine } from "../../command_line.ts";
import { withDeadline } from "../../deadline.ts";
import { exitCodes } from "../../failure.ts";
import { withDestination } from "../../session/session.ts";
import { resolveTarget } from "../../target/target.ts";
import { writeError, writeOut, writeWarning } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { findTool, readCall, tellResult } from "../talk/call.ts";
import { warnOfLeftOut } from "../talk/left_out.ts";
import { keepTask, whyNot } from "./known.ts";

/** Starts it, prints its id, and answers the exit code. A tool that is no task is called, and its result is printed. */
export function detachTask(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  return withDeadline(signal, line.timeout, (signal) => detach(line, signal, world));
}

async function detach(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  const { target, name, words, args: inside } = await readCall(line);
  const given = await readPieces(words, line.args, signal);
  const pieces = inside === undefined ? given : [{ object: inside }, ...given];
  const destination = await resolveTarget(target, line);
  return await withDestination(destination, line, {
    signal,
    world,
    options: { tasks: taskSupport },
    async use(client, signal) {
      const tool = await findTool(client, name, signal);
      const args = buildArguments(pieces, tool?.inputSchema);
      const warning = tool && checkArguments(tool, args);
      if (warning !== undefined) await writeWarning(warning);
      await warnOfLeftOut(destination, name, tool);
      const handle = await client.callToolTask(name, args, { signal });
      const { taskId } = handle;
      if (taskId === "") {
        await writeError(`causeway: "${oneLine(client.label)}" did not make a task of it: this is its result\n`);
        return await tellResult(await handle.result({ signal }), `the tool "${name}"`, line);
      }
      // A name means nothing in another folder, without the file that it is in.
      const config = destination.entry?.path;
      // It runs: whoever started it has to know its id, whatever becomes of the list.
      await writeOut(line.json ? plainJson(handle.task) + "\n" : `${oneLine(taskId)}\n`);
      const known = { taskId, target, config, tool: name, startedAt: new Date().toISOString() };
      const why = await whyNot(keepTask(world.openStore(), known));
      await writeError(
        why === undefined
          ? `causeway: causeway tasks wait ${oneLine(taskId)} waits for it\n`
          : `causeway: warning: the task is not kept here: write causeway tasks wait <target> ${
            oneLine(taskId)
          } (${why})\n`,
      );
      return exitCodes.ok;
    },
  });
}

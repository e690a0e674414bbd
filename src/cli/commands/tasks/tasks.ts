/**
 * `causeway tasks list`, `get`, `wait` and `cancel`: tool calls that run on without anybody who waits.
 *
 * @module
 */
import { taskSupport } from "../../../client/mod.ts";
import type { Client } from "../../../client/mod.ts";
import { InvalidParamsError } from "../../../protocol/errors.ts";
import type { Task } from "../../../protocol/mod.ts";
import type { AuthWorld } from "../../auth/oauth.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { withClient } from "../../session/session.ts";
import { createSpinner, terminalWidth, writeError, writeOut } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { columns } from "../../text/table.ts";
import { tellResult } from "../talk/call.ts";
import { findKnown, forgetTask, markCancelled, readKnown, whyNot } from "./known.ts";
import type { KnownTask } from "./known.ts";

/** Lists what was started here, or what a server has, and answers the exit code. */
export async function listTasks(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  const [target, ...more] = line.words;
  if (more.length > 0) throw new UsageError(`Unexpected "${more[0]}" after the target: leave it out`);
  if (target === undefined) return await listKnown(line, world);
  return await withClient(target, line, {
    signal,
    world,
    options: { tasks: taskSupport },
    async use(client, signal) {
      const tasks = await client.listTasks({ signal });
      const rows = tasks.map((task) => [oneLine(task.taskId), oneLine(task.status), oneLine(task.createdAt ?? "")]);
      await writeOut(line.json ? plainJson({ tasks }) + "\n" : columns(rows, terminalWidth()));
      if (tasks.length === 0) await writeError(`causeway: "${oneLine(client.label)}" has no tasks\n`);
      return exitCodes.ok;
    },
  });
}

/** Says how one stands, and answers the exit code. */
export function getTask(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  return withTask(line, { signal, world }, async (client, { taskId }, signal) => {
    const { task } = await client.getTask(taskId, { signal });
    await writeOut(line.json ? plainJson(task) + "\n" : taskText(task));
    return exitCodes.ok;
  });
}

/** Waits for one, prints its result, and answers the exit code. Giving up leaves the task alone. */
export function waitForTask(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  return withTask(line, { signal, world }, async (client, { taskId, target }, signal) => {
    const spinner = createSpinner("waits for the task");
    const result = await client.awaitTask(taskId, { signal }).finally(() => spinner.clear());
    const code = await tellResult(result, "the task", line);
    await forget(world, taskId, target);
    return code;
  });
}

/** Asks the server to stop one, and answers the exit code. */
export function cancelTask(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  return withTask(line, { signal, world }, async (client, { taskId, target }, signal) => {
    await client.cancelTask(taskId, { signal }).catch(async (error: unknown) => {
      // What the server does not know any more would stay in the list for good; what has ended there still has a result.
      const isUnknown = (why: unknown): boolean => why instanceof InvalidParamsError;
      if (isUnknown(error) && await client.getTask(taskId, { signal }).then(() => false, isUnknown)) {
        await forget(world, taskId, target);
      }
      throw error;
    });
    await writeOut(line.json ? plainJson({ taskId, cancelled: true }) + "\n" : "Asked to stop the task\n");
    await change(markCancelled(world.openStore(), taskId, target));
    return exitCodes.ok;
  });
}

function forget(world: AuthWorld, taskId: string, target: string): Promise<void> {
  return change(forgetTask(world.openStore(), taskId, target));
}

/** It is over, whatever becomes of the list. */
async function change(work: Promise<void>): Promise<void> {
  const why = await whyNot(work);
  if (why !== undefined) await writeError(`causeway: warning: the task stays in the list: ${why}\n`);
}

async function listKnown(line: CommandLine, world: AuthWorld): Promise<number> {
  const tasks = await readKnown(world.openStore());
  const rows = tasks.map(({ taskId, target, tool, startedAt, cancelled }) =>
    [taskId, target, tool, startedAt, cancelled ? "cancelled" : ""].map(oneLine)
  );
  await writeOut(line.json ? plainJson({ tasks }) + "\n" : columns(rows, terminalWidth()));
  if (tasks.length === 0) await writeError("causeway: no tasks were started here: causeway tasks detach starts one\n");
  return exitCodes.ok;
}

type TaskPlace = Pick<KnownTask, "taskId" | "target">;
type UseTask = (client: Client, place: TaskPlace, signal: AbortSignal) => Promise<number>;

/** Connects to the server of a task: the one that was named, or the one where it was started. */
async function withTask(
  line: CommandLine,
  { signal, world }: { signal: AbortSignal; world: AuthWorld },
  use: UseTask,
): Promise<number> {
  const [first, second, ...more] = line.words;
  if (first === undefined) throw new UsageError(`The id is missing: write causeway ${line.command} [target] <id>`);
  if (more.length > 0) throw new UsageError(`Unexpected "${more[0]}" after the id: leave it out`);
  const [known, another] = second === undefined ? findKnown(await readKnown(world.openStore()), first) : [];
  if (second === undefined && !known) {
    throw new UsageError(
      `No task "${first}" was started here: write causeway ${line.command} <target> <id>, or see causeway tasks list`,
    );
  }
  if (known && another) {
    const way = `causeway ${line.command} ${known.target} ${first}`;
    throw new UsageError(`More than one server has a task "${first}": write ${way}, or see causeway tasks list`);
  }
  const target = known?.target ?? first;
  return await withClient(target, { ...line, config: line.config ?? known?.config }, {
    signal,
    world,
    options: { tasks: taskSupport },
    use: (client, signal) => {
      const code = use(client, { taskId: second ?? first, target }, signal);
      return known?.cancelled ? code.catch((error: unknown) => refuseCancelled(error, known, world)) : code;
    },
  });
}

/** What was cancelled may be forgotten by its server at any time: then it is here, too, and it is said what became of it. */
async function refuseCancelled(error: unknown, { taskId, target }: KnownTask, world: AuthWorld): Promise<never> {
  if (!(error instanceof InvalidParamsError)) throw error;
  await forget(world, taskId, target);
  throw new UsageError(`The task "${taskId}" was cancelled, and its server has forgotten it: ${error.message}`);
}

function taskText({ taskId, status, statusMessage, createdAt, lastUpdatedAt }: Task): string {
  const rows = [["task", taskId], ["status", status], ["says", statusMessage], ["created", createdAt]];
  const all = [...rows, ["changed", lastUpdatedAt]].flatMap(([name = "", value]) =>
    value === undefined ? [] : [[name, oneLine(value)]]
  );
  return columns(all, undefined);
}

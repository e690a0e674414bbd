/**
 * The tasks that were started here, so that they are found again: kept beside the sign-ins, for this user alone.
 *
 * @module
 */
import type { Store } from "../../../ports.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import { describeFailure } from "../../failure.ts";
import { KeptList } from "../../kept_list.ts";

/** One of them. */
export interface KnownTask {
  /** Its id. Secret where the server does not bind it to its caller. */
  readonly taskId: string;
  /** The server, as it was written. */
  readonly target: string;
  /** The file that its name comes from, where one was given. */
  readonly config?: string | undefined;
  readonly tool: string;
  /** When it was started, in ISO 8601. */
  readonly startedAt: string;
  /** Its server was asked to stop it. */
  readonly cancelled?: true | undefined;
}

/** How many are kept: the oldest are forgotten first, those that were cancelled before all others. */
const most = 200;
const tasks: KeptList<KnownTask> = new KeptList("cli/tasks", isKnown);

/** Those that are kept, in the order in which they were started. */
export function readKnown(store: Store): Promise<readonly KnownTask[]> {
  return tasks.read(store);
}

/**
 * Those with an id. Servers may count theirs, so that several have it: then those of the target, by the name it was started with, where
 * one is given.
 */
export function findKnown(list: readonly KnownTask[], taskId: string, target?: string): readonly KnownTask[] {
  const found = list.filter((known) => known.taskId === taskId);
  return target === undefined || found.length < 2 ? found : found.filter((known) => known.target === target);
}

/** Keeps one. */
export function keepTask(store: Store, task: KnownTask): Promise<void> {
  const { taskId, target, config } = task;
  return tasks.change(store, (list) => {
    const isOther = (known: KnownTask): boolean =>
      known.taskId !== taskId || known.target !== target || known.config !== config;
    const kept = [...list.filter(isOther), task];
    while (kept.length > most) kept.splice(Math.max(0, kept.findIndex(({ cancelled }) => cancelled)), 1);
    return kept;
  });
}

/** Keeps one as cancelled: whoever asks for it later is told what became of it. */
export function markCancelled(store: Store, taskId: string, target: string): Promise<void> {
  return tasks.change(store, (list) => {
    const found = findKnown(list, taskId, target);
    return list.map((known) => found.includes(known) ? { ...known, cancelled: true } : known);
  });
}

/** Forgets one. */
export function forgetTask(store: Store, taskId: string, target: string): Promise<void> {
  return tasks.change(store, (list) => {
    const found = findKnown(list, taskId, target);
    return list.filter((known) => !found.includes(known));
  });
}

/** Why the list could not be changed, on one line; undefined when it was. */
export async function whyNot(change: Promise<void>): Promise<string | undefined> {
  return await change.then(() => undefined, (error: unknown) => describeFailure(error).line);
}

function isKnown(value: unknown): value is KnownTask {
  if (!isObject(value)) return false;
  const texts = [value.taskId, value.target, value.tool, value.startedAt];
  return texts.every((text) => typeof text === "string") && ["undefined", "string"].includes(typeof value.config);
}

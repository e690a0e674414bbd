/**
 * The tasks that were started here, so that they are found again: kept beside the sign-ins, for this user alone.
 *
 * @module
 */
import type { Store } from "../../../ports.ts";
import { isObject } from "../../../protocol/json_rpc.ts";

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
}

const key = "cli/tasks";
const attempts = 20;
/** How many are kept: the oldest are forgotten first. */
const most = 200;

/** Those that are kept, in the order in which they were started. */
export async function readKnown(store: Store): Promise<readonly KnownTask[]> {
  return parse(await store.get(key));
}

/** Keeps one. */
export function keepTask(store: Store, task: KnownTask): Promise<void> {
  return change(store, (list) => [...list.filter(({ taskId }) => taskId !== task.taskId), task].slice(-most));
}

/** Forgets one. */
export function forgetTask(store: Store, taskId: string): Promise<void> {
  return change(store, (list) => list.filter((known) => known.taskId !== taskId));
}

async function change(store: Store, next: (list: readonly KnownTask[]) => readonly KnownTask[]): Promise<void> {
  for (let attempt = 1;; attempt++) {
    const before = await store.get(key);
    const list = next(parse(before));
    const after = list.length === 0 ? undefined : JSON.stringify(list);
    if (after === before) return;
    if (store.compareAndSet && attempt < attempts) {
      if (await store.compareAndSet(key, before, after)) return;
    } else return await (after === undefined ? store.delete(key) : store.set(key, after));
  }
}

function parse(text: string | undefined): readonly KnownTask[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.filter(isKnown) : [];
  } catch {
    return [];
  }
}

function isKnown(value: unknown): value is KnownTask {
  if (!isObject(value)) return false;
  const texts = [value.taskId, value.target, value.tool, value.startedAt];
  return texts.every((text) => typeof text === "string") && ["undefined", "string"].includes(typeof value.config);
}

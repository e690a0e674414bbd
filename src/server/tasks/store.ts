/**
 * Where tasks are kept: the port, and a store in memory.
 *
 * @module
 */
import type { JsonObject, JsonRpcError } from "../../protocol/json_rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { InputRequest, TaskStatus } from "../../protocol/types.ts";

/** A task as it is kept: plain JSON. */
export interface TaskRecord {
  /** Unguessable, and unique. */
  readonly taskId: string;
  /** The caller that it belongs to: nobody else finds it. Null where callers are not verified: the id alone is the key. */
  readonly owner: string | null;
  /** The wire that it was begun over. */
  readonly era: Era;
  /** Counts the changes: what is replaced must not have changed meanwhile. */
  readonly version: number;
  /** Where it stands. */
  readonly status: TaskStatus;
  /** What there is to say of the state, for people. */
  readonly statusMessage?: string | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When its state changed last, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** How long it is kept from its creation, in milliseconds. */
  readonly ttl: number;
  /** How long a client should wait between two looks, in milliseconds. */
  readonly pollInterval: number;
  /**
   * Until when the process that runs it has vouched for it, in milliseconds since 1970; it does so again from time to time.
   * Later, that process has died.
   */
  readonly leaseUntil?: number | undefined;
  /** What is asked of the client, by key, while it is `input_required`. */
  readonly inputRequests?: Readonly<Record<string, InputRequest>> | undefined;
  /** The tool's result, when it is `completed`. */
  readonly result?: JsonObject | undefined;
  /** The protocol's error, when it is `failed`. */
  readonly error?: JsonRpcError | undefined;
}

/** One page of a caller's tasks. */
export interface TaskPage {
  /** The tasks, oldest first. */
  readonly records: readonly TaskRecord[];
  /** Where the next page begins; undefined when there is none. */
  readonly next: string | undefined;
}

/**
 * Keeps tasks. A promise that has resolved is a promise: what was written can be read then, by every process that serves
 * (SEP-2663: Task Creation). A task may be forgotten when `createdAt + ttl` has passed, and not before.
 */
export interface TaskStore {
  /**
   * Keeps a new one.
   *
   * @throws {Error} When it cannot be kept: then there is no task.
   */
  create(record: TaskRecord): Promise<void>;
  /** Gives one; undefined when there is none, or no more. */
  get(taskId: string): Promise<TaskRecord | undefined>;
  /**
   * Replaces one, if the one that is kept has the version before that of `record`, and no other.
   *
   * @returns Whether it was replaced.
   */
  replace(record: TaskRecord): Promise<boolean>;
  /** Forgets one; harmless when there is none. */
  delete(taskId: string): Promise<void>;
  /**
   * Lists those of one owner, oldest first.
   *
   * @param from `next` of the page before.
   * @returns undefined when `from` is none of ours.
   */
  list(owner: string, from: string | undefined, count: number): Promise<TaskPage | undefined>;
}

/** Options of {@linkcode createMemoryTaskStore}. */
export interface MemoryTaskStoreOptions {
  /** How many are kept at one time (1,000). */
  max?: number | undefined;
}

/** Thrown by a store that takes no more. */
export class TaskStoreFullError extends Error {
  /** The name of the class. */
  override name = "TaskStoreFullError";
}

/**
 * Keeps tasks in the memory of this process: they end with it, and no other process finds them.
 *
 * When it is full, the oldest one that has ended is forgotten for a new one.
 *
 * @throws {RangeError} When `max` is no positive whole number.
 *
 * @example A store for a hundred tasks
 * ```ts
 * import { createMemoryTaskStore } from "@causeway/mcp/server";
 *
 * const store = createMemoryTaskStore({ max: 100 });
 * console.assert(await store.get("none") === undefined);
 * ```
 */
export function createMemoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  const { max = 1_000 } = options;
  if (!Number.isSafeInteger(max) || max < 1) {
    throw new RangeError(`"max" is ${max}, expected a whole number, 1 or more`);
  }
  return new MemoryTaskStore(max);
}

class MemoryTaskStore implements TaskStore {
  readonly #max: number;
  /** In the order of their creation. */
  readonly #records = new Map<string, { readonly number: number; record: TaskRecord }>();
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  create(record: TaskRecord): Promise<void> {
    this.#forgetOld(record.createdAt);
    if (this.#records.size >= this.#max && !this.#makeRoom()) {
      return Promise.reject(new TaskStoreFullError(`No more than ${this.#max} tasks can be kept`));
    }
    this.#records.set(record.taskId, { number: ++this.#count, record });
    return Promise.resolve();
  }

  get(taskId: string): Promise<TaskRecord | undefined> {
    return Promise.resolve(this.#records.get(taskId)?.record);
  }

  replace(record: TaskRecord): Promise<boolean> {
    const kept = this.#records.get(record.taskId);
    if (kept?.record.version !== record.version - 1) return Promise.resolve(false);
    kept.record = record;
    return Promise.resolve(true);
  }

  delete(taskId: string): Promise<void> {
    this.#records.delete(taskId);
    return Promise.resolve();
  }

  list(owner: string, from: string | undefined, count: number): Promise<TaskPage | undefined> {
    if (from !== undefined && !/^\d{1,15}$/.test(from)) return Promise.resolve(undefined);
    const after = Number(from ?? 0);
    const own = [...this.#records.values()].filter(({ number, record }) => number > after && record.owner === owner);
    const page = own.slice(0, count);
    const next = own.length > count ? String(page.at(-1)?.number) : undefined;
    return Promise.resolve({ records: page.map(({ record }) => record), next });
  }

  /** What nobody may read any more takes no memory, either. */
  #forgetOld(now: number): void {
    for (const [taskId, { record }] of this.#records) {
      if (isEnded(record) && record.createdAt + record.ttl <= now) this.#records.delete(taskId);
    }
  }

  #makeRoom(): boolean {
    for (const [taskId, { record }] of this.#records) {
      if (isEnded(record)) return this.#records.delete(taskId);
    }
    return false;
  }
}

/** Whether nothing will change it any more. */
export function isEnded({ status }: Pick<TaskRecord, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

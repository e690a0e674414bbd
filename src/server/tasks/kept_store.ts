/**
 * Tasks over a `Store`: they outlive the process.
 *
 * @module
 */
import { systemClock } from "../../ports.ts";
import type { Clock, Store } from "../../ports.ts";
import { Turns } from "../../auth/stores/turns.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { exchange, inTime } from "../common/store_steps.ts";
import { isEnded, type TaskPage, type TaskRecord, type TaskStore, TaskStoreFullError } from "./store.ts";

/** Options of {@linkcode createTaskStore}. */
export interface TaskStoreOptions {
  /** What keys begin with (`mcp-task:`). */
  prefix?: string | undefined;
  /** How many tasks of one owner are kept at one time (1,000). Callers that are not verified share one such number. */
  max?: number | undefined;
  /** How long the store may take for one step, in milliseconds (5,000). */
  timeout?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
}

interface FilledOptions {
  readonly store: Store;
  readonly prefix: string;
  readonly max: number;
  readonly timeout: number;
  readonly clock: Clock;
}

/** One line in the list of an owner. */
interface Entry {
  /** Grows from task to task. */
  readonly number: number;
  readonly taskId: string;
  /** Until when it is kept, in milliseconds since 1970. */
  readonly until: number;
}

/**
 * Keeps tasks in a store, for the option `store` of `createTasks`: what a client was told can be read after a restart, and
 * by every process with the same store. A task itself does not outlive its process: it is `failed` when the time has passed
 * for which that process vouched for it (`lease` of `createTasks`).
 *
 * A task has one text of its own, and each owner a list. Changes of one process never overtake each other, and those of several
 * do not where the store has `compareAndSet`: without it the last of two changes in the same moment stays. When an owner's list is
 * full, the oldest task that has ended, or whose text is damaged, is forgotten for a new one.
 *
 * @param store Where they are kept.
 * @throws {RangeError} When a number makes no sense.
 *
 * @example Tasks that can be read after a restart
 * ```ts
 * import { createTasks, createTaskStore } from "@causeway/mcp/server";
 *
 * const texts = new Map<string, string>();
 * const store = createTaskStore({
 *   get: (key) => Promise.resolve(texts.get(key)),
 *   set: (key, value) => Promise.resolve(void texts.set(key, value)),
 *   delete: (key) => Promise.resolve(void texts.delete(key)),
 * });
 * await createTasks({ store }).close();
 * ```
 */
export function createTaskStore(store: Store, options: TaskStoreOptions = {}): TaskStore {
  const { prefix = "mcp-task:", max = 1_000, timeout = 5_000, clock = systemClock } = options;
  if (!Number.isSafeInteger(max) || max < 1) {
    throw new RangeError(`"max" is ${max}, expected a whole number, 1 or more`);
  }
  if (!(timeout > 0)) throw new RangeError(`"timeout" is ${timeout}, expected a number above 0`);
  return new KeptTaskStore({ store, prefix, max, timeout, clock });
}

class KeptTaskStore implements TaskStore {
  readonly #options: FilledOptions;
  readonly #turns: Turns;

  constructor(options: FilledOptions) {
    this.#options = options;
    this.#turns = new Turns(options.clock, 2 * options.timeout);
  }

  async create(record: TaskRecord): Promise<void> {
    const { taskId, createdAt, ttl } = record;
    const list = await this.#listKey(record.owner);
    // The list first: what is in no list would never be forgotten.
    await this.#turns.alone(list, async () => {
      for (;;) {
        const text = await this.#get(list);
        const { kept, gone } = await this.#makeRoom(entriesOf(text));
        // Also when the list was empty meanwhile: pages go by it.
        const number = Math.max((kept.at(-1)?.number ?? 0) + 1, createdAt);
        const next = JSON.stringify([...kept, { number, taskId, until: createdAt + ttl }]);
        if (await this.#swap(list, text, next)) {
          return await Promise.all(gone.map((entry) => this.#drop(this.#taskKey(entry.taskId))));
        }
      }
    });
    await this.#set(this.#taskKey(taskId), record);
  }

  async get(taskId: string): Promise<TaskRecord | undefined> {
    if (!isId(taskId)) return undefined;
    const record = await this.#read(taskId);
    if (!record || this.#options.clock.now() < record.createdAt + record.ttl) return record;
    await this.delete(taskId);
    return undefined;
  }

  replace(record: TaskRecord): Promise<boolean> {
    const { taskId, version } = record;
    if (!isId(taskId)) return Promise.resolve(false);
    return this.#turns.alone(this.#taskKey(taskId), async () => {
      const text = await this.#get(this.#taskKey(taskId));
      if (text === undefined || recordOf(text, taskId).version !== version - 1) return false;
      return await this.#swap(this.#taskKey(taskId), text, JSON.stringify(record));
    });
  }

  async delete(taskId: string): Promise<void> {
    if (!isId(taskId)) return;
    const record = await this.#read(taskId).catch(() => undefined);
    await this.#turns.alone(this.#taskKey(taskId), () => this.#drop(this.#taskKey(taskId)));
    if (!record) return;
    const list = await this.#listKey(record.owner);
    await this.#turns.alone(list, async () => {
      for (;;) {
        const text = await this.#get(list);
        const entries = entriesOf(text);
        const rest = entries.filter((entry) => entry.taskId !== taskId);
        if (rest.length === entries.length) return;
        if (await this.#swap(list, text, rest.length ? JSON.stringify(rest) : undefined)) return;
      }
    });
  }

  async list(owner: string, from: string | undefined, count: number): Promise<TaskPage | undefined> {
    if (from !== undefined && !/^\d{1,15}$/.test(from)) return undefined;
    const now = this.#options.clock.now();
    const entries = entriesOf(await this.#get(await this.#listKey(owner)));
    const rest = entries.filter(({ number, until }) => number > Number(from ?? 0) && now < until);
    const page = rest.slice(0, count);
    // One that cannot be read does not hide the others; who asks for it is told.
    const read = await Promise.all(page.map(({ taskId }) => this.#read(taskId).catch(() => undefined)));
    const records = read.filter((record) => record !== undefined);
    return { records, next: rest.length > count ? String(page.at(-1)?.number) : undefined };
  }

  /** The entries that stay when one more comes, and those to be forgotten for it. */
  async #makeRoom(entries: readonly Entry[]): Promise<{ kept: Entry[]; gone: Entry[] }> {
    const { clock, max, timeout } = this.#options;
    const now = clock.now();
    const gone = entries.filter(({ until }) => until <= now);
    const kept = entries.filter(({ until }) => until > now);
    for (let at = 0; kept.length >= max; at++) {
      const entry = kept[at];
      if (!entry) throw new TaskStoreFullError(`No more than ${max} tasks of one owner can be kept`);
      const text = await this.#get(this.#taskKey(entry.taskId));
      // Without a text it may just be coming about.
      if (text === undefined ? entry.number + timeout > now : isRunning(parse(text), entry.taskId)) continue;
      gone.push(entry);
      kept.splice(at--, 1);
    }
    return { kept, gone };
  }

  async #read(taskId: string): Promise<TaskRecord | undefined> {
    const text = await this.#get(this.#taskKey(taskId));
    return text === undefined ? undefined : recordOf(text, taskId);
  }

  #swap(key: string, from: string | undefined, to: string | undefined): Promise<boolean> {
    const { store, timeout, clock } = this.#options;
    return inTime(clock, timeout, () => exchange(store, key, from, to));
  }

  #taskKey(taskId: string): string {
    return `${this.#options.prefix}task:${taskId}`;
  }

  async #listKey(owner: string | null): Promise<string> {
    return `${this.#options.prefix}${owner === null ? "anyone" : `owner:${await sha256(owner)}`}`;
  }

  async #get(key: string): Promise<string | undefined> {
    const { store, timeout, clock } = this.#options;
    // Many a store says null.
    return await inTime(clock, timeout, () => store.get(key)) ?? undefined;
  }

  #set(key: string, value: unknown): Promise<void> {
    const { store, timeout, clock } = this.#options;
    return inTime(clock, timeout, () => store.set(key, JSON.stringify(value)));
  }

  #drop(key: string): Promise<void> {
    const { store, timeout, clock } = this.#options;
    return inTime(clock, timeout, () => store.delete(key));
  }
}

function recordOf(text: string, taskId: string): TaskRecord {
  const record = parse(text);
  if (isRecord(record, taskId)) return record;
  throw new Error("What the store holds of a task is no task");
}

/** What is damaged runs no more than what has ended. */
function isRunning(record: unknown, taskId: string): boolean {
  return isRecord(record, taskId) && !isEnded(record);
}

function entriesOf(text: string | undefined): Entry[] {
  if (text === undefined) return [];
  const entries = parse(text);
  if (Array.isArray(entries) && entries.every(isEntry)) return entries;
  throw new Error("What the store holds of an owner's tasks is no list of them");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Clients name tasks: what is no id must be no key, whatever a store makes of keys (paths, for one). */
function isId(taskId: string): boolean {
  return /^[\w-]{1,128}$/.test(taskId);
}

const statuses = ["working", "input_required", "completed", "failed", "cancelled"];

function isRecord(value: unknown, taskId: string): value is TaskRecord {
  if (!isObject(value) || value.taskId !== taskId) return false;
  const { owner, era, version, status, createdAt, updatedAt, ttl, pollInterval } = value;
  const numbers = [version, createdAt, updatedAt, ttl, pollInterval];
  return (owner === null || typeof owner === "string") && (era === "modern" || era === "legacy") &&
    typeof status === "string" && statuses.includes(status) && numbers.every((number) => Number.isFinite(number));
}

function isEntry(value: unknown): value is Entry {
  return isObject(value) && typeof value.taskId === "string" && Number.isFinite(value.number) &&
    Number.isFinite(value.until);
}

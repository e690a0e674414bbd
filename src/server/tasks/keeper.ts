/**
 * Begins tasks, finds them again, and writes down what becomes of them.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import { InternalError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcError } from "../../protocol/json_rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import { createBeat } from "../common/beat.ts";
import type { ServerParts } from "../seam.ts";
import { TaskRun } from "./run.ts";
import { isEnded, type TaskRecord, type TaskStore, TaskStoreFullError } from "./store.ts";

/** What a keeper goes by. */
export interface KeeperOptions {
  readonly store: TaskStore;
  readonly ttl: number;
  readonly maxTtl: number;
  readonly maxRunning: number;
  readonly pollInterval: number;
  readonly lease: number;
  readonly waitUntil: ((work: Promise<void>) => void) | undefined;
}

/** What a task does. */
export interface TaskWork {
  readonly owner: string | null;
  readonly era: Era;
  /** How long the caller wants it to be kept, in milliseconds. */
  readonly ttl?: number | undefined;
  /** Does it. */
  run(run: TaskRun): Promise<JsonObject>;
  /** What is said of what it threw. */
  toError(error: unknown): JsonRpcError;
  /** Hears of its changes. */
  changed?: ((record: TaskRecord) => void) | undefined;
}

type Change = (record: TaskRecord) => Partial<TaskRecord>;

/** How long the end of a task that could not be written down waits to be tried again, in milliseconds. */
const pauses = [0, 1_000, 3_000] as const;

/** What is said of a task whose process has died. */
const lapsed = "The process that ran this task has ended before it: nobody knows how far it came";

/** All tasks of a server. */
export class TaskKeeper {
  readonly options: KeeperOptions;
  readonly #parts: ServerParts;
  readonly #runs = new Map<string, TaskRun>();
  readonly #listeners = new Map<string, Set<(record: TaskRecord) => void>>();
  /** How far the date was ahead of the monotonic clock when somebody looked last. */
  #ahead: number;
  #calmUntil = -Infinity;

  /** @param parts The first ones that serve them: time, chance and the logger are theirs. */
  constructor(options: KeeperOptions, parts: ServerParts) {
    this.options = options;
    this.#parts = parts;
    this.#ahead = parts.clock.now() - parts.clock.monotonic();
  }

  /**
   * Begins a task: when this resolves, it can be found (S-103).
   *
   * @throws {InternalError} When there are too many.
   */
  async begin(work: TaskWork): Promise<TaskRecord> {
    const { clock, random } = this.#parts;
    const { store, ttl, maxTtl, maxRunning, pollInterval } = this.options;
    const { owner, era, changed } = work;
    let running = 0;
    for (const run of this.#runs.values()) if (run.owner === owner) running++;
    if (running >= maxRunning) throw busy(`${maxRunning} tasks are running already`);
    const taskId = randomHex(random, 16);
    const now = clock.now();
    const record: TaskRecord = {
      taskId,
      owner,
      era,
      version: 1,
      status: "working",
      createdAt: now,
      updatedAt: now,
      ttl: Math.min(work.ttl ?? ttl, maxTtl),
      pollInterval,
      leaseUntil: now + this.options.lease,
    };
    const run = new TaskRun(taskId, owner, (run) => this.#writeQuestions(run));
    this.#runs.set(taskId, run);
    try {
      await store.create(record);
    } catch (error) {
      this.#runs.delete(taskId);
      throw error instanceof TaskStoreFullError ? busy("no more tasks can be kept") : error;
    }
    if (changed) this.watch([taskId], changed);
    const callOff = clock.schedule(() => void this.#expire(taskId), record.ttl, { background: true });
    // One for each task: in a Worker a timer ends with the request that it belongs to.
    const beat = createBeat(clock, this.options.lease / 3, () => {
      void this.#renew(taskId);
      return true;
    });
    beat.start();
    const done = this.#work(run, work).finally(() => {
      callOff();
      beat.stop();
    });
    this.options.waitUntil?.(done);
    return record;
  }

  /** Finds a task of a caller; undefined when there is none, or no more. */
  async find(taskId: string, era: Era, owner: string | null): Promise<TaskRecord | undefined> {
    const record = await this.#read(taskId);
    if (!record || record.owner !== owner || record.era !== era) return undefined;
    if (!this.#isExpired(record)) return record;
    await this.#expire(taskId);
    return undefined;
  }

  /** One page of the tasks of a caller; undefined when the cursor is none of ours. */
  async list(
    owner: string,
    era: Era,
    from: string | undefined,
  ): Promise<{ records: TaskRecord[]; next?: string } | undefined> {
    const page = await this.options.store.list(owner, from, 100);
    if (!page) return undefined;
    const records = page.records.filter((record) => record.era === era && !this.#isExpired(record))
      .map((record) => this.#isLapsed(record) ? { ...record, ...failure(lapsed) } : record);
    return page.next === undefined ? { records } : { records, next: page.next };
  }

  /** Cancels a task, unless it has ended; gives it as it is then. */
  async cancel(taskId: string, statusMessage = "The client cancelled it"): Promise<TaskRecord | undefined> {
    const record = await this.#write(taskId, () => ({ status: "cancelled", statusMessage, inputRequests: undefined }));
    if (record) this.#stop(taskId, "The task was cancelled");
    return record ?? await this.options.store.get(taskId);
  }

  /** Cancels all that this process runs. */
  async cancelAll(): Promise<void> {
    const taskIds = [...this.#runs.keys()];
    const cancelling = await Promise.allSettled(taskIds.map((taskId) => this.cancel(taskId, "The server has ended")));
    for (const { reason } of cancelling as { reason?: unknown }[]) {
      if (reason !== undefined) this.#log("A task could not be cancelled", reason);
    }
    for (const taskId of taskIds) this.#stop(taskId, "The server has ended");
  }

  /** The task at work, if this process runs it. */
  running(taskId: string): TaskRun | undefined {
    return this.#runs.get(taskId);
  }

  /**
   * Waits until a task has ended; undefined when it is kept no longer.
   *
   * @throws {InternalError} When it asks something in another process: who waits here would not hear of it.
   * @throws {unknown} The reason of the signal.
   */
  async ended(taskId: string, signal: AbortSignal): Promise<TaskRecord | undefined> {
    for (;;) {
      signal.throwIfAborted();
      let wake = (): void => {};
      const changed = new Promise<void>((resolve) => wake = resolve);
      const unwatch = this.watch([taskId], wake);
      // Another process may run it.
      const callOff = this.#parts.clock.schedule(wake, this.options.pollInterval);
      signal.addEventListener("abort", wake, { once: true });
      // It may end while it is read.
      const isHere = this.#runs.has(taskId);
      try {
        const record = await this.#read(taskId);
        if (!record || this.#isExpired(record)) return undefined;
        if (isEnded(record)) return record;
        if (record.inputRequests && !isHere) throw atWorkElsewhere();
        await changed;
      } catch (error) {
        // It goes on here all the same, and its end is told here.
        if (!isHere) throw error;
        await changed;
      } finally {
        unwatch();
        callOff();
        signal.removeEventListener("abort", wake);
      }
    }
  }

  /** Hears of changes of some tasks until the returned function is called, or they have ended. */
  watch(taskIds: readonly string[], listener: (record: TaskRecord) => void): () => void {
    const own = (record: TaskRecord): void => listener(record);
    for (const taskId of taskIds) {
      const listeners = this.#listeners.get(taskId) ?? new Set();
      this.#listeners.set(taskId, listeners.add(own));
    }
    return () => {
      for (const taskId of taskIds) {
        const listeners = this.#listeners.get(taskId);
        if (listeners?.delete(own) && listeners.size === 0) this.#listeners.delete(taskId);
      }
    };
  }

  async #work(run: TaskRun, work: TaskWork): Promise<void> {
    const { taskId } = run;
    let outcome: Partial<TaskRecord>;
    try {
      outcome = { status: "completed", result: await work.run(run) };
    } catch (error) {
      const told = work.toError(error);
      outcome = { status: "failed", statusMessage: told.message, error: told };
    }
    run.end(new Error("The task has ended"));
    await this.#writeEnd(taskId, { ...outcome, inputRequests: undefined });
    this.#runs.delete(taskId);
  }

  /** Writes down how a task has ended. A store that fails once does not lose what was done. */
  async #writeEnd(taskId: string, outcome: Partial<TaskRecord>): Promise<void> {
    for (const pause of pauses) {
      try {
        const written = await this.#write(taskId, () => outcome);
        if (!written && this.#listeners.has(taskId)) this.#heard(taskId, await this.options.store.get(taskId));
        return;
      } catch (error) {
        this.#log("The end of a task could not be written down", error);
      }
      await new Promise<void>((resolve) => void this.#parts.clock.schedule(resolve, pause));
    }
    // The result may be more than the store takes.
    await this.#write(taskId, () => failure("How this task has ended could not be kept")).catch(() => {});
  }

  /** What is kept of a task; one whose process has died has failed. */
  async #read(taskId: string): Promise<TaskRecord | undefined> {
    for (;;) {
      const record = await this.options.store.get(taskId);
      if (!record || !this.#isLapsed(record)) return record;
      const failed = await this.#replace(record, failure(lapsed));
      if (failed) return failed;
    }
  }

  #isLapsed(record: TaskRecord): boolean {
    const { taskId, leaseUntil } = record;
    if (isEnded(record) || leaseUntil === undefined || this.#runs.has(taskId)) return false;
    return !this.#isCalm() && this.#parts.clock.now() >= leaseUntil;
  }

  /** Where the machine slept, or its date was put forward, leases of the living have run out too: they get the time to put them off. */
  #isCalm(): boolean {
    const { clock } = this.#parts;
    const { lease } = this.options;
    const ahead = clock.now() - clock.monotonic();
    if (ahead - this.#ahead > lease / 3) this.#calmUntil = clock.monotonic() + lease;
    this.#ahead = ahead;
    return clock.monotonic() < this.#calmUntil;
  }

  async #renew(taskId: string): Promise<void> {
    const { store, lease } = this.options;
    try {
      for (;;) {
        const record = await store.get(taskId);
        if (!this.#runs.has(taskId)) return;
        if (!record || isEnded(record)) {
          this.#heard(taskId, record);
          return this.#stop(taskId, "The task has ended");
        }
        const leaseUntil = this.#parts.clock.now() + lease;
        // Nothing of it has changed for those who ask.
        if (await store.replace({ ...record, version: record.version + 1, leaseUntil })) return;
      }
    } catch (error) {
      this.#log("A task could not be vouched for", error);
    }
  }

  /** Writes down what a task asks. One that has ended elsewhere is stopped. */
  async #writeQuestions(run: TaskRun): Promise<void> {
    const written = await this.#write(run.taskId, () => {
      return run.waiting
        ? { status: "input_required", inputRequests: run.inputRequests }
        : { status: "working", inputRequests: undefined };
    });
    if (!written) this.#stop(run.taskId, "The task has ended");
  }

  /** Changes what is kept of a task; undefined when it has ended, or is kept no longer. */
  async #write(taskId: string, change: Change): Promise<TaskRecord | undefined> {
    for (;;) {
      const record = await this.options.store.get(taskId);
      if (!record || isEnded(record)) return undefined;
      const next = await this.#replace(record, change(record));
      if (next) return next;
    }
  }

  /** Writes a record with other fields, unless it has changed meanwhile. */
  async #replace(record: TaskRecord, fields: Partial<TaskRecord>): Promise<TaskRecord | undefined> {
    const next = { ...record, ...fields, version: record.version + 1, updatedAt: this.#parts.clock.now() };
    if (!await this.options.store.replace(next)) return undefined;
    this.#tell(next);
    return next;
  }

  /** What another process has made of a task: nobody else tells those who listen here. */
  #heard(taskId: string, record: TaskRecord | undefined): void {
    if (record) this.#tell(record);
    else this.#listeners.delete(taskId);
  }

  #tell(record: TaskRecord): void {
    const listeners = this.#listeners.get(record.taskId);
    if (isEnded(record)) this.#listeners.delete(record.taskId);
    for (const listener of [...listeners ?? []]) {
      try {
        listener(record);
      } catch (error) {
        this.#log("Who listens to a task failed", error);
      }
    }
  }

  #stop(taskId: string, message: string): void {
    this.#runs.get(taskId)?.stop(new DOMException(message, "AbortError"));
  }

  async #expire(taskId: string): Promise<void> {
    this.#stop(taskId, "The task is kept no longer");
    this.#listeners.delete(taskId);
    try {
      await this.options.store.delete(taskId);
    } catch (error) {
      this.#log("A task could not be forgotten", error);
    }
  }

  #isExpired({ createdAt, ttl }: TaskRecord): boolean {
    return this.#parts.clock.now() >= createdAt + ttl;
  }

  #log(message: string, error: unknown): void {
    this.#parts.logger?.({ level: "error", message, fields: { error } });
  }
}

/** What is said where the questions of a task cannot be asked or answered. */
export function atWorkElsewhere(): InternalError {
  const message = "The task is at work in another process: its questions are asked and answered there";
  return new InternalError(message, { rpcCode: -32603 });
}

function busy(why: string): InternalError {
  return new InternalError(`Busy: ${why}`, { rpcCode: -32603 });
}

/** The fields of a task that failed without a word of its own. */
function failure(message: string): Partial<TaskRecord> {
  return {
    status: "failed",
    statusMessage: message,
    inputRequests: undefined,
    error: { code: -32603, message },
  };
}

/**
 * Tasks of a server: tool calls that a client leaves and finds again, over both wires.
 *
 * @module
 */
import type { ServerParts, TaskServing, TaskSupport } from "../seam.ts";
import { type KeeperOptions, TaskKeeper } from "./keeper.ts";
import { LegacyTaskMethods } from "./legacy.ts";
import { ModernTaskMethods } from "./modern.ts";
import { createMemoryTaskStore, type TaskStore } from "./store.ts";

export { createTaskStore } from "./kept_store.ts";
export type { TaskStoreOptions } from "./kept_store.ts";
export { createMemoryTaskStore, TaskStoreFullError } from "./store.ts";
export type { MemoryTaskStoreOptions, TaskPage, TaskRecord, TaskStore } from "./store.ts";

/** Options of {@linkcode createTasks}. */
export interface TasksOptions {
  /** Where tasks are kept. Default: in the memory of this process. */
  store?: TaskStore | undefined;
  /** How long a task is kept where the client does not say, from its creation, in milliseconds (3,600,000: one hour). */
  ttl?: number | undefined;
  /** The longest that a client may ask for, in milliseconds (86,400,000: one day). At most 2,147,483,647. */
  maxTtl?: number | undefined;
  /** How many tasks of one caller may run at once in this process (64). Callers that are not verified share one such number. */
  maxRunning?: number | undefined;
  /** How long clients are told to wait between two looks, in milliseconds (1,000). */
  pollInterval?: number | undefined;
  /**
   * For how long a process vouches for the tasks that it runs, in milliseconds (30,000); it does so three times in that time.
   * A task whose process is silent for longer has failed. Clocks of processes with one store must not differ by half of it.
   */
  lease?: number | undefined;
  /** Takes the work of each task, where the platform has to know of what goes on after an answer: `waitUntil` of a Worker. */
  waitUntil?: ((work: Promise<void>) => void) | undefined;
}

/**
 * Lets tool calls go on as tasks, for tools with the option `task`: the extension `io.modelcontextprotocol/tasks` of
 * 2026-07-28 (SEP-2663), and the experimental tasks of 2025-11-25.
 *
 * A task runs in the process that began it. With a store of your own every process that serves can tell how it stands and
 * cancel it (its handler hears of that when it asks something next); answers to what it asks have to reach the process that
 * runs it. A task whose process has died is `failed` as soon as its `lease` is over; with `createTaskStore` it can still be
 * asked for then. Tasks outlive connections: at the end of a
 * process that serves a pipe, `close` stops what still runs.
 *
 * @returns For the option `tasks` of `createHandler`, `serveChannel` and the like; one may be given to several of them.
 * @throws {RangeError} When a number makes no sense.
 *
 * @example A tool that takes its time
 * ```ts
 * import { createHandler, createTasks, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "reports", version: "1.0.0" });
 * server.tool("report", { task: "optional" }, async (_args, { elicit }) => {
 *   const { action } = await elicit({ message: "Publish it?" });
 *   return action === "accept" ? "published" : "kept back";
 * });
 * const handler = createHandler(server, { tasks: createTasks({ ttl: 600_000 }) });
 * handler.close();
 * ```
 */
export function createTasks(options: TasksOptions = {}): TaskSupport {
  const { store = createMemoryTaskStore(), waitUntil } = options;
  const { ttl = 3_600_000, maxTtl = 86_400_000, maxRunning = 64, pollInterval = 1_000, lease = 30_000 } = options;
  for (const [name, value] of Object.entries({ ttl, maxTtl, maxRunning, pollInterval, lease })) {
    if (Number.isSafeInteger(value) && value >= 1 && value <= 2_147_483_647) continue;
    throw new RangeError(`"${name}" is ${value}, expected a whole number from 1 to 2,147,483,647`);
  }
  return new Tasks({ store, ttl, maxTtl, maxRunning, pollInterval, lease, waitUntil });
}

class Tasks implements TaskSupport {
  readonly #options: KeeperOptions;
  #keeper: TaskKeeper | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  open(parts: ServerParts): TaskServing {
    const keeper = this.#keeper ??= new TaskKeeper(this.#options, parts);
    return { modern: new ModernTaskMethods(keeper, parts), legacy: new LegacyTaskMethods(keeper, parts) };
  }

  async close(): Promise<void> {
    await this.#keeper?.cancelAll();
  }
}

/**
 * Tasks of the servers behind a gateway, followed for whoever's calls they are.
 *
 * @module
 */
import { unlessAborted } from "../../../client/core_client.ts";
import { Client } from "../../../client/client.ts";
import type { Middleware } from "../../../client/options.ts";
import type { RequestOptions } from "../../../client/session/request.ts";
import type { TaskHandle, TaskHost, TaskOptions, TaskRunner, TaskSupport } from "../../../client/task_support.ts";
import { Handle } from "../../../client/tasks/handle.ts";
import { taskResult, taskSupport } from "../../../client/tasks/tasks.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { CallToolResult, Task } from "../../../protocol/types.ts";
import { levelKey } from "./passing.ts";
import { type FindPassage, relatedTask, RelayInputs } from "./relay_inputs.ts";

/**
 * Asks a legacy server for a task, where a call wants one. A modern server makes tasks by itself.
 *
 * What becomes a task is called off by `tasks/cancel` alone: a call that is given up before its task is known is waited for,
 * and its task is cancelled then.
 */
export function askForTasks(find: FindPassage): Middleware {
  return (next) => async (request) => {
    const { method, params, options } = request;
    if (method !== "tools/call" || !find(options.meta)?.wantsTask) return await next(request);
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const work = next({ method, params: { ...params, task: {} }, options: rest }).then((result) =>
      isObject(result.task) && result.content === undefined
        ? { ...result.task as JsonObject, resultType: taskResult } as JsonObject
        : result
    );
    try {
      return await unlessAborted(work, signal);
    } catch (error) {
      if (signal?.aborted) {
        const cancel = async ({ taskId }: JsonObject): Promise<void> => {
          if (taskId !== undefined) await next({ method: "tasks/cancel", params: { taskId }, options: {} });
        };
        void work.then(cancel).catch(() => {});
      }
      throw error;
    }
  };
}

/** Tasks for the clients of a hub. */
export function createRelayTasks(find: FindPassage): TaskSupport {
  return { ...taskSupport, create: (host) => new RelayTasks(host, find) };
}

class RelayTasks implements TaskRunner {
  readonly #host: TaskHost;
  readonly #find: FindPassage;
  readonly #inner: TaskRunner;
  /** What the server said of itself in the session in which it was told to log. */
  #logging: unknown;

  constructor(host: TaskHost, find: FindPassage) {
    this.#host = host;
    this.#find = find;
    this.#inner = taskSupport.create(host);
  }

  async call(name: string, args: JsonObject, given: RequestOptions): Promise<CallToolResult> {
    const method = "tools/call";
    this.#hear(given);
    const params: JsonObject = { name, arguments: args };
    const options = { ...given, resultTypes: [taskResult] };
    const result = await this.#host.request(method, params, options);
    if (result.resultType !== taskResult) return result as unknown as CallToolResult;
    const handle = new Handle(this.#host, result, { owned: true });
    const ended = await new RelayedTask(handle, this.#host, this.#find).result(given);
    this.#host.accepted({ method, params, options }, ended as unknown as JsonObject, method);
    return ended;
  }

  /**
   * Has a legacy server log all, once in each session: what a caller does not want is left out in front. Many log nothing before they
   * are told to. What the hub's owner has said of it stays.
   */
  #hear({ meta }: RequestOptions): void {
    const host = this.#host;
    const { info } = host;
    if (host.era !== "legacy" || this.#logging === info || this.#find(meta)?.meta[levelKey] === undefined) return;
    this.#logging = info;
    if (!info?.capabilities.logging || (host instanceof Client && host.snapshot().logLevel)) return;
    host.request("logging/setLevel", { level: "debug" }, {}).catch(() => {});
  }

  start(name: string, args: JsonObject, options: TaskOptions): Promise<TaskHandle> {
    return this.#inner.start(name, args, options);
  }

  get(taskId: string, options: RequestOptions): Promise<TaskHandle> {
    return this.#inner.get(taskId, options);
  }

  list(options: RequestOptions): Promise<Task[]> {
    return this.#inner.list(options);
  }

  notified(method: string, params: JsonObject | undefined): void {
    this.#inner.notified(method, params);
  }
}

/** A task that a call was answered with: what it asks and tells goes to the caller. */
class RelayedTask implements TaskHandle {
  readonly #handle: TaskHandle;
  readonly #host: TaskHost;
  readonly #find: FindPassage;

  constructor(handle: TaskHandle, host: TaskHost, find: FindPassage) {
    this.#handle = handle;
    this.#host = host;
    this.#find = find;
  }

  get taskId(): string {
    return this.#handle.taskId;
  }

  get task(): Task {
    return this.#handle.task;
  }

  get(options?: RequestOptions): Promise<Task> {
    return this.#handle.get(options);
  }

  cancel(options?: RequestOptions): Promise<void> {
    return this.#handle.cancel(options);
  }

  async result(options: TaskOptions = {}): Promise<CallToolResult> {
    const { inputs } = this.#host;
    const passage = this.#find(options.meta);
    if (!passage) return await this.#handle.result(options);
    const letGo = inputs instanceof RelayInputs ? inputs.follow(this.taskId, passage) : undefined;
    try {
      await passage.goOnAsTask?.();
      return withoutTask(await this.#handle.result(options));
    } catch (error) {
      // Nobody else will ever ask for it. Who gives up while it is waited for has it cancelled there.
      const isOver = ["completed", "failed", "cancelled"].includes(this.task.status);
      if (!isOver && !options.signal?.aborted) this.cancel().catch(() => {});
      throw error;
    } finally {
      letGo?.();
    }
  }
}

/** A result that names no task (2025-11-25): the server's own is nobody's business in front. */
function withoutTask(result: CallToolResult): CallToolResult {
  const { _meta, ...rest } = result;
  if (!isObject(_meta) || _meta[relatedTask] === undefined) return result;
  const { [relatedTask]: _, ...others } = _meta as JsonObject;
  return Object.keys(others).length ? { ...rest, _meta: others } : rest;
}

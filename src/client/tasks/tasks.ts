/**
 * Tasks: tool calls that can be left and found again. One API over both wires: the experimental tasks of 2025-11-25, and
 * the extension `io.modelcontextprotocol/tasks` of 2026-07-28 (SEP-2663).
 *
 * @module
 */
import { MethodNotFoundError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { defaultTimeouts } from "../../protocol/limits.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import type { CallToolResult, Task } from "../../protocol/types.ts";
import { walkPages } from "../lists.ts";
import type { RequestOptions, SessionRequestOptions } from "../session/request.ts";
import type { TaskHandle, TaskHost, TaskOptions, TaskRunner, TaskSupport } from "../task_support.ts";
import { Handle, taskOf } from "./handle.ts";
import type { HandleOptions } from "./handle.ts";
import { hear, type Listeners, TaskProgress } from "./progress.ts";

/** The `resultType` of a call that became a task. */
export const taskResult = "task";

/** Tasks, for the option `tasks` of a client. With it the extension is declared, and any tool call may become a task. */
export const taskSupport: TaskSupport = {
  declared: (capabilities) => ({
    ...capabilities,
    extensions: { ...capabilities?.extensions, [metaPrefix + "tasks"]: {} },
  }),
  create: (host) => new Tasks(host),
};

class Tasks implements TaskRunner {
  readonly #host: TaskHost;
  readonly #listeners: Listeners = new Map();

  constructor(host: TaskHost) {
    this.#host = host;
  }

  async call(name: string, args: JsonObject, given: RequestOptions): Promise<CallToolResult> {
    const method = "tools/call";
    const params: JsonObject = { name, arguments: args };
    const options = { ...given, resultTypes: [taskResult] };
    const since = this.#host.clock.monotonic();
    let handle: Handle;
    if (this.#support(name) === "required" && await this.#isLegacy(given) && this.#augments(name)) {
      handle = await this.#begin(params, given, { owned: true, since });
    } else {
      const result = await this.#host.request(method, params, options);
      if (result.resultType !== taskResult) return result as unknown as CallToolResult;
      handle = this.#handle(result, { owned: true, since });
    }
    const ended = await handle.result(given);
    this.#host.accepted({ method, params, options }, ended as unknown as JsonObject, method);
    return ended;
  }

  async start(name: string, args: JsonObject, options: TaskOptions): Promise<TaskHandle> {
    const { onStatus, ...request } = options;
    const legacy = await this.#isLegacy(options);
    const params: JsonObject = { name, arguments: args };
    if (legacy && this.#augments(name)) return await this.#begin(params, request, { onStatus });
    const { ttl: _, ...rest } = request;
    const result = await this.#host.request("tools/call", params, { ...rest, resultTypes: [taskResult] });
    return this.#handle(result, { onStatus });
  }

  async get(taskId: string, options: RequestOptions): Promise<TaskHandle> {
    await this.#isLegacy(options);
    const raw = await this.#host.request("tasks/get", { taskId }, { ...options, resultTypes: [taskResult] });
    return new Handle(this.#host, { ...raw, taskId }, {});
  }

  async list(options: RequestOptions): Promise<Task[]> {
    const host = this.#host;
    if (!(await this.#isLegacy(options) && host.info?.capabilities.tasks?.list)) {
      throw new MethodNotFoundError('Cannot list tasks: expected a 2025-11-25 server that declares "tasks.list"', {
        rpcCode: -32601,
        method: "tasks/list",
        server: host.label,
      });
    }
    const { tasks } = await walkPages(
      "tasks",
      (cursor) => host.request("tasks/list", cursor === undefined ? {} : { cursor }, options),
      { clock: host.clock, limits: host.limits, milliseconds: options.timeout ?? defaultTimeouts.pages },
    );
    return (tasks as JsonObject[]).map(taskOf);
  }

  notified(method: string, params: JsonObject | undefined): void {
    void hear(this.#listeners, method, params);
  }

  /** Legacy: asks for a task. */
  async #begin(params: JsonObject, options: TaskOptions, more: HandleOptions): Promise<Handle> {
    const { ttl, signal, onProgress, ...request }: TaskOptions & SessionRequestOptions = options;
    signal?.throwIfAborted();
    const task = ttl === undefined ? {} : { ttl };
    const progress = onProgress && new TaskProgress(this.#listeners, onProgress, this.#host.clock);
    const heard = progress && {
      onProgress: progress.take.bind(progress),
      sent: (id: number) => (request.sent?.(id), progress.hear(id)),
    };
    // What becomes a task is called off by tasks/cancel alone, which needs its id (2025-11-25: Cancellation).
    const work = this.#host.request("tools/call", { ...params, task }, { ...request, ...heard });
    const handle = work.then(async (result) => {
      const begun = this.#handle(result, { ...more, progress });
      await begun.untilTold();
      return begun;
    });
    handle.catch(() => progress?.end());
    if (!signal) return await handle;
    return await new Promise((resolve, reject) => {
      const aborted = (): void => {
        reject(signal.reason);
        void progress?.end();
        handle.then((late) => late.cancel()).catch(() => {});
      };
      signal.addEventListener("abort", aborted, { once: true });
      handle.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
    });
  }

  /** A handle on the task that a call was answered with, or on the result that came at once. */
  #handle(result: JsonObject, options: HandleOptions): Handle {
    const raw = result.resultType === taskResult ? result : result.content === undefined ? result.task : undefined;
    if (isObject(raw)) return new Handle(this.#host, raw as JsonObject, options);
    return new Handle(this.#host, { taskId: "", status: "completed", result }, options);
  }

  /** Whether the 2025-11-25 wire is spoken; connects first where that is still to be found out. */
  async #isLegacy({ signal }: RequestOptions): Promise<boolean> {
    if (!this.#host.era) await this.#host.connect({ signal });
    return this.#host.era === "legacy";
  }

  /** Whether a legacy call may ask for a task: the server has to offer it, and a tool that was listed too. */
  #augments(name: string): boolean {
    const { info } = this.#host;
    if (!info?.capabilities.tasks?.requests?.tools?.call) return false;
    return this.#support(name) !== "forbidden";
  }

  /** What a tool says of tasks, if it was listed. */
  #support(name: string): string | undefined {
    const tool = this.#host.snapshot().tools.find((known) => known.name === name);
    return tool && (tool.execution?.taskSupport ?? "forbidden");
  }
}

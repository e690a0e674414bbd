/**
 * The experimental tasks of 2025-11-25.
 *
 * @module
 */
import { InvalidParamsError, MethodNotFoundError, RpcError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcError } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import type { AuthInfo } from "../definitions.ts";
import { errorAnswer } from "../legacy/answers.ts";
import { dressResult } from "../legacy/dress.ts";
import { mapped } from "../legacy/fields.ts";
import type { LegacyTaskCall, LegacyTasks, ServerParts } from "../seam.ts";
import type { TaskKeeper } from "./keeper.ts";
import { legacyTaskContext } from "./legacy_context.ts";
import { isEnded, type TaskRecord } from "./store.ts";
import { legacyTask, readTaskId, unknownTask } from "./wire.ts";

/** What names the task that a message belongs to. */
const relatedTask = metaPrefix + "related-task";

/** Tasks of 2025-11-25 clients. */
export class LegacyTaskMethods implements LegacyTasks {
  readonly #keeper: TaskKeeper;
  readonly #parts: ServerParts;

  /** @param parts What the tools belong to. */
  constructor(keeper: TaskKeeper, parts: ServerParts) {
    this.#keeper = keeper;
    this.#parts = parts;
  }

  /** Lists are for callers that can be told apart (S-111). */
  declare(auth: AuthInfo | undefined): JsonObject {
    return { ...(auth && { list: {} }), cancel: {}, requests: { tools: { call: {} } } };
  }

  list(result: JsonObject): JsonObject {
    return mapped(result, "tools", (tool) => {
      const terms = this.#parts.methods.task?.(tool.name as string);
      return terms ? { ...tool, execution: { taskSupport: terms.support } } : tool;
    });
  }

  run(method: string, params: JsonObject, call: LegacyTaskCall): Promise<JsonObject> | undefined {
    switch (method) {
      case "tools/call":
        return this.#call(params, call);
      case "tasks/get":
        return this.#find(params, call).then(legacyTask);
      case "tasks/result":
        return this.#result(params, call);
      case "tasks/cancel":
        return this.#cancel(params, call);
      case "tasks/list":
        return call.context.auth && this.#listTasks(params, call.context.auth);
      default:
        return undefined;
    }
  }

  #call(params: JsonObject, call: LegacyTaskCall): Promise<JsonObject> | undefined {
    const { name, task } = params;
    const { methods } = this.#parts;
    if (typeof name !== "string" || !methods.tool(name)) return undefined;
    const terms = methods.task?.(name);
    if (task === undefined) {
      if (terms?.support !== "required") return undefined;
      throw refused(`The tool "${excerpt(name)}" has to be called as a task`);
    }
    if (!terms) throw refused(`The tool "${excerpt(name)}" cannot be called as a task`);
    const { task: _, ...own } = params;
    return this.#begin(own, readTtl(task), call);
  }

  async #begin(params: JsonObject, ttl: number | undefined, call: LegacyTaskCall): Promise<JsonObject> {
    const { revision, auth } = call.context;
    const record = await this.#keeper.begin({
      owner: auth?.principal ?? null,
      era: "legacy",
      ttl,
      run: async (run) => {
        const context = legacyTaskContext(call, run, this.#parts, related(run.taskId));
        return await this.#parts.methods.run("tools/call", params, context) ?? Promise.reject(unknownTask());
      },
      toError: (error) => {
        const failed = { id: "", method: "tools/call", revision };
        return errorAnswer(error, failed, this.#parts.logger).response.error as JsonRpcError;
      },
      changed: (changed) =>
        call.tell({ jsonrpc: "2.0", method: "notifications/tasks/status", params: legacyTask(changed) }),
    });
    // Nobody would ever learn its id.
    if (call.context.signal.aborted) await this.#keeper.cancel(record.taskId);
    return { task: legacyTask(record) };
  }

  async #find(params: JsonObject, { context: { auth } }: LegacyTaskCall): Promise<TaskRecord> {
    const record = await this.#keeper.find(readTaskId(params), "legacy", auth?.principal ?? null);
    if (!record) throw unknownTask();
    return record;
  }

  /** Waits for the end, and lets the task ask meanwhile (2025-11-25: Input Required Status). */
  async #result(params: JsonObject, call: LegacyTaskCall): Promise<JsonObject> {
    const { taskId } = await this.#find(params, call);
    const _meta = related(taskId);
    const { elicitation, sampling, roots } = call.capabilities;
    // Who can be asked nothing leaves that to the others who wait.
    const run = elicitation ?? sampling ?? roots ? this.#keeper.running(taskId) : undefined;
    const stop = run?.serve(({ method, params }, signal) => {
      return call.ask(method, { ...params, _meta: { ...params?._meta as JsonObject | undefined, ..._meta } }, signal);
    });
    // Before the request ends, and with it what it asks.
    if (stop) call.context.signal.addEventListener("abort", stop, { once: true });
    let ended: TaskRecord | undefined;
    try {
      ended = await this.#keeper.ended(taskId, call.context.signal);
    } finally {
      stop?.();
    }
    if (!ended) throw unknownTask();
    const { status, result, error } = ended;
    if (status === "cancelled") {
      throw new InvalidParamsError("The task was cancelled: it has no result", { rpcCode: -32602 });
    }
    if (error) throw new RpcError(error.message, { rpcCode: error.code, data: error.data });
    const dressed = dressResult("tools/call", result ?? { content: [] }, call.context.revision);
    return { ...dressed, _meta: { ...dressed._meta as JsonObject | undefined, ..._meta } };
  }

  async #cancel(params: JsonObject, call: LegacyTaskCall): Promise<JsonObject> {
    const record = await this.#find(params, call);
    const cancelled = isEnded(record) ? undefined : await this.#keeper.cancel(record.taskId);
    if (cancelled?.status === "cancelled") return legacyTask(cancelled);
    throw new InvalidParamsError("The task has ended already: it cannot be cancelled", { rpcCode: -32602 });
  }

  async #listTasks({ cursor }: JsonObject, { principal }: AuthInfo): Promise<JsonObject> {
    const sound = cursor === undefined || typeof cursor === "string";
    const page = sound ? await this.#keeper.list(principal, "legacy", cursor) : undefined;
    if (!page) throw new InvalidParamsError('"params.cursor" is none of ours', { rpcCode: -32602 });
    const { records, next } = page;
    return { tasks: records.map(legacyTask), ...(next !== undefined && { nextCursor: next }) };
  }
}

function related(taskId: string): JsonObject {
  return { [relatedTask]: { taskId } };
}

function readTtl(task: unknown): number | undefined {
  const ttl = isObject(task) ? task.ttl ?? undefined : NaN;
  if (ttl === undefined || (typeof ttl === "number" && ttl >= 0)) return ttl;
  throw new InvalidParamsError('"params.task" is malformed: expected { ttl?: milliseconds }', { rpcCode: -32602 });
}

function refused(message: string): MethodNotFoundError {
  return new MethodNotFoundError(message, { rpcCode: -32601 });
}

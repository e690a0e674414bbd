/**
 * The experimental tasks of 2025-11-25: a tools/call that carries `task` answers with a handle.
 *
 * @module
 */
import type { Core } from "./core.ts";
import { createTaskStore, isTerminal, type TaskRecord, type TaskStore } from "./tasks.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  notificationOf,
  numberAt,
  objectAt,
  RpcFailure,
  stringAt,
} from "./wire.ts";

/** What tasks need to know of their session. */
export interface TaskSession {
  readonly core: Core;
  readonly options: { readonly tasks?: boolean };
  /** The agreed revision; undefined before `initialize`. */
  readonly revision: string | undefined;
  /** Sends what belongs to no request. */
  readonly push: (message: JsonRpcNotification) => void;
}

/** Sends the client a request on the stream of the one that is being answered, and waits for what it says. */
export type AskClient = (method: string, params: JsonObject) => Promise<JsonObject>;

/** The tasks of one session. */
export interface LegacyTasks {
  readonly store: TaskStore;
  /** Answers what has to do with tasks; undefined for all else. */
  handle(request: JsonRpcRequest, ask: AskClient): Promise<JsonObject> | undefined;
}

const related = "io.modelcontextprotocol/related-task";

/** Makes the tasks of a session. */
export function createLegacyTasks(state: TaskSession): LegacyTasks {
  const ttls = new Map<string, number | null>();
  const flat = (task: TaskRecord): JsonObject => {
    const { taskId, status, createdAt, lastUpdatedAt } = task;
    return { taskId, status, createdAt, lastUpdatedAt, ttl: ttls.get(taskId) ?? null, pollInterval: 5 };
  };
  const store = createTaskStore(state.core.clock, (task) => {
    state.push(notificationOf("notifications/tasks/status", flat(task)));
  });
  const supported = () => state.revision === "2025-11-25" && state.options.tasks !== false;
  const start = (request: JsonRpcRequest, task: JsonObject): JsonObject => {
    const params = request.params ?? {};
    const args = objectAt(params, "arguments");
    state.core.ledger.execution({ tool: String(params.name), arguments: args, id: request.id });
    const record = store.create(args);
    ttls.set(record.taskId, numberAt(task, "ttl") ?? null);
    return { task: flat(record) };
  };
  return {
    store,
    handle(request, ask) {
      const { method, params = {} } = request;
      if (!supported()) return undefined;
      if (method === "tools/call") {
        const tool = state.core.tool(stringAt(params, "name") ?? "", "2025-11-25");
        if (tool === undefined) return undefined;
        const support = stringAt(objectAt(tool, "execution"), "taskSupport") ?? "forbidden";
        const task = isJsonObject(params.task) ? params.task : undefined;
        if (task === undefined && support !== "required") return undefined;
        if (task === undefined) throw new RpcFailure(-32601, "This tool runs only as a task");
        if (support === "forbidden") throw new RpcFailure(-32601, "This tool does not run as a task");
        return Promise.resolve(start(request, task));
      }
      switch (method) {
        case "tasks/list":
          return Promise.resolve({ tasks: [...store.all.values()].map(flat) });
        case "tasks/get": {
          const task = store.find(params);
          store.poll(task);
          return Promise.resolve(flat(task));
        }
        case "tasks/cancel": {
          const task = store.find(params);
          if (isTerminal(task)) throw new RpcFailure(-32602, `Cannot cancel task: already ${task.status}`);
          store.cancel(task);
          return Promise.resolve(flat(task));
        }
        case "tasks/result":
          return outcome(store.find(params), store, ask);
        default:
          return undefined;
      }
    },
  };
}

async function outcome(task: TaskRecord, store: TaskStore, ask: AskClient): Promise<JsonObject> {
  const _meta = { [related]: { taskId: task.taskId } };
  while (!isTerminal(task)) {
    store.finish(task);
    for (const [key, input] of Object.entries(task.inputRequests)) {
      const params = { ...objectAt(input, "params"), _meta };
      const answer = await ask(stringAt(input, "method") ?? "", params);
      store.answer(task, { [key]: answer });
    }
  }
  if (task.status === "cancelled") throw new RpcFailure(-32602, "The task was cancelled");
  const { result, error } = task.outcome ?? {};
  if (error !== undefined) throw new RpcFailure(error.code, error.message);
  return { ...result, _meta };
}

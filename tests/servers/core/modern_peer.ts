/**
 * A server of 2026-07-28 without a transport: envelope, version, capabilities, rounds, subscriptions and tasks.
 *
 * @module
 */
import { tasksExtension } from "./catalog.ts";
import { type Core, type CoreContext, type CoreOptions, createCore } from "./core.ts";
import { createRounds, InputRequired, type Rounds } from "./rounds.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";
import { createTaskStore, type TaskRecord, type TaskStore } from "./tasks.ts";
import {
  isId,
  isJsonObject,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  notificationOf,
  objectAt,
  RpcFailure,
  stringAt,
} from "./wire.ts";

const prefix = "io.modelcontextprotocol/";
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const cacheable = ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/** How long and for whom a result may be kept. */
export interface CacheHints {
  ttlMs?: number;
  cacheScope?: string;
}

/** What a modern server lets one choose. */
export interface ModernPeerOptions extends CoreOptions {
  /** The versions that it speaks (`["2026-07-28"]`). */
  supportedVersions?: string[];
  /** Hints on cacheable results, for all or by method (`{ ttlMs: 0, cacheScope: "private" }`). */
  cache?: CacheHints | ((method: string) => CacheHints);
  /** Leaves `resultType` out, as a server of the draft did (false). */
  omitResultType?: boolean;
  /** Leaves `serverInfo` out of the results (false). */
  anonymous?: boolean;
}

/** Where the messages of one request go, and how it is called off. */
export interface ModernIo {
  readonly signal: AbortSignal;
  /** Whether it was called off, without making the signal. */
  readonly aborted: boolean;
  /** Sends a notification that belongs to this request. */
  notify(notification: JsonRpcNotification): void;
}

/** The server. */
export interface ModernPeer {
  readonly core: Core;
  readonly tasks: TaskStore;
  readonly subscriptions: Subscriptions;
  /** Checks shape, envelope and version. @throws {RpcFailure} */
  check(request: JsonRpcRequest): void;
  /**
   * Answers a request that was checked. @throws {RpcFailure} When the answer is an error; {@link Dropped} when a
   * subscription was cut off; the signal's reason when it was called off.
   */
  dispatch(request: JsonRpcRequest, io: ModernIo): Promise<JsonObject>;
}

/** Makes the server. */
export function createModernPeer(options: ModernPeerOptions = {}): ModernPeer {
  const core = createCore(options);
  const subscriptions = createSubscriptions();
  const tasks = createTaskStore(core.clock, (task) => {
    subscriptions.emit({ type: "task", taskId: task.taskId }, taskState(task));
  });
  const rounds = createRounds(core.ledger);
  const versions = options.supportedVersions ?? ["2026-07-28"];
  const parts: Parts = { core, tasks, subscriptions, rounds, versions, options };
  return {
    core,
    tasks,
    subscriptions,
    check: (request) => checkEnvelope(request, versions, core),
    async dispatch(request, io) {
      try {
        const result = await answer(request, io, parts);
        return dress(request.method, result, options);
      } catch (error) {
        if (!(error instanceof InputRequired)) throw error;
        return dress("", error.result, options);
      } finally {
        const { id, method } = request;
        if (io.aborted) core.ledger.cancellation({ id, method, reason: String(io.signal.reason ?? "") });
      }
    },
  };
}

interface Parts {
  readonly core: Core;
  readonly tasks: TaskStore;
  readonly subscriptions: Subscriptions;
  readonly rounds: Rounds;
  readonly versions: string[];
  readonly options: ModernPeerOptions;
}

function checkEnvelope(request: JsonRpcRequest, versions: string[], core: Core): void {
  const params = request.params ?? {};
  const meta = objectAt(params, "_meta");
  const version = meta[prefix + "protocolVersion"];
  if (request.method === "initialize" && version === undefined) {
    const requested = stringAt(params, "protocolVersion") ?? "";
    throw unsupported(requested, versions);
  }
  if (typeof version !== "string") {
    throw new RpcFailure(-32602, `params._meta lacks ${prefix}protocolVersion`, { status: 400 });
  }
  if (!isJsonObject(meta[prefix + "clientCapabilities"])) {
    throw new RpcFailure(-32602, `params._meta lacks ${prefix}clientCapabilities`, { status: 400 });
  }
  const token = meta.progressToken;
  if (token !== undefined && !isId(token)) throw new RpcFailure(-32602, "progressToken is malformed", { status: 400 });
  const level = meta[prefix + "logLevel"];
  if (level !== undefined && !levels.includes(String(level))) throw new RpcFailure(-32602, "Unknown log level");
  if (!versions.includes(version)) throw unsupported(version, versions);
  if (meta[prefix + "clientInfo"] === undefined) core.ledger.violation(`${request.method}: no clientInfo in _meta`);
}

function unsupported(requested: string, supported: string[]): RpcFailure {
  return new RpcFailure(-32022, "Unsupported protocol version", { data: { supported, requested }, status: 400 });
}

function answer(request: JsonRpcRequest, io: ModernIo, parts: Parts): JsonObject | Promise<JsonObject> {
  const params = request.params ?? {};
  const capabilities = objectAt(objectAt(params, "_meta"), prefix + "clientCapabilities");
  switch (request.method) {
    case "server/discover":
      return discover(parts);
    case "subscriptions/listen":
      return listen(request, capabilities, { io, parts });
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
      if (parts.options.tasks !== false) {
        return taskMethod(request.method, params, { capabilities, tasks: parts.tasks });
      }
      break;
    case "tools/call":
      if (runsAsTask(params, capabilities, parts)) return startTask(request, parts);
  }
  const result = parts.core.handle(request.method, params, contextOf(request, io, { capabilities, parts }));
  if (result === undefined) throw new RpcFailure(-32601, `Method not found: ${request.method}`, { status: 404 });
  return result;
}

function discover(parts: Parts): JsonObject {
  const { options, versions } = parts;
  const result: JsonObject = {
    supportedVersions: [...versions],
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
      ...(options.tasks === false ? {} : { extensions: { [tasksExtension]: {} } }),
    },
  };
  if (options.instructions !== undefined) result.instructions = options.instructions;
  return result;
}

function listen(
  request: JsonRpcRequest,
  capabilities: JsonObject,
  scope: { io: ModernIo; parts: Parts },
): Promise<JsonObject> {
  const filter = request.params?.notifications;
  if (!isJsonObject(filter)) throw new RpcFailure(-32602, "notifications is missing");
  if (filter.taskIds !== undefined) needExtension(capabilities);
  const { io, parts } = scope;
  return parts.subscriptions.open(request.id, filter, { signal: io.signal, notify: io.notify });
}

function declares(capabilities: JsonObject): boolean {
  return objectAt(capabilities, "extensions")[tasksExtension] !== undefined;
}

function needExtension(capabilities: JsonObject): void {
  if (!declares(capabilities)) throw missing({ extensions: { [tasksExtension]: {} } });
}

function missing(requiredCapabilities: JsonObject): RpcFailure {
  const message = "The request needs a client capability that was not declared";
  return new RpcFailure(-32021, message, { data: { requiredCapabilities }, status: 400 });
}

function runsAsTask(params: JsonObject, capabilities: JsonObject, parts: Parts): boolean {
  if (parts.options.tasks === false) return false;
  if (params.name === "job_required") needExtension(capabilities);
  return (params.name === "job" || params.name === "job_required") && declares(capabilities);
}

function startTask(request: JsonRpcRequest, parts: Parts): JsonObject {
  const params = request.params ?? {};
  const args = objectAt(params, "arguments");
  parts.core.ledger.execution({ tool: String(params.name), arguments: args, id: request.id });
  return { ...flatTask(parts.tasks.create(args)), resultType: "task" };
}

function taskMethod(
  method: string,
  params: JsonObject,
  scope: { capabilities: JsonObject; tasks: TaskStore },
): JsonObject {
  needExtension(scope.capabilities);
  const { tasks } = scope;
  const task = tasks.find(params);
  if (method === "tasks/get") {
    tasks.poll(task);
    return taskState(task);
  }
  if (method === "tasks/cancel") tasks.cancel(task);
  else if (isJsonObject(params.inputResponses)) tasks.answer(task, params.inputResponses);
  else throw new RpcFailure(-32602, "inputResponses is missing");
  return {};
}

function flatTask(task: TaskRecord): JsonObject {
  const { taskId, status, createdAt, lastUpdatedAt } = task;
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs: 3_600_000, pollIntervalMs: 5 };
}

function taskState(task: TaskRecord): JsonObject {
  const state = flatTask(task);
  if (task.status === "input_required") state.inputRequests = { ...task.inputRequests };
  if (task.outcome?.result !== undefined) state.result = task.outcome.result;
  if (task.outcome?.error !== undefined) state.error = { ...task.outcome.error };
  return state;
}

function contextOf(
  request: JsonRpcRequest,
  io: ModernIo,
  scope: { capabilities: JsonObject; parts: Parts },
): CoreContext {
  const { id, method, params = {} } = request;
  const { core, rounds, subscriptions, tasks } = scope.parts;
  const meta = objectAt(params, "_meta");
  const round = rounds.of(request);
  const token = meta.progressToken;
  const wanted = levels.indexOf(String(meta[prefix + "logLevel"]));
  return {
    era: "modern",
    revision: "2026-07-28",
    id,
    first: round.first,
    get signal() {
      return io.signal;
    },
    progress(progress, total, message) {
      if (isId(token)) {
        io.notify(notificationOf("notifications/progress", { progressToken: token, progress, total, message }));
      }
    },
    log(level, data) {
      if (wanted < 0 || levels.indexOf(level) < wanted) return;
      io.notify(notificationOf("notifications/message", { level, logger: "fake", data }));
    },
    inputs(requests) {
      for (const input of Object.values(requests)) requireInput(input, scope.capabilities);
      return round.inputs(requests);
    },
    comeBack: (times) => round.comeBack(times),
    ping: () => Promise.reject(new RpcFailure(-32603, `${method} cannot ping: servers send no requests`)),
    closeStream: () => {},
    wait: (milliseconds) => core.wait(milliseconds, io.signal),
    emit(change) {
      const task = change.type === "task" ? tasks.all.get(change.taskId) : undefined;
      subscriptions.emit(change, task === undefined ? {} : taskState(task));
    },
    visited: () => true,
  };
}

function requireInput(input: JsonObject, capabilities: JsonObject): void {
  const params = objectAt(input, "params");
  if (input.method === "roots/list" && capabilities.roots === undefined) throw missing({ roots: {} });
  if (input.method === "sampling/createMessage") {
    const tools = params.tools !== undefined;
    if (capabilities.sampling === undefined || (tools && objectAt(capabilities, "sampling").tools === undefined)) {
      throw missing({ sampling: tools ? { tools: {} } : {} });
    }
  }
  if (input.method === "elicitation/create") {
    const mode = params.mode === "url" ? "url" : "form";
    const declared = isJsonObject(capabilities.elicitation) ? capabilities.elicitation : undefined;
    const form = declared !== undefined && (declared.form !== undefined || declared.url === undefined);
    if (mode === "form" ? !form : declared?.url === undefined) throw missing({ elicitation: { [mode]: {} } });
  }
}

function dress(method: string, result: JsonObject, options: ModernPeerOptions): JsonObject {
  const dressed: JsonObject = { ...result };
  if (options.omitResultType !== true) dressed.resultType ??= "complete";
  if (cacheable.includes(method) || (method === "resources/read" && dressed.resultType !== "input_required")) {
    const hints = typeof options.cache === "function" ? options.cache(method) : options.cache;
    Object.assign(dressed, hints ?? { ttlMs: 0, cacheScope: "private" });
  }
  if (options.anonymous !== true) {
    const serverInfo = { name: options.name ?? "fake", version: "1.0.0" };
    dressed._meta = { ...objectAt(dressed, "_meta"), [prefix + "serverInfo"]: serverInfo };
  }
  return dressed;
}

/**
 * A session of the handshake revisions (2024-11-05 to 2025-11-25) without a transport: both sides send requests.
 *
 * @module
 */
import type { Core, CoreContext, CoreOptions } from "./core.ts";
import { createLegacyTasks, type LegacyTasks } from "./legacy_tasks.ts";
import {
  ClientRefused,
  type Deferred,
  deferred,
  errorOf,
  isId,
  isJsonObject,
  isRequest,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  notificationOf,
  objectAt,
  orAborted,
  type RequestId,
  resultOf,
  RpcFailure,
  type ServerChange,
  stringAt,
} from "./wire.ts";

const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** What a session lets one choose. */
export interface LegacySessionOptions extends CoreOptions {
  /** The newest revision that it speaks (`2025-11-25`). */
  revision?: string;
  /** Others that it accepts too (none). */
  revisions?: string[];
  /** Replaces capabilities of the answer to `initialize`. */
  capabilities?: JsonObject;
  /** Answers a call of a client that never sent `notifications/initialized` (true; it is written down in any case). */
  lenient?: boolean;
}

/** Anything that a server sends. */
export type ServerMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** Where the messages of one request go. */
export interface LegacyIo {
  /** Sends what belongs to this request: on its own stream. */
  send(message: ServerMessage): void;
  /** Closes the stream of this request; the answer waits for the client to resume it. */
  closeStream(): void;
}

/** One session. */
export interface LegacySession {
  /** The agreed revision; undefined before `initialize`. */
  readonly revision: string | undefined;
  readonly initialized: boolean;
  /** URIs that the client subscribed to. */
  readonly watched: ReadonlySet<string>;
  readonly logLevel: string | undefined;
  readonly clientCapabilities: JsonObject;
  /** Takes one message; resolves with the response to a request, and with undefined for all else. Never rejects. */
  receive(message: JsonObject, io: LegacyIo): Promise<JsonRpcResponse | undefined>;
  /** Tells the client of a change, if it may be told. */
  emit(change: ServerChange): void;
  /** Sends a request of the server's own, outside any request of the client. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  /** Says that the user has done what a URL elicitation asked for. */
  completeElicitation(elicitationId: string): void;
  /** Ends all that runs. */
  close(): void;
}

/** The state that the parts of a session share. */
export interface SessionState {
  readonly core: Core;
  readonly options: LegacySessionOptions;
  /** Sends what belongs to no request. */
  readonly push: (message: ServerMessage) => void;
  readonly running: Map<RequestId, AbortController>;
  readonly asked: Map<RequestId, Deferred<JsonObject>>;
  readonly watched: Set<string>;
  readonly visited: Set<string>;
  readonly usedIds: Set<RequestId>;
  revision: string | undefined;
  initialized: boolean;
  logLevel: string | undefined;
  clientCapabilities: JsonObject;
  /** Numbers of the server's own requests: they start at 1, as the client's may, since the two are apart. */
  nextId: number;
}

/** Opens a session; `push` sends what belongs to no request. */
export function createLegacySession(
  core: Core,
  push: (message: ServerMessage) => void,
  options: LegacySessionOptions = {},
): LegacySession {
  const state: SessionState = {
    core,
    options,
    push,
    running: new Map(),
    asked: new Map(),
    watched: new Set(),
    visited: new Set(),
    usedIds: new Set(),
    revision: undefined,
    initialized: false,
    logLevel: undefined,
    clientCapabilities: {},
    nextId: 1,
  };
  const tasks = createLegacyTasks(state);
  return {
    get revision() {
      return state.revision;
    },
    get initialized() {
      return state.initialized;
    },
    get logLevel() {
      return state.logLevel;
    },
    get clientCapabilities() {
      return state.clientCapabilities;
    },
    watched: state.watched,
    receive(message, io) {
      if (isRequest(message)) return answer(message, io, { state, tasks });
      if (typeof message.method === "string" && message.id === undefined) notice(message, state);
      else takeAnswer(message, state);
      return Promise.resolve(undefined);
    },
    emit: (change) => emit(change, state),
    ask: (method, params) => askClient(state, push, { method, params: params ?? {} }),
    completeElicitation(elicitationId) {
      state.visited.add(elicitationId);
      push(notificationOf("notifications/elicitation/complete", { elicitationId }));
    },
    close() {
      for (const controller of state.running.values()) controller.abort(new Error("the session ended"));
      for (const { reject } of state.asked.values()) reject(new ClientRefused("the session ended"));
    },
  };
}

interface Scope {
  readonly state: SessionState;
  readonly tasks: LegacyTasks;
}

async function answer(request: JsonRpcRequest, io: LegacyIo, scope: Scope): Promise<JsonRpcResponse | undefined> {
  const { state } = scope;
  const { ledger } = state.core;
  const { id, method } = request;
  if (state.usedIds.has(id)) {
    ledger.violation(`${method}: the id ${JSON.stringify(id)} was used before in this session`);
  } else if (state.usedIds.size < 100_000) state.usedIds.add(id);
  const controller = new AbortController();
  state.running.set(id, controller);
  try {
    const result = await orAborted(dispatch(request, io, { ...scope, signal: controller.signal }), controller.signal);
    return controller.signal.aborted ? undefined : resultOf(id, result);
  } catch (error) {
    if (!controller.signal.aborted) return errorOf(id, error);
    ledger.cancellation({ id, method, reason: reasonOf(controller.signal) });
    return undefined;
  } finally {
    if (state.running.get(id) === controller) state.running.delete(id);
  }
}

function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason.message : String(reason);
}

async function dispatch(
  request: JsonRpcRequest,
  io: LegacyIo,
  scope: Scope & { signal: AbortSignal },
): Promise<JsonObject> {
  const { state, tasks, signal } = scope;
  const { method, params = {} } = request;
  if (method === "initialize") return initialize(params, state);
  if (method === "ping") return {};
  if (state.revision === undefined) throw new RpcFailure(-32600, "Server not initialized");
  if (!state.initialized) {
    state.core.ledger.violation(`${method} came before notifications/initialized`);
    if (state.options.lenient === false) throw new RpcFailure(-32600, "Server not initialized");
  }
  const session = sessionMethod(method, params, state);
  if (session !== undefined) return session;
  const context = contextOf(request, io, { state, signal });
  const task = tasks.handle(request, (method, params) => askClient(state, io.send, { method, params, signal }));
  if (task !== undefined) return await task;
  const result = state.core.handle(method, params, context);
  if (result === undefined) throw new RpcFailure(-32601, "Method not found");
  return await result;
}

function initialize(params: JsonObject, state: SessionState): JsonObject {
  if (state.revision !== undefined) throw new RpcFailure(-32600, "The session is initialized already");
  const requested = stringAt(params, "protocolVersion");
  const info = objectAt(params, "clientInfo");
  const complete = requested !== undefined && isJsonObject(params.capabilities) && typeof info.name === "string" &&
    typeof info.version === "string";
  if (!complete) throw new RpcFailure(-32602, "initialize needs protocolVersion, capabilities and clientInfo");
  const { options } = state;
  const newest = options.revision ?? "2025-11-25";
  state.revision = options.revisions?.includes(requested) ? requested : newest;
  state.clientCapabilities = objectAt(params, "capabilities");
  if (requested >= "2026") state.core.ledger.violation(`initialize offers ${requested}, which has no handshake`);
  const result: JsonObject = {
    protocolVersion: state.revision,
    capabilities: options.capabilities ?? capabilitiesOf(state.revision, options),
    serverInfo: { name: options.name ?? "fake", version: "1.0.0" },
  };
  if (options.instructions !== undefined) result.instructions = options.instructions;
  return result;
}

function capabilitiesOf(revision: string, options: LegacySessionOptions): JsonObject {
  const capabilities: JsonObject = {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    logging: {},
  };
  if (revision >= "2025-03-26") capabilities.completions = {};
  if (revision === "2025-11-25" && options.tasks !== false) {
    capabilities.tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  }
  return capabilities;
}

function sessionMethod(method: string, params: JsonObject, state: SessionState): JsonObject | undefined {
  switch (method) {
    case "logging/setLevel": {
      const level = stringAt(params, "level") ?? "";
      if (!levels.includes(level)) throw new RpcFailure(-32602, "Unknown log level");
      state.logLevel = level;
      return {};
    }
    case "resources/subscribe":
    case "resources/unsubscribe": {
      const uri = stringAt(params, "uri");
      if (uri === undefined) throw new RpcFailure(-32602, "uri is missing");
      if (method === "resources/subscribe") state.watched.add(uri);
      else state.watched.delete(uri);
      return {};
    }
    default:
      return undefined;
  }
}

function notice(message: JsonObject, state: SessionState): void {
  const { ledger } = state.core;
  switch (message.method) {
    case "notifications/initialized":
      if (state.revision === undefined) ledger.violation("notifications/initialized came before initialize");
      state.initialized = true;
      return;
    case "notifications/cancelled": {
      const params = objectAt(message, "params");
      const id = params.requestId;
      const controller = isId(id) ? state.running.get(id) : undefined;
      controller?.abort(new Error(stringAt(params, "reason") ?? "cancelled"));
    }
  }
}

function takeAnswer(message: JsonObject, state: SessionState): void {
  const { ledger } = state.core;
  const waiting = isId(message.id) ? state.asked.get(message.id) : undefined;
  if (waiting === undefined || !isId(message.id)) {
    return ledger.violation(`an answer to nothing: ${JSON.stringify(message.id)}`);
  }
  state.asked.delete(message.id);
  if (isJsonObject(message.result)) return waiting.resolve(message.result);
  const { code, message: text } = objectAt(message, "error");
  if (typeof code !== "number") ledger.violation("an answer without result and error");
  waiting.reject(new ClientRefused(`the client refused: ${String(code)} ${String(text)}`));
}

/** Sends a request to the client and waits for its answer. */
async function askClient(
  state: SessionState,
  send: (message: ServerMessage) => void,
  request: { method: string; params: JsonObject; signal?: AbortSignal },
): Promise<JsonObject> {
  const id = state.nextId++;
  const waiting = deferred<JsonObject>();
  state.asked.set(id, waiting);
  const { method, params, signal } = request;
  send(Object.keys(params).length > 0 ? { jsonrpc: "2.0", id, method, params } : { jsonrpc: "2.0", id, method });
  try {
    return await (signal === undefined ? waiting.promise : orAborted(waiting.promise, signal));
  } catch (error) {
    if (signal?.aborted) {
      send(notificationOf("notifications/cancelled", { requestId: id, reason: "not needed any more" }));
    }
    throw error;
  } finally {
    state.asked.delete(id);
  }
}

function emit(change: ServerChange, state: SessionState): void {
  if (!state.initialized) return;
  if (change.type === "resource") {
    if (state.watched.has(change.uri)) {
      state.push(notificationOf("notifications/resources/updated", { uri: change.uri }));
    }
  } else if (change.type !== "task") state.push(notificationOf(`notifications/${change.type}/list_changed`));
}

function contextOf(
  request: JsonRpcRequest,
  io: LegacyIo,
  scope: { state: SessionState; signal: AbortSignal },
): CoreContext {
  const { state, signal } = scope;
  const token = objectAt(request.params ?? {}, "_meta").progressToken;
  const revision = state.revision ?? "2025-11-25";
  const ask = (method: string, params: JsonObject) => askClient(state, io.send, { method, params, signal });
  return {
    era: "legacy",
    revision,
    id: request.id,
    first: true,
    signal,
    progress(progress, total, message) {
      const words = revision >= "2025-03-26" ? { message } : {};
      const params = { progressToken: isId(token) ? token : 0, progress, total, ...words };
      if (isId(token)) io.send(notificationOf("notifications/progress", params));
    },
    log(level, data) {
      if (levels.indexOf(level) < levels.indexOf(state.logLevel ?? "debug")) return;
      io.send(notificationOf("notifications/message", { level, logger: "fake", data }));
    },
    async inputs(requests) {
      for (const input of Object.values(requests)) requireInput(input, state.clientCapabilities, revision);
      const answers = await Promise.all(
        Object.entries(requests).map(async ([key, input]) => {
          const params = { ...objectAt(input, "params") };
          if (revision < "2025-11-25") delete params.mode;
          if (params.mode === "url") params.elicitationId = `page-${state.nextId}`;
          return [key, await ask(stringAt(input, "method") ?? "", params)] as const;
        }),
      );
      return Object.fromEntries(answers);
    },
    comeBack: () => {},
    async ping() {
      await ask("ping", {});
    },
    closeStream: () => io.closeStream(),
    wait: (milliseconds) => state.core.wait(milliseconds, signal),
    emit: (change) => emit(change, state),
    visited: (elicitationId) => state.visited.has(elicitationId),
  };
}

/** A server asks only for what was declared, and for what its revision knows. */
function requireInput(input: JsonObject, capabilities: JsonObject, revision: string): void {
  const params = objectAt(input, "params");
  const refuse = (what: string) => {
    throw new ClientRefused(`the client has not declared ${what}`);
  };
  if (input.method === "roots/list" && capabilities.roots === undefined) refuse("roots");
  if (input.method === "sampling/createMessage") {
    if (capabilities.sampling === undefined) refuse("sampling");
    if (params.tools !== undefined && objectAt(capabilities, "sampling").tools === undefined) refuse("sampling.tools");
  }
  if (input.method === "elicitation/create") {
    const declared = isJsonObject(capabilities.elicitation) ? capabilities.elicitation : undefined;
    if (declared === undefined || revision < "2025-06-18") refuse("elicitation");
    if (params.mode === "url" && declared?.url === undefined) refuse("elicitation.url");
    if (params.mode !== "url" && declared?.form === undefined && declared?.url !== undefined) {
      refuse("elicitation.form");
    }
  }
}

/**
 * The seams inside the server: what a binding hands in, what an era makes of it, and what the methods behind it are.
 *
 * ```
 * binding (HTTP, pipe)  → Incoming → era (ModernPeer, LegacySession) → RequestContext → Methods → the author's handler
 * binding               ← response ← era: dressed for its revision     ←  plain result            ←
 * ```
 *
 * @module
 */
import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Revision } from "../protocol/revisions.ts";
import type {
  CacheHints,
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  ServerCapabilities,
  Tool,
} from "../protocol/types.ts";
import type { Clock, Logger, Random } from "../ports.ts";
import type { AuthInfo, RequestContext } from "./definitions.ts";

/** What the author's server knows and can do, without any wire: `McpServer` fills it. */
export interface Methods {
  /** Who the server is. */
  readonly info: Implementation;
  /** How to use it well: advice for a model. */
  readonly instructions: string | undefined;
  /** What is declared: only what is there. The era adds what belongs to it (`listChanged`, `subscribe`). */
  capabilities(): ServerCapabilities;
  /**
   * Answers one method: `tools/list`, `tools/call`, `resources/list`, `resources/templates/list`, `resources/read`,
   * `prompts/list`, `prompts/get`, `completion/complete`. The result is plain (newest revision, without `resultType`):
   * the era dresses it.
   *
   * @returns undefined when there is no such method here. A result that is there at once comes without a promise.
   * @throws {RpcError} What the caller did wrong: `InvalidParamsError` and the like, with `rpcCode` and `data`.
   */
  run(method: string, params: JsonObject, context: RequestContext): JsonObject | Promise<JsonObject> | undefined;
  /** A tool as it is listed: for its mirrored headers and its limits per revision. */
  tool(name: string): Tool | undefined;
  /** How a tool goes on as a task; undefined when it does not. */
  task?(name: string): TaskTerms | undefined;
  /** How long and for whom lists and the server's own description are good. */
  readonly cache: CacheHints;
  /** Hears of changes until the returned function is called. */
  watch(listener: (change: ServerChange) => void): () => void;
  /** Gives a set for the URIs that one client watches, where somebody has to know: it is cleared at the end. */
  watched?(): Set<string>;
  /**
   * Hears each notification of the client of a legacy session, and at last that it is gone (undefined).
   *
   * @param session Undefined before `initialize`.
   * @param outlet Reaches the client outside of its requests.
   * @internal
   */
  heard?(method: string | undefined, session: LegacyClient | undefined, outlet: LegacyOutlet): void;
}

/** The client of a legacy session: the same object each time. */
export interface LegacyClient {
  /** What it said of itself: `info` is the `client` of the contexts of its calls. */
  readonly client: { readonly info: Implementation | undefined; readonly capabilities: JsonObject };
  /** Asks it, outside of its requests too. */
  readonly asks: {
    ask(method: string, params: undefined, about: undefined, signal?: AbortSignal): Promise<JsonObject>;
  };
  /** Whether it wants log messages of a level. */
  readonly wants: (level: LoggingLevel) => boolean;
}

/** What is served: an `McpServer`. */
export interface Servable {
  /** What the server can do. */
  readonly methods: Methods;
}

/** Both eras, ready for a binding. */
export interface Served {
  readonly parts: ServerParts;
  readonly modern: ModernServing | undefined;
  readonly legacy: ((outlet: LegacyOutlet) => LegacyServing) | undefined;
}

/** Something changed at this server. */
export type ServerChange = { readonly type: "tools" | "prompts" | "resources" } | {
  readonly type: "resource";
  readonly uri: string;
};

/** What every part of the serving side works with. */
export interface ServerParts {
  readonly methods: Methods;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Limits;
  readonly logger: Logger | undefined;
  /** Gives what seals what a client carries between rounds. */
  readonly state: () => StateSealer;
  /** Tasks, where they are served. */
  readonly tasks?: TaskServing | undefined;
}

/** Seals a state that travels through the client, so that nobody but us can have made it. */
export interface StateSealer {
  /**
   * Seals a state.
   *
   * @param bound What it is good for alone: principal, method and parameters.
   * @returns Text for `requestState`.
   */
  seal(state: JsonObject, bound: string): Promise<string>;
  /** Opens it again; undefined when it is not ours, was changed, is too old, or is bound to something else. */
  open(sealed: string, bound: string): Promise<JsonObject | undefined>;
}

/** One request as a binding hands it in: its envelope was checked (`classify`). */
export interface Incoming {
  readonly message: JsonRpcRequest;
  /** Aborted when the caller called it off or is gone. */
  readonly signal: AbortSignal;
  readonly auth: AuthInfo | undefined;
  /** What it came with, over HTTP. */
  readonly request?: Request | undefined;
  /**
   * Whether it was called off, as far as is known. A binding gives it where making `signal` is dear and is put off until
   * somebody asks for one; it does not wait for an answer that nobody wants any more.
   */
  over?(): boolean;
  /** Sends what belongs to this request, before its answer. After the answer or the abort it is dropped by the binding. */
  notify(notification: JsonRpcNotification): void;
}

/** The answer of an era: the response, and the HTTP status that goes with it. */
export interface Answer {
  readonly response: JsonRpcResponse;
  /** 200 unless the specification names another one (400, 404). Bindings without status ignore it. */
  readonly status: number;
}

/** The modern era: no state between requests. One for all clients. */
export interface ModernServing {
  /**
   * Answers one request. Never rejects; undefined when it was called off and nothing must be sent.
   * `subscriptions/listen` answers only when its stream ends.
   */
  answer(incoming: Incoming): Promise<Answer | undefined>;
  /** Ends all streams of changes gracefully: each gets its result. */
  close(): void;
}

/** One legacy session: from `initialize` to its end. The binding keeps it and finds it again. */
export interface LegacyServing {
  readonly revision: Revision;
  /** Whether `initialize` was answered. */
  readonly open: boolean;
  /**
   * Answers one request (`initialize` too), at once where it can. Never throws or rejects; undefined when it was called off
   * and nothing must be sent.
   */
  answer(incoming: Incoming): Answer | undefined | Promise<Answer | undefined>;
  /** Takes a notification of the client: `notifications/initialized`, `notifications/cancelled`, … */
  notified(notification: JsonRpcNotification): void;
  /** Takes the client's answer to a request of ours. False when nobody waits for it. */
  answered(response: JsonRpcResponse): boolean;
  /** Whether it goes on for a caller of the same principal. Default: it does. */
  isOf?(auth: AuthInfo | undefined): boolean;
  /** Ends it: requests of ours that wait are rejected, work is called off. */
  close(): void;
}

/** How a legacy session reaches its client outside of an answer. */
export interface LegacyOutlet {
  /**
   * Sends a request of ours or a notification.
   *
   * @param about The request of the client that it belongs to: it goes on that one's stream; without one on the session's own.
   */
  send(message: JsonRpcRequest | JsonRpcNotification, about?: Incoming | undefined): void;
}

/** The revision that a request of this session speaks: for what older clients cannot read. */
export type Dress = (method: string, result: JsonObject, revision: Revision) => JsonObject;

/** How a tool goes on as a task. */
export interface TaskTerms {
  /** Whether it may, or has to. */
  readonly support: "optional" | "required";
  /** Modern: whether the handler says when. */
  readonly later: boolean;
}

/** Tasks, for the option `tasks` of what serves: made by `createTasks`. */
export interface TaskSupport {
  /**
   * Puts them to work with what is served.
   *
   * @internal
   */
  open(parts: ServerParts): TaskServing;
  /** Stops the tasks that run in this process: they are cancelled. For its end; what comes later is served as before. */
  close(): Promise<void>;
}

/** Tasks at work, in both eras. */
export interface TaskServing {
  readonly modern: ModernTasks;
  readonly legacy: LegacyTasks;
}

/** The extension `io.modelcontextprotocol/tasks` (SEP-2663). */
export interface ModernTasks {
  /** What is declared. */
  readonly extensions: Record<string, JsonObject>;
  /**
   * Answers `tasks/get`, `tasks/update` and `tasks/cancel`; undefined for any other method.
   *
   * @throws {MissingCapabilityError} When the caller did not declare the extension.
   */
  request(method: string, params: JsonObject, caller: TaskCaller): Promise<JsonObject> | undefined;
  /**
   * Answers a `tools/call` that may go on as a task: with one, or with its result; undefined when it is an ordinary call.
   *
   * @throws {MissingCapabilityError} When the tool needs a caller that declared the extension.
   */
  call(call: ModernTaskCall): Promise<ModernTaskOutcome> | undefined;
  /**
   * Reads which tasks a stream of changes wants to hear of.
   *
   * @param wanted `taskIds` of the filter.
   * @returns Those that there are for this caller.
   * @throws {MissingCapabilityError} When the caller did not declare the extension.
   */
  listen(wanted: unknown, caller: TaskCaller): Promise<readonly string[]>;
  /** Hears of changes of some tasks until the returned function is called. */
  watch(taskIds: readonly string[], tell: (task: JsonObject) => void): () => void;
}

/** Who asks for a task. */
export interface TaskCaller {
  readonly auth: AuthInfo | undefined;
  readonly capabilities: ClientCapabilities;
}

/** A call that may go on as a task. */
export interface ModernTaskCall {
  readonly params: JsonObject;
  /** The context of the ordinary call. */
  readonly context: RequestContext;
  readonly capabilities: ClientCapabilities;
  /** Whether questions of the ordinary call wait. */
  readonly waiting: () => boolean;
}

/** What became of such a call. */
export type ModernTaskOutcome = { readonly task: JsonObject } | { readonly result: JsonObject };

/** The experimental tasks of 2025-11-25. */
export interface LegacyTasks {
  /** What is declared to a client. */
  declare(auth: AuthInfo | undefined): JsonObject;
  /** Adds to a result of `tools/list` which tools may be tasks. */
  list(result: JsonObject): JsonObject;
  /** Answers `tasks/…`, and `tools/call` where it is a task; undefined for all else. Its results are dressed. */
  run(method: string, params: JsonObject, call: LegacyTaskCall): Promise<JsonObject> | undefined;
}

/** A request of a legacy client, for its tasks. */
export interface LegacyTaskCall {
  readonly context: RequestContext;
  readonly capabilities: JsonObject;
  /** Asks the client in the course of this request. */
  ask(method: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject>;
  /** Tells the client something, at any time. */
  tell(notification: JsonRpcNotification): void;
  /** Whether the client wants log messages of a level. */
  wants(level: LoggingLevel): boolean;
}

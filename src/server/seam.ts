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
import type { CacheHints, Implementation, ServerCapabilities, Tool } from "../protocol/types.ts";
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
   * @returns undefined when there is no such method here.
   * @throws {RpcError} What the caller did wrong: `InvalidParamsError` and the like, with `rpcCode` and `data`.
   */
  run(method: string, params: JsonObject, context: RequestContext): Promise<JsonObject> | undefined;
  /** A tool as it is listed: for its mirrored headers and its limits per revision. */
  tool(name: string): Tool | undefined;
  /** How long and for whom lists and the server's own description are good. */
  readonly cache: CacheHints;
  /** Hears of changes until the returned function is called. */
  watch(listener: (change: ServerChange) => void): () => void;
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
  /** Seals what a client carries between rounds. */
  readonly state: StateSealer;
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
  /** Answers one request (`initialize` too). Never rejects; undefined when it was called off and nothing must be sent. */
  answer(incoming: Incoming): Promise<Answer | undefined>;
  /** Takes a notification of the client: `notifications/initialized`, `notifications/cancelled`, … */
  notified(notification: JsonRpcNotification): void;
  /** Takes the client's answer to a request of ours. False when nobody waits for it. */
  answered(response: JsonRpcResponse): boolean;
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
  send(message: JsonRpcRequest | JsonRpcNotification, about: Incoming | undefined): void;
}

/** The revision that a request of this session speaks: for what older clients cannot read. */
export type Dress = (method: string, result: JsonObject, revision: Revision) => JsonObject;

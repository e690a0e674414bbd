/**
 * What is told without being an answer: log messages, progress, changes, and that a request is called off.
 *
 * @module
 */
import type { JsonObject, JsonValue, RequestId } from "../json_rpc.ts";
import type { LoggingLevel, Meta, ProgressToken } from "./basics.ts";
import type { Task } from "./tasks.ts";

/** A log message of a server. */
export interface LogMessage {
  /** How serious it is. */
  level: LoggingLevel;
  /** Which part of the server speaks. */
  logger?: string;
  /** What is said: text or any other JSON value. Untrusted. */
  data: JsonValue;
}

/** A sign of progress. Values rise; `total` may be unknown. */
export interface Progress {
  /** How much is done, in the unit of `total`. */
  progress: number;
  /** How much there is to do, where it is known. */
  total?: number;
  /** What is going on, for people (since 2025-03-26). */
  message?: string;
}

/** A notice of progress as it travels. */
export interface ProgressNotification extends Progress {
  /** Which request it belongs to: the token that the request brought. */
  progressToken: ProgressToken;
  /** Metadata of the sender. */
  _meta?: Meta;
}

/** A request is called off. */
export interface CancelledNotification {
  /** Which request: one that the sender made itself. May be missing in 2025-11-25 only. */
  requestId?: RequestId;
  /** Why, for logs and people. */
  reason?: string;
  /** Metadata of the sender. */
  _meta?: Meta;
}

/** What `listen()` should tell of. */
export interface ListenFilter {
  /** Changes of the list of tools. Default: false. */
  tools?: boolean;
  /** Changes of the list of prompts. Default: false. */
  prompts?: boolean;
  /** Changes of the list of resources. Default: false. */
  resources?: boolean;
  /** URIs whose content is watched. */
  resourceUris?: string[];
  /** Tasks whose state is watched (extension `io.modelcontextprotocol/tasks`). */
  taskIds?: string[];
}

/** Something changed at the server. `missed`: the stream was down for a while, so it may have changed. */
export type Change =
  | { type: "tools" | "prompts" | "resources"; missed?: boolean }
  | { type: "resource"; uri: string; missed?: boolean }
  | { type: "task"; task: Task & JsonObject };

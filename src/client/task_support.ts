/**
 * The seam between the client and its tasks, so that a client without tasks does not carry their code.
 *
 * @module
 */
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Era } from "../protocol/revisions.ts";
import type { CallToolResult, Task } from "../protocol/types.ts";
import type { Clock } from "../ports.ts";
import type { InputAnswers } from "./input/seam.ts";
import type { RequestOptions } from "./session/caller.ts";
import type { ServerInfo, SessionRequestOptions } from "./session/session.ts";

/** What tasks need of their client. */
export interface TaskHost {
  readonly era: Era | undefined;
  readonly info: ServerInfo | null;
  readonly label: string;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly inputs: InputAnswers | undefined;
  request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject>;
  /** Sends `tools/call` with all that belongs to it (mirrored headers) and gives the raw result. */
  rawToolCall(params: JsonObject, options?: SessionRequestOptions): Promise<JsonObject>;
}

/** Options of a task. */
export interface TaskOptions extends RequestOptions {
  /** How long the server should keep the task, in milliseconds (2025-11-25). */
  ttl?: number | undefined;
  /** Told of each state that is seen. */
  onStatus?: ((task: Task) => void) | undefined;
}

/** A running tool call that can be left and found again. */
export interface TaskHandle {
  /** The task's id: keep it to find the task again with `client.getTask`. Secret where the server does not bind it to you. */
  readonly taskId: string;
  /** The state that was seen last. */
  readonly task: Task;
  /** Looks how it stands. */
  get(options?: RequestOptions): Promise<Task>;
  /** Waits for its end, answers what it asks for on the way, and gives the tool's result. */
  result(options?: TaskOptions): Promise<CallToolResult>;
  /** Asks the server to stop it. It may still end otherwise. */
  cancel(options?: RequestOptions): Promise<void>;
}

/** What the client calls. */
export interface TaskRunner {
  /** Starts a tool as a task. */
  start(name: string, args: JsonObject, options: TaskOptions): Promise<TaskHandle>;
  /** Finds a task again. */
  get(taskId: string, options: RequestOptions): Promise<TaskHandle>;
  /** Lists tasks (2025-11-25 servers that offer it). */
  list(options: RequestOptions): Promise<Task[]>;
  /** Goes on with the task that a tool call was answered with. */
  adopt(result: JsonObject): TaskHandle;
}

/** Makes the tasks of one client, and says what has to be declared for them. */
export interface TaskSupport {
  /** The extension's name on the wire. */
  readonly extension: string;
  /** The result type that announces a task. */
  readonly resultType: string;
  create(host: TaskHost): TaskRunner;
}

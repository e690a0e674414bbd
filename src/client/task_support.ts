/**
 * The seam between the client and its tasks, so that a client without tasks does not carry their code.
 *
 * @module
 */
import type { ConstantJson, JsonObject } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Era } from "../protocol/revisions.ts";
import type { CallToolResult, ClientCapabilities, Task, Tool } from "../protocol/types.ts";
import type { Clock } from "../ports.ts";
import type { InputAnswers } from "./input/seam.ts";
import type { ClientRequest, RequestOptions, ServerInfo, SessionRequestOptions } from "./session/request.ts";

/** What tasks need of their client. */
export interface TaskHost {
  /** The era that is spoken; undefined before the connection. */
  readonly era: Era | undefined;
  /** What the server said about itself; null before the connection. */
  readonly info: ServerInfo | null;
  /** What names the server in errors. */
  readonly label: string;
  /** What waiting is measured by. */
  readonly clock: Clock;
  /** Upper bounds. */
  readonly limits: Limits;
  /**
   * What answers a task that asks.
   *
   * @internal
   */
  readonly inputs: InputAnswers | undefined;
  /** Finds the era out, where that is still to be done. */
  connect(options: { signal?: AbortSignal | undefined }): Promise<unknown>;
  /**
   * Aborted when the client is closed.
   *
   * @internal
   */
  closes(): AbortSignal;
  /** Knows the tools that were listed. */
  snapshot(): { readonly tools: readonly Tool[] };
  /** Sends any request and gives its checked result. */
  request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject>;
  /**
   * Takes a result in; throws when it is not what its method promises.
   *
   * @internal
   */
  accepted(request: ClientRequest, result: JsonObject, shape: string): void;
}

/** Options of a task. */
export interface TaskOptions extends RequestOptions {
  /** How long the server should keep the task, in milliseconds (2025-11-25). */
  ttl?: number | undefined;
  /** Told of each state that is seen: at the start, and at each look. */
  onStatus?: ((task: Task) => void) | undefined;
}

/** A running tool call that can be left and found again. */
export interface TaskHandle {
  /**
   * The task's id: keep it to find the task again with `client.getTask`. Secret where the server does not bind it to you.
   * Empty when the server gave the result at once.
   */
  readonly taskId: string;
  /** The state that was seen last. */
  readonly task: Task;
  /** Looks how it stands. */
  get(options?: RequestOptions): Promise<Task>;
  /**
   * Waits for its end, answers what it asks for on the way, and gives the tool's result. Looks as often as the server wants
   * (every second, where it says nothing; at most ten times a second, at least once a minute); a server that is away is tried six more times, with doubling pauses. Giving up leaves the task
   * alone.
   *
   * @param options `timeout` bounds the waiting as a whole (no bound but the time that the server keeps the task);
   * `timeouts` bound each look.
   * @throws {OutcomeUnknownError} When the task was cancelled, or did not move for as long as the server keeps it.
   * @throws {RpcError} When the tool failed with a protocol error, as the class for its code.
   * @throws {InvalidParamsError} When the server does not know the task (any more).
   * @throws {InputRequiredError} When it asks for what no handler gives; `client.resume` hands the answers over.
   * @throws {TimeoutError} When `timeout` is over.
   */
  result(options?: TaskOptions): Promise<CallToolResult>;
  /** Asks the server to stop it. It may still end otherwise. */
  cancel(options?: RequestOptions): Promise<void>;
}

/** What the client calls. */
export interface TaskRunner {
  /** Calls a tool, and waits for the task that it may become. Giving up waiting asks the server to stop it. */
  call(name: string, args: ConstantJson, options: RequestOptions): Promise<CallToolResult>;
  /** Starts a tool as a task, where the server runs it as one; else it runs to its end, and the handle has its result. */
  start(name: string, args: ConstantJson, options: TaskOptions): Promise<TaskHandle>;
  /** Finds a task again. */
  get(taskId: string, options: RequestOptions): Promise<TaskHandle>;
  /**
   * Lists tasks (2025-11-25 servers that offer it).
   *
   * @throws {MethodNotFoundError} When the server does not offer it.
   */
  list(options: RequestOptions): Promise<Task[]>;
  /** Takes what the server tells of none of the requests under way: it may be the progress of a task. */
  notified(method: string, params: JsonObject | undefined): void;
}

/** Makes the tasks of one client, and says what has to be declared for them. */
export interface TaskSupport {
  /** What the client declares with them. */
  declared(capabilities: ClientCapabilities | undefined): ClientCapabilities;
  /** Makes the tasks of one client. */
  create(host: TaskHost): TaskRunner;
}

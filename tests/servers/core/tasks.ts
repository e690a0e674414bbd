/**
 * The tasks of a fake peer: those of 2025-11-25 and those of the extension. A task moves on when it is looked at, so that
 * no test waits for time to pass.
 *
 * @module
 */
import type { Clock } from "../../../src/ports.ts";
import { askName } from "./tools.ts";
import { type JsonObject, type JsonRpcResponse, numberAt, RpcFailure, stringAt } from "./wire.ts";

/** Where a task stands. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** One task. */
export interface TaskRecord {
  readonly taskId: string;
  readonly createdAt: string;
  readonly arguments: JsonObject;
  lastUpdatedAt: string;
  status: TaskStatus;
  /** Looks that are left before it moves on. */
  pollsLeft: number;
  /** What it waits for, by key. */
  inputRequests: Record<string, JsonObject>;
  answers: Record<string, JsonObject>;
  /** The outcome in the words of JSON-RPC: `result` or `error`. */
  outcome: Pick<JsonRpcResponse, "result" | "error"> | undefined;
  /** How often it was looked at. */
  polls: number;
}

/** The tasks of one peer. */
export interface TaskStore {
  readonly all: ReadonlyMap<string, TaskRecord>;
  create(args: JsonObject): TaskRecord;
  /** Finds a task. @throws {RpcFailure} -32602 when there is none. */
  find(params: JsonObject): TaskRecord;
  /** Looks at a task, which moves it on. */
  poll(task: TaskRecord): void;
  /** Gives answers; unknown keys are ignored. */
  answer(task: TaskRecord, answers: JsonObject): void;
  /** Runs what is left at once; stops where input is needed. */
  finish(task: TaskRecord): void;
  cancel(task: TaskRecord): void;
}

/** True when nothing more will happen. */
export function isTerminal(task: TaskRecord): boolean {
  return task.status === "completed" || task.status === "failed" || task.status === "cancelled";
}

/** Makes a store; `changed` hears of each change of status. */
export function createTaskStore(clock: Clock, changed: (task: TaskRecord) => void): TaskStore {
  const all = new Map<string, TaskRecord>();
  const set = (task: TaskRecord, status: TaskStatus) => {
    task.status = status;
    task.lastUpdatedAt = new Date(clock.now()).toISOString();
    changed(task);
  };
  const moveOn = (task: TaskRecord) => {
    if (task.arguments.ask === true && task.answers.task_name === undefined) {
      task.inputRequests = { task_name: askName("Name for the job?") };
      return set(task, "input_required");
    }
    task.outcome = outcomeOf(task);
    set(task, task.outcome.error === undefined ? "completed" : "failed");
  };
  return {
    all,
    create(args) {
      const now = new Date(clock.now()).toISOString();
      const task: TaskRecord = {
        taskId: crypto.randomUUID(),
        createdAt: now,
        arguments: args,
        lastUpdatedAt: now,
        status: "working",
        pollsLeft: numberAt(args, "polls") ?? 1,
        inputRequests: {},
        answers: {},
        outcome: undefined,
        polls: 0,
      };
      all.set(task.taskId, task);
      return task;
    },
    find(params) {
      const task = all.get(stringAt(params, "taskId") ?? "");
      if (task === undefined) throw new RpcFailure(-32602, "Unknown task");
      return task;
    },
    poll(task) {
      task.polls++;
      if (task.status === "working" && task.pollsLeft-- <= 0) moveOn(task);
    },
    answer(task, answers) {
      for (const key of Object.keys(task.inputRequests)) {
        const value = answers[key];
        if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
        task.answers[key] = value;
        delete task.inputRequests[key];
      }
      if (task.status === "input_required" && Object.keys(task.inputRequests).length === 0) set(task, "working");
    },
    finish(task) {
      if (task.status === "working") moveOn(task);
    },
    cancel(task) {
      if (!isTerminal(task)) set(task, "cancelled");
    },
  };
}

function outcomeOf(task: TaskRecord): Pick<JsonRpcResponse, "result" | "error"> {
  const { fail, error, text } = task.arguments;
  if (fail === true) return { error: { code: -32603, message: "the job failed" } };
  if (error === true) return { result: { content: [{ type: "text", text: "the job went wrong" }], isError: true } };
  const answer = task.answers.task_name;
  const words = answer === undefined ? text ?? "job done" : `job done for ${JSON.stringify(answer.content ?? null)}`;
  return { result: { content: [{ type: "text", text: String(words) }] } };
}

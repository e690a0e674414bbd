/**
 * Tasks: tool calls that can be left and found again (2025-11-25, and the extension `io.modelcontextprotocol/tasks`).
 *
 * @module
 */
import type { ListResult, Result } from "./basics.ts";

/** Where a task stands. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** 2025-11-25: asks for a task instead of a result. */
export interface TaskMetadata {
  /** How long it should be kept, in milliseconds from its creation. */
  ttl?: number;
}

/** A task of 2025-11-25 or of the extension, in one shape: times in milliseconds. */
export interface Task {
  /** What the task is found again by. Secret where the server does not bind it to its caller. */
  taskId: string;
  /** Where it stands; `completed`, `failed` and `cancelled` are final. */
  status: TaskStatus;
  /** What the server says about the state, for people. */
  statusMessage?: string;
  /** When it began, in ISO 8601. */
  createdAt?: string;
  /** When its state changed last, in ISO 8601. */
  lastUpdatedAt?: string;
  /** How long it is kept, counted from its creation; null: without bound. */
  ttlMs?: number | null;
  /** How long to wait between two looks. */
  pollIntervalMs?: number;
}

/** 2025-11-25: a task instead of a result, as it travels: `ttl` and `pollInterval` are in milliseconds. */
export interface CreateTaskResult extends Result {
  /** The task as it was when the server took it on. */
  task: Omit<Task, "ttlMs" | "pollIntervalMs"> & { ttl?: number | null; pollInterval?: number };
}

/** Tasks of a server (2025-11-25). */
export interface ListTasksResult extends ListResult {
  /** Those that the caller may see, in the server's order. */
  tasks: Task[];
}

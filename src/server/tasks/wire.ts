/**
 * How a task looks on either wire.
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { TaskRecord } from "./store.ts";

/** A task of the extension, as it is handed out (SEP-2663: Task). */
export function extensionTask(record: TaskRecord): JsonObject {
  const { taskId, status, statusMessage, createdAt, updatedAt, ttl, pollInterval } = record;
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttl,
    pollIntervalMs: pollInterval,
  };
}

/** A task of the extension with what belongs to its state (S-104). */
export function detailedTask(record: TaskRecord): JsonObject {
  const { status, inputRequests, result, error } = record;
  return {
    ...extensionTask(record),
    ...(status === "input_required" && { inputRequests: (inputRequests ?? {}) as unknown as JsonObject }),
    ...(status === "completed" && { result: result ?? { content: [] } }),
    ...(status === "failed" && error && { error: error as unknown as JsonObject }),
  };
}

/** A task of 2025-11-25: a tool that says that it failed is a failed task there. */
export function legacyTask(record: TaskRecord): JsonObject {
  const { ttlMs: ttl, pollIntervalMs: pollInterval, ...task } = extensionTask(record);
  const failed = record.status === "completed" && record.result?.isError === true;
  return { ...task, ...(failed && { status: "failed" }), ttl: ttl as number, pollInterval: pollInterval as number };
}

/**
 * Reads which task is meant.
 *
 * @throws {InvalidParamsError} When it cannot be read.
 */
export function readTaskId({ taskId }: JsonObject): string {
  if (typeof taskId === "string" && taskId !== "" && taskId.length <= 256) return taskId;
  throw new InvalidParamsError('"params.taskId" is missing or malformed: expected a string', { rpcCode: -32602 });
}

/** What is said of a task that is not there, or somebody else's. */
export function unknownTask(): InvalidParamsError {
  return new InvalidParamsError("There is no such task, or no more", { rpcCode: -32602 });
}

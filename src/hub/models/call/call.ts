/**
 * The call of a tool by a model: from the model's words to a result that it can read.
 *
 * @module
 */
import { McpError } from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { CallToolResult, Progress } from "../../../protocol/types.ts";
import type { HubLike } from "../../seam.ts";
import { findJsonFault } from "./json_fault.ts";
import { nearestNames } from "./nearest.ts";

/** A tool call as a model made it, whatever the provider. */
export interface ModelToolCall {
  /** What the answer has to name; some providers have none. */
  readonly id?: string | undefined;
  /** The tool: a qualified name. */
  readonly name: string;
  /** What the tool is given: a text of JSON, or an object. Missing, null and an empty text: nothing. */
  readonly arguments?: unknown;
}

/** A call, and what it gave. */
export interface ModelToolOutcome {
  /** The call. */
  readonly call: ModelToolCall;
  /** Its result; `isError` also for a call that could not be made. */
  readonly result: CallToolResult;
}

/** Options of running tool calls. */
export interface RunToolOptions {
  /** Calls the calls off: what runs them rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each call. */
  readonly timeout?: number | undefined;
  /** Called for each sign of progress of a call. */
  readonly onProgress?: ((progress: Progress, call: ModelToolCall) => void) | undefined;
}

/**
 * Runs one tool call of a model. Arguments that are no JSON object, a tool that is not there, and a server that fails are
 * results with `isError`, so that the model can read what to do better.
 *
 * @throws The signal's own reason, when it is aborted.
 *
 * @example
 * ```ts
 * import { runToolCall } from "@causeway/mcp/hub";
 * import type { HubLike } from "@causeway/mcp/hub";
 *
 * async function answer(hub: HubLike) {
 *   const result = await runToolCall(hub, { name: "github__create_issue", arguments: '{"title":"A bug"}' });
 *   return result.content;
 * }
 * console.log(typeof answer);
 * ```
 */
export async function runToolCall(
  hub: HubLike,
  call: ModelToolCall,
  options: RunToolOptions = {},
): Promise<CallToolResult> {
  const { signal, timeout, onProgress } = options;
  signal?.throwIfAborted();
  const name = String(call.name);
  const tool = hub.findTool(name);
  if (!tool) return failure(unknownTool(hub, name));
  const read = readArguments(call.arguments);
  if (typeof read === "string") return failure(`Cannot call "${name}": ${read}`);
  try {
    return await hub.callTool({ server: tool.server, name: tool.name }, read.args, {
      ...(signal && { signal }),
      ...(timeout !== undefined && { timeout }),
      ...(onProgress && { onProgress: (progress: Progress) => onProgress(progress, call) }),
    });
  } catch (error) {
    if (signal?.aborted || !(error instanceof McpError)) throw error;
    return failure(error.message);
  }
}

/**
 * Runs the tool calls of one turn of a model at the same time.
 *
 * @returns What each gave, in the order of the calls.
 * @throws The signal's own reason, when it is aborted.
 */
export async function runToolCalls(
  hub: HubLike,
  calls: readonly ModelToolCall[],
  options: RunToolOptions = {},
): Promise<ModelToolOutcome[]> {
  return await Promise.all(calls.map(async (call) => ({ call, result: await runToolCall(hub, call, options) })));
}

/** A result that says what went wrong. */
function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** The arguments, or what is wrong with them. */
export function readArguments(given: unknown): { args: JsonObject } | string {
  if (given === undefined || given === null) return { args: {} };
  if (typeof given !== "string") return isArguments(given) ? { args: given } : notAnObject(given);
  if (given.trim() === "") return { args: {} };
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    return notJson(given);
  }
  return isArguments(value) ? { args: value } : notAnObject(value);
}

function isArguments(value: unknown): value is JsonObject {
  return isObject(value);
}

function notAnObject(value: unknown): string {
  const kind = Array.isArray(value) ? "an array" : value === null ? "null" : `a ${typeof value}`;
  return `the arguments are ${kind}, expected a JSON object`;
}

function notJson(text: string): string {
  const { at, expected } = findJsonFault(text) ?? { at: 0, expected: "a JSON object" };
  const line = text.slice(0, at).split("\n").length;
  const column = at - text.lastIndexOf("\n", at - 1);
  const before = text.slice(Math.max(0, at - 20), at).toWellFormed();
  const found = at < text.length ? `"${text.slice(at, at + 20).toWellFormed()}"` : "the end of the text";
  return `the arguments are not JSON at line ${line}, column ${column}, after "${before}": ` +
    `expected ${expected}, found ${found}`;
}

/** What a model is told of a tool that is not there: it may have meant another one. */
export function unknownTool(hub: HubLike, name: string): string {
  const near = nearestNames(name, hub.tools().map(({ qualifiedName }) => qualifiedName));
  const hint = near.length === 0 ? "" : `, did you mean ${near.map((one) => `"${one}"`).join(", ")}?`;
  return `Cannot call "${name.slice(0, 200).toWellFormed()}": there is no tool of this name${hint}`;
}

/**
 * A request for a chat completion: what has to be true of it.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { type ChatMessage, ModelError } from "../api_agent.ts";

/** A request that was checked. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream: boolean;
  /** Whether a stream tells the usage at its end. */
  readonly includeUsage: boolean;
  /** The whole of it. */
  readonly body: JsonObject;
}

const roles: readonly unknown[] = ["system", "developer", "user", "assistant", "tool"];

/**
 * Checks a request.
 *
 * @throws {ModelError} With status 400, naming the field that is wrong.
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  const { model, stream, stream_options: streamOptions } = body;
  if (typeof model !== "string" || model === "") throw wrong("model", "expected the id of a model");
  if (!isMissing(stream) && typeof stream !== "boolean") throw wrong("stream", "expected true or false");
  const messages = readMessages(body.messages);
  checkNumbers(body);
  return {
    model,
    messages,
    stream: stream === true,
    includeUsage: readIncludeUsage(streamOptions, stream === true),
    body,
  };
}

/**
 * Checks the messages of a conversation.
 *
 * @throws {ModelError} With status 400, naming the place that is wrong.
 */
export function readMessages(messages: unknown): readonly ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0) throw wrong("messages", "expected at least one message");
  messages.forEach((message, at) => checkMessage(message, `messages[${at}]`));
  return messages;
}

/**
 * Checks the numbers that say how to answer.
 *
 * @throws {ModelError} With status 400, naming the one that is wrong.
 */
export function checkNumbers(body: JsonObject): void {
  checkNumber(body, "temperature", 0, 2);
  checkNumber(body, "top_p", 0, 1);
  for (const name of ["max_tokens", "max_completion_tokens"]) {
    const value = body[name];
    if (!isMissing(value) && (!Number.isSafeInteger(value) || Number(value) < 1)) {
      throw wrong(name, "expected a whole number, 1 or more");
    }
  }
  if (!isMissing(body.n) && body.n !== 1) throw wrong("n", "only 1 reply can be asked for");
}

function checkMessage(message: unknown, at: string): void {
  if (!isObject(message)) throw wrong(at, "expected an object");
  const { role, content, tool_calls: calls, tool_call_id: callId, name, refusal } = message;
  if (!roles.includes(role)) throw wrong(`${at}.role`, `expected one of ${roles.join(", ")}`);
  if (!isMissing(name) && typeof name !== "string") throw wrong(`${at}.name`, "expected a text");
  if (!isMissing(callId) && typeof callId !== "string") throw wrong(`${at}.tool_call_id`, "expected a text");
  if (role === "tool" && isMissing(callId)) {
    throw wrong(`${at}.tool_call_id`, "expected the id of the call that it answers");
  }
  const hasCalls = Array.isArray(calls) && calls.length > 0 && calls.every((call) => isObject(call));
  if (!isMissing(calls) && !hasCalls) throw wrong(`${at}.tool_calls`, "expected a list of calls");
  if (isMissing(content) && role === "assistant" && (hasCalls || typeof refusal === "string")) return;
  if (typeof content !== "string" && !isParts(content)) {
    throw wrong(`${at}.content`, "expected a text or a list of parts");
  }
}

function isParts(content: unknown): boolean {
  return Array.isArray(content) && content.length > 0 &&
    content.every((part) =>
      isObject(part) && typeof part.type === "string" && (part.type !== "text" || typeof part.text === "string")
    );
}

function readIncludeUsage(options: unknown, isStream: boolean): boolean {
  if (isMissing(options)) return false;
  if (!isStream) throw wrong("stream_options", "it can only be used with stream: true");
  if (!isObject(options)) throw wrong("stream_options", "expected an object");
  const { include_usage: included } = options;
  if (!isMissing(included) && typeof included !== "boolean") {
    throw wrong("stream_options.include_usage", "expected true or false");
  }
  return included === true;
}

function checkNumber(body: JsonObject, name: string, least: number, most: number): void {
  const value = body[name];
  if (isMissing(value) || (typeof value === "number" && value >= least && value <= most)) return;
  throw wrong(name, `expected a number from ${least} to ${most}`);
}

/** Whether nothing is said of a field. */
export function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function wrong(param: string, expected: string): ModelError {
  return new ModelError(`Invalid "${excerpt(param, 100)}": ${expected}`, { status: 400, param, code: "invalid_value" });
}

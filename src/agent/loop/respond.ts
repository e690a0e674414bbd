/**
 * An agent that is asked like a model: conversations in, texts out.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { type ChatMessage, ModelError, type ReplyEnd, textOfMessage } from "../api_agent.ts";
import { readUserContent } from "../http/chat_content.ts";
import type { LanguageModelMessage, LanguageModelToolCall } from "../model/seam.ts";
import { fillLimits } from "../model/wire/body.ts";
import { readArguments } from "../model/wire/tool_calls.ts";
import type { AgentRun } from "./run.ts";
import type { AgentEnd } from "./seam.ts";
import { Texts } from "./texts.ts";

const statuses: Readonly<Record<string, number>> = { deadline: 504, model_error: 502, output_invalid: 502 };

/**
 * The texts of a run, those of different steps apart.
 *
 * @param options `isStream`: as they come; else all of them in the end. `isShaped`: only its output counts, given in the end, as JSON.
 * @throws {ModelError} When it fails, or begins a text again that was given out already.
 */
export async function* piecesOf(
  run: AgentRun,
  { isStream, isShaped }: { readonly isStream: boolean; readonly isShaped: boolean },
): AsyncGenerator<string, ReplyEnd, undefined> {
  const texts = new Texts(isStream);
  let isOver = false;
  try {
    for await (const event of run) {
      if (event.type === "text" && !isShaped) yield* texts.say(event.step, event.text);
      else if (event.type === "restarted" && !texts.take(event.step)) {
        const message = "The model broke off in the middle of its answer";
        throw new ModelError(message, { status: 502, code: "model_error", retryable: false });
      }
    }
    isOver = true;
    const end = await run.end;
    const told = endOf(end);
    yield isShaped && end.type === "succeeded" ? JSON.stringify(end.output) : texts.gathered;
    return told;
  } finally {
    if (!isOver) run.cancel("The caller is gone");
  }
}

function endOf(end: AgentEnd): ReplyEnd {
  const { usage } = end;
  if (end.type === "succeeded") return { usage, finishReason: end.finish === "length" ? "length" : "stop" };
  if (end.type === "cancelled") throw new ModelError(end.reason, { status: 499, code: "cancelled" });
  const { code, message } = end.error;
  if (code === "step_budget" || code === "token_budget") return { usage, finishReason: "length" };
  // What went wrong inside is not the caller's to read.
  const told = code === "internal" ? "The agent failed" : message;
  // Asked again, it would make its calls again.
  throw new ModelError(told, { status: statuses[code] ?? 500, code, retryable: false });
}

/**
 * A conversation in OpenAI's form as one for a language model.
 *
 * @throws {ModelError} When a part of it cannot be read.
 */
export function readConversation(messages: readonly ChatMessage[]): LanguageModelMessage[] {
  const names = new Map<string, string>();
  return messages.map((message, at): LanguageModelMessage => {
    switch (message.role) {
      case "system":
      case "developer":
        return { role: "system", content: textOfMessage(message) };
      case "user":
        return { role: "user", content: readUserContent(message, at) };
      case "assistant": {
        const toolCalls = (message.tool_calls ?? []).map((call, index) =>
          readCall(call, `messages[${at}].tool_calls[${index}]`)
        );
        for (const { id, name } of toolCalls) names.set(id, name);
        return { role: "assistant", content: textOfMessage(message), ...(toolCalls.length > 0 && { toolCalls }) };
      }
      case "tool": {
        const id = message.tool_call_id ?? "";
        const result: CallToolResult = { content: [{ type: "text", text: textOfMessage(message) }] };
        return { role: "tool", id, name: names.get(id) ?? message.name ?? id, result };
      }
    }
  });
}

function readCall({ id, function: given }: JsonObject, param: string): LanguageModelToolCall {
  if (typeof id !== "string" || !isObject(given) || typeof given.name !== "string") {
    throw new ModelError(`Invalid "${param}": expected "id" and "function" with "name"`, { status: 400, param });
  }
  const { name, arguments: written } = given;
  const args = readWritten(written ?? "");
  if (args !== undefined) return { id, name, arguments: args };
  const text = `Invalid "${param}": expected "arguments" of its "function" as a text of JSON`;
  throw new ModelError(text, { status: 400, param });
}

/** The arguments of a call as it was made: an object, or the text where it is none; undefined for what is neither. */
function readWritten(written: JsonValue): LanguageModelToolCall["arguments"] | undefined {
  if (isObject(written)) return written as JsonObject;
  if (typeof written !== "string") return undefined;
  try {
    return readArguments(written, fillLimits());
  } catch {
    // Too large to be looked into.
    return written;
  }
}

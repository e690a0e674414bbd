/**
 * What `respond` gave, in one form: pieces of text, and an end.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type {
  ApiAgentShape,
  ChatMessage,
  ModelContext,
  ReplyEnd,
  ReplyPieces,
  TokenUsage,
  ToolCall,
} from "../api_agent.ts";
import { textOfMessage } from "../api_agent.ts";

/** Pieces of text, none of them empty, and the end. */
export type Pieces = AsyncGenerator<string, Required<ReplyEnd>, undefined>;

/** A whole reply. */
export interface WholeReply extends Required<ReplyEnd> {
  readonly content: string;
}

const reasons: readonly unknown[] = ["stop", "length", "content_filter", "tool_calls"];
const charactersPerToken = 4;

/** How an agent is asked. */
export interface Asking {
  readonly context: ModelContext;
  /** The most characters that a reply may have. */
  readonly limit: number;
  /** Resolves when the caller is gone. */
  readonly left: Promise<void>;
}

/**
 * Asks the agent. The pieces end when the caller leaves: also where nobody reads any more and the agent waits at a piece
 * that nobody asked for, and where it does not look at its signal.
 *
 * @throws {TypeError} While they are read: when it gives what is no reply, or too much of it. What `respond` throws is
 * thrown on.
 */
export function askAgent(agent: ApiAgentShape, messages: readonly ChatMessage[], asking: Asking): Pieces {
  const pieces = readPieces(agent, messages, asking);
  asking.left.then(() => pieces.return(undefined as never)).catch(() => {});
  return pieces;
}

async function* readPieces(
  agent: ApiAgentShape,
  messages: readonly ChatMessage[],
  { context, limit }: Asking,
): Pieces {
  const pieces = toPieces(await agent.respond(messages, context))[Symbol.asyncIterator]();
  let characters = 0;
  let isOver = false;
  try {
    for (;;) {
      const step = await pieces.next();
      if (step.done) {
        isOver = true;
        return readEnd(step.value, messages, characters);
      }
      if (typeof step.value !== "string") throw new TypeError("Cannot send a piece of a reply that is no text");
      if ((characters += step.value.length) > limit) {
        throw new TypeError(`Cannot send a reply of more than ${limit} characters`);
      }
      if (step.value !== "") yield step.value;
    }
  } finally {
    if (!isOver) await pieces.return?.();
  }
}

/** Gathers a whole reply. */
export async function gather(pieces: Pieces): Promise<WholeReply> {
  let content = "";
  for (;;) {
    const step = await pieces.next();
    if (step.done) return { content, ...step.value };
    content += step.value;
  }
}

function toPieces(said: unknown): ReplyPieces {
  if (typeof said === "string") return single({ content: said });
  if (typeof said === "object" && said !== null) {
    if (Symbol.asyncIterator in said) return said as ReplyPieces;
    const { content } = said as { content?: unknown };
    if (typeof content === "string") return single({ ...said, content });
  }
  throw new TypeError('Cannot read a reply: "respond" gave no text, no { content } and no pieces of text');
}

async function* single(
  { content, ...end }: ReplyEnd & { content: string },
): AsyncGenerator<string, ReplyEnd, undefined> {
  yield content;
  return end;
}

function readEnd(end: unknown, messages: readonly ChatMessage[], characters: number): Required<ReplyEnd> {
  const { usage, toolCalls = [], finishReason = toolCalls.length ? "tool_calls" : "stop" } =
    (isObject(end) ? end : {}) as ReplyEnd;
  if (!reasons.includes(finishReason)) {
    throw new TypeError(`Cannot read a reply: its finishReason is none of ${reasons.join(", ")}`);
  }
  return {
    usage: isUsage(usage) ? usage : estimate(messages, characters),
    finishReason,
    toolCalls: checkCalls(toolCalls),
  };
}

function checkCalls(calls: unknown): readonly ToolCall[] {
  const isCall = (call: unknown): boolean =>
    isObject(call) && typeof call.id === "string" && typeof call.name === "string" &&
    (typeof call.arguments === "string" || isObject(call.arguments));
  if (Array.isArray(calls) && calls.every(isCall)) return calls;
  throw new TypeError("Cannot read a reply: its toolCalls are no list of { id, name, arguments }");
}

/** The usage in OpenAI's words. */
export function writtenUsage({ usage }: Required<ReplyEnd>): JsonObject {
  const { inputTokens, outputTokens } = usage!;
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

/** The calls in OpenAI's words. */
export function writtenCalls({ toolCalls }: Required<ReplyEnd>): JsonObject[] {
  return toolCalls!.map(({ id, name, arguments: given }) => ({
    id,
    type: "function",
    function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
  }));
}

function isUsage(usage: TokenUsage | undefined): usage is TokenUsage {
  return isObject(usage) && isCount(usage.inputTokens) && isCount(usage.outputTokens);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function estimate(messages: readonly ChatMessage[], characters: number): TokenUsage {
  const asked = messages.reduce((sum, message) => sum + textOfMessage(message).length, 0);
  return {
    inputTokens: Math.ceil(asked / charactersPerToken),
    outputTokens: Math.ceil(characters / charactersPerToken),
  };
}

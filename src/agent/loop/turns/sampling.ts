/**
 * A server's questions to a model (sampling), asked of the language model of an agent.
 *
 * @module
 */
import type { HandlerContext, SamplingHandler } from "../../../client/input/seam.ts";
import { systemClock, systemRandom } from "../../../ports.ts";
import { createMatcher } from "../../../hub/pins/glob.ts";
import { InvalidParamsError } from "../../../protocol/errors.ts";
import type {
  ContentBlock,
  CreateMessageRequest,
  CreateMessageResult,
  SamplingContent,
  SamplingMessage,
} from "../../../protocol/types.ts";
import type { TokenUsage } from "../../api_agent.ts";
import type {
  LanguageModel,
  LanguageModelEnd,
  LanguageModelMessage,
  LanguageModelRequest,
  LanguageModelToolCall,
} from "../../model/seam.ts";
import type { AskParts, ModelAnswer } from "./ask.ts";
import { askModel } from "./ask.ts";

/** Whether servers may ask the model, and how much. */
export interface SamplingPolicy {
  /** After a person has said yes (`ask`), always (`allow`), never (`deny`). */
  readonly policy: "ask" | "allow" | "deny";
  /** Which servers (all of them). Patterns of names. */
  readonly servers?: readonly string[] | undefined;
  /** The most tokens of an answer, whatever the server wants (4,096). */
  readonly maxTokens?: number | undefined;
  /** How often the servers may ask in one tool call (10). */
  readonly most?: number | undefined;
}

const reasons: Readonly<Record<LanguageModelEnd, string>> = {
  stop: "endTurn",
  length: "maxTokens",
  tool_calls: "toolUse",
  content_filter: "contentFilter",
  other: "other",
};

/**
 * Makes a language model the answer to what servers sample: the handler `sampling` of a client or a hub.
 *
 * @param options `maxTokens` is the most of one answer, whatever the server wants (4,096).
 *
 * @example A model for the servers of a client
 * ```ts
 * import { samplingHandler } from "@causeway/mcp/agent";
 *
 * const sampling = samplingHandler({
 *   id: "parrot",
 *   async *stream() {
 *     yield { type: "text", text: "hello" };
 *     yield { type: "end", reason: "stop" };
 *   },
 * });
 * const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Hi" } }];
 * const context = { server: "one", signal: new AbortController().signal };
 * const answer = await sampling({ messages, maxTokens: 10 }, context);
 * console.assert(answer?.stopReason === "endTurn" && answer.model === "parrot");
 * ```
 */
export function samplingHandler(model: LanguageModel, options: { readonly maxTokens?: number } = {}): SamplingHandler {
  const parts = { model, clock: systemClock, random: systemRandom };
  return async (request: CreateMessageRequest, { signal }: HandlerContext) =>
    await sample(request, { ...parts, signal }, options.maxTokens);
}

/**
 * Has a model answer what a server asks it.
 *
 * @param spend Hears what it cost, also where the answer is none for a server.
 * @throws {InvalidParamsError} When the server's question makes no sense.
 * @throws {LanguageModelError} When the model cannot be asked.
 */
export async function sample(
  request: CreateMessageRequest,
  parts: AskParts,
  mostTokens = 4_096,
  spend: (usage: TokenUsage) => void = () => {},
): Promise<CreateMessageResult> {
  const answer = await askModel(toModelRequest(request, mostTokens), parts);
  spend(answer.usage);
  return toResult(answer, parts.model.id);
}

/** What of a policy holds for one agent, with its defaults. */
export interface SamplingRules {
  readonly policy: SamplingPolicy["policy"];
  readonly maxTokens: number;
  readonly most: number;
  /** Whether a server may ask at all. */
  allows(server: string): boolean;
}

/** @throws {TypeError} When the policy makes no sense. */
export function readSampling(given: SamplingPolicy["policy"] | SamplingPolicy = "ask"): SamplingRules {
  const whole: SamplingPolicy = typeof given === "string" ? { policy: given } : given;
  const { policy, servers, maxTokens = 4_096, most = 10 } = whole;
  if (policy !== "ask" && policy !== "allow" && policy !== "deny") {
    throw new TypeError(`"sampling" is ${JSON.stringify(policy)}, expected "ask", "allow" or "deny"`);
  }
  for (const [name, value] of Object.entries({ maxTokens, most })) {
    if (typeof value === "number" && value >= 1) continue;
    throw new RangeError(`"sampling.${name}" is ${JSON.stringify(value)}, expected a number, 1 or more`);
  }
  const fits = servers && createMatcher(servers);
  return { policy, maxTokens, most, allows: (server) => policy !== "deny" && (fits?.([server]) ?? true) };
}

function toModelRequest(request: CreateMessageRequest, mostTokens: number): LanguageModelRequest {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences, tools, toolChoice } = request;
  if (!Array.isArray(messages) || messages.length === 0) throw new InvalidParamsError('"messages" is empty');
  const names = new Map(
    messages.flatMap(partsOf).flatMap((part) => part.type === "tool_use" ? [[part.id, part.name] as const] : []),
  );
  const asked = Number.isSafeInteger(maxTokens) && maxTokens > 0 ? maxTokens : mostTokens;
  return {
    messages: [
      ...(typeof systemPrompt === "string" ? [{ role: "system" as const, content: systemPrompt }] : []),
      ...messages.flatMap((message) => toModelMessages(message, names)),
    ],
    maxOutputTokens: Math.min(asked, mostTokens),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && { stopSequences }),
    ...(tools && {
      tools: tools.map(({ name, description = name, inputSchema }) => ({ name, description, inputSchema })),
    }),
    ...(toolChoice?.mode && { toolChoice: toolChoice.mode }),
  };
}

function partsOf({ content }: SamplingMessage): SamplingContent[] {
  return [content].flat();
}

function toModelMessages(message: SamplingMessage, names: ReadonlyMap<string, string>): LanguageModelMessage[] {
  const { role } = message;
  const parts = partsOf(message);
  if (role === "assistant") {
    const toolCalls = parts.flatMap((part): LanguageModelToolCall[] =>
      part.type === "tool_use" ? [{ id: part.id, name: part.name, arguments: part.input }] : []
    );
    const text = parts.map((part) => part.type === "text" ? part.text : "").join("");
    return [{ role: "assistant", content: text, ...(toolCalls.length > 0 && { toolCalls }) }];
  }
  const results = parts.flatMap((part): LanguageModelMessage[] => {
    if (part.type !== "tool_result") return [];
    const { toolUseId: id, content: given, structuredContent, isError } = part;
    const result = {
      content: given,
      ...(structuredContent !== undefined && { structuredContent }),
      ...(isError && { isError }),
    };
    return [{ role: "tool", id, name: names.get(id) ?? id, result }];
  });
  if (results.length > 0) return results;
  const blocks = parts.filter((part): part is Extract<typeof part, ContentBlock> =>
    part.type === "text" || part.type === "image" || part.type === "audio"
  );
  const [only] = blocks;
  return [{ role: "user", content: blocks.length === 1 && only?.type === "text" ? only.text : blocks }];
}

function toResult({ text, calls, reason }: ModelAnswer, model: string): CreateMessageResult {
  const uses = calls.map(({ id, name, arguments: given }) => {
    if (typeof given === "string") throw new InvalidParamsError(`The model wrote wrong arguments for "${name}"`);
    return { type: "tool_use" as const, id, name, input: given };
  });
  const said = { type: "text" as const, text };
  const content = uses.length === 0 ? said : text === "" ? uses : [said, ...uses];
  return { role: "assistant", content, model, stopReason: uses.length > 0 ? "toolUse" : reasons[reason] };
}

/**
 * A question to a model, as a request for a chat completion.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import type { ModelToolOutcome } from "../../../hub/models/call/call.ts";
import { toOpenAiParts, toOpenAiToolMessages } from "../../../hub/models/openai.ts";
import { commonMedia, type KnownMedia, partsOfBlocks } from "../../../hub/models/parts.ts";
import type { LanguageModelMessage, LanguageModelRequest, LanguageModelTool } from "../seam.ts";
import { soundConversation } from "./conversation.ts";
import { argumentsObject } from "./tool_calls.ts";

/**
 * The conversation as messages. What a provider wants to see again goes back to the one that said it, and to no other.
 *
 * @param from Names the model that is asked.
 * @param media The types of media that it takes.
 */
export function completionMessages(
  messages: readonly LanguageModelMessage[],
  from: string,
  media: readonly string[] = [...commonMedia],
): JsonObject[] {
  const written: object[] = [];
  const known = new Set(media);
  let answers: ModelToolOutcome[] = [];
  const flush = () => {
    // Pictures follow behind all answers, so that those stand together.
    written.push(...toOpenAiToolMessages(answers, { media }));
    answers = [];
  };
  for (const message of soundConversation(messages)) {
    if (message.role === "tool") {
      const { id, name, result } = message;
      answers.push({ call: { id, name }, result });
      continue;
    }
    flush();
    written.push(writeMessage(message, from, known));
  }
  flush();
  return written as JsonObject[];
}

/** The tools of a question. */
export function completionTools(tools: readonly LanguageModelTool[] = []): JsonObject[] {
  return tools.map(({ name, description, inputSchema: parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}

/** How a model is bound to a schema: strictly where the schema keeps to what OpenAI asks of strict ones. */
export function completionFormat({ name, schema }: NonNullable<LanguageModelRequest["output"]>): JsonObject {
  const json_schema = {
    name: name.replace(/[^\w-]+/g, "_").slice(0, 64) || "output",
    schema,
    strict: isStrict(schema),
  };
  return { type: "json_schema", json_schema };
}

/** Settings that all share: where they are not given, the provider's own hold. */
export function completionSettings(
  { temperature, stopSequences }: LanguageModelRequest,
): JsonObject {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && stopSequences.length > 0 && { stop: [...stopSequences] }),
  };
}

/** The message that a model was given back by its own endpoint, in OpenAI's words. */
function writeMessage(
  message: Exclude<LanguageModelMessage, { role: "tool" }>,
  from: string,
  media: KnownMedia,
): object {
  if (message.role === "system") return { role: "system", content: message.content };
  if (message.role === "user") {
    const { content } = message;
    if (typeof content === "string") return { role: "user", content };
    return { role: "user", content: toOpenAiParts(partsOfBlocks(content, media)) };
  }
  const { content, toolCalls = [], provider } = message;
  const own = provider?.from === from ? provider : {};
  const extras = isObject(own.calls) ? own.calls : {};
  const calls = toolCalls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(argumentsObject(call)) },
    ...objectOf(extras[call.id]),
  }));
  return {
    role: "assistant",
    // An empty text beside calls is refused by some.
    content: content === "" && calls.length > 0 ? null : content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...objectOf(own.message),
  };
}

function objectOf(value: unknown): object {
  return isObject(value) ? value : {};
}

const strictKeywords: ReadonlySet<string> = new Set([
  "$defs",
  "$ref",
  "additionalProperties",
  "anyOf",
  "const",
  "description",
  "enum",
  "items",
  "properties",
  "required",
  "title",
  "type",
]);

/**
 * Whether a schema is closed everywhere, asks for all it names and says the type of each, in keywords that strict schemas may have.
 * It is an object, and no choice of several.
 */
function isStrict(schema: JsonObject): boolean {
  return schema.type === "object" && schema.anyOf === undefined && fitsStrict(schema);
}

function fitsStrict(schema: JsonValue | undefined): boolean {
  if (!isObject(schema) || !Object.keys(schema).every((keyword) => strictKeywords.has(keyword))) return false;
  // Nothing may stand beside a reference.
  if (schema.$ref !== undefined) return Object.keys(schema).length === 1;
  const { properties = {}, required = [], anyOf = [], items, $defs = {}, type } = schema;
  const types = [type].flat();
  if (type === undefined && schema.anyOf === undefined || types.includes("array") && items === undefined) return false;
  if (!isObject(properties) || !isObject($defs) || !Array.isArray(required) || !Array.isArray(anyOf)) return false;
  const names = Object.keys(properties);
  const isObjectSchema = types.includes("object") || names.length > 0;
  if (isObjectSchema && (schema.additionalProperties !== false || !names.every((name) => required.includes(name)))) {
    return false;
  }
  const inner = [
    ...Object.values(properties),
    ...Object.values($defs),
    ...anyOf,
    ...items === undefined ? [] : [items],
  ];
  return inner.every((one) => fitsStrict(one as JsonValue));
}

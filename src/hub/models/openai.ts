/**
 * OpenAI's chat completions, and those who share its shapes (xAI, OpenRouter, and many more).
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { GetPromptResult, ReadResourceResult } from "../../protocol/types.ts";
import type { HubLike } from "../seam.ts";
import { type ModelToolOutcome, runToolCalls, type RunToolOptions } from "./call/call.ts";
import {
  commonMedia,
  dataUrl,
  fileName,
  mediaOf,
  type ModelPart,
  partsOfBlocks,
  partsOfResource,
  partsOfResult,
  textOf,
} from "./parts.ts";
import { listModelTools, type ModelToolsOptions, openAiRules } from "./tools.ts";

/** A tool of chat completions. */
export interface OpenAiTool {
  /** Tells it from its like. */
  type: "function";
  /** Its name, what it does, and the JSON Schema of its arguments. */
  function: { name: string; description: string; parameters: JsonObject };
}

/** A tool of the Responses API. */
export interface OpenAiResponsesTool {
  /** Tells it from its like. */
  type: "function";
  /** What it is called. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** The JSON Schema of its arguments. */
  parameters: JsonObject;
  /** The API is strict unless told otherwise, and refuses most schemas then. */
  strict: false;
}

/** A part of a user's message. */
export type OpenAiPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** A message of chat completions. */
export type OpenAiMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | { role: "user"; content: string | OpenAiPart[] }
  | { role: "assistant"; content: string };

/** A tool call in a message of the model: one of `message.tool_calls`. */
export interface OpenAiToolCall {
  /** Which call it is; its answer names it. */
  readonly id: string;
  /** Missing in calls of custom tools, which are passed over. */
  readonly function?: { readonly name: string; readonly arguments: string } | undefined;
}

const textOnly: ReadonlySet<string> = new Set();

/**
 * The tools of a hub for OpenAI: for chat completions, or with `{ api: "responses" }` for the Responses API.
 *
 * @param options `descriptionLimit` is 1,024 unless it is given.
 *
 * @example One turn of a model
 * ```ts
 * import { runOpenAiToolCalls, toOpenAiTools } from "@causeway/mcp/hub";
 * import type { HubLike } from "@causeway/mcp/hub";
 *
 * async function turn(hub: HubLike, toolCalls: { id: string; function: { name: string; arguments: string } }[]) {
 *   const tools = toOpenAiTools(hub); // goes into the request
 *   const messages = await runOpenAiToolCalls(hub, toolCalls); // goes after the model's message
 *   return { tools, messages };
 * }
 * console.log(typeof turn);
 * ```
 */
export function toOpenAiTools(
  hub: HubLike,
  options: ModelToolsOptions & { readonly api: "responses" },
): OpenAiResponsesTool[];
/** The tools of a hub for chat completions. */
export function toOpenAiTools(hub: HubLike, options?: ModelToolsOptions & { readonly api?: "chat" }): OpenAiTool[];
export function toOpenAiTools(
  hub: HubLike,
  options: ModelToolsOptions & { readonly api?: "chat" | "responses" } = {},
): OpenAiTool[] | OpenAiResponsesTool[] {
  const tools = listModelTools(hub, options, openAiRules);
  if (options.api === "responses") {
    return tools.map(({ name, description, schema: parameters }): OpenAiResponsesTool => (
      { type: "function", name, description, parameters, strict: false }
    ));
  }
  return tools.map(({ name, description, schema }): OpenAiTool => (
    { type: "function", function: { name, description, parameters: schema } }
  ));
}

/**
 * Runs the tool calls of a model's message and gives the messages that answer them: append them to the conversation.
 *
 * @param calls `message.tool_calls`.
 * @throws The signal's own reason, when it is aborted.
 */
export async function runOpenAiToolCalls(
  hub: HubLike,
  calls: readonly OpenAiToolCall[] | null | undefined,
  options?: RunToolOptions,
): Promise<OpenAiMessage[]> {
  const made = (calls ?? []).flatMap(({ id, function: called }) => called ? [{ id, ...called }] : []);
  return toOpenAiToolMessages(await runToolCalls(hub, made, options));
}

/**
 * The messages that answer tool calls. Answers hold text alone here: pictures, sounds and files follow in one message of the
 * user, behind all answers.
 *
 * @param options `media`: the types that the model takes (PNG, JPEG, WebP, GIF, WAV, MP3 and PDF).
 */
export function toOpenAiToolMessages(
  outcomes: readonly ModelToolOutcome[],
  { media: types }: { readonly media?: readonly string[] | undefined } = {},
): OpenAiMessage[] {
  const known = types ? new Set(types) : commonMedia;
  const messages: OpenAiMessage[] = [];
  const media: OpenAiPart[] = [];
  for (const { call, result } of outcomes) {
    const parts = partsOfResult(result, known);
    const shown = mediaOf(parts);
    const said = textOf(parts);
    const content = said || "(what the tool gave follows in the next message of the user)";
    messages.push({ role: "tool", tool_call_id: call.id ?? "", content });
    if (shown.length > 0) media.push({ type: "text", text: `From the tool "${call.name}" (call ${call.id}):` });
    media.push(...shown.map(toPart));
  }
  if (media.length > 0) messages.push({ role: "user", content: media });
  return messages;
}

/** A prompt as messages. What the assistant says is text here: its media become a line each. */
export function toOpenAiMessages(prompt: GetPromptResult): OpenAiMessage[] {
  return prompt.messages.map(({ role, content }) => {
    if (role === "assistant") return { role, content: textOf(partsOfBlocks([content], textOnly)) };
    const [part] = partsOfBlocks([content], commonMedia);
    return { role: "user", content: part === undefined ? "" : part.kind === "text" ? part.text : [toPart(part)] };
  });
}

/** A resource that was read, as parts of a user's message. */
export function toOpenAiContent(resource: ReadResourceResult): OpenAiPart[] {
  return toOpenAiParts(partsOfResource(resource, commonMedia));
}

/** What a model is given, as parts of a user's message. */
export function toOpenAiParts(parts: readonly ModelPart[]): OpenAiPart[] {
  return parts.map(toPart);
}

function toPart(part: ModelPart): OpenAiPart {
  if (part.kind === "text") return { type: "text", text: part.text };
  const { kind, data, mediaType } = part;
  if (kind === "image") return { type: "image_url", image_url: { url: dataUrl(part) } };
  if (kind === "file") return { type: "file", file: { filename: fileName(part), file_data: dataUrl(part) } };
  return { type: "input_audio", input_audio: { data, format: mediaType === "audio/wav" ? "wav" : "mp3" } };
}

/**
 * Google's Gemini API.
 *
 * @module
 */
import type { GetPromptResult, ReadResourceResult } from "../../protocol/types.ts";
import type { HubLike } from "../seam.ts";
import { type ModelToolOutcome, runToolCalls, type RunToolOptions } from "./call/call.ts";
import { mediaOf, type ModelPart, partsOfBlocks, partsOfResource, partsOfResult, textOf } from "./parts.ts";
import { type GoogleSchema, toGoogleSchema } from "./schema/google.ts";
import { listModelTools, type ModelToolsOptions } from "./tools.ts";

/** What a model may call. */
export interface GoogleFunctionDeclaration {
  /** What it is called. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** Missing where the tool takes nothing: the API refuses an object without properties. */
  parameters?: GoogleSchema;
}

/** One of `tools` of a request. */
export interface GoogleTool {
  /** What the model may call. */
  functionDeclarations: GoogleFunctionDeclaration[];
}

/** Bytes in a request. */
export interface GoogleInlineData {
  /** The type, and the bytes as base64. */
  inlineData: { mimeType: string; data: string };
}

/** The answer to a function call. */
export interface GoogleFunctionResponse {
  /** Which function, and what it gave: `output`, or `error` where it failed. */
  functionResponse: {
    id?: string;
    name: string;
    response: { output: string } | { error: string };
    /** Gemini 3 and later, where `multimodal` asks for it. */
    parts?: GoogleInlineData[];
  };
}

/** A part of a message. */
export type GooglePart = { text: string } | GoogleInlineData | GoogleFunctionResponse;

/** A message. */
export interface GoogleContent {
  /** Who says it. */
  role: "user" | "model";
  /** What is said. */
  parts: GooglePart[];
}

/** A part of the model's message. */
export interface GoogleOutputPart {
  /** Only parts with it are run. */
  readonly functionCall?:
    | { readonly id?: string | undefined; readonly name?: string | undefined; readonly args?: unknown }
    | undefined;
}

/** How answers hold media. */
export interface GoogleAnswerOptions {
  /** Media stand inside of the answer, which Gemini 3 and later read. Default: as parts behind the answers. */
  readonly multimodal?: boolean | undefined;
}

const known: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/heic",
  "image/heif",
  "audio/wav",
  "audio/mpeg",
  "audio/aiff",
  "audio/aac",
  "audio/ogg",
  "audio/flac",
  "application/pdf",
]);

/**
 * The tools of a hub for Google. What its part of JSON Schema does not know is left out: see `toGoogleSchema`.
 *
 * @typeParam Tool What a tool is called where it goes: the enums and numbers in the types of `@google/genai` fit no plain JSON.
 * @returns For `tools` of a request; empty where there is no tool.
 */
export function toGoogleTools<Tool extends object = GoogleTool>(hub: HubLike, options?: ModelToolsOptions): Tool[] {
  const functionDeclarations = listModelTools(hub, options).map(({ name, description, schema, tell }) => {
    const notes: string[] = [];
    const parameters = toGoogleSchema(schema, notes);
    notes.forEach(tell);
    return { name, description, ...(parameters.properties && { parameters }) };
  });
  const tools: GoogleTool[] = functionDeclarations.length > 0 ? [{ functionDeclarations }] : [];
  return tools as object[] as Tool[]; // The same JSON under two types.
}

/**
 * Runs the function calls in a model's message and gives the message that answers them: append it to the conversation.
 *
 * @param parts `candidate.content.parts`; parts without a function call are passed over.
 * @throws The signal's own reason, when it is aborted.
 */
export async function runGoogleFunctionCalls(
  hub: HubLike,
  parts: readonly GoogleOutputPart[],
  options?: RunToolOptions & GoogleAnswerOptions,
): Promise<GoogleContent> {
  const made = parts.flatMap(({ functionCall }) => {
    if (!functionCall) return [];
    const { id, name = "", args } = functionCall;
    return [{ id, name, arguments: args }];
  });
  return toGoogleToolContent(await runToolCalls(hub, made, options), options);
}

/** The message that answers function calls: `output` holds what a tool said, `error` why it failed. */
export function toGoogleToolContent(
  outcomes: readonly ModelToolOutcome[],
  { multimodal = false }: GoogleAnswerOptions = {},
): GoogleContent {
  const answers: GooglePart[] = [];
  const behind: GooglePart[] = [];
  for (const { call: { id, name }, result } of outcomes) {
    const parts = partsOfResult(result, known);
    const said = textOf(parts);
    const media = mediaOf(parts).map(toInlineData);
    const response = result.isError ? { error: said } : { output: said || "(what the tool gave stands beside this)" };
    const inside = multimodal && media.length > 0;
    answers.push({ functionResponse: { ...(id && { id }), name, response, ...(inside && { parts: media }) } });
    if (media.length > 0 && !inside) behind.push({ text: `From the tool "${name}":` }, ...media);
  }
  return { role: "user", parts: [...answers, ...behind] };
}

/** A prompt as messages: the assistant is the `model`. */
export function toGoogleContents(prompt: GetPromptResult): GoogleContent[] {
  return prompt.messages.map(({ role, content }) => ({
    role: role === "assistant" ? "model" : "user",
    parts: partsOfBlocks([content], known).map(toPart),
  }));
}

/** A resource that was read, as parts of a message. */
export function toGoogleParts(resource: ReadResourceResult): GooglePart[] {
  return partsOfResource(resource, known).map(toPart);
}

function toPart(part: ModelPart): GooglePart {
  return part.kind === "text" ? { text: part.text } : toInlineData(part);
}

function toInlineData({ mediaType, data }: { mediaType: string; data: string }): GoogleInlineData {
  return { inlineData: { mimeType: mediaType, data } };
}

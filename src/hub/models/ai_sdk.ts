/**
 * The AI SDK (versions 5, 6 and 7: providers of the specifications V2, V3 and V4).
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, GetPromptResult, ReadResourceResult } from "../../protocol/types.ts";
import type { HubLike } from "../seam.ts";
import { runToolCall, type RunToolOptions } from "./call/call.ts";
import {
  type KnownMedia,
  type MediaPart,
  type ModelPart,
  partsOfBlocks,
  partsOfResource,
  partsOfResult,
  textFirst,
  textOf,
} from "./parts.ts";
import { listModelTools, type ModelToolsOptions } from "./tools.ts";

/** The schema of a tool: what the SDK's own `jsonSchema()` makes, and a Standard Schema besides, so that types fit. */
export interface AiSdkSchema {
  /** The JSON Schema itself. */
  readonly jsonSchema: JsonObject;
  /** The server checks the arguments. */
  readonly validate: undefined;
  /** The same as a Standard Schema. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "causeway";
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: { readonly input: () => JsonObject; readonly output: () => JsonObject };
  };
}

/** What the SDK tells a tool about a call. */
export interface AiSdkCallOptions {
  /** Which call it is. */
  readonly toolCallId?: string | undefined;
  /** Calls the call off. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** What a model is told of a result. */
export type AiSdkOutput<Media extends string = "image-data" | "file-data"> =
  | { type: "text" | "error-text"; value: string }
  | { type: "content"; value: ({ type: "text"; text: string } | { type: Media; data: string; mediaType: string })[] };

/** Makes what the model gets of a result: version 5 of the SDK gives the result itself, later ones `{ output }`. */
export interface AiSdkToModelOutput {
  (given: { readonly output: unknown }): AiSdkOutput;
  (output: unknown): AiSdkOutput<"media">;
}

/** A tool of the SDK. */
export interface AiSdkTool {
  /** Tells it from its like. */
  readonly type: "dynamic";
  /** What it does, for the model. */
  readonly description: string;
  /** What people call it. */
  readonly title?: string;
  /** The schema of its arguments. */
  readonly inputSchema: AiSdkSchema;
  /** Calls the tool; the SDK's signal calls it off. */
  readonly execute: (input: unknown, options?: AiSdkCallOptions) => Promise<CallToolResult>;
  /** Makes what the model gets of a result. */
  readonly toModelOutput: AiSdkToModelOutput;
}

/** Options of {@linkcode toAiSdkTools}. */
export interface AiSdkOptions extends ModelToolsOptions, Omit<RunToolOptions, "signal"> {
  /**
   * The types of media that your provider takes in results of tools. Default: PNG, JPEG, WebP, GIF and PDF. Those of chat
   * completions (`@ai-sdk/openai-compatible`) take none, and write them as text: give them `[]`.
   */
  readonly media?: readonly string[] | undefined;
}

/** A part of a message. */
export type AiSdkPart = { type: "text"; text: string } | {
  type: "file";
  data: string;
  mediaType: string;
  filename?: string;
};

/** A message of the SDK. */
export interface AiSdkMessage {
  /** Who says it. */
  role: "user" | "assistant";
  /** What is said. */
  content: AiSdkPart[];
}

/** What most providers of the SDK take. */
export const usualMedia: readonly string[] = ["image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf"];

/**
 * The tools of a hub for `generateText`, `streamText` and agents of the AI SDK.
 *
 * @returns By qualified name: for `tools`.
 *
 * @example With the AI SDK
 * ```ts ignore with=shop
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
 * import { openHub } from "@causeway/mcp";
 * import { toAiSdkTools } from "@causeway/mcp/hub";
 * import { stepCountIs, streamText } from "ai";
 *
 * const model = createOpenAICompatible({ name: "local", baseURL: "https://models.example.com/v1" })("qwen3");
 * await using hub = await openHub({ shop: { url: "https://shop.example.com/mcp" } });
 * const prompt = "Find red shoes";
 * const { textStream } = streamText({ model, tools: toAiSdkTools(hub), prompt, stopWhen: stepCountIs(5) });
 * for await (const text of textStream) console.log(text);
 * ```
 */
export function toAiSdkTools(hub: HubLike, options: AiSdkOptions = {}): Record<string, AiSdkTool> {
  const known: KnownMedia = new Set(options.media ?? usualMedia);
  const { timeout, onProgress } = options;
  function toModelOutput(given: { readonly output: unknown }): AiSdkOutput;
  function toModelOutput(output: unknown): AiSdkOutput<"media">;
  function toModelOutput(given: unknown): AiSdkOutput | AiSdkOutput<"media"> {
    const isNew = isObject(given) && !Array.isArray(given.content) && "output" in given;
    if (!isNew) return toOutput(given, known, () => "media");
    return toOutput(given.output, known, (kind) => kind === "image" ? "image-data" : "file-data");
  }
  return Object.fromEntries(
    listModelTools(hub, options).map(({ name, description, schema, entry: { tool } }) => {
      const title = tool.title ?? tool.annotations?.title;
      const made: AiSdkTool = {
        type: "dynamic",
        description,
        ...(title !== undefined && { title }),
        inputSchema: toSchema(schema),
        execute: (input, { toolCallId, abortSignal } = {}) =>
          runToolCall(hub, { id: toolCallId, name, arguments: input }, { signal: abortSignal, timeout, onProgress }),
        toModelOutput,
      };
      return [name, made];
    }),
  );
}

/** A prompt as messages. */
export function toAiSdkMessages(
  prompt: GetPromptResult,
  { media = usualMedia }: Pick<AiSdkOptions, "media"> = {},
): AiSdkMessage[] {
  const known: KnownMedia = new Set(media);
  return prompt.messages.map(({ role, content }) => ({ role, content: partsOfBlocks([content], known).map(toPart) }));
}

/** A resource that was read, as parts of a user's message. */
export function toAiSdkContent(
  resource: ReadResourceResult,
  { media = usualMedia }: Pick<AiSdkOptions, "media"> = {},
): AiSdkPart[] {
  return partsOfResource(resource, new Set(media)).map(toPart);
}

function toOutput<Media extends string>(
  output: unknown,
  known: KnownMedia,
  typeOf: (kind: MediaPart["kind"]) => Media,
): AiSdkOutput<Media> {
  if (!isResult(output)) {
    return { type: "text", value: typeof output === "string" ? output : JSON.stringify(output ?? null) };
  }
  const parts = partsOfResult(output, known);
  if (parts.every(({ kind }) => kind === "text")) {
    return { type: output.isError ? "error-text" : "text", value: textOf(parts) };
  }
  return {
    type: "content",
    value: textFirst(parts).map((part) => {
      if (part.kind === "text") return { type: "text", text: part.text };
      return { type: typeOf(part.kind), data: part.data, mediaType: part.mediaType };
    }),
  };
}

function isResult(value: unknown): value is CallToolResult {
  return isObject(value) && Array.isArray(value.content);
}

function toPart(part: ModelPart): AiSdkPart {
  if (part.kind === "text") return { type: "text", text: part.text };
  const { data, mediaType, name } = part;
  return { type: "file", data, mediaType, ...(name !== undefined && { filename: name }) };
}

function toSchema(jsonSchema: JsonObject): AiSdkSchema {
  const schema: AiSdkSchema = {
    jsonSchema,
    validate: undefined,
    "~standard": {
      version: 1,
      vendor: "causeway",
      validate: (value) => ({ value }),
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  };
  // By these the SDK knows its own schemas, also across copies of itself.
  return Object.assign(schema, { [Symbol.for("vercel.ai.schema")]: true, [Symbol.for("vercel.ai.validator")]: true });
}

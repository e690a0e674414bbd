/**
 * A question to a model, in the words of the AI SDK's specifications.
 *
 * @module
 */
import type { CallToolResult, ContentBlock } from "../../../protocol/types.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import {
  fileName,
  type KnownMedia,
  type MediaPart,
  partsOfBlocks,
  partsOfResult,
  textOf,
} from "../../../hub/models/parts.ts";
import type { LanguageModelMessage, LanguageModelRequest } from "../seam.ts";
import { argumentsObject } from "../wire/tool_calls.ts";
import type { AiSdkData, AiSdkPromptMessage, AiSdkPromptPart, AiSdkToolOutput } from "./types.ts";

/** Who is asked. */
export interface PromptOptions {
  /** Names the model: what it wants to see again is shown to no other. */
  readonly from: string;
  /** `v2`, `v3`, `v4`: how files are written. */
  readonly version: string;
  /** The media that it takes. */
  readonly media: KnownMedia;
}

/** The conversation as a prompt. Results of tools that follow each other are one message. */
export function toPrompt(messages: readonly LanguageModelMessage[], options: PromptOptions): AiSdkPromptMessage[] {
  const prompt: AiSdkPromptMessage[] = [];
  for (const message of messages) {
    if (message.role === "system") prompt.push({ role: "system", content: message.content });
    else if (message.role === "user") prompt.push({ role: "user", content: userParts(message.content, options) });
    else if (message.role === "assistant") {
      prompt.push({ role: "assistant", content: assistantParts(message, options) });
    } else {
      const { id: toolCallId, name: toolName, result } = message;
      const part = { type: "tool-result", toolCallId, toolName, output: toOutput(result, options) } as const;
      const last = prompt.at(-1);
      if (last?.role === "tool") prompt.splice(-1, 1, { role: "tool", content: [...last.content, part] });
      else prompt.push({ role: "tool", content: [part] });
    }
  }
  return prompt;
}

/** Everything that `doStream` is told beside the prompt, the signal and the options of providers. */
export function toCallOptions(request: LanguageModelRequest): object {
  const { tools = [], toolChoice = "auto", output, maxOutputTokens, temperature, stopSequences } = request;
  return {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({ type: "function", name, description, inputSchema })),
      toolChoice: { type: toolChoice },
    }),
    ...(output && { responseFormat: { type: "json", schema: output.schema, name: output.name } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && { stopSequences: [...stopSequences] }),
  };
}

function userParts(content: string | readonly ContentBlock[], options: PromptOptions): AiSdkPromptPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return partsOfBlocks(content, options.media).map((part) => {
    if (part.kind === "text") return { type: "text", text: part.text };
    return { type: "file", data: fileData(part, options), mediaType: part.mediaType, filename: fileName(part) };
  });
}

function assistantParts(
  { content, toolCalls = [], provider }: LanguageModelMessage & { role: "assistant" },
  { from }: PromptOptions,
): AiSdkPromptPart[] {
  // Its own words, with the signatures on them, in the order in which they came.
  if (provider?.from === from && isParts(provider.content)) return provider.content;
  return [
    ...(content === "" ? [] : [{ type: "text", text: content } as const]),
    ...toolCalls.map((call): AiSdkPromptPart => ({
      type: "tool-call",
      toolCallId: call.id,
      toolName: call.name,
      input: argumentsObject(call),
    })),
  ];
}

/** Kept by us, in a journal: what else is in it is for the provider to judge. */
function isParts(value: unknown): value is AiSdkPromptPart[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => isObject(part) && "type" in part);
}

function toOutput(result: CallToolResult, options: PromptOptions): AiSdkToolOutput {
  const parts = partsOfResult(result, options.media);
  if (parts.every(({ kind }) => kind === "text")) {
    return { type: result.isError ? "error-text" : "text", value: textOf(parts) };
  }
  return {
    type: "content",
    value: parts.map((part): JsonObject => {
      if (part.kind === "text") return { type: "text", text: part.text };
      return { type: mediaType(part, options), data: fileData(part, options), mediaType: part.mediaType };
    }),
  };
}

function mediaType({ kind }: MediaPart, { version }: PromptOptions): string {
  if (version === "v2") return "media";
  return version === "v3" ? (kind === "image" ? "image-data" : "file-data") : "file";
}

function fileData({ data }: MediaPart, { version }: PromptOptions): AiSdkData {
  return version === "v2" || version === "v3" ? data : { type: "data", data };
}

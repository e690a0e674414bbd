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
  mediaOf,
  type MediaPart,
  type ModelPart,
  partsOfBlocks,
  partsOfResult,
  textFirst,
  textOf,
} from "../../../hub/models/parts.ts";
import type { LanguageModelMessage, LanguageModelRequest } from "../seam.ts";
import { soundConversation } from "../wire/conversation.ts";
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
  /** Whether it takes them in results of tools. Else they follow in a message of the user. */
  readonly inResults: boolean;
  /** The media of results that it takes, wherever they stand. */
  readonly resultMedia: KnownMedia;
}

/** The conversation as a prompt. Results of tools that follow each other are one message. */
export function toPrompt(messages: readonly LanguageModelMessage[], options: PromptOptions): AiSdkPromptMessage[] {
  const prompt: AiSdkPromptMessage[] = [];
  const behind: AiSdkPromptPart[] = [];
  const flush = () => {
    // Behind all results, so that those stand together.
    if (behind.length > 0) prompt.push({ role: "user", content: behind.splice(0) });
  };
  for (const message of soundConversation(messages)) {
    if (message.role !== "tool") flush();
    if (message.role === "system") prompt.push({ role: "system", content: message.content });
    else if (message.role === "user") prompt.push({ role: "user", content: userParts(message.content, options) });
    else if (message.role === "assistant") {
      prompt.push({ role: "assistant", content: assistantParts(message, options) });
    } else {
      const { id: toolCallId, name: toolName, result } = message;
      const parts = partsOfResult(result, options.resultMedia);
      const shown = options.inResults ? [] : mediaOf(parts);
      if (shown.length > 0) {
        behind.push({ type: "text", text: `From the tool "${toolName}" (call ${toolCallId}):` });
        behind.push(...shown.map((part) => toFile(part, options)));
      }
      const output = toOutput(shown.length > 0 ? textFirst(parts).slice(0, 1) : parts, result, options);
      const part = { type: "tool-result", toolCallId, toolName, output } as const;
      const last = prompt.at(-1);
      if (last?.role === "tool") prompt.splice(-1, 1, { role: "tool", content: [...last.content, part] });
      else prompt.push({ role: "tool", content: [part] });
    }
  }
  flush();
  return prompt;
}

/**
 * Everything that `doStream` is told beside the prompt, the signal and the options of providers.
 *
 * @param request Its tools are sound.
 */
export function toCallOptions(request: LanguageModelRequest, provider: string, canBind: boolean = true): object {
  const { tools = [], toolChoice = "auto", output, maxOutputTokens, temperature, stopSequences } = request;
  // Gemini and Groq refuse a schema beside tools: the conversation says it as well.
  const isBound = canBind && !(tools.length > 0 && /^(google|groq)\b/.test(provider));
  return {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({ type: "function", name, description, inputSchema })),
      toolChoice: { type: toolChoice },
    }),
    ...(output && isBound && { responseFormat: { type: "json", schema: output.schema, name: output.name } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && { stopSequences: [...stopSequences] }),
  };
}

function userParts(content: string | readonly ContentBlock[], options: PromptOptions): AiSdkPromptPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return partsOfBlocks(content, options.media).map((part) => {
    if (part.kind === "text") return { type: "text", text: part.text };
    return toFile(part, options);
  });
}

function toFile(part: MediaPart, options: PromptOptions): AiSdkPromptPart {
  return { type: "file", data: fileData(part, options), mediaType: part.mediaType, filename: fileName(part) };
}

function assistantParts(
  { content, toolCalls = [], provider }: LanguageModelMessage & { role: "assistant" },
  { from }: PromptOptions,
): AiSdkPromptPart[] {
  // Its own words, with the signatures on them, in the order in which they came.
  if (provider?.from === from && isParts(provider.content)) {
    const own = provider.content.filter((part) => !isBlank(part));
    // No message may end with thoughts.
    const isWhole = content === "" || own.some(({ type }) => type !== "reasoning");
    return isWhole ? own : [...own, { type: "text", text: content }];
  }
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

/** A text without words: providers refuse to see it again. */
function isBlank(part: AiSdkPromptPart): boolean {
  return part.type === "text" && String(part.text).trim() === "" && part.providerOptions === undefined;
}

/** Kept by us, in a journal: what else is in it is for the provider to judge. */
function isParts(value: unknown): value is AiSdkPromptPart[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => isObject(part) && "type" in part);
}

function toOutput(parts: readonly ModelPart[], result: CallToolResult, options: PromptOptions): AiSdkToolOutput {
  if (parts.every(({ kind }) => kind === "text")) {
    return { type: result.isError ? "error-text" : "text", value: textOf(parts) };
  }
  return {
    type: "content",
    value: textFirst(parts).map((part): JsonObject => {
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

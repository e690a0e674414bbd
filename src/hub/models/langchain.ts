/**
 * LangChain: what its own `tool()` and messages take, so that nothing of it is needed here.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, GetPromptResult, ReadResourceResult } from "../../protocol/types.ts";
import type { HubLike } from "../seam.ts";
import { type ModelToolOutcome, runToolCall, runToolCalls, type RunToolOptions } from "./call/call.ts";
import {
  commonMedia,
  dataUrl,
  type KnownMedia,
  type ModelPart,
  partsOfBlocks,
  partsOfResource,
  partsOfResult,
  textOf,
} from "./parts.ts";
import { listModelTools, type ModelToolsOptions } from "./tools.ts";

/** A part of a message. */
export type LangChainPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "audio" | "file"; source_type: "base64"; mime_type: string; data: string };

/** What a message holds. */
export type LangChainContent = string | LangChainPart[];

/** What LangChain's `tool()` and `DynamicStructuredTool` take; `bindTools` takes it as it is. */
export interface LangChainTool {
  /** What it is called. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** A JSON Schema. */
  readonly schema: JsonObject;
  /** It gives content and the whole result. */
  readonly responseFormat: "content_and_artifact";
  /** Whose tool it is, and its own name. */
  readonly metadata: { readonly server: string; readonly tool: string };
  /** Calls the tool. Gives what the model reads, and the whole result. The config is the last thing that it is given. */
  readonly func: (input: unknown, ...given: unknown[]) => Promise<[LangChainContent, CallToolResult]>;
}

/** A tool call of a model: one of `message.tool_calls`. */
export interface LangChainToolCall {
  /** Which call it is; its answer names it. */
  readonly id?: string | undefined;
  /** What it is called. */
  readonly name: string;
  /** What the tool is given. */
  readonly args: unknown;
}

/** What `new ToolMessage()` takes. No interface: that would not fit `Record<string, unknown>`, which LangChain asks for. */
export type LangChainToolMessage = {
  /** Who says it. */
  role: "tool";
  /** What is said. */
  content: LangChainContent;
  /** Which call it answers. */
  tool_call_id: string;
  /** What it is called. */
  name: string;
  /** Whether the tool failed. */
  status: "success" | "error";
  /** The whole result. */
  artifact: CallToolResult;
};

/** A message that LangChain takes where it takes messages. No interface either. */
export type LangChainMessage = {
  /** Who says it. */
  role: "user" | "assistant";
  /** What is said. */
  content: LangChainContent;
};

/** What a model takes in results of tools. */
export interface LangChainMediaOptions {
  /**
   * The types of media. Default: PNG, JPEG, WebP, GIF, WAV, MP3 and PDF. `ChatOpenAI` needs `[]`: OpenAI refuses them there, or gets
   * them as text. `ChatAnthropic` takes no sounds.
   */
  readonly media?: readonly string[] | undefined;
}

/**
 * The tools of a hub for LangChain.
 *
 * @example With LangChain
 * ```ts
 * import { openHub } from "@causeway/mcp";
 * import { toLangChainTools } from "@causeway/mcp/hub";
 *
 * await using hub = await openHub({});
 * const made = toLangChainTools(hub);
 * // With `tool` of "@langchain/core/tools": made.map((one) => tool(one.func, one)).
 * console.assert(made.every(({ func }) => typeof func === "function"));
 * ```
 */
export function toLangChainTools(
  hub: HubLike,
  options: ModelToolsOptions & Omit<RunToolOptions, "signal"> & LangChainMediaOptions = {},
): LangChainTool[] {
  const { timeout, onProgress } = options;
  const known = knownOf(options);
  return listModelTools(hub, options).map(({ name, description, schema, entry }) => ({
    name,
    description,
    schema,
    responseFormat: "content_and_artifact",
    metadata: { server: entry.server, tool: entry.name },
    func: async (input, ...given) => {
      const { signal, id } = readConfig(given);
      const result = await runToolCall(hub, { id, name, arguments: input }, { signal, timeout, onProgress });
      return [contentOf(partsOfResult(result, known)), result];
    },
  }));
}

/**
 * Runs the tool calls of a model's message and gives what answers them: each is what `new ToolMessage()` takes.
 *
 * @param calls `message.tool_calls`.
 * @throws The signal's own reason, when it is aborted.
 */
export async function runLangChainToolCalls(
  hub: HubLike,
  calls: readonly LangChainToolCall[] | undefined,
  options: RunToolOptions & LangChainMediaOptions = {},
): Promise<LangChainToolMessage[]> {
  const made = (calls ?? []).map(({ id, name, args }) => ({ id, name, arguments: args }));
  return toLangChainToolMessages(await runToolCalls(hub, made, options), options);
}

/** What answers tool calls. */
export function toLangChainToolMessages(
  outcomes: readonly ModelToolOutcome[],
  options: LangChainMediaOptions = {},
): LangChainToolMessage[] {
  const known = knownOf(options);
  return outcomes.map(({ call, result }) => ({
    role: "tool",
    content: contentOf(partsOfResult(result, known)),
    tool_call_id: call.id ?? "",
    name: call.name,
    status: result.isError ? "error" : "success",
    artifact: result,
  }));
}

/** A prompt as messages. */
export function toLangChainMessages(prompt: GetPromptResult): LangChainMessage[] {
  return prompt.messages.map(({ role, content }) => ({
    role,
    content: contentOf(partsOfBlocks([content], commonMedia)),
  }));
}

/** A resource that was read, as parts of a message. */
export function toLangChainContent(resource: ReadResourceResult): LangChainPart[] {
  return partsOfResource(resource, commonMedia).map(toPart);
}

/** `tool()` gives the config second; `DynamicStructuredTool` gives a run manager first. */
function readConfig(given: readonly unknown[]): { signal?: AbortSignal | undefined; id?: string | undefined } {
  const config = given.findLast((one) => isObject(one));
  if (!isObject(config)) return {};
  const { signal, toolCall } = config;
  const id = isObject(toolCall) ? toolCall.id : undefined;
  return {
    ...(signal instanceof AbortSignal && { signal }),
    ...(typeof id === "string" && { id }),
  };
}

function knownOf({ media }: LangChainMediaOptions): KnownMedia {
  return media ? new Set(media) : commonMedia;
}

function contentOf(parts: readonly ModelPart[]): LangChainContent {
  return parts.every(({ kind }) => kind === "text") ? textOf(parts) : parts.map(toPart);
}

function toPart(part: ModelPart): LangChainPart {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (part.kind === "image") return { type: "image_url", image_url: { url: dataUrl(part) } };
  return { type: part.kind, source_type: "base64", mime_type: part.mediaType, data: part.data };
}

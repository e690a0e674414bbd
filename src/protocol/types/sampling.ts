/**
 * Sampling: a server asks for a model's answer. Deprecated in 2026-07-28.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json_rpc.ts";
import type { Meta, Role } from "./basics.ts";
import type { AudioContent, ContentBlock, ImageContent, TextContent } from "./content.ts";
import type { TaskMetadata } from "./tasks.ts";
import type { Tool } from "./tools.ts";

/** A model wants a tool to be called (since 2025-11-25). */
export interface ToolUseContent {
  /** Tells it from the other kinds of content. */
  type: "tool_use";
  /** Names this use, so that its result can be told from others. */
  id: string;
  /** Which of the offered tools. */
  name: string;
  /** What the tool is given. */
  input: JsonObject;
  /** Metadata; send it back with the next messages. */
  _meta?: Meta;
}

/** What the tool gave that a model asked for (since 2025-11-25). */
export interface ToolResultContent {
  /** Tells it from the other kinds of content. */
  type: "tool_result";
  /** The `id` of the use that it answers. */
  toolUseId: string;
  /** What the tool gave, for a model to read. */
  content: ContentBlock[];
  /** The same as JSON, by the tool's `outputSchema`. */
  structuredContent?: JsonValue;
  /** True when the tool failed. Default: false. */
  isError?: boolean;
  /** Metadata; send it back with the next messages. */
  _meta?: Meta;
}

/** A part of a sampling message. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** One message for, or of, a model. */
export interface SamplingMessage {
  /** Who says it. */
  role: Role;
  /** What is said: one part, or several (since 2025-11-25). */
  content: SamplingContent | SamplingContent[];
  /** Metadata of the sender. */
  _meta?: Meta;
}

/** What kind of model a server would like. Hints come first, in their order; each may be a part of a model's name. */
export interface ModelPreferences {
  /** Models or families of them, the most wanted first. */
  hints?: { name?: string }[];
  /** From 0 (does not matter) to 1 (matters most), like the other two. */
  costPriority?: number;
  /** How much a quick answer matters, from 0 to 1. */
  speedPriority?: number;
  /** How much the model's ability matters, from 0 to 1. */
  intelligencePriority?: number;
}

/** Whether a model may (`auto`), has to (`required`) or must not (`none`) use tools. */
export interface ToolChoice {
  /** Default: `auto`. */
  mode?: "auto" | "required" | "none";
}

/**
 * The server asks for a model's answer.
 *
 * @deprecated Sampling is deprecated in 2026-07-28.
 */
export interface CreateMessageRequest {
  /** The conversation so far, in order. */
  messages: SamplingMessage[];
  /** How long the answer may be, in tokens; the client may stop earlier. */
  maxTokens: number;
  /** What the model should be told first; the client may change it or leave it out. */
  systemPrompt?: string;
  /** How freely the model should choose its words, on the scale of its provider. */
  temperature?: number;
  /** Texts at which the answer ends. */
  stopSequences?: string[];
  /** Which servers' context should go along. Default: `none`; the other two are deprecated. */
  includeContext?: "none" | "thisServer" | "allServers";
  /** Which model the server would like; the client decides. */
  modelPreferences?: ModelPreferences;
  /** Tools that the model may ask for (since 2025-11-25). */
  tools?: Tool[];
  /** Whether it may use them (since 2025-11-25). Default: it may. */
  toolChoice?: ToolChoice;
  /** What is handed to the model's provider as it is. */
  metadata?: JsonObject;
  /** 2025-11-25: runs it as a task. */
  task?: TaskMetadata;
  /** Metadata of the server. */
  _meta?: Meta;
}

/**
 * A model's answer.
 *
 * @deprecated Sampling is deprecated in 2026-07-28.
 */
export interface CreateMessageResult {
  /** As whom the model speaks: `assistant`. */
  role: Role;
  /** What it said: one part, or several (since 2025-11-25). */
  content: SamplingContent | SamplingContent[];
  /** Which model answered, by the name that its provider gives it. */
  model: string;
  /** Why it ended: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or what the provider says. */
  stopReason?: string;
  /** Metadata of the client. */
  _meta?: Meta;
}

/**
 * What an agent asks of a language model: messages and tools in, a stream of parts out.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, ContentBlock } from "../../protocol/types.ts";
import type { TokenUsage } from "../api_agent.ts";

/** A tool that a model may call. */
export interface LanguageModelTool {
  /** `[a-zA-Z0-9_-]`, at most 64 characters: the qualified name of a hub. */
  readonly name: string;
  /** What it does. */
  readonly description: string;
  /** The JSON Schema of its arguments, an object. */
  readonly inputSchema: JsonObject;
}

/** A call that a model wants. */
export interface LanguageModelToolCall {
  /** Names it within the conversation. */
  readonly id: string;
  /** Which tool. */
  readonly name: string;
  /** What it is given: an object, or the text that the model wrote where that is none. */
  readonly arguments: JsonObject | string;
}

/** One message of a conversation. Plain JSON: it is kept in journals. */
export type LanguageModelMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ContentBlock[] }
  | {
    readonly role: "assistant";
    readonly content: string;
    readonly toolCalls?: readonly LanguageModelToolCall[] | undefined;
    /** What the provider wants to see again (signatures of its reasoning): its own words, handed back as they came. */
    readonly provider?: JsonObject | undefined;
  }
  | {
    readonly role: "tool";
    /** Which call it answers. */
    readonly id: string;
    /** Which tool. */
    readonly name: string;
    /** What the tool gave, with `isError` where it failed. */
    readonly result: CallToolResult;
  };

/** What a model is asked. */
export interface LanguageModelRequest {
  /** The conversation, oldest first. */
  readonly messages: readonly LanguageModelMessage[];
  /** What it may call (nothing). */
  readonly tools?: readonly LanguageModelTool[] | undefined;
  /** Whether it may call, must call, or must not ("auto"). */
  readonly toolChoice?: "auto" | "required" | "none" | undefined;
  /** The shape that its text has to have: JSON that fits a schema. A model that cannot be bound to it may be asked again. */
  readonly output?: { readonly name: string; readonly schema: JsonObject } | undefined;
  /** The most tokens of its answer (the provider's own bound). */
  readonly maxOutputTokens?: number | undefined;
  /** 0 to 2 (the provider's own). */
  readonly temperature?: number | undefined;
  /** Texts that end its answer. */
  readonly stopSequences?: readonly string[] | undefined;
}

/** Why a model stopped. */
export type LanguageModelEnd = "stop" | "length" | "tool_calls" | "content_filter" | "other";

/** A piece of a model's answer. The last one is `end`, and nothing comes after it. */
export type LanguageModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool_call"; readonly call: LanguageModelToolCall }
  | {
    readonly type: "end";
    readonly reason: LanguageModelEnd;
    /** Missing where the provider does not tell. */
    readonly usage?: TokenUsage | undefined;
    /** Goes into the assistant's message. */
    readonly provider?: JsonObject | undefined;
  };

/** Options of one question to a model. */
export interface LanguageModelOptions {
  /** Calls it off: the stream rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A language model. */
export interface LanguageModel {
  /** What it is called, for people, logs and telemetry. */
  readonly id: string;
  /** How much it can read, in tokens (unknown). */
  readonly maxInputTokens?: number | undefined;
  /**
   * Asks it. Nothing is sent before the first part is asked for. A stream that ends without `end` is a failure.
   *
   * @throws {LanguageModelError} When it cannot be asked, refuses, or breaks off.
   */
  stream(request: LanguageModelRequest, options?: LanguageModelOptions): AsyncIterable<LanguageModelPart>;
}

/** A model could not be asked, refused, or broke off. */
export class LanguageModelError extends Error {
  /** The HTTP status of its provider, where one came. */
  readonly status: number | undefined;
  /** Whether asking again may help: 408, 409, 425, 429, 5xx, and broken connections. */
  readonly retryable: boolean;
  /** Milliseconds that the provider asks to wait first, where it does. */
  readonly retryAfter: number | undefined;

  /** Makes an error. The message holds no key and at most 2 KiB of what the provider said, redacted. */
  constructor(
    message: string,
    options: { status?: number | undefined; retryable?: boolean; retryAfter?: number | undefined; cause?: unknown } =
      {},
  ) {
    super(message, { cause: options.cause });
    this.name = "LanguageModelError";
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.retryAfter = options.retryAfter;
  }
}

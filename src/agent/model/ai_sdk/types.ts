/**
 * The language models of the AI SDK, as far as they are used: the specifications V2, V3 and V4. Taken by their shape, so that
 * no package is needed.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";

/** A model that a provider of the AI SDK gives, such as `createOpenAICompatible({ … })("name")`. */
export interface AiSdkLanguageModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  /** Who provides it, for people. */
  readonly provider: string;
  /** What the provider calls it. */
  readonly modelId: string;
  /** Asks it; the parts of the answer are a stream. */
  doStream(options: object): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** What providers say of a part beside its words, by their names. They see it again as `providerOptions`. */
export type ProviderWords = JsonObject;

/** A file: base64 (V2, V3), or a union of where its bytes are (V4). */
export type AiSdkData = string | { readonly type: "data"; readonly data: string };

/** A part of a message. */
export type AiSdkPromptPart =
  & { readonly providerOptions?: ProviderWords }
  & (
    | { readonly type: "text" | "reasoning"; readonly text: string }
    | {
      readonly type: "file";
      readonly data: AiSdkData;
      readonly mediaType: string;
      readonly filename?: string;
    }
    | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: JsonValue;
      readonly providerExecuted?: boolean;
    }
    | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: AiSdkToolOutput;
    }
  );

/** What a tool gave. */
export type AiSdkToolOutput =
  | { readonly type: "text" | "error-text"; readonly value: string }
  | { readonly type: "json"; readonly value: JsonValue }
  | { readonly type: "content"; readonly value: readonly JsonObject[] };

/** A message of a prompt. */
export type AiSdkPromptMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user" | "assistant" | "tool"; readonly content: readonly AiSdkPromptPart[] };

/** A part of an answer. Which fields there are depends on its type and on the specification; each is looked at before use. */
export interface AiSdkStreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

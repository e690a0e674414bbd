/**
 * What a model of the AI SDK answers, part by part.
 *
 * @module
 */
import type { Redactor } from "../../../egress/redact.ts";
import type { Clock } from "../../../ports.ts";
import { LimitExceededError } from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import type { TokenUsage } from "../../api_agent.ts";
import type { LanguageModelEnd, LanguageModelError, LanguageModelPart, LanguageModelToolCall } from "../seam.ts";
import type { FilledLimits } from "../wire/body.ts";
import {
  againOf,
  endedEarly,
  type FailureOptions,
  faultError,
  faultIn,
  retryAfterOf,
  toLanguageModelError,
} from "../wire/failure.ts";
import { argumentsObject, readArguments } from "../wire/tool_calls.ts";
import type { AiSdkStreamPart } from "./types.ts";

/** Options of {@linkcode AiSdkAnswer}. */
export interface AnswerOptions extends FailureOptions {
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly limits: FilledLimits;
  /** Names the model: what it wants to see again is shown to no other. */
  readonly from: string;
  /** The ids of the calls so far. */
  readonly taken: ReadonlySet<string>;
  /** Is told what the provider warns of. */
  warn(warning: unknown): void;
}

/** A part of the answer as it goes back to the provider. */
type Kept = { type: string; providerOptions?: JsonObject } & JsonObject;

/** Reads one answer. Beside the parts it keeps the provider's own view of them, where that holds more than ours. */
export class AiSdkAnswer {
  readonly #options: AnswerOptions;
  readonly #kept: Kept[] = [];
  /** Texts and thoughts that are not over, by their ids. */
  readonly #open = new Map<string, Kept>();
  /** Whether our own view of the answer would lose something that the provider wants to see again. */
  #holdsMore = false;
  readonly #taken: Set<string>;
  #calls = 0;
  /** The last call, while it has no arguments. */
  #held: { readonly call: LanguageModelToolCall; readonly kept: Kept } | undefined;
  #size = 0;
  #ended = false;

  /** Begins an answer. */
  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#taken = new Set(options.taken);
  }

  /** Whether the provider has said that it is over. */
  get isEnded(): boolean {
    return this.#ended;
  }

  /**
   * Takes one part of the stream.
   *
   * @throws {LanguageModelError} When it is an error.
   * @throws {LimitExceededError} When the answer is too large.
   */
  take(part: AiSdkStreamPart): LanguageModelPart[] {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#openKept(part);
        return [];
      case "text-delta":
      case "reasoning-delta":
        return this.#takeText(part);
      case "text-end":
      case "reasoning-end":
        this.#addWords(this.#open.get(String(part.id)), part.providerMetadata);
        this.#open.delete(String(part.id));
        return [];
      case "tool-call":
        return this.#takeCall(part);
      case "stream-start":
        for (const warning of Array.isArray(part.warnings) ? part.warnings : []) this.#options.warn(warning);
        return [];
      case "error":
        throw providerError(part.error, this.#options);
      case "finish":
        return this.#finish(part);
      default:
        return [];
    }
  }

  /** The stream is over. */
  end(): void {
    if (!this.#ended) throw endedEarly(this.#options);
  }

  #openKept(part: AiSdkStreamPart): Kept {
    const kept: Kept = { type: part.type.startsWith("text") ? "text" : "reasoning", text: "" };
    if (kept.type === "reasoning") this.#holdsMore = true;
    this.#addWords(kept, part.providerMetadata);
    this.#kept.push(kept);
    this.#open.set(String(part.id), kept);
    return kept;
  }

  #takeText(part: AiSdkStreamPart): LanguageModelPart[] {
    const { id, delta, providerMetadata } = part;
    const kept = this.#open.get(String(id)) ?? this.#openKept(part);
    this.#addWords(kept, providerMetadata);
    if (typeof delta !== "string" || delta === "") return [];
    this.#measure(delta);
    kept.text = String(kept.text) + delta;
    return [{ type: kept.type === "text" ? "text" : "reasoning", text: delta }];
  }

  #takeCall(part: AiSdkStreamPart): LanguageModelPart[] {
    const { toolCallId, toolName, input, providerExecuted, providerMetadata } = part;
    const { limits } = this.#options;
    // It has run at the provider already, as its web search does: that is between the two of them.
    if (providerExecuted === true) return [];
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    this.#measure(text);
    if (++this.#calls > limits.toolCalls) {
      throw new LimitExceededError("limits.toolCalls", limits.toolCalls, this.#calls);
    }
    let id = String(toolCallId ?? "") || "call";
    while (this.#taken.has(id)) id += "_";
    this.#taken.add(id);
    const call: LanguageModelToolCall = {
      id,
      name: String(toolName),
      arguments: readArguments(text, limits),
    };
    const kept: Kept = { type: "tool-call", toolCallId: call.id, toolName: call.name, input: argumentsObject(call) };
    this.#addWords(kept, providerMetadata);
    this.#kept.push(kept);
    const before = this.#release(false);
    if (text.trim() !== "") return [...before, { type: "tool_call", call }];
    // It has none, or was cut off before them: what comes next tells.
    this.#held = { call, kept };
    return before;
  }

  /** Gives the call without arguments that was held back. */
  #release(isCut: boolean): LanguageModelPart[] {
    if (!this.#held) return [];
    const { call: { id, name, arguments: given }, kept } = this.#held;
    this.#held = undefined;
    // A text that is no JSON, as that of all others that were cut off.
    const call: LanguageModelToolCall = { id, name, arguments: isCut ? "{" : given };
    kept.input = argumentsObject(call);
    return [{ type: "tool_call", call }];
  }

  #finish({ finishReason, usage }: AiSdkStreamPart): LanguageModelPart[] {
    this.#ended = true;
    const why = isObject(finishReason) ? finishReason.unified : finishReason;
    if (why === "error") throw faultError({ message: "it broke off", kind: "server_error" }, this.#options);
    const tokens = usageOf(usage);
    const last = this.#release(why === "length" || why === "content-filter");
    const isEmpty = this.#calls === 0 && !this.#kept.some(({ type, text }) => type === "text" && text !== "");
    // It has lost the calls that it says it has.
    const reason = isEmpty && why === "tool-calls" ? "other" : endOf(why, this.#calls > 0);
    const content = this.#kept.filter(({ text, providerOptions }) => text !== "" || providerOptions !== undefined);
    const provider = this.#holdsMore && content.length > 0 ? { from: this.#options.from, content } : undefined;
    return [...last, { type: "end", reason, ...(tokens && { usage: tokens }), ...(provider && { provider }) }];
  }

  /** What is said of a part may come with each of its pieces: the last words hold. */
  #addWords(kept: Kept | undefined, words: unknown): void {
    if (!kept || !isObject(words) || Object.keys(words).length === 0) return;
    const text = JSON.stringify(words);
    this.#measure(text);
    const said: { [provider: string]: JsonValue } = JSON.parse(text);
    kept.providerOptions = { ...kept.providerOptions, ...said };
    this.#holdsMore = true;
  }

  #measure(text: string): void {
    const { streamBytes } = this.#options.limits;
    this.#size += text.length;
    if (this.#size > streamBytes) throw new LimitExceededError("limits.streamBytes", streamBytes, this.#size);
  }
}

/** What a provider throws, or gives as a part: an error of the SDK's classes, known by their fields, or any other. */
export function providerError(error: unknown, options: AnswerOptions): LanguageModelError {
  if (!isObject(error)) return faultError({ message: String(error), kind: String(error) }, options);
  const { message, statusCode, isRetryable, responseHeaders, responseBody, name, type, code } = error;
  if (typeof statusCode !== "number" && typeof isRetryable !== "boolean") {
    if (!(error instanceof Error)) return faultError(bareFault(error), options);
    if (/^AI_/.test(name as string)) return faultError({ message: error.message }, options);
    return toLanguageModelError(error, options);
  }
  const given = new Map(Object.entries(isObject(responseHeaders) ? responseHeaders : {}));
  const headers = {
    get: (header: string) => {
      const value = given.get(header);
      return typeof value === "string" ? value : null;
    },
  };
  // The classes of most providers keep no code.
  const { kind = "" } = typeof responseBody === "string" ? faultIn(responseBody) ?? {} : {};
  return faultError(
    {
      message: String(message),
      status: typeof statusCode === "number" ? statusCode : undefined,
      kind: `${type ?? ""} ${code ?? ""} ${isRetryable === true ? "unavailable" : ""} ${kind}`,
    },
    options,
    { retryAfter: retryAfterOf(headers, options.clock.now()), retryable: againOf(headers) },
  );
}

/** An error object as a provider's stream had it. */
function bareFault(error: Record<string, unknown>): { message: string; kind: string } {
  const { message, type, code } = isObject(error.error) ? error.error : error;
  const text = typeof message === "string" ? message : JSON.stringify(error);
  return { message: text, kind: `${type ?? ""} ${code ?? ""}` };
}

/** V2 has numbers, later specifications `{ total }`. Undefined where not all is told, or nothing is: no answer costs nothing. */
function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const inputTokens = total(usage.inputTokens);
  const outputTokens = total(usage.outputTokens);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return inputTokens + outputTokens > 0 ? { inputTokens, outputTokens } : undefined;
}

function total(tokens: unknown): number | undefined {
  const count = isObject(tokens) ? tokens.total : tokens;
  return typeof count === "number" && Number.isFinite(count) && count >= 0 ? count : undefined;
}

function endOf(why: unknown, hasCalls: boolean): LanguageModelEnd {
  if (why === "length") return "length";
  if (why === "content-filter") return "content_filter";
  if (hasCalls) return "tool_calls";
  return why === "stop" || why === "tool-calls" ? "stop" : "other";
}

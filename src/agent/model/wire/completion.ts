/**
 * Chat completions as they are answered, whole or in chunks, in OpenAI's shape and in that of Workers AI.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import type { Random } from "../../../ports.ts";
import type { TokenUsage } from "../../api_agent.ts";
import type { LanguageModelEnd, LanguageModelError, LanguageModelPart } from "../seam.ts";
import { type FilledLimits, readTold, type TellingOptions } from "./body.ts";
import { endedEarly, type FailureOptions, faultError, faultOf, notUnderstood } from "./failure.ts";
import { ToolCallPieces } from "./tool_calls.ts";

/** Options of {@linkcode CompletionReader}. */
export interface CompletionOptions extends FailureOptions {
  readonly limits: FilledLimits;
  readonly random: Random;
  /** Names the model and its endpoint: what it wants to see again is shown to no other. */
  readonly from: string;
  /** The ids of the calls so far (none). */
  readonly taken?: ReadonlySet<string> | undefined;
  /** Is told the first thing that is no part of a completion, and is passed over. */
  readonly onStrange?: ((text: string) => void) | undefined;
}

const thoughtNames = ["reasoning_content", "reasoning"] as const;

/** Reads one completion, value by value, and says what the values mean. */
export class CompletionReader {
  readonly #options: CompletionOptions;
  readonly #calls: ToolCallPieces;
  /** What it thought, for providers that want to read it again beside their calls. */
  readonly #thoughts: string[] = [];
  /** What they were called: some endpoints refuse a message that has them under the other name. */
  #thoughtName: (typeof thoughtNames)[number] = "reasoning";
  readonly #details: JsonObject[] = [];
  #finish: string | undefined;
  #refused = false;
  /** Whether it has said anything. */
  #said = false;
  #done = false;
  /** Whether anything of a completion came, and the first thing that is none. */
  #known = false;
  #strange: string | undefined;
  #usage: TokenUsage | undefined;

  /** Begins a completion. */
  constructor(options: CompletionOptions) {
    this.#options = options;
    this.#calls = new ToolCallPieces(options.limits, options.random, options.taken);
  }

  /** Whether the provider has said why it stopped: what follows is usage at most. */
  get isComplete(): boolean {
    return this.#finish !== undefined || this.#done;
  }

  /** The provider has said that nothing more comes. */
  done(): void {
    this.#done = true;
  }

  /**
   * Takes a chunk or a whole completion.
   *
   * @throws {LanguageModelError} When it is an error of the provider's, or no object.
   * @throws {LimitExceededError} When there are too many tool calls.
   */
  take(value: unknown): LanguageModelPart[] {
    const fault = faultOf(value);
    if (fault) throw faultError(fault, this.#options);
    if (!isObject(value)) throw this.#noCompletion(JSON.stringify(value));
    this.#usage = usageOf(value.usage) ?? this.#usage;
    const { choices } = value;
    if (Array.isArray(choices)) {
      this.#known = true;
      const choice: unknown = choices.find((one) => isObject(one) && one.index === 0) ?? choices[0];
      return this.#heard(isObject(choice) ? this.#takeChoice(choice) : []);
    }
    return this.#heard(this.#takeNative(value));
  }

  /**
   * The end of it: the tool calls and why it stopped.
   *
   * @throws {LanguageModelError} When it broke off, or was no completion at all.
   * @throws {LimitExceededError} When arguments of a call are too large.
   */
  end(): LanguageModelPart[] {
    if (!this.#known && this.#strange !== undefined) throw this.#noCompletion(this.#strange);
    if (!this.isComplete) throw endedEarly(this.#options);
    if (brokenWords.has(this.#finish ?? "")) {
      throw faultError({ message: "it broke off", kind: "server_error" }, this.#options);
    }
    const { calls, extras } = this.#calls.end(["length", "content_filter"].includes(endOf(this.#finish, true)));
    const isEmpty = calls.length === 0 && !this.#said;
    const reason = this.#refused
      ? "content_filter"
      // It has lost the calls that it says it has.
      : isEmpty && callWords.has(this.#finish ?? "")
      ? "other"
      : endOf(this.#finish, calls.length > 0);
    const provider = this.#provider(calls.length > 0, extras);
    return [
      ...calls.map((call): LanguageModelPart => ({ type: "tool_call", call })),
      { type: "end", reason, ...(this.#usage && { usage: this.#usage }), ...(provider && { provider }) },
    ];
  }

  #heard(parts: LanguageModelPart[]): LanguageModelPart[] {
    this.#said ||= parts.some(({ type }) => type === "text");
    return parts;
  }

  #takeChoice(choice: Record<string, unknown>): LanguageModelPart[] {
    const fault = faultOf({ error: choice.error });
    if (fault) throw faultError(fault, this.#options);
    const { finish_reason: reason } = choice;
    if (typeof reason === "string" && reason !== "") this.#finish = reason.toLowerCase();
    const said = isObject(choice.delta) ? choice.delta : choice.message;
    if (!isObject(said)) return typeof choice.text === "string" ? texts("text", choice.text) : [];
    this.#calls.take(said.tool_calls);
    this.#takeDetails(said.reasoning_details);
    const parts: LanguageModelPart[] = [];
    // Some send the same words under both names.
    const name = thoughtNames.find((one) => typeof said[one] === "string" && said[one] !== "");
    if (name) {
      const thought = String(said[name]);
      if (name === "reasoning_content") this.#thoughtName = name;
      this.#thoughts.push(thought);
      parts.push({ type: "reasoning", text: thought });
    }
    parts.push(...contentParts(said.content));
    if (typeof said.refusal === "string" && said.refusal !== "") {
      this.#refused = true;
      parts.push({ type: "text", text: said.refusal });
    }
    return parts;
  }

  /** Workers AI: `{ response, tool_calls, usage }`, whole or in chunks. */
  #takeNative(value: Record<string, unknown>): LanguageModelPart[] {
    const { response, tool_calls: calls, finish_reason: reason } = value;
    if (response === undefined && calls === undefined && !isObject(value.usage)) {
      // Gateways put signs of life and words of their own between the chunks.
      if (this.#strange === undefined) {
        this.#strange = JSON.stringify(value);
        this.#options.onStrange?.(this.#strange);
      }
      return [];
    }
    this.#known = true;
    if (typeof reason === "string" && reason !== "") this.#finish = reason.toLowerCase();
    this.#calls.take(calls);
    if (response === null || response === undefined) return [];
    return texts("text", typeof response === "string" ? response : JSON.stringify(response));
  }

  /** Pieces of one detail have the same number and type: their texts belong together. */
  #takeDetails(details: unknown): void {
    for (const detail of Array.isArray(details) ? details : []) {
      if (!isObject(detail)) continue;
      const last = this.#details.at(-1);
      if (last && last.index !== undefined && last.index === detail.index && last.type === detail.type) {
        for (const [name, value] of Object.entries(detail)) {
          const before = last[name];
          const grows = /^(text|summary|data)$/.test(name) && typeof before === "string" && typeof value === "string";
          if (grows) last[name] = before + value;
          else if (value !== null && value !== undefined) last[name] = value as JsonValue;
        }
      } else this.#details.push({ ...detail as JsonObject });
    }
  }

  #noCompletion(text: string): LanguageModelError {
    return notUnderstood("JSON that is no completion", text, this.#options);
  }

  #provider(hasCalls: boolean, extras: JsonObject): JsonObject | undefined {
    const message: JsonObject = {};
    if (this.#details.length > 0) message.reasoning_details = this.#details;
    else if (hasCalls && this.#thoughts.length > 0) message[this.#thoughtName] = this.#thoughts.join("");
    const hasExtras = Object.keys(extras).length > 0;
    if (Object.keys(message).length === 0 && !hasExtras) return undefined;
    return { from: this.#options.from, message, ...(hasExtras && { calls: extras }) };
  }
}

/**
 * Reads an answer to its end, part by part.
 *
 * @throws {LanguageModelError} When it is an error, cannot be understood, or breaks off.
 */
export async function* readCompletion(
  body: ReadableStream<Uint8Array>,
  options: CompletionOptions & Omit<TellingOptions, "isComplete">,
): AsyncGenerator<LanguageModelPart, void, undefined> {
  const reader = new CompletionReader(options);
  for await (const told of readTold(body, { ...options, isComplete: () => reader.isComplete })) {
    if (told === "done") {
      reader.done();
      break;
    }
    if ("broken" in told) throw notUnderstood("what is no JSON", told.broken, options);
    yield* reader.take(told.value);
  }
  yield* reader.end();
}

/** Tokens in OpenAI's words; undefined where they are not told, or nothing is: no answer costs nothing. */
function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const inputTokens = usage.prompt_tokens ?? usage.input_tokens;
  const outputTokens = usage.completion_tokens ?? usage.output_tokens;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  return inputTokens + outputTokens > 0 ? { inputTokens, outputTokens } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** A text, or a list of texts and thoughts, as some endpoints have it. */
function contentParts(content: unknown): LanguageModelPart[] {
  if (typeof content === "string") return texts("text", content);
  if (!Array.isArray(content)) return [];
  return content.flatMap((item): LanguageModelPart[] => {
    if (!isObject(item)) return [];
    if (typeof item.text === "string") return texts(item.type === "thinking" ? "reasoning" : "text", item.text);
    const { thinking } = item;
    if (typeof thinking === "string") return texts("reasoning", thinking);
    return contentParts(thinking).flatMap((part) => part.type === "text" ? texts("reasoning", part.text) : []);
  });
}

function texts(type: "text" | "reasoning", text: string): LanguageModelPart[] {
  return text === "" ? [] : [{ type, text }];
}

/** With these a provider says that it could not go on: what came so far is no answer. */
const brokenWords: ReadonlySet<string> = new Set(["error", "abort", "insufficient_system_resource", "network_error"]);

/** What providers withhold answers for, some with more behind it. */
const filterWords = /^(image_)?(content_filter|safety|sensitive|recitation|prohibited_content|blocklist|spii)\b/;

/** With these a model says that it has calls. */
const callWords: ReadonlySet<string> = new Set(["tool_calls", "tool_use", "function_call"]);

function endOf(finish: string | undefined, hasCalls: boolean): LanguageModelEnd {
  if (filterWords.test(finish ?? "")) return "content_filter";
  switch (finish) {
    case "length":
    case "max_tokens":
    case "max_output_tokens":
    case "model_length":
    case "model_context_window_exceeded":
      return "length";
    case undefined:
    case "stop":
    case "end_turn":
    case "eos":
    case "stop_sequence":
    case "tool_calls":
    case "tool_use":
    case "function_call":
      return hasCalls ? "tool_calls" : "stop";
    default:
      return hasCalls ? "tool_calls" : "other";
  }
}

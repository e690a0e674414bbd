/**
 * Models of every provider of the AI SDK.
 *
 * @module
 */
import { Redactor } from "../../egress/redact.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import { usualMedia } from "../../hub/models/ai_sdk.ts";
import { systemClock } from "../../ports.ts";
import type { Clock, Logger } from "../../ports.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { AiSdkAnswer, type AnswerOptions, providerError } from "./ai_sdk/answer.ts";
import { toCallOptions, toPrompt } from "./ai_sdk/prompt.ts";
import type { AiSdkLanguageModel } from "./ai_sdk/types.ts";
import type { LanguageModel, LanguageModelOptions, LanguageModelPart, LanguageModelRequest } from "./seam.ts";
import { answerInTime } from "./wire/answering.ts";
import { fillLimits, type ModelLimits } from "./wire/body.ts";
import { notUnderstood } from "./wire/failure.ts";
import { fillTimeouts, type ModelTimeouts, type Patience } from "./wire/patience.ts";
import { callIdsOf } from "./wire/tool_calls.ts";
import { createSoundTools, rulesOf, rulesOfModel, type SoundTools, tellLeftOut } from "./wire/tools.ts";

export type { AiSdkLanguageModel } from "./ai_sdk/types.ts";

/** Options of {@linkcode aiSdkModel}. */
export interface AiSdkModelOptions {
  /** `providerOptions` of each question, by the provider's name (none). */
  readonly providerOptions?: JsonObject | undefined;
  /**
   * The types of media that the provider takes. Default: PNG, JPEG, WebP, GIF and PDF; PDF in results not for chat completions other
   * than those of OpenAI, Azure and Mistral.
   */
  readonly media?: readonly string[] | undefined;
  /** How a schema for the answer is asked for: by the provider's own means, or not at all ("json_schema"). */
  readonly outputFormat?: "json_schema" | "none" | undefined;
  /** How much it can read, in tokens (unknown). */
  readonly maxInputTokens?: number | undefined;
  /** Time (the system's clock). */
  readonly clock?: Clock | undefined;
  /** Is told what the provider warns of, and which tools are left out (nobody). */
  readonly logger?: Logger | undefined;
  /** How much is taken of an answer: `streamBytes` (characters here), `jsonDepth`, `jsonNodes` and `toolCalls` are used. */
  readonly limits?: ModelLimits | undefined;
  /** How long it may take, in milliseconds: `headers` (120,000), `idle` (120,000), `total` (900,000). */
  readonly timeouts?: ModelTimeouts | undefined;
}

/**
 * A model of the AI SDK, of the specifications V2 (version 5 of the SDK), V3 (6) and V4 (7). It is asked by `doStream`, once;
 * what the provider says of its thoughts and calls (signatures, ids) is handed back to it in the next question.
 *
 * @param model What a provider gives for the name of a model.
 * @throws {TypeError} When it is no such model.
 * @throws {RangeError} When a limit or time-out is no positive number.
 *
 * @example With a provider of the AI SDK
 * ```ts
 * import { aiSdkModel } from "@causeway/mcp/agent";
 * import type { AiSdkLanguageModel } from "@causeway/mcp/agent";
 *
 * // const model = createOpenAICompatible({ name: "local", baseURL: "http://127.0.0.1:11434/v1" })("qwen3");
 * function wrap(model: AiSdkLanguageModel) {
 *   return aiSdkModel(model, { providerOptions: { local: { reasoningEffort: "low" } } });
 * }
 * console.assert(typeof wrap === "function");
 * ```
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: AiSdkModelOptions = {}): LanguageModel {
  return new AiSdkModel(model, options);
}

class AiSdkModel implements LanguageModel {
  readonly id: string;
  readonly maxInputTokens: number | undefined;
  readonly #model: AiSdkLanguageModel;
  readonly #options: AiSdkModelOptions;
  readonly #logger: Logger | undefined;
  readonly #limits: ReturnType<typeof fillLimits>;
  readonly #timeouts: ReturnType<typeof fillTimeouts>;
  readonly #soundTools: SoundTools;

  constructor(model: AiSdkLanguageModel, options: AiSdkModelOptions) {
    if (!isObject(model) || typeof model.doStream !== "function" || !/^v[234]$/.test(model.specificationVersion)) {
      const given = isObject(model) ? `specificationVersion "${String(model.specificationVersion)}"` : typeof model;
      throw new TypeError(
        `Cannot use the model (${given}): expected a language model of the AI SDK with doStream, of "v2", "v3" or "v4"`,
      );
    }
    this.id = model.modelId;
    this.maxInputTokens = options.maxInputTokens;
    this.#model = model;
    this.#options = options;
    this.#logger = createSafeLogger(options.logger);
    this.#limits = fillLimits(options.limits);
    this.#timeouts = fillTimeouts(options.timeouts);
    const rules = { ...rulesOf(model.provider), ...rulesOfModel(`${model.provider} ${this.id}`) };
    this.#soundTools = createSoundTools(rules, tellLeftOut(options.logger, this.id));
  }

  stream(
    request: LanguageModelRequest,
    { signal }: LanguageModelOptions = {},
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    const { clock = systemClock } = this.#options;
    const failing: AnswerOptions = {
      label: this.id,
      redactor: new Redactor(),
      clock,
      limits: this.#limits,
      from: `${this.#model.provider} ${this.id}`,
      taken: callIdsOf(request.messages),
      warn: (warning) => this.#warn(warning),
    };
    const answering = { clock, total: this.#timeouts.total, signal, failing };
    return answerInTime(answering, (patience) => this.#answer(request, patience, failing));
  }

  async *#answer(
    request: LanguageModelRequest,
    patience: Patience,
    options: AnswerOptions,
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    const asked = this.#ask(request, patience.signal, options);
    const stream = await patience.wait(asked, "headers", this.#timeouts.headers);
    yield* this.#read(stream, new AiSdkAnswer(options), patience);
  }

  async #ask(
    request: LanguageModelRequest,
    abortSignal: AbortSignal,
    answering: AnswerOptions,
  ): Promise<ReadableStream<unknown>> {
    const { media = usualMedia, providerOptions, outputFormat } = this.#options;
    const { provider } = this.#model;
    // Those of chat completions write what is in results as text, base64 and all; Gemini's at Vertex AI is only called so.
    const inResults = !/\.chat$/.test(provider) || /^google\b/.test(provider);
    // As files of a user most of them throw at anything but pictures.
    const hasFiles = inResults || this.#options.media || /^(openai|azure|mistral)\b/.test(provider);
    const prompt = toPrompt(request.messages, {
      from: answering.from,
      version: this.#model.specificationVersion,
      media: new Set(media),
      inResults,
      resultMedia: new Set(hasFiles ? media : media.filter((type) => type.startsWith("image/"))),
    });
    const call = {
      prompt,
      abortSignal,
      ...toCallOptions({ ...request, tools: this.#soundTools(request.tools) }, provider, outputFormat !== "none"),
      ...(providerOptions && { providerOptions }),
    };
    let stream: unknown;
    try {
      ({ stream } = await this.#model.doStream(call));
    } catch (error) {
      throw abortSignal.aborted ? error : providerError(error, answering);
    }
    if (!(stream instanceof ReadableStream)) throw notUnderstood("no stream", "", answering);
    if (!abortSignal.aborted) return stream;
    stream.cancel().catch(() => {});
    throw abortSignal.reason;
  }

  async *#read(
    stream: ReadableStream<unknown>,
    answer: AiSdkAnswer,
    patience: Patience,
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    const reader = stream.getReader();
    try {
      while (!answer.isEnded) {
        const { done, value } = await patience.wait(reader.read(), "idle", this.#timeouts.idle);
        if (done) break;
        if (isObject(value) && typeof value.type === "string") yield* answer.take({ ...value, type: value.type });
      }
    } finally {
      reader.cancel().catch(() => {});
    }
    answer.end();
  }

  #warn(warning: unknown): void {
    const fields = { model: this.id, warning };
    this.#logger?.({ level: "warning", message: "A provider warns of a question to its model", fields });
  }
}

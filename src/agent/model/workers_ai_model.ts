/**
 * Models of Workers AI, through the binding of a Worker.
 *
 * @module
 */
import { Redactor } from "../../egress/redact.ts";
import { systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { openAiRules } from "../../hub/models/tools.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { LanguageModel, LanguageModelOptions, LanguageModelPart, LanguageModelRequest } from "./seam.ts";
import { answerInTime } from "./wire/answering.ts";
import { fillLimits, type ModelLimits } from "./wire/body.ts";
import { CompletionReader, readCompletion } from "./wire/completion.ts";
import { type FailureOptions, faultError, notUnderstood } from "./wire/failure.ts";
import { fillTimeouts, type ModelTimeouts, type Patience } from "./wire/patience.ts";
import { completionMessages, completionSettings, completionTools } from "./wire/request.ts";
import { callIdsOf } from "./wire/tool_calls.ts";
import { createSoundTools } from "./wire/tools.ts";

/** The part of the binding (`env.AI`) that is used. */
export interface WorkersAiBinding {
  /** Asks a model. Gives a stream of server-sent events where `stream` is set, or one value. */
  run(model: string, inputs: Record<string, unknown>, options?: Record<string, unknown>): Promise<unknown>;
}

/** Options of {@linkcode workersAiModel}. */
export interface WorkersAiModelOptions {
  /** The third argument of `run`, such as `{ gateway: { id: "my-gateway" } }` (none). */
  readonly run?: Readonly<Record<string, unknown>> | undefined;
  /** More fields of each request. They win over what is made from the question (none). */
  readonly body?: JsonObject | undefined;
  /** Whether answers are streamed. Answers bound to a schema never are: the JSON mode of Workers AI has no stream (true). */
  readonly stream?: boolean | undefined;
  /** The types of media that the model takes; of others it is told. Default: PNG, JPEG, WebP, GIF, WAV, MP3 and PDF. */
  readonly media?: readonly string[] | undefined;
  /** How much it can read, in tokens (unknown). */
  readonly maxInputTokens?: number | undefined;
  /** Time (the system's clock). */
  readonly clock?: Clock | undefined;
  /** Makes ids for calls that come without one, as most do (the system's randomness). */
  readonly random?: Random | undefined;
  /** How much is taken of an answer. */
  readonly limits?: ModelLimits | undefined;
  /** How long it may take, in milliseconds: `headers` (120,000), `idle` (120,000), `total` (900,000). */
  readonly timeouts?: ModelTimeouts | undefined;
}

/**
 * A model of Workers AI. It needs no key: the binding is the right to ask.
 *
 * @param binding `env.AI`, or what has its `run`.
 * @param model Its name, such as `@cf/meta/llama-3.3-70b-instruct-fp8-fast`.
 * @throws {TypeError} When the binding has no `run`, or the model no name.
 * @throws {RangeError} When a limit or time-out is no positive number.
 *
 * @example In a Worker
 * ```ts
 * import { workersAiModel } from "@causeway/mcp/agent";
 * import type { WorkersAiBinding } from "@causeway/mcp/agent";
 *
 * function modelOf(env: { AI: WorkersAiBinding }) {
 *   return workersAiModel(env.AI, "@cf/meta/llama-3.3-70b-instruct-fp8-fast");
 * }
 * console.assert(typeof modelOf === "function");
 * ```
 */
export function workersAiModel(
  binding: WorkersAiBinding,
  model: string,
  options: WorkersAiModelOptions = {},
): LanguageModel {
  return new WorkersAiModel(binding, model, options);
}

class WorkersAiModel implements LanguageModel {
  readonly id: string;
  readonly maxInputTokens: number | undefined;
  readonly #binding: WorkersAiBinding;
  readonly #options: WorkersAiModelOptions;
  readonly #limits: ReturnType<typeof fillLimits>;
  readonly #timeouts: ReturnType<typeof fillTimeouts>;
  readonly #soundTools = createSoundTools(openAiRules, () => {});

  constructor(binding: WorkersAiBinding, model: string, options: WorkersAiModelOptions) {
    if (typeof binding?.run !== "function") {
      throw new TypeError('Cannot use the binding: expected env.AI of a Worker ([ai] binding = "AI" in wrangler.toml)');
    }
    if (typeof model !== "string" || model === "") {
      throw new TypeError(`Cannot use the model ${JSON.stringify(model)}: expected its name, such as "@cf/…"`);
    }
    this.id = model;
    this.maxInputTokens = options.maxInputTokens;
    this.#binding = binding;
    this.#options = options;
    this.#limits = fillLimits(options.limits);
    this.#timeouts = fillTimeouts(options.timeouts);
  }

  stream(
    request: LanguageModelRequest,
    { signal }: LanguageModelOptions = {},
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    const { clock = systemClock } = this.#options;
    const failing = { label: this.id, redactor: new Redactor() };
    const answering = { clock, total: this.#timeouts.total, signal, failing };
    return answerInTime(answering, (patience) => this.#answer(request, patience, failing));
  }

  async *#answer(
    request: LanguageModelRequest,
    patience: Patience,
    failing: FailureOptions,
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    const { random = systemRandom, run } = this.#options;
    const reading = {
      ...failing,
      from: `workers-ai ${this.id}`,
      taken: callIdsOf(request.messages),
      limits: this.#limits,
      idle: this.#timeouts.idle,
      patience,
      random,
    };
    const asked = this.#binding.run(this.id, this.#inputs(request, reading.from), { ...run });
    asked.then((late) => patience.signal.aborted && giveUp(late), () => {});
    const answer = await patience.wait(asked.catch(refuse(reading)), "headers", this.#timeouts.headers);
    const body = answer instanceof Response ? answer.body : answer;
    if (body instanceof ReadableStream) yield* readCompletion(body, reading);
    else if (isObject(body)) {
      const reader = new CompletionReader(reading);
      const parts = reader.take(body);
      reader.done();
      yield* [...parts, ...reader.end()];
    } else throw notUnderstood("nothing that is known", JSON.stringify(body) ?? "", reading);
  }

  #inputs(request: LanguageModelRequest, from: string): Record<string, unknown> {
    const { stream = true, body, media } = this.#options;
    const { output, maxOutputTokens, toolChoice = "auto" } = request;
    const tools = this.#soundTools(request.tools);
    const names = new Map(request.messages.flatMap((one) => one.role === "tool" ? [[one.id, one.name]] : []));
    return {
      messages: completionMessages(request.messages, from, media).map((message) => ({
        ...message,
        // Its older models take no null, and know a result by the tool's name.
        content: message.content ?? "",
        ...(message.role === "tool" && { name: names.get(String(message.tool_call_id)) ?? "" }),
      })),
      ...(tools.length > 0 && toolChoice !== "none" && { tools: completionTools(tools) }),
      ...(tools.length > 0 && toolChoice === "required" && { tool_choice: "required" }),
      ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
      ...completionSettings(request),
      ...(output && { response_format: { type: "json_schema", json_schema: output.schema } }),
      ...(stream && !output && { stream: true }),
      ...body,
    };
  }
}

/** What the binding throws has a number and a sentence, and no field that says whether to ask again. */
function refuse(options: FailureOptions): (error: unknown) => never {
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    throw faultError({ message, kind: /capacity|temporar|\b3040\b/i.test(message) ? "overloaded" : message }, options);
  };
}

/** Lets go of a stream that came when nobody waited any longer. */
function giveUp(answer: unknown): void {
  const body = answer instanceof Response ? answer.body : answer;
  if (body instanceof ReadableStream) body.cancel().catch(() => {});
}

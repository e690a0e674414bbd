/**
 * Any endpoint with OpenAI's chat completions: OpenAI itself, OpenRouter, xAI, Ollama, vLLM, and many more.
 *
 * @module
 */
import { discard, readErrorText } from "../../egress/body.ts";
import { egressFetch } from "../../egress/fetch.ts";
import { readUrl } from "../../egress/url.ts";
import { plain, Redactor, urlWithoutQuery } from "../../egress/redact.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import { systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Fetch, Logger, Random } from "../../ports.ts";
import { openAiRules } from "../../hub/models/tools.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { LanguageModel, LanguageModelOptions, LanguageModelPart, LanguageModelRequest } from "./seam.ts";
import { answerInTime } from "./wire/answering.ts";
import { fillLimits, type ModelLimits } from "./wire/body.ts";
import { readCompletion } from "./wire/completion.ts";
import { againOf, type FailureOptions, faultError, faultIn, notUnderstood, retryAfterOf } from "./wire/failure.ts";
import { fillTimeouts, type ModelTimeouts, type Patience } from "./wire/patience.ts";
import { completionFormat, completionMessages, completionSettings, completionTools } from "./wire/request.ts";
import { callIdsOf } from "./wire/tool_calls.ts";
import { createSoundTools, rulesOfModel, type SoundTools, tellLeftOut } from "./wire/tools.ts";

/** Options of {@linkcode openAiModel}. */
export interface OpenAiModelOptions {
  /** Where the API begins, such as `https://api.openai.com/v1`: `/chat/completions` comes behind it. A query is kept. */
  readonly baseUrl: string | URL;
  /** Which model, in the endpoint's words. */
  readonly model: string;
  /** Goes along as `Authorization: Bearer …`, to the origin of `baseUrl` alone (none). */
  readonly apiKey?: string | undefined;
  /** Headers of each request, such as `api-key` for Azure. Their values count as secrets (none). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** More fields of each request, such as `reasoning_effort`. They win over what is made from the question (none). */
  readonly body?: JsonObject | undefined;
  /** Whether answers are streamed. Without it the parts come all at once (true). */
  readonly stream?: boolean | undefined;
  /**
   * What the bound on an answer is called: OpenAI's reasoning models take only the new name, and older endpoints only the old
   * one. Default: `max_completion_tokens` at `api.openai.com`, else `max_tokens`.
   */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens" | undefined;
  /** How a schema for the answer is asked for: with the schema, as any JSON object, or not at all ("json_schema"). */
  readonly outputFormat?: "json_schema" | "json_object" | "none" | undefined;
  /** The types of media that the model takes; of others it is told. Default: PNG, JPEG, WebP, GIF, WAV, MP3 and PDF. */
  readonly media?: readonly string[] | undefined;
  /** How much it can read, in tokens (unknown). */
  readonly maxInputTokens?: number | undefined;
  /** What sends the requests (the global `fetch`). */
  readonly fetch?: Fetch | undefined;
  /** Time (the system's clock). */
  readonly clock?: Clock | undefined;
  /** Makes ids for calls that come without one (the system's randomness). */
  readonly random?: Random | undefined;
  /** Is told what comes beside an answer and is passed over, and which tools are left out (nobody). */
  readonly logger?: Logger | undefined;
  /** How much is taken of an answer. */
  readonly limits?: ModelLimits | undefined;
  /** How long it may take, in milliseconds: `headers` (120,000), `idle` (120,000), `total` (900,000). */
  readonly timeouts?: ModelTimeouts | undefined;
}

/**
 * A model behind an endpoint with OpenAI's chat completions. It asks once: whether to ask again is for the caller to say, by
 * `retryable` and `retryAfter` of the error. Redirects are followed only by 307 and 308 within the origin.
 *
 * @throws {TypeError} When the URL, the key, a header or the model cannot be used. The key is not in the message.
 * @throws {RangeError} When a limit or time-out is no positive number.
 *
 * @example A local model, without a key
 * ```ts
 * import { openAiModel } from "@causeway/mcp/agent";
 *
 * const model = openAiModel({ baseUrl: "http://127.0.0.1:11434/v1", model: "qwen3" });
 * console.assert(model.id === "qwen3");
 * ```
 */
export function openAiModel(options: OpenAiModelOptions): LanguageModel {
  return new OpenAiModel(options);
}

class OpenAiModel implements LanguageModel {
  readonly id: string;
  readonly maxInputTokens: number | undefined;
  readonly #address: string;
  readonly #from: string;
  readonly #headers: Record<string, string>;
  readonly #redactor = new Redactor();
  readonly #options: OpenAiModelOptions;
  readonly #limits: ReturnType<typeof fillLimits>;
  readonly #timeouts: ReturnType<typeof fillTimeouts>;
  readonly #soundTools: SoundTools;

  constructor(options: OpenAiModelOptions) {
    const { model, apiKey, headers = {}, maxInputTokens } = options;
    if (typeof model !== "string" || model === "") {
      throw new TypeError(`Cannot use the model ${JSON.stringify(model)}: expected its name`);
    }
    const url = completionsUrl(options.baseUrl);
    this.id = model;
    this.maxInputTokens = maxInputTokens;
    this.#address = url.href;
    this.#from = `${url.origin} ${model}`;
    this.#headers = readHeaders(headers, apiKey);
    for (const value of [apiKey ?? "", ...Object.values(headers), ...url.searchParams.values()]) {
      this.#redactor.add(value);
    }
    this.#options = options;
    this.#limits = fillLimits(options.limits);
    this.#timeouts = fillTimeouts(options.timeouts);
    const rules = { ...openAiRules, ...rulesOfModel(`${url.hostname} ${model}`) };
    this.#soundTools = createSoundTools(rules, tellLeftOut(options.logger, model));
  }

  stream(
    request: LanguageModelRequest,
    { signal }: LanguageModelOptions = {},
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    const { clock = systemClock } = this.#options;
    const failing = { label: this.id, redactor: this.#redactor };
    const answering = { clock, total: this.#timeouts.total, signal, failing };
    return answerInTime(answering, (patience) => this.#answer(request, patience, failing));
  }

  async *#answer(
    request: LanguageModelRequest,
    patience: Patience,
    failing: FailureOptions,
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    const { clock = systemClock, random = systemRandom } = this.#options;
    const asked = this.#send(request, patience.signal);
    // Not every fetch can be called off: what comes when nobody waits any longer is given up.
    asked.then((late) => patience.signal.aborted && discard(late), () => {});
    const response = await patience.wait(asked, "headers", this.#timeouts.headers);
    if (!response.ok) throw await this.#refusal(response, clock);
    if (!response.body) throw notUnderstood(`${response.status} and nothing else`, "", failing);
    yield* readCompletion(response.body, {
      ...failing,
      from: this.#from,
      taken: callIdsOf(request.messages),
      limits: this.#limits,
      idle: this.#timeouts.idle,
      patience,
      random,
      onStrange: (text) => this.#tell(text),
    });
  }

  #tell(text: string): void {
    const fields = { model: this.id, text: plain(this.#redactor.redact(text), 200) };
    createSafeLogger(this.#options.logger)?.({
      level: "warning",
      message: "An endpoint sent what is no part of a completion",
      fields,
    });
  }

  #send(request: LanguageModelRequest, signal: AbortSignal): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#options;
    const text = JSON.stringify(this.#body(request));
    // Deno's fetch sends a text again by itself when the connection breaks; an answer is paid for once.
    const body = /^Deno/.test(globalThis.navigator?.userAgent) ? new Blob([text]) : text;
    const init = { method: "POST", headers: this.#headers, body, signal };
    return egressFetch(fetch, this.#address, init, (said) => this.#redactor.redact(said));
  }

  #body(request: LanguageModelRequest): JsonObject {
    const { stream = true, outputFormat = "json_schema", body, media } = this.#options;
    const { output, maxOutputTokens, toolChoice = "auto" } = request;
    const tools = this.#soundTools(request.tools);
    const { hostname } = new URL(this.#address);
    const isOpenAi = hostname === "api.openai.com";
    // These refuse a schema beside tools: the conversation says it as well.
    const isBound = output && !(tools.length > 0 && /(^|\.)(groq\.com|googleapis\.com)$/.test(hostname));
    const { maxTokensField = isOpenAi ? "max_completion_tokens" : "max_tokens" } = this.#options;
    return {
      model: this.id,
      messages: completionMessages(request.messages, this.#from, media),
      ...(tools.length > 0 && { tools: completionTools(tools) }),
      ...(tools.length > 0 && toolChoice !== "auto" && { tool_choice: toolChoice }),
      ...(maxOutputTokens !== undefined && { [maxTokensField]: maxOutputTokens }),
      ...completionSettings(request),
      ...(isBound && outputFormat === "json_schema" && { response_format: completionFormat(output) }),
      ...(isBound && outputFormat === "json_object" && { response_format: { type: "json_object" } }),
      ...(stream && { stream, stream_options: { include_usage: true } }),
      ...body,
    };
  }

  /** A status that is no success, with what the endpoint says of it. */
  async #refusal(response: Response, clock: Clock): Promise<Error> {
    const { status, headers } = response;
    const text = await readErrorText(response, clock);
    discard(response);
    // Such a reply may come of a base URL that begins elsewhere.
    const at = status === 404 || status === 405 ? this.#redactor.redact(urlWithoutQuery(this.#address)) : undefined;
    const said = { status, retryAfter: retryAfterOf(headers, clock.now()), retryable: againOf(headers), at };
    const { message, kind } = faultIn(text) ?? { message: text };
    return faultError({ message, kind }, { label: this.id, redactor: this.#redactor }, said);
  }
}

function completionsUrl(baseUrl: string | URL): URL {
  const url = readUrl(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new TypeError(
      `Cannot use the base URL "${urlWithoutQuery(baseUrl)}": expected an http: or https: URL without a user name`,
    );
  }
  url.hash = "";
  url.pathname = url.pathname.replace(/\/*$/, "/chat/completions");
  return url;
}

function readHeaders(given: Readonly<Record<string, string>>, apiKey: string | undefined): Record<string, string> {
  // The runtime's own message would hold the value.
  if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey)) {
    throw new TypeError("Cannot use the API key: expected visible ASCII without spaces");
  }
  const headers = new Headers({ "Content-Type": "application/json", "Accept": "text/event-stream, application/json" });
  if (apiKey !== undefined) headers.set("Authorization", `Bearer ${apiKey}`);
  for (const [name, value] of Object.entries(given)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t -~]*$/.test(value)) {
      throw new TypeError(`Cannot use the header ${JSON.stringify(name)}: expected a token and a value in ASCII`);
    }
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

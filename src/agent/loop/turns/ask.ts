/**
 * One question to a model: its answer as a whole, told piece by piece, and asked again where that may help.
 *
 * @module
 */
import { unlessAborted } from "../../../client/core_client.ts";
import type { Clock, Random } from "../../../ports.ts";
import { randomHex } from "../../../ports.ts";
import { excerpt } from "../../../protocol/excerpt.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { TokenUsage } from "../../api_agent.ts";
import { LanguageModelError } from "../../model/seam.ts";
import type {
  LanguageModel,
  LanguageModelEnd,
  LanguageModelPart,
  LanguageModelRequest,
  LanguageModelToolCall,
} from "../../model/seam.ts";
import { TokenCounter, tokensOf } from "./context.ts";

const attempts = 3;
const firstPause = 500;
const longestPause = 20_000;
/** The most milliseconds that a provider can make a run wait. */
const longestAsked = 300_000;

/** A model's answer. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly LanguageModelToolCall[];
  readonly reason: LanguageModelEnd;
  /** An estimate, where the provider does not tell. */
  readonly usage: TokenUsage;
  readonly provider?: JsonObject | undefined;
}

/** What asking needs. */
export interface AskParts {
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Counts what a provider does not: one for all questions of a conversation. */
  readonly counter?: TokenCounter | undefined;
  /** Hears of pieces: of which attempt, and the how manieth of it. */
  piece?(part: Extract<LanguageModelPart, { type: "text" | "reasoning" }>, attempt: string, index: number): void;
  /** Hears that what came so far is void. */
  again?(reason: string, attempt: string): void;
}

/**
 * Asks a model, three times at most where its failure may pass.
 *
 * @throws {LanguageModelError} When it cannot be asked.
 * @throws The signal's own reason.
 */
export async function askModel(request: LanguageModelRequest, parts: AskParts): Promise<ModelAnswer> {
  for (let attempt = 1;; attempt++) {
    try {
      return await once(request, parts);
    } catch (error) {
      parts.signal.throwIfAborted();
      const failure = error instanceof LanguageModelError ? error : unexpected(error);
      if (!failure.retryable || attempt === attempts) throw failure;
      await pause(failure, attempt, parts);
      parts.again?.(failure.message, randomHex(parts.random, 6));
    }
  }
}

async function once(
  request: LanguageModelRequest,
  { model, random, signal, piece, counter }: AskParts,
): Promise<ModelAnswer> {
  const attempt = randomHex(random, 6);
  const calls: LanguageModelToolCall[] = [];
  const pieces: string[] = [];
  let thought = 0;
  let index = 0;
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  // What cannot even be asked leaves nothing at the run's signal.
  const parts = model.stream(request, { signal: controller.signal })[Symbol.asyncIterator]();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value: part } = await unlessAborted(parts.next(), signal);
      if (done) break;
      if (!isPart(part)) {
        const given = excerpt(JSON.stringify(part) ?? "nothing", 200);
        throw new LanguageModelError(
          `The model "${model.id}" gave ${given}, expected a part such as {"type":"text","text":"…"}`,
        );
      }
      if (part.type === "end") {
        const whole = answer(request, { pieces, calls, thought, counter }, part);
        if (whole.text !== "" || calls.length > 0 || !/^(other|tool_calls)$/.test(part.reason)) return whole;
        throw new LanguageModelError(`The model "${model.id}" gave an answer with nothing in it`, { retryable: true });
      }
      if (part.type === "tool_call") calls.push(part.call);
      else {
        if (part.type === "text") pieces.push(part.text);
        else thought += part.text.length;
        if (part.text !== "") piece?.(part, attempt, ++index);
      }
    }
    throw new LanguageModelError(`The model "${model.id}" broke off its answer`, { retryable: true });
  } finally {
    signal.removeEventListener("abort", stop);
    // It need not listen: nobody waits for it.
    void parts.return?.()?.then(undefined, () => {});
    controller.abort();
  }
}

/** Whether it is one: a program without types may give anything, such as plain texts. */
function isPart(part: unknown): part is LanguageModelPart {
  if (!isObject(part)) return false;
  const { type, text, call } = part;
  return type === "end" ||
    (type === "tool_call" ? isObject(call) : /^(text|reasoning)$/.test(`${type}`) && typeof text === "string");
}

function answer(
  request: LanguageModelRequest,
  { pieces, calls, thought, counter = new TokenCounter() }: {
    readonly pieces: readonly string[];
    readonly calls: readonly LanguageModelToolCall[];
    /** Characters. */
    readonly thought: number;
    readonly counter: TokenCounter | undefined;
  },
  { reason, usage, provider }: Extract<LanguageModelPart, { type: "end" }>,
): ModelAnswer {
  const text = pieces.join("");
  const estimate = (): TokenUsage => ({
    inputTokens: counter.sum(request.messages),
    outputTokens: Math.ceil((text.length + thought) / 4) + calls.reduce((sum, call) => sum + tokensOf(call), 0),
  });
  return { text, calls, reason, usage: usage ?? estimate(), ...(provider && { provider }) };
}

/** Full jitter, unless the provider says how long. */
async function pause({ retryAfter }: LanguageModelError, attempt: number, parts: AskParts): Promise<void> {
  const { clock, random, signal } = parts;
  const milliseconds = retryAfter === undefined
    ? random.fraction() * Math.min(longestPause, firstPause * 2 ** attempt)
    : Math.min(longestAsked, retryAfter);
  let stop = (): void => {};
  const slept = new Promise<void>((resolve) => stop = clock.schedule(resolve, milliseconds));
  try {
    await unlessAborted(slept, signal);
  } finally {
    stop();
  }
}

function unexpected(error: unknown): LanguageModelError {
  const message = error instanceof Error ? error.message : String(error);
  return new LanguageModelError(`The model failed: ${message}`, { cause: error });
}

/**
 * A language model that says what a test has written down, and remembers what it was asked.
 *
 * @module
 */
import { LanguageModelError } from "../../src/agent/model/seam.ts";
import type {
  LanguageModel,
  LanguageModelEnd,
  LanguageModelOptions,
  LanguageModelPart,
  LanguageModelRequest,
} from "../../src/agent/model/seam.ts";
import type { TokenUsage } from "../../src/agent/mod.ts";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";

/** One answer. */
export interface ScriptedAnswer {
  /** What it thinks, before all else; a list comes in as many pieces. */
  readonly reasoning?: string | readonly string[];
  /** What it says; a list comes in as many pieces. */
  readonly text?: string | readonly string[];
  /** What it calls. Default of `id`: `call_<turn>_<number>`, both from 1. Default of `arguments`: none. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments?: JsonObject | string }[];
  /** Default: "tool_calls" where it calls, else "stop". */
  readonly reason?: LanguageModelEnd;
  /** Default: 10 tokens in, 5 out. `null`: not told. */
  readonly usage?: TokenUsage | null;
  readonly provider?: JsonObject;
  /** Thrown behind the texts, in the place of calls and end: an error, or the message of a `LanguageModelError`. */
  readonly error?: Error | string;
  /** Waits behind the texts until it is called off. */
  readonly hangs?: boolean;
  /** Ends behind the calls without a last part, which is a failure of the model. */
  readonly breaksOff?: boolean;
  /** Awaited before the first part, such as a gate that the test opens. */
  readonly after?: Promise<unknown>;
}

/** One turn: a text, an answer, or what makes one of the question. */
export type ScriptedTurn =
  | string
  | ScriptedAnswer
  | ((request: LanguageModelRequest, turn: number) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** The model of {@linkcode scriptedModel}. */
export interface ScriptedModel extends LanguageModel {
  /** What it was asked, as it was then. */
  readonly requests: LanguageModelRequest[];
  /** How many answers were called off or left before their end. */
  readonly left: number;
}

/**
 * Makes a model that takes one turn for each question.
 *
 * @param turns In order. A question behind the last one fails with an `Error`, so that a loop that goes on is found out.
 */
export function scriptedModel(turns: readonly ScriptedTurn[], options: { readonly id?: string } = {}): ScriptedModel {
  return new Scripted(turns, options.id ?? "scripted");
}

class Scripted implements ScriptedModel {
  readonly id: string;
  readonly requests: LanguageModelRequest[] = [];
  left = 0;
  readonly #turns: readonly ScriptedTurn[];

  constructor(turns: readonly ScriptedTurn[], id: string) {
    this.#turns = turns;
    this.id = id;
  }

  async *stream(
    request: LanguageModelRequest,
    { signal }: LanguageModelOptions = {},
  ): AsyncGenerator<LanguageModelPart, void, undefined> {
    signal?.throwIfAborted();
    this.requests.push(structuredClone(request));
    const number = this.requests.length;
    const turn = this.#turns[number - 1];
    if (turn === undefined) throw new Error(`The scripted model was asked ${number} times, it has ${number - 1} turns`);
    const made = typeof turn === "function" ? await turn(request, number) : turn;
    const answer = typeof made === "string" ? { text: made } : made;
    let whole = false;
    try {
      await orAborted(answer.after, signal);
      for (const part of partsOf(answer, number)) {
        signal?.throwIfAborted();
        if (part === "hang") await orAborted(new Promise(() => {}), signal);
        else yield part;
      }
      whole = true;
    } finally {
      if (!whole) this.left++;
    }
  }
}

function* partsOf(answer: ScriptedAnswer, turn: number): Generator<LanguageModelPart | "hang", void, undefined> {
  const { reasoning = [], text = [], calls = [], error, usage = { inputTokens: 10, outputTokens: 5 }, provider } =
    answer;
  for (const piece of [reasoning].flat()) yield { type: "reasoning", text: piece };
  for (const piece of [text].flat()) yield { type: "text", text: piece };
  if (answer.hangs) yield "hang";
  if (error !== undefined) throw typeof error === "string" ? new LanguageModelError(error) : error;
  for (const [index, { id = `call_${turn}_${index + 1}`, name, arguments: given = {} }] of calls.entries()) {
    yield { type: "tool_call", call: { id, name, arguments: given } };
  }
  if (answer.breaksOff) return;
  const reason = answer.reason ?? (calls.length > 0 ? "tool_calls" : "stop");
  yield { type: "end", reason, ...(usage && { usage }), ...(provider && { provider }) };
}

function orAborted(work: Promise<unknown> | undefined, signal: AbortSignal | undefined): Promise<unknown> {
  if (!work || !signal) return Promise.resolve(work);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  return Promise.race([work, aborted]);
}

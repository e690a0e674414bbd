/**
 * A language model for tests: it says what a test has written down, and remembers what it was asked.
 *
 * @module
 */
import { unlessAborted } from "../../client/core_client.ts";
import { LanguageModelError } from "./seam.ts";
import type {
  LanguageModel,
  LanguageModelEnd,
  LanguageModelOptions,
  LanguageModelPart,
  LanguageModelRequest,
} from "./seam.ts";
import type { TokenUsage } from "../api_agent.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";

/** One call of a tool. */
export interface ScriptedCall {
  /** Names it. Default: `call_<turn>_<number>`, both from 1. */
  readonly id?: string | undefined;
  /** The tool, as models call it. */
  readonly name: string;
  /** None by default; a text is what a model wrote that gives no JSON. */
  readonly arguments?: JsonObject | string | undefined;
}

/** One answer of {@linkcode scriptedModel}. */
export interface ScriptedAnswer {
  /** What it thinks, before all else; a list comes in as many pieces. */
  readonly reasoning?: string | readonly string[] | undefined;
  /** What it says; a list comes in as many pieces. */
  readonly text?: string | readonly string[] | undefined;
  /** What it calls. */
  readonly calls?: readonly ScriptedCall[] | undefined;
  /** Default: "tool_calls" where it calls, else "stop". */
  readonly reason?: LanguageModelEnd | undefined;
  /** Default: 10 tokens in, 5 out. `null`: not told. */
  readonly usage?: TokenUsage | null | undefined;
  /** What a provider would want to see again. */
  readonly provider?: JsonObject | undefined;
  /** Thrown behind the texts, in the place of calls and end: an error, or the message of a `LanguageModelError`. */
  readonly error?: Error | string | undefined;
  /** Waits behind the texts until it is called off. */
  readonly hangs?: boolean | undefined;
  /** Ends behind the calls without a last part, which is a failure of the model. */
  readonly breaksOff?: boolean | undefined;
  /** Awaited before the first part, such as a gate that the test opens. */
  readonly after?: Promise<unknown> | undefined;
}

/** One turn: a text, an answer, or what makes one of the question. */
export type ScriptedTurn =
  | string
  | ScriptedAnswer
  | ((request: LanguageModelRequest, turn: number) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** Options of {@linkcode scriptedModel}. */
export interface ScriptedModelOptions {
  /** What it is called ("scripted"). */
  readonly id?: string | undefined;
}

/** The model of {@linkcode scriptedModel}. */
export interface ScriptedModel extends LanguageModel {
  /** What it was asked, as it was then. */
  readonly requests: LanguageModelRequest[];
  /** How many answers did not come to their end: they were called off or left, or failed. */
  readonly left: number;
}

/**
 * Makes a model that takes one turn for each question: for tests of agents, without a model and without chance.
 *
 * @example An agent that looks, and then says what it has seen
 * ```ts
 * import { Agent, scriptedModel } from "@causeway/mcp/agent";
 *
 * const model = scriptedModel([{ calls: [{ name: "now" }] }, "It is noon"]);
 * const now = { name: "now", description: "The time", readOnly: true, run: () => "12:00" };
 * const { text } = await new Agent({ model, tools: [now] }).run("How late is it?").result;
 * console.assert(text === "It is noon" && JSON.stringify(model.requests[1]?.messages).includes("12:00"));
 * ```
 *
 * @param turns In order. A question behind the last one fails with an `Error`, so that a loop that goes on is found out.
 * @throws {TypeError} When they are no list.
 */
export function scriptedModel(turns: readonly ScriptedTurn[], options: ScriptedModelOptions = {}): ScriptedModel {
  if (!Array.isArray(turns)) throw new TypeError("Cannot make a scripted model: expected a list of turns");
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
    if (turn === undefined) {
      throw new Error(`The scripted model was asked ${number} times, it has ${this.#turns.length} turns`);
    }
    let whole = false;
    try {
      const made = typeof turn === "function"
        ? await unlessAborted(Promise.resolve(turn(request, number)), signal)
        : turn;
      const answer = typeof made === "string" ? { text: made } : made;
      if (answer.after) await unlessAborted(answer.after, signal);
      for (const part of partsOf(answer, number)) {
        signal?.throwIfAborted();
        if (part === "hang") await unlessAborted(new Promise(() => {}), signal);
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

/**
 * A language model that says what a test has written for it, and remembers what it was asked.
 *
 * @module
 */
import { LanguageModelError } from "../../../../src/agent/model/seam.ts";
import type {
  LanguageModel,
  LanguageModelEnd,
  LanguageModelPart,
  LanguageModelRequest,
  LanguageModelToolCall,
} from "../../../../src/agent/model/seam.ts";
import type { JsonObject } from "../../../../src/protocol/json_rpc.ts";

/** What a model says to one question: pieces of text, calls, why it ends; or how it fails. */
export interface Line {
  readonly text?: string | readonly string[];
  readonly calls?: readonly LanguageModelToolCall[];
  readonly reason?: LanguageModelEnd;
  readonly usage?: { inputTokens: number; outputTokens: number };
  /** Fails with it, after the text. */
  readonly error?: unknown;
  /** Waits for the question to be called off, after the text. */
  readonly hangs?: boolean;
  /** Ends without an `end`. */
  readonly breaks?: boolean;
}

/** A line for each question, or a function of what was asked and the how manieth question it is. */
export type Script = readonly Line[] | ((request: LanguageModelRequest, count: number) => Line);

/** The model. */
export class ScriptedModel implements LanguageModel {
  readonly id = "scripted";
  readonly maxInputTokens: number | undefined;
  /** What it was asked. */
  readonly asked: LanguageModelRequest[] = [];
  /** How many of its answers were called off. */
  stopped = 0;
  readonly #script: Script;

  constructor(script: Script, maxInputTokens?: number) {
    this.#script = script;
    this.maxInputTokens = maxInputTokens;
  }

  async *stream(
    request: LanguageModelRequest,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<LanguageModelPart> {
    this.asked.push(structuredClone(request));
    const count = this.asked.length;
    const line = typeof this.#script === "function" ? this.#script(request, count) : this.#script[count - 1];
    if (!line) throw new LanguageModelError(`Nothing is written for question ${count}`);
    for (const text of [line.text ?? []].flat()) {
      await undefined;
      yield { type: "text", text };
    }
    if (line.hangs) {
      await new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          this.stopped++;
          reject(signal.reason);
        });
      });
    }
    if (line.error !== undefined) throw line.error;
    if (line.breaks) return;
    for (const call of line.calls ?? []) yield { type: "tool_call", call };
    const reason = line.reason ?? (line.calls ? "tool_calls" : "stop");
    yield { type: "end", reason, usage: line.usage ?? { inputTokens: 10, outputTokens: 5 } };
  }
}

/** A call of a tool; its id is its name unless it is given. */
export function call(name: string, args: JsonObject | string = {}, id: string = name): LanguageModelToolCall {
  return { id, name, arguments: args };
}

/**
 * An agent that uses tools: a language model, the tools of a hub, and a loop that goes on until the task is done.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import {
  type ApiAgentShape,
  type ChatMessage,
  defaultModelId,
  defaultModelInfo,
  type ModelContext,
  type ModelInfo,
  type ReplyPieces,
} from "../api_agent.ts";
import { readChatAnswer } from "../http/chat_settings.ts";
import type { LanguageModelMessage } from "../model/seam.ts";
import { Execution } from "./execution.ts";
import type { AgentOptions, RunOptions } from "./options.ts";
import { type AgentParts, readParts } from "./parts.ts";
import { piecesOf, readConversation } from "./respond.ts";
import { AgentRun } from "./run.ts";
import { toJsonSchema } from "./schemas.ts";
import { checkSettings } from "./settings.ts";
import type { AgentEnd, AgentTask, RunnableAgent, RunWorld } from "./seam.ts";

/**
 * An agent that is given tasks. It asks its model what to do, calls tools, and goes on until the model is done or a budget is used up.
 * Each result becomes an {@linkcode Observation} first: checked, with where it came from. A call that may change something needs a
 * yes; where nobody can be asked, it is not made.
 *
 * It runs in this process alone (`run`), in runs that are kept (`execute`, called by what keeps them), and is served like a model
 * (`createModelHandler(agent)`).
 *
 * @example A task, a tool, a model that follows a script
 * ```ts
 * import { Agent } from "@causeway/mcp/agent";
 *
 * const number = { type: "number" };
 * const agent = new Agent({
 *   model: {
 *     id: "scripted",
 *     async *stream({ messages }) {
 *       const last = messages.at(-1);
 *       if (last?.role === "tool") yield { type: "text", text: `It is ${last.result.structuredContent}` };
 *       else yield { type: "tool_call", call: { id: "1", name: "add", arguments: { a: 1, b: 2 } } };
 *       yield { type: "end", reason: "stop" };
 *     },
 *   },
 *   tools: [{
 *     name: "add",
 *     description: "Adds two numbers",
 *     input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
 *     readOnly: true,
 *     run: ({ a, b }) => Number(a) + Number(b),
 *   }],
 * });
 *
 * const run = agent.run("What is 1 + 2?");
 * const { text } = await run.result;
 * console.assert(text === "It is 3" && run.observations[0]?.tool === "add");
 * ```
 */
export class Agent implements RunnableAgent, ApiAgentShape {
  readonly #parts: AgentParts;

  /**
   * Makes an agent; nothing is asked yet.
   *
   * @throws {TypeError} When an option makes no sense.
   * @throws {RangeError} When an option is no number of its kind.
   */
  constructor(options: AgentOptions) {
    this.#parts = readParts(options);
  }

  /**
   * Runs a task in this process. It begins at once.
   *
   * @param input What is wanted, or a conversation that ends with it.
   * @returns Its events, and how it ends: `for await (const event of run)`, `await run.end`, `await run.result`.
   * @throws {TypeError} When the input is neither, or an option makes no sense.
   */
  run(input: string | readonly LanguageModelMessage[], options: RunOptions = {}): AgentRun {
    if (typeof input !== "string" && !(Array.isArray(input) && input.length > 0)) {
      throw new TypeError("Cannot run an agent: expected a text, or a conversation of one message or more");
    }
    const { clock, random, options: { trace: told } } = this.#parts;
    // Now: the loop itself begins a turn later.
    const { output, deadline, questions, trace = told?.(), id = randomHex(random, 16) } = options;
    const settings = checkSettings(options.settings);
    // Of what is no number, as of a date as a text, nothing would ever be over.
    if (Number.isNaN(Number(deadline ?? 0))) {
      throw new TypeError(`"deadline" is ${String(deadline)}, expected milliseconds since 1970`);
    }
    if (questions !== undefined && questions !== "wait" && typeof questions !== "function") {
      throw new TypeError(`"questions" is ${JSON.stringify(questions)}, expected a function or "wait"`);
    }
    const task: AgentTask = {
      input,
      ...(settings && { settings }),
      ...(output && { output: toJsonSchema("the run", "output", output) }),
      ...(deadline !== undefined && { deadline }),
      ...(trace && { trace }),
    };
    return new AgentRun(this, task, { ...options, id, clock });
  }

  /** Runs a task to its end in whatever keeps it: called by that, not by programs. */
  execute(task: AgentTask, world: RunWorld): Promise<AgentEnd> {
    return new Execution(this.#parts, task, world).run();
  }

  /** What it is called as a model: its `name`, else `causeway-` and its class's. */
  getModelId(): string {
    return this.#parts.options.name ?? defaultModelId(this);
  }

  /** What is told of it as a model: its `info`, else how much its own model reads. */
  getModelInfo(): ModelInfo {
    const { model: { maxInputTokens }, options: { info, maxOutputTokens } } = this.#parts;
    return info ?? {
      ...defaultModelInfo(),
      ...(maxInputTokens !== undefined && { maxInputTokens }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    };
  }

  /**
   * Answers a conversation, as it is served at `/v1/chat/completions`: the model's texts as they come where the request says `stream`, else
   * one in the end, without what was begun anew. Nobody can be asked there, so
   * calls that need a yes are made only where `approve` or `readOnly` give it.
   *
   * Its `temperature`, `max_tokens`, `max_completion_tokens` and `stop` reach the model; with a `response_format` of JSON the answer is
   * one text at the end, which fits it.
   *
   * @throws {ModelError} When the caller brings tools of its own or wants something that the model cannot be told, or a part of the
   * conversation cannot be read. While it is read: when the run fails.
   */
  respond(
    messages: readonly ChatMessage[],
    { signal, request }: Pick<ModelContext, "signal" | "request">,
  ): ReplyPieces {
    const { settings, output } = readChatAnswer(request);
    const run = this.run(readConversation(messages), { signal, settings, output });
    return piecesOf(run, { isStream: request.stream === true, isShaped: output !== undefined });
  }
}

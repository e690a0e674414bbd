/**
 * What a server asks in the middle of a call: of a person, of the agent's model, of its settings.
 *
 * @module
 */
import { answerElicitation } from "../../../client/input/elicitation.ts";
import { InputRequiredError, InvalidParamsError, McpError } from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { CreateMessageRequest, ElicitRequest, InputRequest } from "../../../protocol/types.ts";
import type { TokenUsage } from "../../api_agent.ts";
import { LanguageModelError } from "../../model/seam.ts";
import type { AgentParts } from "../parts.ts";
import type { AgentAnswer, ProposedCall, RunWorld } from "../seam.ts";
import { sample } from "../turns/sampling.ts";
import { isSensitive } from "./sensitive.ts";
import type { QuestionOptions, Questions } from "./questions.ts";

/** How often a person is asked again for what does not fit the form. */
const mostFillings = 3;

/** The call that a server asks in. */
export interface Asking extends QuestionOptions {
  /** Names the question within the run. */
  readonly id: string;
  readonly call: ProposedCall;
  /** Does what is not to be done again, where a process may die in between. */
  once<Value>(id: string, work: () => Promise<Value>): Promise<Value>;
  /** Counts what was used. */
  spend(usage: TokenUsage): void;
  /** How many tokens the run has used so far. */
  used(): number;
  /** How many samples were taken in the call. */
  readonly samples: { count: number };
}

/** What came of one question to the model. Plain JSON: it is kept in journals. */
type Sample =
  | { readonly result: JsonObject; readonly usage: TokenUsage }
  | { readonly failure: string; readonly kind: keyof typeof failures; readonly usage?: TokenUsage };

const failures = { model: LanguageModelError, question: InvalidParamsError, refused: InputRequiredError } as const;

/** Answers what servers ask. */
export class ServerInputs {
  readonly #parts: AgentParts;
  readonly #world: RunWorld;
  readonly #questions: Questions;
  readonly #signal: AbortSignal;

  constructor(parts: AgentParts, world: RunWorld, questions: Questions, signal: AbortSignal) {
    this.#parts = parts;
    this.#world = world;
    this.#questions = questions;
    this.#signal = signal;
  }

  /**
   * Answers one question of a server.
   *
   * @returns The answer as it travels.
   * @throws {InputRequiredError} When it is refused, and there is no answer that says so.
   * @throws {InvalidParamsError} When it makes no sense.
   */
  async answer({ method, params: given }: InputRequest, asking: Asking): Promise<JsonObject> {
    const params = given ?? {};
    if (!isObject(params)) throw new InvalidParamsError(`"params" of "${method}" must be an object`);
    switch (method) {
      case "elicitation/create":
        return await this.#elicit(params as ElicitRequest, asking);
      case "sampling/createMessage":
        return await this.#sample(params, asking);
      case "roots/list":
        return { roots: this.#parts.roots as unknown as JsonObject[] };
      default:
        throw new InvalidParamsError(`The server asks for "${method}", which nobody knows`);
    }
  }

  /** A form or a page to visit. What a form must not ask for is declined without asking anybody. */
  async #elicit(request: ElicitRequest, asking: Asking): Promise<JsonObject> {
    const { call } = asking;
    const message = String(request.message ?? "The server asks for something");
    const question = { id: asking.id, server: call.server, message, kind: "elicitation", request, call } as const;
    if (isSensitive(request)) {
      this.#questions.settled(question, "decline", asking.at);
      return { action: "decline" };
    }
    for (let filling = 1; filling <= mostFillings; filling++) {
      const id = filling === 1 ? asking.id : `${asking.id}.${filling}`;
      const answer = await this.#questions.ask({ ...question, id }, asking);
      try {
        return await this.#fill(request, answer);
      } catch (error) {
        // What does not fit is not sent; whoever filled it in may do it again.
        if (!(error instanceof TypeError)) throw error;
      }
    }
    return { action: "cancel" };
  }

  async #fill(request: ElicitRequest, answer: AgentAnswer): Promise<JsonObject> {
    const { action } = answer;
    const given = action === "accept"
      ? { action, content: answer.content ?? {} }
      : { action: action === "decline" ? action : "cancel" as const };
    const handler = (): typeof given => given;
    const fill = answerElicitation({ elicitation: handler, elicitationUrl: handler }, request, this.#parts.validator);
    if (!fill) throw new InvalidParamsError(`The server asks in the mode "${request.mode}", which nobody knows`);
    return await fill({ server: "", signal: this.#signal });
  }

  async #sample(params: JsonObject, asking: Asking): Promise<JsonObject> {
    const { sampling, model, random, tokens } = this.#parts;
    const { call: { server }, samples, id } = asking;
    if (!sampling.allows(server)) throw new InputRequiredError("The agent's model is not for servers to ask");
    if (++samples.count > sampling.most) {
      throw new InputRequiredError(`The server has asked the model ${sampling.most} times in one call: no more`);
    }
    if (!isObject(params) || !Array.isArray(params.messages)) throw new InvalidParamsError('"messages" must be a list');
    if (sampling.policy === "ask") {
      const message = `The server "${server}" wants to ask the model`;
      const { action } = await this.#questions.ask({ id, server, message, kind: "sampling", request: params }, asking);
      if (action !== "accept") throw new InputRequiredError("The user rejected the sampling request");
    }
    // What failed is kept as a value: an error of a journal is of no class.
    const taken = await asking.once(id, async (): Promise<Sample> => {
      if (asking.used() >= tokens) return { failure: "The run has used up its tokens", kind: "refused" };
      const parts = { model, random, clock: this.#world.clock, signal: this.#signal };
      let usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };
      try {
        const request = params as unknown as CreateMessageRequest;
        const result = await sample(request, parts, sampling.maxTokens, (spent) => usage = spent);
        return { result: result as unknown as JsonObject, usage };
      } catch (error) {
        this.#signal.throwIfAborted();
        if (error instanceof LanguageModelError) return { failure: error.message, kind: "model" };
        const failure = error instanceof McpError ? error.message : "The server's question to the model makes no sense";
        return { failure, kind: "question", usage };
      }
    });
    if (taken.usage) asking.spend(taken.usage);
    if ("failure" in taken) throw new failures[taken.kind](taken.failure);
    return taken.result;
  }
}

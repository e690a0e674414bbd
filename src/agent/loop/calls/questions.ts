/**
 * Questions of one run to a person.
 *
 * @module
 */
import { unlessAborted } from "../../../client/core_client.ts";
import type { AgentAnswer, AgentQuestion, RunWorld } from "../seam.ts";

/** A question without its times. */
export type NewQuestion = AgentQuestion extends infer Kind
  ? Kind extends AgentQuestion ? Omit<Kind, "askedAt" | "expiresAt"> : never
  : never;

/** When and how it is asked. */
export interface QuestionOptions {
  /** When it came up, in milliseconds since 1970: the same in each process. */
  readonly at: number;
  /** Its call is open in this process. */
  readonly live?: boolean | undefined;
  /** Aborted when nobody wants to know any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Asks a person, and tells of it. */
export class Questions {
  readonly #world: RunWorld;
  readonly #signal: AbortSignal;
  readonly #timeout: number;
  readonly #deadline: number;

  /**
   * @param options `signal` of the run, `timeout` of a question in milliseconds, and the run's `deadline`.
   */
  constructor(
    world: RunWorld,
    options: { readonly signal: AbortSignal; readonly timeout: number; readonly deadline: number },
  ) {
    this.#world = world;
    this.#signal = options.signal;
    this.#timeout = options.timeout;
    this.#deadline = options.deadline;
  }

  /** Asks. */
  async ask(question: NewQuestion, { at, live = false, signal }: QuestionOptions): Promise<AgentAnswer> {
    const expiresAt = Math.min(at + this.#timeout, this.#deadline);
    const whole: AgentQuestion = { ...question, askedAt: at, ...(expiresAt < Infinity && { expiresAt }) };
    this.#world.emit(`question:${whole.id}`, { type: "question", question: whole });
    const asked = this.#world.ask(whole, { live, signal: signal ?? this.#signal });
    const answer = await unlessAborted(unlessAborted(asked, signal), this.#signal);
    this.#answered(whole.id, answer);
    return answer;
  }

  /** Tells of a question that is answered without asking anybody. */
  settled(question: NewQuestion, action: AgentAnswer["action"], at: number): void {
    this.#world.emit(`question:${question.id}`, { type: "question", question: { ...question, askedAt: at } });
    this.#answered(question.id, { action } as AgentAnswer);
  }

  #answered(id: string, { action }: AgentAnswer): void {
    this.#world.emit(`answered:${id}`, { type: "answered", id, action });
  }
}

/**
 * What a run lives in while this process holds it.
 *
 * @module
 */
import type { Clock } from "../../../ports.ts";
import { LimitExceededError } from "../../../protocol/errors.ts";
import type { AgentAnswer, AgentQuestion, RunWorld } from "../../loop/seam.ts";
import { answerQuestion, expireQuestions, questionKey } from "../changes.ts";
import { HeldSteps } from "./steps.ts";
import type { Holding, Wait } from "./holding.ts";
import { nextRunState } from "../states.ts";
import type { RunRow } from "../tables/runs.ts";
import type { Steps } from "../steps.ts";
import { appendEvents } from "../tables/events.ts";
import { findQuestion, insertQuestion, readAnswer } from "../tables/questions.ts";

/** The world of one run. */
export class HeldWorld implements RunWorld {
  readonly id: string;
  readonly steps: Steps;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Not methods: agents take them out of their world. */
  readonly emit: RunWorld["emit"];
  readonly ask: RunWorld["ask"];
  readonly #held: Holding;

  constructor(held: Holding) {
    this.#held = held;
    this.id = held.id;
    this.steps = new HeldSteps(held);
    this.signal = held.signal;
    this.clock = held.keeping.clock;
    this.emit = (key, event) => held.tell(key, event);
    this.ask = (question, options) => this.#ask(question, options);
  }

  async #ask(
    question: AgentQuestion,
    { live: isLive = false, signal }: { readonly live?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<AgentAnswer> {
    checkQuestion(question);
    this.#held.check();
    signal?.throwIfAborted();
    const { keeping: { database }, id: run } = this.#held;
    const given = this.#held.attempt(() => readAnswer(database, run, question.id));
    if (given) return given;
    this.#keep(question, isLive);
    return await this.#wait(question, isLive, signal);
  }

  #keep(question: AgentQuestion, isLive: boolean): void {
    const { keeping: { database, limits, changed }, id } = this.#held;
    const asking = (run: RunRow): RunRow => {
      const state = nextRunState(run.state, question.kind === "decision" ? "decide" : "ask") ?? run.state;
      return { ...run, state };
    };
    // It was asked before the run was taken.
    if (this.#held.attempt(() => findQuestion(database, id, question.id))) return this.#held.write(asking);
    const length = JSON.stringify(question).length;
    if (length > limits.valueBytes) throw new LimitExceededError("limits.valueBytes", limits.valueBytes, length);
    this.#held.write((run, now) => {
      const bytes = run.bytes + insertQuestion(database, { run: id, isLive }, question);
      const told = { key: questionKey(question.id), event: { type: "question", question } as const, at: now };
      return appendEvents(database, { ...asking(run), bytes }, [told], limits);
    });
    changed(id);
  }

  #wait({ id, expiresAt }: AgentQuestion, isLive: boolean, signal: AbortSignal | undefined): Promise<AgentAnswer> {
    const held = this.#held;
    const { keeping: { database, changed }, id: run } = held;
    return new Promise((resolve, reject) => {
      const isAnswered = (): boolean => findQuestion(database, run, id)?.answeredAt !== undefined;
      const isOver = (now: number): boolean => expiresAt !== undefined && now >= expiresAt;
      const isReady = (now: number): boolean => isOver(now) || isAnswered();
      const settle = (now: number): boolean => {
        if (isOver(now) && !isAnswered()) held.write((row) => expireQuestions(database, row, now));
        const answer = readAnswer(database, run, id);
        if (!answer) return false;
        // It may be another process's, or the end of its time: nobody was told here.
        changed(run);
        signal?.removeEventListener("abort", abort);
        resolve(answer);
        return true;
      };
      const give = (error: Error): void => {
        signal?.removeEventListener("abort", abort);
        reject(error);
      };
      const wait: Wait = { kind: "answer", isLive, until: expiresAt, isReady, settle, give };
      const abort = (): void => {
        held.unwait(wait);
        reject(signal?.reason);
        // Nobody waits for it any more: it is over, as a no.
        if (held.isLeft) return;
        held.quietly(() => {
          held.write((row, now) =>
            isAnswered() ? row : answerQuestion(database, row, id, { answer: { action: "cancel" }, now })
          );
          changed(run);
        });
      };
      signal?.addEventListener("abort", abort, { once: true });
      held.wait(wait);
      if (expiresAt !== undefined && isLive) held.pollAt(expiresAt, { background: true });
    });
  }
}

function checkQuestion({ id, kind, message, expiresAt }: AgentQuestion): void {
  if (typeof id !== "string" || id === "" || id.length > 512 || id.includes("\0")) {
    throw new TypeError(`The id of a question is ${JSON.stringify(id)}, expected 1 to 512 characters`);
  }
  if (!["approval", "elicitation", "sampling", "decision"].includes(kind)) {
    throw new TypeError(`The kind of the question "${id}" is ${JSON.stringify(kind)}`);
  }
  if (typeof message !== "string") throw new TypeError(`The question "${id}" has no message`);
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) {
    throw new TypeError(`"expiresAt" of the question "${id}" is ${expiresAt}, expected milliseconds since 1970`);
  }
}

/**
 * A run in this process alone: its events as they happen, and who answers its questions.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { Steps } from "../runs/steps.ts";
import type { AnswerQuestion, RunOptions } from "./options.ts";
import { RunCancelledError } from "./seam.ts";
import type {
  AgentAnswer,
  AgentEnd,
  AgentEvent,
  AgentQuestion,
  AgentTask,
  Observation,
  RunnableAgent,
  RunWorld,
} from "./seam.ts";

/** How a run ended that came to its end. */
export type AgentResult = Extract<AgentEnd, { type: "succeeded" }>;

/** A run that did not succeed, as an error. */
export class AgentRunError extends Error {
  /** How it ended. */
  readonly end: Exclude<AgentEnd, AgentResult>;

  /** Made by the library. */
  constructor(end: Exclude<AgentEnd, AgentResult>) {
    super(end.type === "failed" ? `The run failed (${end.error.code}): ${end.error.message}` : end.reason);
    this.name = "AgentRunError";
    this.end = end;
  }
}

/**
 * One run, under way. Reading its events is up to you: each reader gets them all, and the last one says how it ended. Leaving a
 * loop over them does not stop it; `cancel` does, and so does `await using`.
 */
export class AgentRun implements AsyncIterable<AgentEvent>, AsyncDisposable {
  /** Its id. */
  readonly id: string;
  /** How it ended; never rejects. */
  readonly end: Promise<AgentEnd>;
  readonly #world: MemoryWorld;

  /** Made by `agent.run`. */
  constructor(
    agent: RunnableAgent,
    task: AgentTask,
    options: RunOptions & { readonly id: string; readonly clock: Clock },
  ) {
    this.id = options.id;
    const world = this.#world = new MemoryWorld(options);
    this.end = Promise.resolve().then(() => agent.execute(task, world)).catch((error: unknown): AgentEnd => {
      const message = error instanceof Error ? error.message : String(error);
      const { usage, steps } = world.spent;
      const end: AgentEnd = { type: "failed", error: { code: "internal", message }, usage, steps };
      world.emit("end", end);
      return end;
    }).finally(() => world.close());
  }

  /** What its tools gave so far, as it came: each one was here before the model read it. */
  get observations(): readonly Observation[] {
    return this.#world.observations;
  }

  /** The questions that wait for an answer. */
  get questions(): readonly AgentQuestion[] {
    return this.#world.questions;
  }

  /**
   * What it came to.
   *
   * @throws {AgentRunError} When it failed or was cancelled.
   */
  get result(): Promise<AgentResult> {
    return this.end.then((end) => {
      if (end.type === "succeeded") return end;
      throw new AgentRunError(end);
    });
  }

  /**
   * Answers a question.
   *
   * @param question Its id.
   * @returns Whether it waited for an answer.
   */
  answer(question: string, answer: AgentAnswer): boolean {
    return this.#world.answer(question, answer);
  }

  /** Cancels it; harmless when it is over. */
  cancel(reason?: string): void {
    this.#world.cancel(reason);
  }

  /** All its events, from the first to its end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, undefined> {
    const { events } = this.#world;
    for (let at = 0;; at++) {
      while (at >= events.length) {
        if (this.#world.isOver) return;
        await this.#world.next();
      }
      const event = events[at];
      if (event) yield event;
    }
  }

  /** Cancels it, and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
    await this.end;
  }
}

/** Steps that are done at once and kept nowhere. */
const plainSteps = (clock: Clock): Steps => ({
  do: (_name, _options, work) => work(),
  sleep: (_name, milliseconds) => new Promise((resolve) => void clock.schedule(resolve, milliseconds)),
  waitForEvent: (name) => Promise.reject(new TypeError(`Cannot wait for "${name}": the run is kept nowhere`)),
});

/** What a run lives in that is kept nowhere. */
class MemoryWorld implements RunWorld {
  readonly id: string;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly events: AgentEvent[] = [];
  readonly observations: Observation[] = [];
  isOver = false;
  readonly #controller = new AbortController();
  readonly #ask: AnswerQuestion | "wait" | undefined;
  readonly #waiting = new Map<string, { question: AgentQuestion; resolve: (answer: AgentAnswer) => void }>();
  readonly #release: () => void;
  readonly #readers = new Set<() => void>();

  constructor({ id, clock, signal, questions }: RunOptions & { readonly id: string; readonly clock: Clock }) {
    this.id = id;
    this.clock = clock;
    this.steps = plainSteps(clock);
    this.signal = this.#controller.signal;
    this.#ask = questions;
    const stop = (): void => this.cancel(reasonOf(signal?.reason));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    this.#release = () => signal?.removeEventListener("abort", stop);
  }

  get questions(): readonly AgentQuestion[] {
    return Array.from(this.#waiting.values(), ({ question }) => question);
  }

  /** What it has used so far, and how often the model was asked. */
  get spent(): Pick<AgentEnd, "usage" | "steps"> {
    const used = this.events.findLast(({ type }) => type === "usage");
    const usage = used?.type === "usage" ? used.usage : { inputTokens: 0, outputTokens: 0 };
    return { usage, steps: this.events.filter(({ type }) => type === "step").length };
  }

  /** Resolves with the next event, or the end. */
  next(): Promise<void> {
    return new Promise((resolve) => void this.#readers.add(resolve));
  }

  emit(_key: string, event: AgentEvent): void {
    if (this.isOver) return;
    if (event.type === "observation") this.observations.push(event.observation);
    this.events.push(event);
    if (event.type === "succeeded" || event.type === "failed" || event.type === "cancelled") this.isOver = true;
    this.#wake();
  }

  async ask(question: AgentQuestion, options: { readonly signal?: AbortSignal } = {}): Promise<AgentAnswer> {
    const { expiresAt } = question;
    if (this.#ask === undefined) return { action: "decline", reason: "nobody can be asked here" };
    const signal = options.signal ?? this.signal;
    signal.throwIfAborted();
    let release = (): void => {};
    const answer = new Promise<AgentAnswer>((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      const left = expiresAt === undefined ? undefined : expiresAt - this.clock.now();
      const unschedule = left === undefined ? () => {} : this.clock.schedule(() => resolve({ action: "cancel" }), left);
      release = () => {
        signal.removeEventListener("abort", stop);
        unschedule();
      };
      this.#waiting.set(question.id, { question, resolve });
      const ask = this.#ask;
      if (typeof ask === "function") Promise.resolve().then(() => ask(question, { signal })).then(resolve, reject);
    });
    try {
      return await answer;
    } finally {
      release();
      this.#waiting.delete(question.id);
    }
  }

  answer(id: string, answer: AgentAnswer): boolean {
    const found = this.#waiting.get(id);
    this.#waiting.delete(id);
    found?.resolve(answer);
    return found !== undefined;
  }

  cancel(reason?: string): void {
    this.#controller.abort(new RunCancelledError(reason));
  }

  close(): void {
    this.isOver = true;
    this.#release();
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#readers) resolve();
    this.#readers.clear();
  }
}

function reasonOf(reason: unknown): string | undefined {
  return reason instanceof Error ? reason.message : reason === undefined ? undefined : String(reason);
}

/**
 * A journal in memory whose process can be killed at each of its points, and a world over it.
 *
 * @module
 */
import type {
  AgentAnswer,
  AgentEnd,
  AgentEvent,
  AgentQuestion,
  AgentTask,
  RunnableAgent,
  RunWorld,
} from "../../../../src/agent/loop/seam.ts";
import { StepUnknownError } from "../../../../src/agent/runs/steps.ts";
import type { Steps } from "../../../../src/agent/runs/steps.ts";
import { systemClock } from "../../../../src/ports.ts";
import type { Clock } from "../../../../src/ports.ts";

/** The process has died. */
export class Killed extends Error {}
/** The run waits for a person. */
export class Left extends Error {}

type Row = { state: "begun" } | { state: "done"; text: string | undefined } | {
  state: "threw";
  name: string;
  message: string;
};

/** What of a run survives its processes. */
export class TestJournal {
  readonly rows: Map<string, Row> = new Map();
  readonly events: Map<string, AgentEvent> = new Map();
  readonly questions: Map<string, AgentQuestion> = new Map();
  readonly answers: Map<string, AgentAnswer> = new Map();
  /** How often work was done, by the names of steps. */
  readonly works: string[] = [];
  readonly clock: Clock;
  /** How many points the last process has passed. */
  points = 0;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /** The world of one process. */
  world(cut: number = Infinity, signal?: AbortSignal): RunWorld {
    return new TestWorld(this, cut, signal);
  }

  /**
   * Runs to the end: whenever the run waits, its questions are answered, and it begins again.
   *
   * @param options `cut` kills the first process at this point; `answer` is the person.
   */
  async run(
    agent: RunnableAgent,
    task: AgentTask,
    options: { readonly cut?: number; readonly answer?: (question: AgentQuestion) => AgentAnswer } = {},
  ): Promise<{ readonly end: AgentEnd; readonly wasKilled: boolean }> {
    let wasKilled = false;
    for (let cut = options.cut ?? Infinity, turn = 0; turn < 50; turn++) {
      const before = this.points;
      try {
        return { end: await agent.execute(task, this.world(cut)), wasKilled };
      } catch (error) {
        if (error instanceof Killed) {
          wasKilled = true;
          cut = Infinity;
        } else if (error instanceof Left) {
          cut -= this.points - before;
          for (const [id, question] of this.questions) {
            if (!this.answers.has(id)) this.answers.set(id, options.answer?.(question) ?? { action: "accept" });
          }
        } else throw error;
      }
    }
    throw new Error("It does not end");
  }
}

class TestWorld implements RunWorld {
  readonly id = "run-1";
  readonly steps: Steps;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly #journal: TestJournal;
  readonly #cut: number;
  readonly #controller = new AbortController();
  readonly #names = new Set<string>();
  #passed = 0;

  constructor(journal: TestJournal, cut: number, signal?: AbortSignal) {
    this.#journal = journal;
    this.#cut = cut;
    this.clock = journal.clock;
    this.signal = this.#controller.signal;
    signal?.addEventListener("abort", () => this.#controller.abort(signal.reason));
    this.steps = {
      do: (name, { repeatable }, work) => this.#do(name, repeatable === true, work),
      sleep: () => Promise.reject(new Error("not used")),
      waitForEvent: () => Promise.reject(new Error("not used")),
    };
  }

  emit(key: string, event: AgentEvent): void {
    if (this.#isDead()) return;
    if (!this.#journal.events.has(key)) this.#journal.events.set(key, structuredClone(event));
  }

  async ask(
    question: AgentQuestion,
    { live, signal }: { readonly live?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<AgentAnswer> {
    await this.#point();
    const { answers, questions } = this.#journal;
    if (!questions.has(question.id)) questions.set(question.id, structuredClone(question));
    const given = answers.get(question.id);
    if (given) return given;
    if (!live) throw new Left(question.id);
    return await new Promise((resolve, reject) => {
      const poll = setInterval(() => {
        const answer = answers.get(question.id);
        if (answer) resolve(answer);
        if (this.#isDead() || signal?.aborted) reject(new Killed());
        if (answer || this.#isDead() || signal?.aborted) clearInterval(poll);
      }, 1);
    });
  }

  async #do<Value>(name: string, isRepeatable: boolean, work: () => Promise<Value>): Promise<Value> {
    const { rows, works } = this.#journal;
    if (this.#names.has(name)) throw new TypeError(`The step "${name}" is not unique`);
    this.#names.add(name);
    await this.#point();
    const row = rows.get(name);
    if (row?.state === "done") return JSON.parse(row.text ?? "null") as Value;
    if (row?.state === "threw") throw Object.assign(new Error(row.message), { name: row.name });
    if (row && !isRepeatable) throw new StepUnknownError(name);
    rows.set(name, { state: "begun" });
    await this.#point();
    works.push(name);
    let value: Value;
    try {
      value = await work();
    } catch (error) {
      await this.#point();
      const { name: kind, message } = error as Error;
      rows.set(name, { state: "threw", name: kind, message });
      throw error;
    }
    await this.#point();
    rows.set(name, { state: "done", text: JSON.stringify(value) });
    await this.#point();
    return JSON.parse(JSON.stringify(value) ?? "null") as Value;
  }

  #isDead(): boolean {
    return this.signal.aborted && this.signal.reason instanceof Killed;
  }

  /** A place at which the process may die. What is dead does nothing more. */
  async #point(): Promise<void> {
    await undefined;
    if (!this.#isDead()) {
      this.#journal.points++;
      if (++this.#passed === this.#cut) this.#controller.abort(new Killed());
    }
    if (this.#isDead()) throw this.signal.reason;
  }
}

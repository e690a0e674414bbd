/**
 * Runs in memory, that do what their input says: for tests of what stands before them.
 *
 * @module
 */
import type { AgentAnswer, AgentEvent, AgentQuestion } from "../../../src/agent/loop/seam.ts";
import type { AnswerOutcome, RunEvent, RunRecord, Runs, StartRun } from "../../../src/agent/runs/seam.ts";
import type { Clock } from "../../../src/ports.ts";
import { LimitExceededError } from "../../../src/protocol/errors.ts";

interface Kept {
  record: RunRecord;
  readonly task: StartRun;
  readonly events: RunEvent[];
  readonly answered: Set<string>;
  wake: (() => void)[];
}

const none = { inputTokens: 0, outputTokens: 0 };
const used = { inputTokens: 7, outputTokens: 3 };

/** Runs in memory. An input of `ask` waits for an answer, `hang` for a cancel, `fail` fails, `cut` ends at a bound; all else is said again. */
export class MemoryRuns implements Runs {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  /** What is thrown by each method from now on. */
  broken: Error | undefined;
  /** How many there may be. */
  most: number = Infinity;
  /** What was started, in order. */
  readonly started: StartRun[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  // deno-lint-ignore require-await
  async start(task: StartRun): Promise<RunRecord> {
    this.#check();
    const known = task.id === undefined ? undefined : this.#kept.get(task.id);
    if (known) return known.record;
    if (this.#kept.size >= this.most) throw new LimitExceededError("runs", this.most, this.#kept.size + 1);
    const id = task.id ?? `run-${crypto.randomUUID()}`;
    const now = this.#clock.now();
    this.started.push(task);
    const { agent, principal } = task;
    const record: RunRecord = {
      ...{ id, agent, principal, state: "running", createdAt: now, updatedAt: now, steps: 0, usage: none },
      questions: [],
      closed: [],
      unknown: [],
    };
    const kept: Kept = { record, task, events: [], answered: new Set(), wake: [] };
    this.#kept.set(id, kept);
    this.#work(kept);
    return kept.record;
  }

  // deno-lint-ignore require-await
  async get(id: string): Promise<RunRecord | undefined> {
    this.#check();
    return this.#kept.get(id)?.record;
  }

  // deno-lint-ignore require-await
  async list(options: Parameters<Runs["list"]>[0] = {}): Promise<readonly RunRecord[]> {
    this.#check();
    const { principal, state, limit = 50, before = Infinity } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) throw new TypeError(`"limit" is ${limit}`);
    return [...this.#kept.values()].reverse().map(({ record }) => record).filter((record) =>
      (principal === undefined || record.principal === principal) && (state === undefined || record.state === state) &&
      record.createdAt < before
    ).slice(0, limit);
  }

  async *events(id: string, options: Parameters<Runs["events"]>[1] = {}): AsyncGenerator<RunEvent> {
    this.#check();
    const kept = this.#kept.get(id);
    if (!kept) return;
    const { signal } = options;
    let at = options.after ?? 0;
    while (!signal?.aborted) {
      const event = kept.events[at];
      if (event) {
        at++;
        yield event;
      } else if (kept.record.end || this.broken) return;
      else {
        await new Promise<void>((resolve) => {
          kept.wake.push(resolve);
          signal?.addEventListener("abort", () => resolve(), { once: true });
        });
      }
    }
  }

  // deno-lint-ignore require-await
  async answer(id: string, question: string, answer: AgentAnswer): Promise<AnswerOutcome> {
    this.#check();
    const kept = this.#kept.get(id);
    if (kept?.answered.has(question)) return "stale";
    if (!kept?.record.questions.some((open) => open.id === question)) return "unknown";
    kept.answered.add(question);
    this.#set(kept, { questions: [], closed: [...kept.answered], state: "running" });
    this.#emit(kept, { type: "answered", id: question, action: answer.action });
    this.#end(kept, `the answer was ${answer.action}`);
    return "taken";
  }

  // deno-lint-ignore require-await
  async cancel(id: string, reason = "cancelled"): Promise<RunRecord | undefined> {
    this.#check();
    const kept = this.#kept.get(id);
    if (kept && !kept.record.end) this.#finish(kept, { type: "cancelled", reason, usage: used, steps: 1 }, "cancelled");
    return kept?.record;
  }

  resume(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Nothing can be asked of them any more, and who reads events is let go. */
  close(): Promise<void> {
    this.broken = new Error("The runs are closed");
    for (const { wake } of this.#kept.values()) for (const resolve of wake.splice(0)) resolve();
    return Promise.resolve();
  }

  /** Tells something in a run that hangs. */
  tell(id: string, event: AgentEvent): void {
    const kept = this.#kept.get(id);
    if (kept) this.#emit(kept, event);
  }

  /** Asks in a run that hangs. */
  ask(id: string): void {
    const kept = this.#kept.get(id);
    if (kept) this.#ask(kept);
  }

  #check(): void {
    if (this.broken) throw this.broken;
  }

  #work(kept: Kept): void {
    const { input } = kept.task;
    const last = typeof input === "string" ? undefined : input.at(-1);
    const text = typeof input === "string" ? input : last && "content" in last ? String(last.content) : "";
    this.#emit(kept, { type: "step", step: 1 });
    if (text === "hang") return;
    if (text === "fail") {
      const error = { code: "model_error", message: "the model is gone" };
      this.#finish(kept, { type: "failed", error, usage: used, steps: 1 }, "failed");
    } else if (text === "ask") this.#ask(kept);
    else this.#end(kept, text);
  }

  #ask(kept: Kept): void {
    const call = {
      id: "call-1",
      server: "alpha",
      tool: "send",
      name: "alpha__send",
      arguments: {},
      argumentsHash: "00",
    };
    const question: AgentQuestion = {
      ...{ id: "q-1", kind: "approval", server: "alpha", message: "May it be sent?", askedAt: this.#clock.now() },
      call,
    };
    this.#set(kept, { questions: [question], state: "needs_input" });
    this.#emit(kept, { type: "question", question });
  }

  #end(kept: Kept, text: string): void {
    this.#emit(kept, { type: "text", step: 1, text: "You said: " });
    this.#emit(kept, { type: "text", step: 1, text });
    const isCut = text === "cut";
    const end = { type: "succeeded", text: `You said: ${text}`, ...(isCut && { finish: "length" as const }) } as const;
    this.#finish(kept, { ...end, usage: used, steps: 1 }, "succeeded");
  }

  #finish(kept: Kept, end: NonNullable<RunRecord["end"]>, state: RunRecord["state"]): void {
    const closed = [...kept.record.closed ?? [], ...kept.record.questions.map(({ id }) => id)];
    this.#set(kept, { end, state, endedAt: this.#clock.now(), usage: used, steps: 1, questions: [], closed });
    this.#emit(kept, end);
  }

  #set(kept: Kept, change: Partial<RunRecord>): void {
    kept.record = { ...kept.record, ...change, updatedAt: this.#clock.now() };
  }

  #emit(kept: Kept, event: AgentEvent): void {
    kept.events.push({ sequence: kept.events.length + 1, at: this.#clock.now(), event });
    for (const wake of kept.wake.splice(0)) wake();
  }
}

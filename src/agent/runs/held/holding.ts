/**
 * A run in the hands of this process: what it tells and waits for, and how it is let go of.
 *
 * @module
 */
import type { Clock, Logger, Random } from "../../../ports.ts";
import { LimitExceededError } from "../../../protocol/errors.ts";
import type { AgentEnd, AgentEvent } from "../../loop/seam.ts";
import { answerKey, endFrom, endRun, questionKey, wakeOf } from "../changes.ts";
import type { RunLimits } from "../options.ts";
import { waitingState } from "../states.ts";
import { type LeaveReason, RunLeftError } from "../steps.ts";
import { appendEvents, isEnd, type Told } from "../tables/events.ts";
import { DamagedError } from "../tables/cells.ts";
import { openQuestions } from "../tables/questions.ts";
import { findRun, type KnownAgents, type RunRow, saveProgress } from "../tables/runs.ts";
import type { RunsDatabase } from "../tables/sealing.ts";

/** What all runs of one process share. */
export interface Keeping {
  readonly database: RunsDatabase;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RunLimits;
  /** Names this process among those that share the database. */
  readonly owner: string;
  readonly logger: Logger | undefined;
  /**
   * Puts the ends of leases off where it is time to: who writes is alive. Called within each transaction; what it gives is
   * called once that is committed.
   */
  renew(now: number): (() => void) | undefined;
  /** The agents of this process, where other processes may have others. */
  readonly known: ((now: number) => KnownAgents) | undefined;
  /** Is told that there is something new of a run. */
  changed(id: string): void;
}

/** Something that a run waits for. */
export interface Wait {
  /** It waits here, and keeps the run from being left. */
  readonly isLive: boolean;
  /** What it waits for; what is neither is a time. */
  readonly kind: "answer" | "event" | "time";
  /** When it is over by itself. */
  readonly until: number | undefined;
  /** Whether it can be settled now. Nothing is changed. */
  isReady(now: number): boolean;
  /** Settles it, when that can be done now. */
  settle(now: number): boolean;
  /** Gives it up. */
  give(error: Error): void;
}

/** How long pieces of text are gathered, in milliseconds, and how many characters and events. */
const gathering = { longest: 50, characters: 65_536, events: 256 } as const;
/** How long a run that only waits is kept: what goes on beside it gets to ask its own question. Milliseconds. */
const patience = 25;

/** One run, while this process has it. */
export class Holding {
  readonly id: string;
  readonly keeping: Keeping;
  /** Which taking of the run it is. */
  readonly epoch: number;
  /** When the run has to be over, in milliseconds since 1970. */
  readonly deadline: number | undefined;
  readonly #controller = new AbortController();
  readonly #waits = new Set<Wait>();
  readonly #resolveLeft: (error: RunLeftError) => void;
  /** Resolves when it was left. */
  readonly left: Promise<RunLeftError>;
  #reason: RunLeftError | undefined;
  #told: Told[] = [];
  #characters = 0;
  #callOffFlush: (() => void) | undefined;
  /** What calls its timers off. */
  readonly #timers = new Set<() => void>();
  #isPatient = false;
  /** Steps under way. */
  #busy = 0;
  #isClosing = false;
  #isDamaged = false;

  constructor(keeping: Keeping, { id, epoch, deadline }: Pick<RunRow, "id" | "epoch" | "deadline">) {
    this.keeping = keeping;
    this.id = id;
    this.epoch = epoch;
    this.deadline = deadline;
    let resolveLeft: (error: RunLeftError) => void = () => {};
    this.left = new Promise((resolve) => resolveLeft = resolve);
    this.#resolveLeft = resolveLeft;
  }

  /** Aborted when the run is left. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was left. */
  get isLeft(): boolean {
    return this.#reason !== undefined;
  }

  /** Whether it waits for somebody, here. */
  get isWaiting(): boolean {
    return [...this.#waits].some(({ kind }) => kind !== "time");
  }

  /** Whether it is about to be left: what is under way ends, and nothing new begins. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Throws when the run was left. */
  check(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Does something with the database; what fails there is the end of holding the run. */
  attempt<Value>(work: () => Value): Value {
    if (this.#reason) throw this.#reason;
    try {
      return work();
    } catch (cause) {
      throw this.#giveUp(cause);
    }
  }

  /**
   * Writes within one transaction, together with what was told before. Only who holds the run can.
   *
   * @param work Gets the run as it is kept, and gives it with what has changed.
   * @throws {RunLeftError} When another process has it, or it cannot be written.
   */
  write(work: (run: RunRow, now: number) => RunRow = (run) => run): void {
    this.attempt(() => {
      const { database, clock, limits } = this.keeping;
      const told = this.#told;
      this.#forgetTold();
      let renewed: (() => void) | undefined;
      database.transaction(() => {
        // Only now: the lock may have been waited for.
        const now = clock.now();
        renewed = this.keeping.renew(now);
        const run = this.#own();
        saveProgress(database, run, { ...work(appendEvents(database, run, told, limits), now), updatedAt: now });
      });
      renewed?.();
      if (told.length > 0) this.keeping.changed(this.id);
    });
  }

  /** Takes an event, to be kept soon, and before anything else is. */
  tell(key: string, event: AgentEvent): void {
    if (this.#reason || isEnd(event)) return;
    this.#told.push({ key: keyOf(key, event), event, at: this.keeping.clock.now() });
    this.#characters += "text" in event ? event.text.length : 512;
    if (this.#characters > gathering.characters || this.#told.length >= gathering.events) return this.flush();
    this.#callOffFlush ??= this.keeping.clock.schedule(() => this.flush(), gathering.longest);
  }

  /** Keeps what was told. What goes wrong ends the holding, and is thrown by what comes next. */
  flush(): void {
    this.#callOffFlush?.();
    this.#callOffFlush = undefined;
    if (this.#told.length > 0) this.quietly(() => this.write());
  }

  /** Does what nobody waits for: when it ends the holding, the next one to ask is told. */
  quietly(work: () => void): void {
    if (this.#reason) return;
    try {
      this.attempt(work);
    } catch (error) {
      if (!(error instanceof RunLeftError)) throw error;
    }
  }

  /** Does work during which the run is not left. */
  async busy<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
      this.#considerLeaving();
    }
  }

  /** Waits for something: here, or by leaving the run. */
  wait(wait: Wait): void {
    this.#waits.add(wait);
    this.#considerLeaving();
    const { until } = wait;
    if (until === undefined || !wait.isLive || wait.kind !== "time") return;
    this.pollAt(until);
  }

  /** Looks for what is waited for at a time, unless the run was left. */
  pollAt(time: number, options?: { readonly background: boolean }): void {
    this.#later(() => this.poll(), Math.max(0, time - this.keeping.clock.now()), options);
  }

  /** Takes something back that was waited for. */
  unwait(wait: Wait): void {
    this.#waits.delete(wait);
    this.#considerLeaving();
  }

  /** Looks for what is waited for. */
  poll(): void {
    this.quietly(() => {
      for (const wait of [...this.#waits]) {
        if (this.#waits.has(wait) && wait.settle(this.keeping.clock.now())) this.#waits.delete(wait);
      }
      this.#considerLeaving();
    });
  }

  /** Ends the run, from within or from outside. Whether that was done here. */
  end(makeEnd: (run: RunRow) => AgentEnd): boolean {
    let isDone = false;
    this.quietly(() => {
      this.write((run, now) => endRun(this.keeping.database, run, makeEnd(run), now));
      isDone = true;
    });
    if (!isDone) return false;
    this.leave("ended");
    this.keeping.changed(this.id);
    return true;
  }

  /** Lets what is under way end, takes nothing new, and gives the run back. */
  close(drain: number): void {
    this.#isClosing = true;
    if (this.#busy === 0) return this.giveBack();
    this.#later(() => this.giveBack(), drain);
  }

  /** Gives the run back, so that another process can take it at once. */
  giveBack(): void {
    this.quietly(() => this.write((run, now) => ({ ...run, owner: undefined, wakeAt: now })));
    this.leave("closed");
  }

  /** Leaves the run: nothing of it can write any more. */
  leave(reason: LeaveReason, cause?: unknown): RunLeftError {
    if (this.#reason) return this.#reason;
    const error = this.#reason = new RunLeftError(reason, cause === undefined ? undefined : { cause });
    this.#forgetTold();
    for (const callOff of this.#timers) callOff();
    this.#timers.clear();
    for (const wait of this.#waits) wait.give(error);
    this.#waits.clear();
    this.#controller.abort(error);
    this.#resolveLeft(error);
    return error;
  }

  #own(): RunRow {
    const { database, owner } = this.keeping;
    const run = findRun(database, this.id);
    if (run?.owner === owner && run.epoch === this.epoch) return run;
    throw new RunLeftError("lost");
  }

  #giveUp(cause: unknown): RunLeftError {
    if (cause instanceof RunLeftError) return this.leave(cause.reason, cause.cause);
    const { logger } = this.keeping;
    if (cause instanceof LimitExceededError) {
      // The events that were too many are left out: the end says why.
      const error = { code: "limit_exceeded", message: cause.message };
      if (this.end((run) => endFrom(run, error))) return this.leave("ended", cause);
      return this.leave("failed", cause);
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    logger?.({ level: "error", message: "A run cannot be kept", fields: { run: this.id, reason } });
    // Whoever takes it next could not read it either. Its own row may be what is damaged: then it cannot be ended.
    const isFirst = cause instanceof DamagedError && !this.#isDamaged;
    this.#isDamaged ||= isFirst;
    const isOver = isFirst && this.end((run) => endFrom(run, { code: "internal", message: reason }));
    return this.leave(isOver ? "ended" : "failed", cause);
  }

  #considerLeaving(): void {
    if (this.#isClosing && this.#busy === 0 && !this.#reason) return this.giveBack();
    const isIdle = this.#busy === 0 && this.#waits.size > 0 && ![...this.#waits].some(({ isLive }) => isLive);
    if (this.#reason || !isIdle || this.#isPatient) return;
    this.#isPatient = true;
    this.#later(() => {
      this.#isPatient = false;
      this.#leaveWaiting();
    }, patience);
  }

  /** Does something later, unless the run was left. */
  #later(work: () => void, milliseconds: number, options?: { readonly background: boolean }): void {
    const callOff = this.keeping.clock.schedule(
      () => {
        this.#timers.delete(callOff);
        work();
      },
      milliseconds,
      options,
    );
    if (!this.#reason) this.#timers.add(callOff);
    else callOff();
  }

  #leaveWaiting(): void {
    const isIdle = this.#busy === 0 && this.#waits.size > 0 && ![...this.#waits].some(({ isLive }) => isLive);
    if (!isIdle || this.#reason) return;
    const waits = [...this.#waits];
    const kinds = new Set(waits.map(({ kind }) => kind));
    const times = waits.map(({ until }) => until);
    const { database } = this.keeping;
    let isReady = false;
    this.quietly(() => {
      this.write((run, now) => {
        // Another process may have stored an answer until now; from now on it sees that nobody has the run.
        isReady = waits.some((wait) => wait.isReady(now));
        if (isReady) return run;
        const asked = kinds.has("answer") ? waitingState(openQuestions(database, run.id)) : "running";
        const state = asked === "running" && kinds.has("event") ? "needs_input" : asked;
        return { ...run, state, owner: undefined, wakeAt: wakeOf(database, run, times) };
      });
    });
    if (isReady) return this.poll();
    this.leave("waiting");
    this.keeping.changed(this.id);
  }

  #forgetTold(): void {
    this.#told = [];
    this.#characters = 0;
    this.#callOffFlush?.();
    this.#callOffFlush = undefined;
  }
}

/** Questions and answers have keys of their own, so that one that is told twice is kept once. */
function keyOf(key: string, event: AgentEvent): string {
  if (event.type === "question") return questionKey(event.question.id);
  if (event.type === "answered") return answerKey(event.id);
  if (typeof key === "string" && key !== "" && key.length <= 1_024 && !key.includes("\0")) return `told:${key}`;
  throw new TypeError(`The key of an event is ${JSON.stringify(key)}, expected 1 to 1,024 characters`);
}

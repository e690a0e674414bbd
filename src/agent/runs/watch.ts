/**
 * What looks after runs in one process: takes them, runs them, keeps them, and notices what others have left.
 *
 * @module
 */
import { endFrom, endLiveQuestions, endRun, expireQuestions } from "./changes.ts";
import { execute } from "./held/execution.ts";
import { Holding, type Keeping } from "./held/holding.ts";
import { type FindAgent, longestWatchdog, type RunsOptions, type RunsSettings } from "./options.ts";
import { nextRunState } from "./states.ts";
import {
  deleteRun,
  dueRuns,
  endOf,
  findRun,
  lateRuns,
  nextWake,
  oldestEnd,
  outdatedRuns,
  ownedRuns,
  postponeRun,
  releaseRun,
  renewLeases,
  type RunRow,
  saveRun,
} from "./tables/runs.ts";
import { loseIntents } from "./tables/steps.ts";

/** What a watch is told. */
export interface WatchOptions {
  readonly settings: RunsSettings;
  readonly findAgent: FindAgent;
  readonly onAlarm: RunsOptions["onAlarm"];
  /** Whether somebody waits for events. */
  hasReaders(): boolean;
}

/** Of the watchdog's interval: how long a lease is, and how often all is looked at. Together they are less than the whole. */
const parts = { lease: 2 / 3, look: 1 / 5 } as const;
/** The longest lease that any process may give, in milliseconds. */
const longestLease = longestWatchdog * parts.lease;
/** From how many deaths in a row on a run is kept apart, and for how many watchdog's intervals at most. */
const suspicion = { deaths: 5, longest: 10 } as const;
/**
 * How often old runs are looked for, in milliseconds, and how many are deleted at once; where there are more, it goes on `soon`.
 * An alarm for it rings up to `slack` late, or an eighth of the retention, so that it does not ring for each run.
 */
const tidying = { pause: 60_000, soon: 1_000, most: 100, slack: 3_600_000 } as const;

/** The last time that an alarm can be set to: those of Durable Objects know no date after 2188. What comes later never comes. */
const lastAlarm = 6.9e12;

/** Looks after runs. */
export class Watch {
  readonly #keeping: Keeping;
  readonly #options: WatchOptions;
  readonly #lease: number;
  readonly #look: number;
  readonly #holdings = new Map<string, Holding>();
  #isWatching = false;
  #callOff: (() => void) | undefined;
  /** When leases are put off next, by the monotonic clock. */
  #renewAt = -Infinity;
  /** When it is looked around next, by the monotonic clock, and by the time of day. */
  #lookAt = 0;
  #dueAt = Infinity;
  /** Until when nothing is taken that another process has, by the monotonic clock. */
  #calmUntil = -Infinity;
  #closing: Promise<void> | undefined;
  /** When the alarm rings; null: not at all; undefined: nobody knows. */
  #armed: number | null | undefined;
  /** Settles when the alarm is set, while it is being set. */
  #arming: Promise<void> | undefined;
  /** When old runs are looked for again, by the monotonic clock. */
  #tidyAt = -Infinity;

  constructor(keeping: Keeping, options: WatchOptions) {
    this.#keeping = keeping;
    this.#options = options;
    const { watchdog } = options.settings;
    this.#lease = Math.floor(watchdog * parts.lease);
    this.#look = Math.max(10, Math.floor(watchdog * parts.look));
  }

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** What finds agents. */
  get findAgent(): FindAgent {
    return this.#options.findAgent;
  }

  /** Whether a run is in the hands of this process. */
  holds(id: string): boolean {
    return this.#holdings.has(id);
  }

  /** A run in the hands of this process. */
  holding(id: string): Holding | undefined {
    return this.#holdings.get(id);
  }

  /** Takes what is due, at once. */
  async resume(): Promise<number | undefined> {
    this.#isWatching = true;
    // Whoever calls has heard the alarm.
    this.#armed = undefined;
    this.#lookAround();
    await this.arm();
    return this.#nextAlarm();
  }

  /** Puts the ends of leases off, unless that was just done: timers are late where a process is busy. */
  renew(now: number): (() => void) | undefined {
    return this.#keeping.clock.monotonic() < this.#renewAt ? undefined : this.#renew(now);
  }

  /** What it gives is called after the commit: a renewal that was rolled back is none. */
  #renew(now: number): () => void {
    const { database, clock, owner } = this.#keeping;
    renewLeases(database, owner, now + this.#lease);
    return () => this.#renewAt = clock.monotonic() + this.#look;
  }

  /** Takes what is due, at once. What fails there is tried again with the next look. */
  takeSoon(): void {
    this.#safely("Runs cannot be taken", () => this.#takeDue());
    void this.arm();
    this.#schedule();
  }

  /** Sees that the alarm rings in time. What goes wrong is logged. */
  async arm(): Promise<void> {
    const { onAlarm } = this.#options;
    if (!onAlarm) return;
    const { logger } = this.#keeping;
    try {
      const at = this.#nextAlarm();
      if (at === undefined ? this.#armed === null : this.#ringsBefore(at)) return;
      this.#armed = at ?? null;
      await this.#tell(onAlarm, at);
    } catch (error) {
      this.#armed = undefined;
      logger?.({ level: "error", message: "The alarm cannot be set", fields: { reason: String(error) } });
    }
  }

  /** Sees that the alarm rings within the watchdog's interval. Throws when it cannot be set. */
  armNow(): Promise<void> | undefined {
    const { onAlarm, settings } = this.#options;
    const at = this.#keeping.clock.now() + settings.watchdog;
    if (!onAlarm) return undefined;
    if (this.#ringsBefore(at)) return this.#arming;
    this.#armed = undefined;
    const done = this.#tell(onAlarm, at);
    this.#armed = at;
    // Whoever starts the run waits for it, unless the run could not be kept.
    done.catch(() => this.#armed = undefined);
    return done;
  }

  #tell(onAlarm: NonNullable<RunsOptions["onAlarm"]>, at: number | undefined): Promise<void> {
    const done = this.#arming = Promise.resolve(onAlarm(at));
    const forget = (): void => {
      if (this.#arming === done) this.#arming = undefined;
    };
    done.then(forget, forget);
    return done;
  }

  /** Gives everything back. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** What is under way keeps its lease until it has ended. */
  async #close(): Promise<void> {
    const left = [...this.#holdings.values()].map((holding) => {
      holding.close(this.#options.settings.drain);
      return holding.left;
    });
    await Promise.all(left);
    this.#callOff?.();
    await this.arm();
  }

  #ringsBefore(at: number): boolean {
    const armed = this.#armed;
    return armed !== undefined && armed !== null && armed > this.#keeping.clock.now() && armed <= at;
  }

  /** When something has to be done next: a run goes on, or an old one is deleted. */
  #nextAlarm(): number | undefined {
    const { database, clock } = this.#keeping;
    const now = clock.now();
    const wakeAt = nextWake(database);
    const times = wakeAt === undefined ? [] : [this.#alarmTime(wakeAt, now)];
    const oldest = oldestEnd(database);
    if (oldest !== undefined) {
      const { retention } = this.#options.settings;
      const due = Math.ceil(oldest + retention + Math.min(tidying.slack, retention / 8));
      times.push(Math.max(due, Math.ceil(now + Math.max(0, this.#tidyAt - clock.monotonic()))));
    }
    const next = Math.min(...times);
    return next <= lastAlarm ? next : undefined;
  }

  /** An alarm for what is due already would ring all the time: what is not taken now waits for a free place. */
  #alarmTime(next: number, now: number): number {
    const latest = now + this.#options.settings.watchdog;
    if (this.#holdings.size === 0) return Math.max(next, now);
    return Math.min(latest, Math.max(next, now + this.#look));
  }

  #schedule(): void {
    const { clock } = this.#keeping;
    const isNeeded = this.#holdings.size > 0 || (this.#isWatching && !this.#options.onAlarm && !this.isClosed);
    if (!isNeeded) return void (this.#dueAt = Infinity);
    const delay = this.#nextLook();
    const at = clock.monotonic() + delay;
    if (this.#callOff && this.#lookAt <= at) return;
    this.#callOff?.();
    this.#lookAt = at;
    this.#dueAt = clock.now() + delay;
    const background = this.#holdings.size === 0 && !this.#options.hasReaders();
    this.#callOff = clock.schedule(
      () => {
        this.#callOff = undefined;
        this.#lookAround();
        void this.arm();
      },
      delay,
      { background },
    );
  }

  /** Milliseconds until the next look: as often as leases want it, and when something is due. */
  #nextLook(): number {
    const now = this.#keeping.clock.now();
    const times = [...this.#holdings.values()].map(({ deadline }) => deadline);
    // What is due and was not taken has no place yet, or is left to others.
    this.#safely("Runs cannot be read", () => void times.push(nextWake(this.#keeping.database, now)));
    const ahead = times.filter((time) => time !== undefined).map((time) => time - now).filter((left) => left > 0);
    return Math.min(this.#look, ...ahead);
  }

  #lookAround(): void {
    this.#safely("Runs cannot be kept", () => this.#keepHoldings());
    for (const holding of [...this.#holdings.values()]) holding.poll();
    this.#safely("Runs cannot be ended", () => this.#endLate());
    this.#safely("Runs cannot be taken", () => this.#takeDue());
    this.#safely("Old runs cannot be deleted", () => this.#tidy());
    this.#schedule();
  }

  /** Puts leases off, leaves what others have taken, and ends what takes too long. */
  #keepHoldings(): void {
    const { database, clock, owner } = this.#keeping;
    let renewed: (() => void) | undefined;
    const owned = database.transaction(() => {
      const now = clock.now();
      const owned = ownedRuns(database, owner);
      if (owned.size > 0) renewed = this.#renew(now);
      for (const [id, epoch] of owned) if (this.#holdings.get(id)?.epoch !== epoch) releaseRun(database, id, now);
      return owned;
    });
    renewed?.();
    const now = clock.now();
    for (const holding of [...this.#holdings.values()]) {
      if (owned.get(holding.id) !== holding.epoch) holding.leave("lost");
      else if (holding.deadline !== undefined && holding.deadline <= now) holding.end((run) => endFrom(run, late));
    }
  }

  #takeDue(): void {
    if (this.isClosed) return;
    const { database, clock, limits, owner, known } = this.#keeping;
    // This process stood still, or the clock has jumped: others may have lived through the same, and put their leases off soon.
    if (clock.now() - this.#dueAt > this.#lease / 2) this.#calmUntil = clock.monotonic() + 2 * this.#look;
    const working = [...this.#holdings.values()].filter(({ isWaiting }) => !isWaiting).length;
    const most = limits.parallel - working;
    if (most <= 0) return;
    const now = clock.now();
    // Alone, whatever another one held is free: it is dead. Longer leases than there are come from a clock that was turned back.
    const longest = this.#options.settings.alone ? -Infinity : longestLease;
    const due = dueRuns(database, now, { longest: Math.max(-now, longest), most, owner, known: known?.(now) });
    const isCalm = !this.#options.settings.alone && clock.monotonic() < this.#calmUntil;
    for (const { id } of due.filter(({ isOwned }) => !isCalm || !isOwned)) this.#takeOne(id, longest);
  }

  /** Ends what nobody has and whose time is over: for that there is always a place. */
  #endLate(): void {
    if (this.isClosed) return;
    const { database, clock } = this.#keeping;
    for (const id of lateRuns(database, clock.now(), tidying.most)) this.#takeOne(id, longestLease);
  }

  #takeOne(id: string, longest: number): void {
    const { database, clock } = this.#keeping;
    const isDone = this.#safely("A run cannot be taken", () => {
      const taken = database.transaction(() => this.#take(id, clock.now(), longest));
      if (taken) this.#hold(taken);
      this.#keeping.changed(id);
    });
    // It must not stand before the others each time.
    if (!isDone) this.#safely("Runs cannot be kept", () => postponeRun(database, id, clock.now() + this.#lease));
  }

  /** Takes one run; undefined where that was not to be done any more, or it was its end. */
  #take(id: string, now: number, longest: number): RunRow | undefined {
    const { database, owner, limits } = this.#keeping;
    const found = findRun(database, id);
    const wakeAt = found?.wakeAt;
    if (!found || wakeAt === undefined || this.#holdings.has(id)) return undefined;
    const isDue = wakeAt <= now || (found.owner !== undefined && wakeAt > now + longest);
    if (!isDue) return undefined;
    const run = expireQuestions(database, found, now);
    const resumes = run.resumes + (run.owner === undefined ? 0 : 1);
    if (run.deadline !== undefined && run.deadline <= now) return void endRun(database, run, endFrom(run, late), now);
    if (resumes > limits.resumes) return void endRun(database, run, endFrom(run, tooOften(limits.resumes)), now);
    if (run.owner !== undefined && resumes >= suspicion.deaths) return void this.#keepApart(run, resumes, now);
    const left = endLiveQuestions(database, run, now);
    loseIntents(database, id, now);
    const state = nextRunState(run.state, "take") ?? run.state;
    const taken: RunRow = {
      ...left,
      state,
      resumes,
      owner,
      epoch: run.epoch + 1,
      wakeAt: now + this.#lease,
      updatedAt: now,
    };
    saveRun(database, taken);
    return taken;
  }

  /**
   * A run whose processes die again and again may be what kills them, or may only have been beside one that does: each of them
   * waits for a time of its own, so that they come apart.
   */
  #keepApart(run: RunRow, resumes: number, now: number): void {
    const { database, random } = this.#keeping;
    const most = Math.min(2 ** (resumes - suspicion.deaths), suspicion.longest) * this.#options.settings.watchdog;
    const until = Math.min(Math.ceil(now + random.fraction() * most), run.deadline ?? Infinity);
    saveRun(database, { ...run, resumes, owner: undefined, wakeAt: until });
  }

  #hold(run: RunRow): void {
    const holding = new Holding(this.#keeping, run);
    this.#holdings.set(run.id, holding);
    void execute(holding, run, this.#options.findAgent);
    void holding.left.then(() => {
      this.#holdings.delete(run.id);
      this.#keeping.changed(run.id);
      this.#safely("Old runs cannot be deleted", () => this.#tidy());
      // There is a place for another one.
      this.takeSoon();
    });
  }

  #tidy(): void {
    const { database, clock, limits } = this.#keeping;
    const now = clock.monotonic();
    if (this.isClosed || now < this.#tidyAt) return;
    this.#tidyAt = now + tidying.pause;
    const before = clock.now() - this.#options.settings.retention;
    const old = outdatedRuns(database, { before, kept: limits.kept, most: tidying.most });
    for (const { id, endedAt } of old) {
      database.transaction(() => {
        // Another process may have deleted it, and begun one of the same id.
        if (endOf(database, id) === endedAt) deleteRun(database, id);
      });
    }
    if (old.length === tidying.most) this.#tidyAt = now + tidying.soon;
  }

  /** Whether it was done. */
  #safely(message: string, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#keeping.logger?.({ level: "error", message, fields: { reason } });
      return false;
    }
  }
}

const late = { code: "deadline", message: "The run took longer than its deadline allows" } as const;

function tooOften(most: number): { code: string; message: string } {
  return { code: "internal", message: `${most} processes ended in the middle of the run: "limits.resumes" is ${most}` };
}

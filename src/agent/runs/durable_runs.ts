/**
 * Runs of agents that are kept in a database: what was accepted ends, or waits for a person, whatever becomes of a process.
 *
 * @module
 */
import { randomHex, systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { LimitExceededError } from "../../protocol/errors.ts";
import type { AgentAnswer } from "../loop/seam.ts";
import { answerQuestion, endFrom, endRun } from "./changes.ts";
import { checkAnswer, checkStart } from "./check.ts";
import type { Keeping } from "./held/holding.ts";
import { type DurableRuns, readSettings, type RunsOptions, type RunsSettings } from "./options.ts";
import type { AnswerOutcome, RunEvent, RunRecord, Runs, StartRun } from "./seam.ts";
import { isOver, isRunState } from "./states.ts";
import { DamagedError } from "./tables/cells.ts";
import { findQuestion, insertSignal } from "./tables/questions.ts";
import {
  confirmRun,
  countOpen,
  deleteRun,
  findRun,
  hasRun,
  insertRun,
  listRuns,
  type RunRow,
  saveRun,
  toRecord,
} from "./tables/runs.ts";
import { migrate } from "./tables/schema.ts";
import { openRunsDatabase, type RunsDatabase } from "./tables/sealing.ts";
import { tailEvents, Wakers } from "./tail.ts";
import { Watch } from "./watch.ts";

/**
 * Keeps runs of agents in a database. Many processes may share one: each run is in the hands of one of them, and when that
 * dies, another one, or the same after its start, goes on within `watchdog`. A step that was done is not done again; one that
 * was begun and may have been done is reported as unknown, and not done again by itself.
 *
 * Call `resume()` once at the start of a process: from then on it looks after what others leave.
 *
 * @throws {TypeError} When an option makes no sense.
 * @throws {RangeError} When a secret is shorter than 16 bytes.
 * @throws {McpError} When the database was written by a newer program, or is sealed with a secret that is not given.
 *
 * @example An agent that asks before it goes on
 * ```ts
 * import { createRuns } from "@causeway/mcp/agent";
 * import type { RunnableAgent } from "@causeway/mcp/agent";
 * import { openDatabase } from "@causeway/mcp/local";
 *
 * const greeter: RunnableAgent = {
 *   async execute(task, { steps }) {
 *     const text = await steps.do("greet", { repeatable: true }, async () => `Hello, ${task.input}`);
 *     return { type: "succeeded", text, usage: { inputTokens: 0, outputTokens: 0 }, steps: 1 };
 *   },
 * };
 * await using runs = createRuns({ database: await openDatabase(":memory:"), agents: { greeter } });
 * const { id } = await runs.start({ agent: "greeter", principal: "ada", input: "world" });
 * for await (const { event } of runs.events(id)) {
 *   if (event.type === "succeeded") console.assert(event.text === "Hello, world");
 * }
 * ```
 */
export function createRuns(options: RunsOptions): DurableRuns {
  const settings = readSettings(options);
  const { database, random = systemRandom } = options;
  migrate(database);
  return new KeptRuns(options, settings, openRunsDatabase(database, { ...settings, random }));
}

/** How long runs of agents that are not here are left to processes that have them, in milliseconds: such as newer ones. */
const absence = 600_000;

class KeptRuns implements DurableRuns {
  readonly #keeping: Keeping;
  readonly #settings: RunsSettings;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #wakers = new Wakers();
  readonly #watch: Watch;
  /** Runs that are not certain to be kept yet: who starts one of them again waits too. */
  readonly #starting = new Map<string, Promise<void>>();
  /** Whether what was written is kept, and nobody has to be told. */
  readonly #isAtOnce: boolean;

  constructor(options: RunsOptions, settings: RunsSettings, database: RunsDatabase) {
    this.#settings = settings;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#keeping = {
      database,
      clock: this.#clock,
      random: this.#random,
      limits: settings.limits,
      owner: randomHex(this.#random, 12),
      logger: options.logger,
      known: knownAgents(options),
      renew: (now) => this.#watch.renew(now),
      changed: (id) => this.#wakers.wake(id),
    };
    const { agents, onAlarm } = options;
    this.#isAtOnce = onAlarm === undefined && database.sync === undefined;
    const findAgent = typeof agents === "function"
      ? agents
      : (name: string) => Object.hasOwn(agents, name) ? agents[name] : undefined;
    this.#watch = new Watch(this.#keeping, { settings, findAgent, onAlarm, hasReaders: () => this.#wakers.size > 0 });
  }

  async start(run: StartRun): Promise<RunRecord> {
    this.#checkOpen();
    const { database, limits } = this.#keeping;
    const { id, task, deadline } = checkStart(run, this.#random, limits);
    const { agent, principal } = run;
    if (!await this.#watch.findAgent(agent, { id, principal })) throw new TypeError(`There is no agent "${agent}"`);
    const made = database.transaction(() => {
      const before = findRun(database, id);
      if (before) {
        if (before.principal === principal && before.agent === agent) return undefined;
        throw new TypeError(`"id" is ${JSON.stringify(id)}, which cannot be used`);
      }
      const open = countOpen(database);
      if (open >= limits.open) throw new LimitExceededError("limits.open", limits.open, open + 1);
      const now = this.#clock.now();
      const wakeAt = this.#isAtOnce ? now : now + this.#settings.watchdog;
      insertRun(database, { id, agent, principal, task, deadline, now, wakeAt });
      // Within the transaction: without an alarm there is no run.
      return { alarm: this.#watch.armNow() };
    });
    if (made) this.#starting.set(id, this.#confirm(id, made.alarm).finally(() => this.#starting.delete(id)));
    await this.#starting.get(id);
    this.#watch.takeSoon();
    return this.#recordOf(id);
  }

  get(id: string): Promise<RunRecord | undefined> {
    return promise(() => {
      const run = findRun(this.#keeping.database, id);
      return run && this.#show(run);
    });
  }

  countOpen(): Promise<number> {
    return promise(() => countOpen(this.#keeping.database));
  }

  list(options: Parameters<Runs["list"]>[0] = {}): Promise<readonly RunRecord[]> {
    return promise(() => {
      const { principal, state, limit = 50, before } = options;
      if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
        throw new TypeError(`"limit" is ${limit}, expected a whole number from 1 to 10,000`);
      }
      if (state !== undefined && !isRunState(state)) throw new TypeError(`"state" is ${JSON.stringify(state)}`);
      const found: RunRecord[] = [];
      let behind = before;
      for (;;) {
        const wanted = limit - found.length;
        const rows = listRuns(this.#keeping.database, { principal, state, limit: wanted, before: behind });
        for (const { read } of rows) found.push(...this.#listed(read));
        behind = rows.at(-1)?.createdAt;
        // What is left out makes room for those behind it.
        if (rows.length < wanted || found.length === limit) return found;
      }
    });
  }

  events(
    id: string,
    { after = 0, signal }: { readonly after?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): AsyncIterable<RunEvent> {
    if (!Number.isInteger(after) || after < 0) {
      throw new TypeError(`"after" is ${after}, expected the place of an event`);
    }
    const { database } = this.#keeping;
    return tailEvents(id, { after, signal }, {
      database,
      clock: this.#clock,
      wakers: this.#wakers,
      isHere: () => this.#settings.alone || this.#watch.holds(id),
    });
  }

  answer(id: string, question: string, answer: AgentAnswer): Promise<AnswerOutcome> {
    return promise(() => {
      this.#checkOpen();
      const { database, limits } = this.#keeping;
      const outcome = this.#change<AnswerOutcome>(id, (run) => {
        const asked = run && findQuestion(database, id, question);
        if (!asked) return { value: "unknown" };
        const checked = checkAnswer(answer, asked.kind, limits);
        const now = this.#clock.now();
        const isExpired = asked.expiresAt !== undefined && asked.expiresAt <= now;
        if (asked.answeredAt !== undefined || isExpired || isOver(run.state)) return { value: "stale" };
        return { value: "taken", run: answerQuestion(database, run, question, { answer: checked, now }) };
      });
      if (outcome === "taken") this.#goOn(id);
      return outcome;
    });
  }

  send(id: string, type: string, payload?: unknown): Promise<boolean> {
    return promise(() => {
      this.#checkOpen();
      if (typeof type !== "string" || type === "") throw new TypeError(`"type" is ${JSON.stringify(type)}`);
      const { database, limits } = this.#keeping;
      const length = JSON.stringify(payload)?.length ?? 0;
      if (length > limits.valueBytes) throw new LimitExceededError("limits.valueBytes", limits.valueBytes, length);
      const isSent = this.#change<boolean>(id, (run) => {
        if (!run || isOver(run.state)) return { value: false };
        if (run.bytes + length > limits.bytes) {
          throw new LimitExceededError("limits.bytes", limits.bytes, run.bytes + length);
        }
        const bytes = run.bytes + insertSignal(database, id, type, payload);
        return {
          value: true,
          run: { ...run, bytes, wakeAt: run.owner === undefined ? this.#clock.now() : run.wakeAt },
        };
      });
      if (isSent) this.#goOn(id);
      return isSent;
    });
  }

  cancel(id: string, reason = "cancelled"): Promise<RunRecord | undefined> {
    return promise(() => {
      this.#checkOpen();
      if (typeof reason !== "string") throw new TypeError(`"reason" is ${JSON.stringify(reason)}, expected a text`);
      return this.#cancel(id, reason.slice(0, 2_000));
    });
  }

  forget(id: string): Promise<boolean> {
    return promise(() => {
      this.#checkOpen();
      const { database } = this.#keeping;
      const isThere = database.transaction(() => {
        if (!hasRun(database, id)) return false;
        deleteRun(database, id);
        return true;
      });
      if (!isThere) return false;
      this.#watch.holding(id)?.leave("ended");
      this.#wakers.wake(id);
      this.#watch.arm();
      return true;
    });
  }

  async resume(): Promise<number | undefined> {
    this.#checkOpen();
    return await this.#watch.resume();
  }

  async close(): Promise<void> {
    await this.#watch.close();
    this.#wakers.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What was accepted is on the disk and has an alarm, or it is taken back. */
  async #confirm(id: string, alarm: Promise<void> | undefined): Promise<void> {
    const { database } = this.#keeping;
    try {
      if (this.#isAtOnce) return;
      await alarm;
      await database.sync?.();
      confirmRun(database, id, this.#clock.now());
    } catch (error) {
      const isBegun = database.transaction(() => {
        const run = findRun(database, id);
        // Another process may have begun it, or ended it, meanwhile: then it is kept.
        if (run && (run.state !== "accepted" || run.epoch > 0)) return true;
        deleteRun(database, id);
        return false;
      });
      if (isBegun) return;
      this.#wakers.wake(id);
      throw error;
    }
  }

  /** A run as it was read; what another process has deleted meanwhile is not there. */
  #show(run: RunRow): RunRecord | undefined {
    const { database } = this.#keeping;
    try {
      return toRecord(database, run);
    } catch (error) {
      const now = findRun(database, run.id);
      if (now?.epoch === run.epoch && now.sequence === run.sequence) throw error;
      return now && toRecord(database, now);
    }
  }

  /** A run as it is listed: a damaged one is left out, and told to who asks for it. */
  #listed(read: () => RunRow): readonly RunRecord[] {
    try {
      const run = this.#show(read());
      return run ? [run] : [];
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      const fields = { reason: error.message };
      this.#keeping.logger?.({ level: "error", message: "A run cannot be read", fields });
      return [];
    }
  }

  #recordOf(id: string): RunRecord {
    const run = findRun(this.#keeping.database, id);
    if (run) return toRecord(this.#keeping.database, run);
    throw new TypeError(`The run ${id} was deleted while it was started`);
  }

  #cancel(id: string, reason: string): RunRecord | undefined {
    const { database } = this.#keeping;
    // What it told so far comes first.
    const holding = this.#watch.holding(id);
    holding?.flush();
    const isThere = this.#change<boolean>(id, (run) => {
      if (!run) return { value: false };
      if (!isOver(run.state)) endRun(database, run, endFrom(run, { cancelled: reason }), this.#clock.now());
      return { value: true };
    });
    if (!isThere) return undefined;
    holding?.leave("ended");
    this.#wakers.wake(id);
    this.#watch.arm();
    return this.#recordOf(id);
  }

  #change<Value>(
    id: string,
    work: (run: RunRow | undefined) => { readonly value: Value; readonly run?: RunRow },
  ): Value {
    const { database } = this.#keeping;
    return database.transaction(() => {
      const { value, run } = work(findRun(database, id));
      if (run) saveRun(database, { ...run, updatedAt: this.#clock.now() });
      return value;
    });
  }

  #goOn(id: string): void {
    this.#wakers.wake(id);
    this.#watch.holding(id)?.poll();
    this.#watch.takeSoon();
  }

  #checkOpen(): void {
    // No TypeError: nothing is wrong with what was asked, and elsewhere it may be done.
    if (this.#watch.isClosed) throw new Error("The runs are closed");
  }
}

/** The outcome of work as a promise. */
function promise<Value>(work: () => Value): Promise<Value> {
  return new Promise((resolve) => resolve(work()));
}

/** Undefined where the agents have no names here, or nobody else has the runs: then what there is no agent for is ended at once. */
function knownAgents({ agents, alone, onAlarm }: RunsOptions): Keeping["known"] {
  if (typeof agents === "function" || alone || onAlarm) return undefined;
  return (now) => ({ names: Object.keys(agents), before: now - absence });
}

/**
 * Steps of a run that this process holds: done once, whatever becomes of the process.
 *
 * @module
 */
import { LimitExceededError, TimeoutError } from "../../../protocol/errors.ts";
import type { Holding, Wait } from "./holding.ts";
import { RunLeftError, type StepOptions, type Steps, StepUnknownError } from "../steps.ts";
import { hasSignal, takeSignal } from "../tables/questions.ts";
import type { RunRow } from "../tables/runs.ts";
import {
  describeFailure,
  findStep,
  readFailure,
  readResult,
  type StepRow,
  writeIntent,
  writeOutcome,
} from "../tables/steps.ts";
import { writeText } from "../tables/texts.ts";

/** Waits that are shorter than this keep the run in memory, in milliseconds. */
const shortSleep = 10_000;

/** The journal of one run, as the run sees it. */
export class HeldSteps implements Steps {
  readonly #held: Holding;
  /** The names that were used since the run was taken. */
  readonly #names = new Set<string>();

  constructor(held: Holding) {
    this.#held = held;
  }

  async do<Value>(name: string, options: StepOptions, work: () => Promise<Value>): Promise<Value> {
    // What is under way beside it comes to its end first.
    if (this.#held.isClosing) throw await this.#held.left;
    checkTimeout(name, options.timeout);
    const kept = this.#find(name);
    if (kept) {
      checkArguments(name, options, kept);
      if (kept.state !== "intent") return this.#recall<Value>(name, kept);
      if (!options.repeatable) {
        this.#keep(name, "lose", undefined);
        throw new StepUnknownError(name);
      }
    }
    return await this.#held.busy(async () => {
      if (!options.repeatable) await this.#intend(name, options, kept);
      let value: Value;
      try {
        value = await within(this.#held, options.timeout, work);
      } catch (error) {
        throw this.#fail(name, options, { error, kept });
      }
      return this.#finish(name, options, { value, kept });
    });
  }

  async sleep(name: string, milliseconds: number): Promise<void> {
    if (!(milliseconds >= 0 && milliseconds <= 1e12)) {
      throw new TypeError(`The sleep "${name}" is ${milliseconds} ms long, expected 0 or more`);
    }
    const { clock, database } = this.#held.keeping;
    const kept = this.#find(name);
    const until = kept
      ? Number(this.#held.attempt(() => readResult(database, this.#held.id, name)))
      : Math.ceil(clock.now() + milliseconds);
    if (!kept) this.#keepNew(name, { repeatable: true }, "finish", String(until));
    const isLive = until - clock.now() <= shortSleep;
    if (until <= clock.now()) return;
    const isReady = (now: number): boolean => now >= until;
    await this.#wait<void>({ kind: "time", isLive, until, isReady }, () => ({ value: undefined }));
  }

  async waitForEvent(
    name: string,
    { type, timeout }: { readonly type: string; readonly timeout?: number | undefined },
  ): Promise<{ readonly payload: unknown }> {
    if (typeof type !== "string" || type === "") throw new TypeError(`The type of an event is ${JSON.stringify(type)}`);
    checkTimeout(name, timeout);
    const { clock, database } = this.#held.keeping;
    const { id } = this.#held;
    const kept = this.#find(name);
    if (kept) return this.#recall(name, kept);
    // When it began is kept, so that a restart does not begin the time-out again.
    const until = timeout === undefined ? undefined : this.#startOf(name, clock.now()) + timeout;
    const isReady = (now: number): boolean => (until !== undefined && now >= until) || hasSignal(database, id, type);
    return await this.#wait({ kind: "event", isLive: false, until, isReady }, () => {
      let outcome: { value: { payload: unknown } } | { error: Error } = {
        error: new TimeoutError("call", timeout ?? 0),
      };
      this.#held.write((run) => {
        const signal = takeSignal(database, id, type);
        if (signal) outcome = { value: signal };
        const text = signal ? JSON.stringify(signal) : describeFailure("error" in outcome ? outcome.error : undefined);
        return this.#outcome(
          run,
          { name, options: { repeatable: true }, kept: undefined },
          signal ? "finish" : "throw",
          text,
        );
      });
      return outcome;
    });
  }

  #find(name: string): StepRow | undefined {
    if (typeof name !== "string" || name === "" || name.length > 512 || name.includes("\0")) {
      throw new TypeError(`The name of a step is ${JSON.stringify(name)}, expected 1 to 512 characters`);
    }
    this.#held.check();
    if (this.#names.has(name)) throw new TypeError(`There is a step "${name}" already: names are unique in a run`);
    this.#names.add(name);
    return this.#held.attempt(() => findStep(this.#held.keeping.database, this.#held.id, name));
  }

  #recall<Value>(name: string, kept: StepRow): Value {
    if (kept.state === "unknown") throw new StepUnknownError(name);
    const { keeping: { database }, id } = this.#held;
    if (kept.state === "error") throw this.#held.attempt(() => readFailure(database, id, name));
    // What was kept is what the step gave: the caller knows its shape.
    return this.#held.attempt(() => readResult(database, id, name)) as Value;
  }

  async #intend(name: string, { argumentsHash }: StepOptions, kept: StepRow | undefined): Promise<void> {
    const { keeping: { database }, id: run } = this.#held;
    this.#held.write((row, now) => {
      writeIntent(database, { run, name, isRepeatable: false, argumentsHash, now }, kept);
      return row;
    });
    try {
      await database.sync?.();
    } catch (cause) {
      throw this.#held.leave("failed", cause);
    }
    this.#held.check();
  }

  #finish<Value>(
    name: string,
    options: StepOptions,
    { value, kept }: { value: Value; kept: StepRow | undefined },
  ): Value {
    const { valueBytes } = this.#held.keeping.limits;
    let text: string | undefined;
    try {
      text = JSON.stringify(value);
      const length = text?.length ?? 0;
      if (length > valueBytes) throw new LimitExceededError("limits.valueBytes", valueBytes, length);
    } catch (error) {
      // It was done, and cannot be kept: that is what is kept of it.
      throw this.#fail(name, options, { error, kept });
    }
    this.#keepNew(name, options, "finish", text, kept);
    return text === undefined ? value : JSON.parse(text);
  }

  /** Keeps what a step threw; gives what is to be thrown. */
  #fail(name: string, options: StepOptions, { error, kept }: { error: unknown; kept: StepRow | undefined }): unknown {
    // What breaks off because the run was left says nothing of the step.
    if (this.#held.isLeft || error instanceof RunLeftError) return this.#held.leave("lost");
    // Work may say of itself that nobody knows.
    const isUnknown = error instanceof StepTimeout || error instanceof StepUnknownError;
    if (isUnknown && !options.repeatable) {
      this.#keep(name, "lose", undefined);
      return new StepUnknownError(name);
    }
    const thrown = error instanceof StepTimeout ? new TimeoutError("call", error.milliseconds) : error;
    this.#keepNew(name, options, "throw", describeFailure(thrown), kept);
    return thrown;
  }

  /** Keeps the outcome of a step; of a repeatable one its beginning is kept with it. */
  #keepNew(
    name: string,
    options: StepOptions,
    act: "finish" | "throw",
    text: string | undefined,
    kept?: StepRow,
  ): void {
    this.#held.write((run) => this.#outcome(run, { name, options, kept }, act, text));
  }

  #outcome(
    run: RunRow,
    { name, options, kept }: { name: string; options: StepOptions; kept: StepRow | undefined },
    act: "finish" | "throw",
    text: string | undefined,
  ): RunRow {
    const { keeping: { database, clock, limits }, id } = this.#held;
    const now = clock.now();
    const { argumentsHash, repeatable } = options;
    if (repeatable) writeIntent(database, { run: id, name, isRepeatable: true, argumentsHash, now }, kept);
    writeOutcome(database, { run: id, name, now }, act, text);
    const bytes = run.bytes + (text?.length ?? 0);
    if (bytes > limits.bytes) throw new LimitExceededError("limits.bytes", limits.bytes, bytes);
    return { ...run, bytes, resumes: 0 };
  }

  #keep(name: string, act: "lose", text: string | undefined): void {
    const { keeping: { database }, id } = this.#held;
    this.#held.write((run, now) => {
      writeOutcome(database, { run: id, name, now }, act, text);
      return run;
    });
  }

  /** When a wait began, in whichever process: kept in the place of its outcome. */
  #startOf(name: string, now: number): number {
    const { keeping: { database }, id: run } = this.#held;
    const kept = this.#held.attempt(() => readResult(database, run, name));
    if (typeof kept === "number") return kept;
    this.#held.write((row) => {
      writeText(database, { run, kind: "step", name }, String(now));
      return row;
    });
    return now;
  }

  #wait<Value>(
    shape: Pick<Wait, "kind" | "isLive" | "until" | "isReady">,
    take: () => { value: Value } | { error: Error },
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const wait: Wait = {
        ...shape,
        settle(now) {
          if (!shape.isReady(now)) return false;
          const found = take();
          if ("error" in found) reject(found.error);
          else resolve(found.value);
          return true;
        },
        give: reject,
      };
      this.#held.wait(wait);
      if (shape.kind === "event") this.#held.poll();
    });
  }
}

/** A step took longer than it may. */
class StepTimeout extends Error {
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super("the step timed out");
    this.milliseconds = milliseconds;
  }
}

/** Runs work within a time, and no longer than the run is held. */
async function within<Value>(held: Holding, timeout: number | undefined, work: () => Promise<Value>): Promise<Value> {
  held.signal.throwIfAborted();
  let letGo = (): void => {};
  const limit = new Promise<never>((_, reject) => {
    const { signal, keeping: { clock } } = held;
    const leave = (): void => reject(signal.reason);
    signal.addEventListener("abort", leave);
    const callOff = timeout === undefined ? undefined : clock.schedule(() => reject(new StepTimeout(timeout)), timeout);
    letGo = () => {
      signal.removeEventListener("abort", leave);
      callOff?.();
    };
  });
  try {
    return await Promise.race([work(), limit]);
  } finally {
    letGo();
  }
}

function checkTimeout(name: string, timeout: number | undefined): void {
  if (timeout === undefined || (typeof timeout === "number" && !Number.isNaN(timeout))) return;
  throw new TypeError(`"timeout" of the step "${name}" is ${String(timeout)}, expected milliseconds`);
}

function checkArguments(name: string, { argumentsHash }: StepOptions, kept: StepRow): void {
  if (argumentsHash === kept.argumentsHash || argumentsHash === undefined || kept.argumentsHash === undefined) return;
  throw new TypeError(
    `The step "${name}" was begun with other arguments: a run has to do the same when it begins again`,
  );
}

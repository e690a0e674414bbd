/**
 * The steps of one run, and what began again.
 *
 * @module
 */
import type { StepOptions, Steps } from "../runs/steps.ts";

/** Steps that know whether this process does them for the first time. */
export class Journal {
  readonly #steps: Steps;
  readonly #signal: AbortSignal;
  readonly #thrown = new Set<unknown>();
  #hasRun = false;
  #isResumed = false;

  /**
   * @param signal Aborted when nothing is to be begun any more.
   */
  constructor(steps: Steps, signal: AbortSignal) {
    this.#steps = steps;
    this.#signal = signal;
  }

  /**
   * Does the first step of all.
   *
   * @returns What it gave, in whichever process.
   */
  async begin<Value>(work: () => Value): Promise<Value> {
    let isHere = false;
    const value = await this.do("begin", { repeatable: true }, () => {
      isHere = true;
      return Promise.resolve(work());
    });
    this.#hasRun = false;
    this.#isResumed = !isHere;
    return value;
  }

  /**
   * Does a step, unless it was done.
   *
   * @param work Is told whether a process that is gone may have begun it.
   */
  do<Value>(name: string, options: StepOptions, work: (isAgain: boolean) => Promise<Value>): Promise<Value> {
    return this.#steps.do(name, options, async () => {
      const isAgain = this.#isResumed && !this.#hasRun;
      this.#hasRun = true;
      try {
        this.#signal.throwIfAborted();
        return await work(isAgain);
      } catch (error) {
        this.#thrown.add(error);
        throw error;
      }
    });
  }

  /** Whether an error is of the work of this run, and not of what keeps its steps. */
  isOwn(error: unknown): boolean {
    return this.#thrown.has(error);
  }
}

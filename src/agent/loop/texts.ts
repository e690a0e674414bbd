/**
 * The texts of a run, for who asked an agent like a model.
 *
 * @module
 */

/**
 * What an agent says in the steps of its run, those of different steps apart. In a stream it is given on at once; else it is gathered, so
 * that what is begun anew takes the place of what was said before.
 */
export class Texts {
  readonly #isStream: boolean;
  readonly #bySteps = new Map<number, string>();

  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  get isEmpty(): boolean {
    return this.#bySteps.size === 0;
  }

  /** All that was not given on. */
  get gathered(): string {
    return this.#isStream ? "" : [...this.#bySteps.values()].join("\n\n");
  }

  /** Hears a piece, and gives what of it is to be given on. */
  *say(step: number, piece: string): Generator<string, void, undefined> {
    const before = this.#bySteps.get(step);
    this.#bySteps.set(step, this.#isStream ? "" : (before ?? "") + piece);
    if (!this.#isStream) return;
    if (before === undefined && this.#bySteps.size > 1) yield "\n\n";
    yield piece;
  }

  /** Takes back what was said in a step; false where it was given on already. */
  take(step: number): boolean {
    return !this.#bySteps.delete(step) || !this.#isStream;
  }
}

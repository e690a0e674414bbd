/**
 * A list in a store, which several commands change at the same time.
 *
 * @module
 */
import type { Store } from "../ports.ts";
import { OverloadedError } from "../protocol/errors.ts";

/** How often a list that others change at the same time is read anew. */
const attempts = 20;

/** A list under one key. What cannot be read is left out. */
export class KeptList<Entry> {
  readonly #key: string;
  readonly #isEntry: (value: unknown) => value is Entry;

  constructor(key: string, isEntry: (value: unknown) => value is Entry) {
    this.#key = key;
    this.#isEntry = isEntry;
  }

  /** What is kept, in the order in which it was. */
  async read(store: Store): Promise<readonly Entry[]> {
    return this.#parse(await store.get(this.#key));
  }

  /**
   * Keeps what `next` makes of the list. It may be asked again, when somebody else was quicker.
   *
   * @throws {OverloadedError} When somebody else was quicker each time: nothing was kept.
   */
  async change(store: Store, next: (list: readonly Entry[]) => readonly Entry[]): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const before = await store.get(this.#key);
      const list = next(this.#parse(before));
      const after = list.length === 0 ? undefined : JSON.stringify(list);
      if (after === before) return;
      if (!store.compareAndSet) {
        return await (after === undefined ? store.delete(this.#key) : store.set(this.#key, after));
      }
      if (await store.compareAndSet(this.#key, before, after)) return;
    }
    const reason = `others changed it each of ${attempts} times, run the command again when they are done`;
    throw new OverloadedError(`Cannot change the list "${this.#key}": ${reason}`, { retryable: true });
  }

  #parse(text: string | undefined): readonly Entry[] {
    try {
      const list: unknown = JSON.parse(text ?? "[]");
      return Array.isArray(list) ? list.filter(this.#isEntry) : [];
    } catch {
      return [];
    }
  }
}

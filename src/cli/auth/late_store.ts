/**
 * The store of sign-ins, whose code is loaded when it is asked for the first time: most calls need none.
 *
 * @module
 */
import type { Store } from "../../ports.ts";

/** A store that is made with the first question. */
export class LateStore implements Required<Store> {
  readonly #make: () => Promise<Required<Store>>;
  #store: Promise<Required<Store>> | undefined;

  /** @param make Makes the store: called once. */
  constructor(make: () => Promise<Required<Store>>) {
    this.#make = make;
  }

  /** As the store does it. */
  async get(key: string): Promise<string | undefined> {
    return await (await this.#opened()).get(key);
  }

  /** As the store does it. */
  async set(key: string, value: string): Promise<void> {
    await (await this.#opened()).set(key, value);
  }

  /** As the store does it. */
  async delete(key: string): Promise<void> {
    await (await this.#opened()).delete(key);
  }

  /** As the store does it. */
  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    return await (await this.#opened()).compareAndSet(key, expected, value);
  }

  #opened(): Promise<Required<Store>> {
    return this.#store ??= this.#make();
  }
}

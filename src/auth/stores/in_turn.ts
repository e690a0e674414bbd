/**
 * Stores that cannot compare, made ones that can within this process.
 *
 * @module
 */
import { type Clock, type Store, systemClock } from "../../ports.ts";
import { Turns } from "./turns.ts";

/**
 * A store whose changes of one key come one after another, so that it can compare where the given one cannot. Nothing is known
 * of changes by other processes, nor of those that do not go through what is given here.
 *
 * @returns The store itself, where it can compare.
 */
export function inTurn(store: Store, clock: Clock = systemClock): Required<Store> {
  return canCompare(store) ? store : new StoreInTurn(store, clock);
}

function canCompare(store: Store): store is Required<Store> {
  return store.compareAndSet !== undefined;
}

class StoreInTurn implements Required<Store> {
  readonly #store: Store;
  readonly #turns: Turns;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    // How long a change waits for the one before it, in milliseconds.
    this.#turns = new Turns(clock, 10_000);
  }

  async get(key: string): Promise<string | undefined> {
    // Many a store says null.
    return await this.#store.get(key) ?? undefined;
  }

  async set(key: string, value: string): Promise<void> {
    await this.#turns.alone(key, () => this.#store.set(key, value));
  }

  async delete(key: string): Promise<void> {
    await this.#turns.alone(key, () => this.#store.delete(key));
  }

  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    return await this.#turns.alone(key, async () => {
      if (await this.get(key) !== expected) return false;
      await (value === undefined ? this.#store.delete(key) : this.#store.set(key, value));
      return true;
    });
  }
}

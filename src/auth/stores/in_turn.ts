/**
 * Stores that cannot compare, made ones that can within this process.
 *
 * @module
 */
import { type Clock, type Store, systemClock } from "../../ports.ts";

/** How long a change waits for the one before it, in milliseconds: a Worker may have ended that one with its request. */
const patience = 10_000;

/** A change that is under way, or waits for another one. */
interface Turn {
  /** Until when it is waited for, by the monotonic clock. */
  readonly until: number;
  readonly over: Promise<void>;
}

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
  readonly #clock: Clock;
  /** The last one of each key. */
  readonly #turns = new Map<string, Turn>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async get(key: string): Promise<string | undefined> {
    // Many a store says null.
    return await this.#store.get(key) ?? undefined;
  }

  async set(key: string, value: string): Promise<void> {
    await this.#alone(key, () => this.#store.set(key, value));
  }

  async delete(key: string): Promise<void> {
    await this.#alone(key, () => this.#store.delete(key));
  }

  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    return await this.#alone(key, async () => {
      if (await this.get(key) !== expected) return false;
      await (value === undefined ? this.#store.delete(key) : this.#store.set(key, value));
      return true;
    });
  }

  async #alone<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#turns.get(key);
    const now = this.#clock.monotonic();
    let end = (): void => {};
    const over = new Promise<void>((resolve) => end = resolve);
    const own: Turn = { until: Math.max(before?.until ?? 0, now) + patience, over };
    this.#turns.set(key, own);
    try {
      if (before) await this.#waitFor(before, now);
      return await work();
    } finally {
      end();
      if (this.#turns.get(key) === own) this.#turns.delete(key);
    }
  }

  async #waitFor({ over, until }: Turn, now: number): Promise<void> {
    let callOff = (): void => {};
    const late = new Promise<void>((resolve) => callOff = this.#clock.schedule(resolve, until - now));
    await Promise.race([over, late]).finally(callOff);
  }
}

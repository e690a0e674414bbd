/**
 * A place for text that does as a test tells it.
 *
 * @module
 */
import type { Store } from "../../src/ports.ts";

/** A store that does as it is told. */
export class TestStore implements Store {
  readonly texts: Map<string, string> = new Map();
  reads = 0;
  /** What each write waits for. */
  held: Promise<void> | undefined;
  /** The longest text that it takes. */
  most: number = Infinity;
  mood: "well" | "fails" | "hangs" = "well";

  async get(key: string): Promise<string | undefined> {
    this.reads++;
    await this.#answer();
    return this.texts.get(key);
  }

  async set(key: string, value: string): Promise<void> {
    await this.#answer();
    await this.held;
    if (value.length > this.most) throw new Error("this is too long");
    this.texts.set(key, value);
  }

  async delete(key: string): Promise<void> {
    await this.#answer();
    this.texts.delete(key);
  }

  async #answer(): Promise<void> {
    if (this.mood === "hangs") await new Promise(() => {});
    if (this.mood === "fails") throw new Error("the disk is on fire");
    await Promise.resolve();
  }
}

/** One that can compare, too. */
export class ComparingStore extends TestStore {
  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    await this.held;
    if (this.texts.get(key) !== expected) return false;
    if (value === undefined) this.texts.delete(key);
    else this.texts.set(key, value);
    return true;
  }
}

/**
 * What waits to be written to one channel: in order, joined where it can be, and not without bound.
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";
import type { Channel } from "../transport/channel.ts";

/** Writes texts to a channel; a write that is not done holds the next one back. */
export class Outbox {
  readonly #channel: Channel;
  readonly #limit: number;
  readonly #failed: (error: unknown) => void;
  #texts: string[] = [];
  /** Of what waits and what is being written, in characters. */
  #size = 0;
  #writing: Promise<void> | undefined;
  #closed = false;

  /**
   * @param limit The most that may wait (`limits.outboxBytes`).
   * @param failed Called once when it cannot go on: the channel is broken, or too much waits.
   */
  constructor(channel: Channel, limit: number, failed: (error: unknown) => void) {
    this.#channel = channel;
    this.#limit = limit;
    this.#failed = failed;
  }

  /** Takes one message's text; dropped when it is closed. */
  push(text: string): void {
    if (this.#closed) return;
    const size = this.#size + text.length + 1;
    if (size > this.#limit) return this.#fail(new LimitExceededError("limits.outboxBytes", this.#limit, size));
    this.#texts.push(text);
    this.#size = size;
    this.#writing ??= this.#write();
  }

  /** Resolves when all that was taken is written, or cannot be. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  /** Nothing more is written. */
  close(): void {
    this.#closed = true;
    this.#texts = [];
  }

  async #write(): Promise<void> {
    // What is told in one tick is written at once.
    await undefined;
    try {
      while (this.#texts.length > 0) {
        const texts = this.#texts;
        const size = this.#size;
        this.#texts = [];
        await this.#channel.write(texts);
        this.#size -= size;
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#writing = undefined;
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#failed(error);
  }
}

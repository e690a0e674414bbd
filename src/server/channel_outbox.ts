/**
 * What waits to be written to one channel: in order, joined where it can be, and not without bound.
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";
import type { Channel } from "../transport/channel.ts";

/** So many texts are written without waiting for the turn's end: the other side can work on them meanwhile. */
const batch = 16;

/** Writes texts to a channel; a write that is not done holds the next one back. */
export class Outbox {
  readonly #channel: Channel;
  readonly #limit: number;
  readonly #failed: (error: unknown) => void;
  #texts: string[] = [];
  /** Of what waits and what is being written, in characters. */
  #size = 0;
  #isBusy = false;
  /** What the channel has not taken yet. */
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
    this.#size = size;
    const waiting = this.#texts.push(text);
    if (waiting >= batch) this.#write();
    // What is told in one turn is written at once.
    else if (waiting === 1) queueMicrotask(() => this.#write());
  }

  /** Resolves when all that was taken is written, or cannot be. */
  async flushed(): Promise<void> {
    this.#write();
    while (this.#writing) await this.#writing;
  }

  /** Nothing more is written. */
  close(): void {
    this.#closed = true;
    this.#texts = [];
  }

  /** Writes what waits, unless the channel is busy: then it is written afterwards. */
  #write(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (this.#texts.length > 0) {
        const size = this.#size;
        const written = this.#channel.write(this.#texts.splice(0));
        if (written) {
          this.#writing = this.#waitFor(written, size);
          return;
        }
        this.#size -= size;
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#isBusy = false;
  }

  async #waitFor(written: Promise<void>, size: number): Promise<void> {
    try {
      await written;
      this.#size -= size;
    } catch (error) {
      this.#fail(error);
    }
    this.#writing = undefined;
    this.#isBusy = false;
    this.#write();
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#failed(error);
  }
}

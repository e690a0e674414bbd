/**
 * Bytes that are gathered until they are whole.
 *
 * @module
 */

/** Whether memory can be given back at once. Node 20 cannot. */
const canRelease = "transfer" in ArrayBuffer.prototype;
/**
 * The rooms that are taken one after the other; then each is twice as large. A system gives only pages that are written
 * to, so that a large room costs little. Where memory is given back by the collector alone, it looks around when a large
 * room is asked for: there is one more, so that it does so in the middle of a long message.
 */
const rooms = [2 ** 12, 2 ** 16, 2 ** 21, ...canRelease ? [] : [2 ** 23], 2 ** 26];
/** A larger room is given back at once, and not kept for the next bytes. */
const kept = 2 ** 21;

/**
 * Gathers bytes in one piece. Its own memory is the only copy: what is added may be used for something else afterwards.
 */
export class ByteStore {
  /** How many bytes are in it. */
  length = 0;
  readonly #most: number;
  #room = new Uint8Array();

  /** @param most The most bytes that it has to hold. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds bytes behind those that are there. */
  add(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#room.length) this.#grow(length);
    this.#room.set(bytes, this.length);
    this.length = length;
  }

  /** All of them, until something is added or cleared. */
  all(): Uint8Array {
    return this.#room.subarray(0, this.length);
  }

  /** Forgets them. */
  clear(): void {
    this.length = 0;
    if (this.#room.length <= kept) return;
    release(this.#room);
    this.#room = new Uint8Array();
  }

  #grow(length: number): void {
    const old = this.#room;
    const room = rooms.find((size) => size >= length) ?? 2 * length;
    this.#room = new Uint8Array(Math.max(length, Math.min(room, this.#most)));
    this.#room.set(old.subarray(0, this.length));
    release(old);
  }
}

/** Frees memory now: the collector would only do so after the next long message has found no room. */
function release({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (canRelease) buffer.transfer(0);
}

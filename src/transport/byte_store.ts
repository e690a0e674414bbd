/**
 * Bytes that are gathered until they are whole.
 *
 * @module
 */

/** From this size on the room is given back to the system at once, and not kept for the next bytes. */
const large = 2 ** 20;
const small = 2 ** 12;

/**
 * Gathers bytes in one piece. Its own memory is the only copy: what is added may be used for something else afterwards.
 * The room is twice what is needed at most; of a large one, a system gives only the pages that are written to.
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
    if (this.#room.length < large) return;
    release(this.#room);
    this.#room = new Uint8Array();
  }

  #grow(length: number): void {
    const old = this.#room;
    this.#room = new Uint8Array(Math.max(length, Math.min(Math.max(small, 2 * length), this.#most)));
    this.#room.set(old.subarray(0, this.length));
    release(old);
  }
}

/** Frees memory now: the collector would only do so after the next long message has found no room. */
function release({ buffer }: Uint8Array<ArrayBuffer>): void {
  // Node 20 cannot.
  buffer.transfer?.(0);
}

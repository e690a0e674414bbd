/**
 * The last part of a stream of bytes.
 *
 * @module
 */

/** Keeps the last bytes of what is pushed, as they came. */
export class TextTail {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isCut = false;

  /** @param limit How many bytes are kept. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes the next bytes; what is too old is dropped. */
  push(chunk: Uint8Array): void {
    if (this.#bytes + chunk.length > this.#limit) this.#isCut = true;
    // A copy: the chunk may be used for something else afterwards, and no large buffer is to stay for its last bytes.
    const kept = chunk.slice(-this.#limit);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    let drop = 0;
    for (let first = this.#chunks[0]; first && this.#bytes - first.length >= this.#limit; first = this.#chunks[drop]) {
      this.#bytes -= first.length;
      drop++;
    }
    if (drop > 0) this.#chunks.splice(0, drop);
    // Many tiny chunks would cost more than their bytes.
    if (this.#chunks.length > 256) this.#chunks = [this.#join()];
  }

  /** What is kept, as text. It begins with a whole line where it can: half a secret is not known as one. */
  text(): string {
    const bytes = this.#join().subarray(-this.#limit);
    return new TextDecoder().decode(this.#isCut ? bytes.subarray(bytes.indexOf(10) + 1) : bytes);
  }

  #join(): Uint8Array {
    const all = new Uint8Array(this.#bytes);
    let offset = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, offset);
      offset += chunk.length;
    }
    return all;
  }
}

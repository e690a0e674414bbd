/**
 * Newline-delimited text out of a stream of bytes (specification 2026-07-28: stdio, Message Framing).
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";
import { ByteStore } from "./byte_store.ts";

const newline = 10;
const carriageReturn = 13;
const byteOrderMark = 0xfeff;

/**
 * Splits UTF-8 bytes into lines. A line ends with LF or CRLF. A byte order mark at the very start is dropped once.
 * Bytes that are no UTF-8 become U+FFFD instead of an error: a program's noise must not kill the pipe, and a damaged
 * message shows when it is checked.
 *
 * An unfinished line is kept as bytes and decoded once, when it is whole: a long one is never held in two forms for
 * longer than its decoding takes.
 */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The unfinished line. */
  readonly #rest: ByteStore;
  #started = false;

  /**
   * @param limit The bytes that one line may have, without its LF (`limits.messageBytes`).
   * @param onLine Called with each line, without its line end, also with empty ones.
   */
  constructor(limit: number, onLine: (line: string) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
    this.#rest = new ByteStore(limit + 1);
  }

  /**
   * Takes the next bytes, which may be used for something else afterwards. The lines before one that is too long are
   * still given.
   *
   * @throws {LimitExceededError} When a line has more bytes than the limit; nothing of it is kept.
   */
  push(chunk: Uint8Array): void {
    // What is kept and the whole chunk together fit: no line in it can be too long.
    if (this.#rest.length + chunk.length > this.#limit) return this.#pushChecked(chunk);
    const end = chunk.lastIndexOf(newline) + 1;
    if (end === chunk.length) return this.#give(chunk);
    if (end > 0) this.#give(chunk.subarray(0, end));
    this.#rest.add(end > 0 ? chunk.subarray(end) : chunk);
  }

  /** The stream has ended: gives the last line, if it has no line end. */
  end(): void {
    const text = this.#decode(this.#rest.all());
    this.#rest.clear();
    if (text !== "") this.#line(text, 0, text.length);
  }

  /** Measures each line in bytes before any of it is decoded or kept. */
  #pushChecked(chunk: Uint8Array): void {
    let from = 0;
    while (from < chunk.length) {
      const found = chunk.indexOf(newline, from);
      const until = found < 0 ? chunk.length : found;
      const bytes = this.#rest.length + until - from;
      if (bytes > this.#limit) {
        this.#rest.clear();
        throw new LimitExceededError("limits.messageBytes", this.#limit, bytes);
      }
      if (found < 0) return this.#rest.add(chunk.subarray(from));
      this.#give(chunk.subarray(from, found + 1));
      from = found + 1;
    }
  }

  /** Gives the lines of bytes that end with a line end, the first after what was kept of it. */
  #give(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    let text: string;
    if (this.#rest.length > 0) {
      this.#rest.add(bytes);
      text = this.#decode(this.#rest.all());
      this.#rest.clear();
    } else text = this.#decode(bytes);
    let from = 0;
    for (let found = text.indexOf("\n"); found >= 0; found = text.indexOf("\n", from)) {
      this.#line(text, from, found);
      from = found + 1;
    }
  }

  #decode(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes);
    if (this.#started) return text;
    this.#started = bytes.length > 0;
    return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
  }

  #line(text: string, from: number, until: number): void {
    this.#onLine(text.slice(from, until > from && text.charCodeAt(until - 1) === carriageReturn ? until - 1 : until));
  }
}

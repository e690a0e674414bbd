/**
 * Newline-delimited text out of a stream of bytes (specification 2026-07-28: stdio, Message Framing).
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";

const newline = 10;

/**
 * Splits UTF-8 bytes into lines. A line ends with LF or CRLF. A byte order mark at the very start is dropped once.
 * Bytes that are no UTF-8 become U+FFFD instead of an error: a program's noise must not kill the pipe, and a damaged
 * message shows when it is checked.
 */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The unfinished line, in the pieces in which it came. */
  #parts: string[] = [];
  /** Bytes of the unfinished line. */
  #bytes = 0;
  #started = false;

  /**
   * @param limit The bytes that one line may have, without its LF (`limits.messageBytes`).
   * @param onLine Called with each line, without its line end, also with empty ones.
   */
  constructor(limit: number, onLine: (line: string) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
  }

  /**
   * Takes the next bytes. The lines before one that is too long are still given.
   *
   * @throws {LimitExceededError} When a line has more bytes than the limit; nothing of it is kept.
   */
  push(chunk: Uint8Array): void {
    // What is pending and the whole chunk together fit: no line in it can be too long.
    if (this.#bytes + chunk.length > this.#limit) return this.#pushChecked(chunk);
    const last = chunk.lastIndexOf(newline);
    this.#bytes = last < 0 ? this.#bytes + chunk.length : chunk.length - last - 1;
    this.#split(chunk);
  }

  /** The stream has ended: gives the last line, if it has no line end. */
  end(): void {
    this.#add(this.#decoder.decode());
    if (this.#parts.length > 0) this.#finish("");
    this.#bytes = 0;
  }

  /** Measures each line in bytes before any of it is decoded or kept. */
  #pushChecked(chunk: Uint8Array): void {
    let from = 0;
    while (from < chunk.length) {
      const found = chunk.indexOf(newline, from);
      const until = found < 0 ? chunk.length : found;
      const bytes = this.#bytes + until - from;
      if (bytes > this.#limit) {
        this.#parts = [];
        this.#bytes = 0;
        throw new LimitExceededError("limits.messageBytes", this.#limit, bytes);
      }
      const end = found < 0 ? until : until + 1;
      this.#bytes = found < 0 ? bytes : 0;
      this.#split(chunk.subarray(from, end));
      from = end;
    }
  }

  #split(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    // A chunk that ends in ASCII leaves no character half done, and decoding without `stream` is several times cheaper.
    const text = (chunk[chunk.length - 1] ?? 0) < 0x80
      ? this.#decoder.decode(chunk)
      : this.#decoder.decode(chunk, { stream: true });
    let from = this.#started || text.charCodeAt(0) !== 0xfeff ? 0 : 1;
    if (text.length > 0) this.#started = true;
    for (let found = text.indexOf("\n", from); found >= 0; found = text.indexOf("\n", from)) {
      const start = from;
      from = found + 1;
      this.#finish(text.slice(start, found));
    }
    this.#add(from === 0 ? text : text.slice(from));
  }

  #add(text: string): void {
    if (text.length > 0) this.#parts.push(text);
  }

  #finish(text: string): void {
    if (this.#parts.length > 0) {
      this.#parts.push(text);
      text = this.#parts.join("");
      this.#parts = [];
    }
    this.#onLine(text.endsWith("\r") ? text.slice(0, -1) : text);
  }
}

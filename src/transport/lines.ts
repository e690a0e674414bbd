/**
 * Newline-delimited text out of a stream of bytes (specification 2026-07-28: stdio, Message Framing).
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";

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
    if (text !== "") this.#onLine(text.endsWith("\r") ? text.slice(0, -1) : text);
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
      this.#onLine(text.slice(from, text.charCodeAt(found - 1) === carriageReturn && found > from ? found - 1 : found));
      from = found + 1;
    }
  }

  #decode(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes);
    if (this.#started) return text;
    this.#started = bytes.length > 0;
    return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
  }
}

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
class ByteStore {
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

/**
 * Server-sent events out of a stream of bytes (WHATWG HTML: server-sent events, Interpreting an event stream).
 *
 * @module
 */
import { checkLimit } from "../protocol/limits.ts";

/** Takes one event: its data (never empty), its type (`message` when none was named) and the last id seen so far. */
export type OnSseEvent = (data: string, event: string, id: string | undefined) => void;

// Without `stream` a decoder keeps nothing between two calls, so that one can serve all. The mark is dropped by hand.
const ignoreBOM = { ignoreBOM: true };
const decoder = new TextDecoder("utf-8", ignoreBOM);

/**
 * A push parser for one stream. Lines end with LF, CR or CRLF, also when a chunk ends between the two; comments and
 * fields that no one knows are ignored; bytes that are no UTF-8 become U+FFFD. Once `push` has thrown, it is used up.
 */
export class SseParser {
  /** The last event id that an ended event carried, also one without data; undefined before the first. */
  lastEventId: string | undefined;
  /** The last `retry` in milliseconds as it was sent: any size, also 0 or Infinity. Clamp it. */
  retry: number | undefined;
  readonly #limit: number;
  readonly #onEvent: OnSseEvent;
  /** Only while a character is cut in two by the end of a chunk. */
  #decoder: TextDecoder | undefined;
  /** What does not count at the start of the next chunk: a byte order mark at first, an LF whose CR ended the last one. */
  #skipped = "\ufeff";
  /** The unfinished line. */
  #held = "";
  /** The unfinished event, and the length of its lines of data. */
  #data: string | undefined;
  #size = 0;
  #event = "";
  #id: string | undefined;

  /**
   * @param limit The decoded characters that one line, or the `data` lines of one event with their field names, may have (`limits.messageBytes`).
   * @param onEvent Called with each event that has data.
   */
  constructor(limit: number, onEvent: OnSseEvent) {
    this.#limit = limit;
    this.#onEvent = onEvent;
  }

  /**
   * Takes the next bytes and gives the events that end in them. The bytes may be overwritten afterwards.
   *
   * @throws {LimitExceededError} When a line or an event is larger than the limit; the events before it were given.
   */
  push(chunk: Uint8Array): void {
    if (!chunk.length) return;
    // A chunk that ends in ASCII leaves no character half done, and decoding without `stream` is several times cheaper.
    const stream = (chunk.at(-1) as number) > 127;
    if (stream) this.#decoder ??= new TextDecoder("utf-8", ignoreBOM);
    let text = (this.#decoder ?? decoder).decode(chunk, { stream });
    if (!stream) this.#decoder = undefined;
    if (!text) return;
    if (text.startsWith(this.#skipped)) text = text.slice(this.#skipped.length);
    this.#skipped = text.endsWith("\r") ? "\n" : "";
    const lines = text.split(text.includes("\r") ? /\r\n?|\n/ : "\n");
    const rest = lines.pop();
    for (const line of lines) {
      const whole = this.#held + line;
      this.#held = "";
      this.#take(whole);
    }
    this.#check((this.#held += rest).length);
  }

  /** The stream has ended: an unfinished event is dropped, as WHATWG has it. */
  end(): void {
    this.#data = undefined;
  }

  #take(line: string): void {
    if (!line) return this.#dispatch();
    this.#check(line.length);
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "data") {
      this.#check(this.#size += line.length);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event || "message";
    this.lastEventId = this.#id;
    this.#data = undefined;
    this.#size = 0;
    this.#event = "";
    if (data) this.#onEvent(data, event, this.#id);
  }

  #check(seen: number): void {
    checkLimit("messageBytes", this.#limit, seen);
  }
}

/**
 * Server-sent events out of a stream of bytes (WHATWG HTML: server-sent events, Interpreting an event stream).
 *
 * @module
 */
import { checkLimit } from "../protocol/limits.ts";

/** Takes one event: its data (never empty) and its type (`message` when none was named). */
export type OnSseEvent = (data: string, event: string) => void;

// Without `stream` a decoder keeps nothing between two calls, so that one can serve all. The mark is dropped by hand.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A push parser for one stream. Lines end with LF, CR or CRLF, also when a chunk ends between the two; comments and
 * fields that no one knows are ignored; bytes that are no UTF-8 become U+FFFD. An event that is unfinished when the stream
 * ends is dropped, as WHATWG has it. Once `push` has thrown, the parser is used up.
 */
export class SseParser {
  /** The last event id that an ended event carried, also one without data; undefined before the first. */
  declare lastEventId: string | undefined;
  /** The last `retry` in milliseconds as it was sent: any size, also 0 or Infinity. Clamp it. */
  declare retryAfter: number | undefined;
  readonly #limit: number;
  readonly #onEvent: OnSseEvent;
  /** Only while a character is cut in two by the end of a chunk. */
  #decoder: TextDecoder | undefined;
  /** What is passed over where the next text begins with it: a mark at the start, or the LF of a CR that ended a chunk. */
  #passed = "\ufeff";
  /** The unfinished line. */
  #rest = "";
  /** The unfinished event: its lines of data, and their length with their names. */
  #data: string[] = [];
  #size = 0;
  #event: string | undefined;
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
    // A chunk that ends in ASCII leaves no character half done, and decoding without `stream` is several times cheaper.
    const stream = !(chunk.at(-1) as number < 128);
    if (stream) this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    let text = (this.#decoder ?? decoder).decode(chunk, stream ? { stream } : undefined);
    if (!stream) this.#decoder = undefined;
    if (!text) return;
    // A CR without an LF ends a line too; at the end of the chunk an LF may still come for it.
    let at = this.#passed && text.startsWith(this.#passed) ? 1 : 0;
    this.#passed = text.endsWith("\r") ? "\n" : "";
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n");
    for (let end; (end = text.indexOf("\n", at)) >= 0; at = end + 1) this.#take(text, at, end);
    // Nothing looks into it before its end has come: then it is put together, once.
    this.#rest += text.slice(at);
    checkLimit("messageBytes", this.#limit, this.#rest.length);
  }

  /** Takes a line without its end: `text` from `at` to `end`, after what is held. */
  #take(text: string, at: number, end: number): void {
    if (this.#rest) {
      text = this.#rest + text.slice(at, end);
      this.#rest = "";
      at = 0;
      end = text.length;
    }
    const length = end - at;
    if (length) {
      let value = field("data", text, at, end);
      const isData = value !== undefined;
      checkLimit("messageBytes", this.#limit, isData ? this.#size += length : length);
      if (isData) this.#data.push(value as string);
      else if ((value = field("event", text, at, end)) !== undefined) this.#event = value;
      else if ((value = field("id", text, at, end)) !== undefined) {
        if (!value.includes("\0")) this.#id = value;
      } else if (/^\d+$/.test(value = field("retry", text, at, end) ?? "")) this.retryAfter = Number(value);
    } else {
      const data = this.#data.join("\n");
      this.lastEventId = this.#id;
      if (data) this.#onEvent(data, this.#event || "message");
      this.#data = [];
      this.#size = 0;
      this.#event = "";
    }
  }
}

/** The value of a line, if it is this field. */
function field(name: string, text: string, at: number, end: number): string | undefined {
  if (!text.startsWith(name, at)) return undefined;
  at += name.length;
  if (at < end && text[at++] !== ":") return undefined;
  return text.slice(text[at] === " " ? at + 1 : at, end);
}

/**
 * Server-sent events, read with a bound on what one event may hold.
 *
 * @module
 */

/** One event. */
export interface StreamEvent {
  /** Its place; undefined where it has none. */
  readonly id: string | undefined;
  readonly event: string;
  /** Undefined where it is longer than what is read. */
  readonly data: string | undefined;
  /** Characters that its data has. */
  readonly size: number;
}

/** Takes a stream apart. What is too long is counted, and not kept. */
export class EventReader {
  readonly #most: number;
  #line = "";
  /** Characters of the line that were dropped. */
  #dropped = 0;
  #data: string[] = [];
  #size = 0;
  #event = "";
  #id: string | undefined;
  #isCut = false;

  /** @param most Characters of data that an event may have. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a piece of the stream, and gives the events that end in it. */
  push(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.#append(text, from, at);
      this.#take(events);
      from = at + 1;
    }
    this.#append(text, from, text.length);
    return events;
  }

  #append(text: string, from: number, to: number): void {
    const room = this.#most + 16 - this.#line.length;
    if (room > 0) this.#line += text.slice(from, Math.min(to, from + room));
    this.#dropped += Math.max(0, to - from - Math.max(0, room));
  }

  #take(events: StreamEvent[]): void {
    const line = this.#line.replace(/\r$/, "");
    const length = line.length + this.#dropped;
    const isCut = this.#dropped > 0;
    this.#line = "";
    this.#dropped = 0;
    if (line === "") {
      if (this.#size > 0 || this.#data.length) events.push(this.#finish());
      this.#reset();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "id") this.#id = value;
    else if (field === "data") {
      this.#size += length - (line.length - value.length);
      this.#isCut ||= isCut || this.#size > this.#most;
      if (this.#isCut) this.#data = [];
      else this.#data.push(value);
    }
  }

  #finish(): StreamEvent {
    const data = this.#isCut ? undefined : this.#data.join("\n");
    return { id: this.#id, event: this.#event || "message", data, size: this.#size };
  }

  #reset(): void {
    this.#data = [];
    this.#size = 0;
    this.#event = "";
    this.#id = undefined;
    this.#isCut = false;
  }
}

/**
 * Reads a body to its end, event by event.
 *
 * @param heard Called behind whatever has come, comments too.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  most: number,
  take: (event: StreamEvent) => void,
  heard?: () => void,
): Promise<void> {
  const events = new EventReader(most);
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of events.push(decoder.decode(value, { stream: true }))) take(event);
      heard?.();
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** A text that was read up to a bound. */
export interface CutText {
  readonly text: string;
  /** Bytes that came. */
  readonly size: number;
  readonly isCut: boolean;
}

/** Reads a body; of one that is longer than `most` bytes the beginning is kept, and the rest counted. */
export async function readText(body: ReadableStream<Uint8Array> | null, most: number): Promise<CutText> {
  if (!body) return { text: "", size: 0, isCut: false };
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const parts: string[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (size < most) parts.push(decoder.decode(value.subarray(0, most - size), { stream: true }));
    size += value.length;
  }
  return { text: parts.join(""), size, isCut: size > most };
}

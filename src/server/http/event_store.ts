/**
 * What a legacy client may come back for: the messages of its streams, kept within bounds.
 *
 * @module
 */
import type { EventStream } from "./event_stream.ts";

interface StoredEvent {
  readonly owner: ResumableStream;
  readonly sequence: number;
  readonly text: string;
}

/** The messages of all streams of one endpoint; with too many the oldest go, whosesoever they are. */
export class EventStore {
  /** In the order in which they came. */
  readonly #events = new Set<StoredEvent>();
  readonly #perStream: number;
  readonly #most: number;
  #characters = 0;

  /**
   * @param perStream Messages that are kept for one stream.
   * @param characters Characters that are kept in all.
   */
  constructor(perStream: number, characters: number) {
    this.#perStream = perStream;
    this.#most = characters;
  }

  /** Keeps a message. What a stream has too many goes, then what all have too many. */
  keep(event: StoredEvent, siblings: StoredEvent[]): void {
    siblings.push(event);
    this.#events.add(event);
    this.#characters += event.text.length;
    while (siblings.length > this.#perStream) this.drop(siblings.shift());
    for (const oldest of this.#events) {
      if (this.#characters <= this.#most) break;
      oldest.owner.forgetOldest();
    }
  }

  /** Lets a message go that its stream has let go. */
  drop(event: StoredEvent | undefined): void {
    if (event && this.#events.delete(event)) this.#characters -= event.text.length;
  }
}

/**
 * One stream of a session. It outlives its connections: a client that was cut off names the last event it saw, and gets
 * what followed on this stream and on no other (specification 2025-11-25: Resumability and Redelivery).
 */
export class ResumableStream {
  /** Part of the ids of its events. */
  readonly name: string;
  readonly #store: EventStore;
  readonly #events: StoredEvent[] = [];
  #sequence = 0;
  /** The last event that was written to some connection. */
  #written = 0;
  #connection: EventStream | undefined;
  #over: boolean | undefined;

  /** @param name Part of the event ids: letters and digits, one of its kind in the session. */
  constructor(name: string, store: EventStore) {
    this.name = name;
    this.#store = store;
  }

  /** Whether a client reads it now. */
  get connected(): boolean {
    return this.#connection?.open ?? false;
  }

  /** Sends a message, now or when the client comes back. */
  send(text: string): void {
    if (this.#over) return;
    const sequence = ++this.#sequence;
    this.#store.keep({ owner: this, sequence, text }, this.#events);
    if (this.connected) this.#write(sequence, text);
  }

  /**
   * Goes on with another connection; the one before ends.
   *
   * @param after The last event that the client saw. Default: the last that was written to anyone.
   * @param retry As for {@linkcode EventStream.prime}; undefined for clients that know no event without data.
   */
  connect(connection: EventStream, after: number = this.#written, retry?: string): void {
    const last = this.#connection;
    this.#connection = connection;
    last?.end();
    if (retry !== undefined) connection.prime(`${this.name}-${after}`, retry);
    for (const { sequence, text } of this.#events) if (sequence > after) this.#write(sequence, text);
    if (this.#over) connection.end();
  }

  /** Nothing follows. What was sent can still be come back for, until it is forgotten. */
  end(): void {
    this.#over = true;
    this.#connection?.end();
    this.#connection = undefined;
  }

  /** Lets all messages go. */
  forget(): void {
    for (const event of this.#events.splice(0)) this.#store.drop(event);
  }

  /** Lets the oldest message go. */
  forgetOldest(): void {
    this.#store.drop(this.#events.shift());
  }

  #write(sequence: number, text: string): void {
    this.#connection?.send(text, `${this.name}-${sequence}`);
    // Who left, or was too slow for it, did not get it.
    if (this.connected) this.#written = Math.max(this.#written, sequence);
  }
}

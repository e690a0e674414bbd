/**
 * One legacy session over HTTP: its streams, its running requests, and how the era behind it reaches the client.
 *
 * @module
 */
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from "../../protocol/json_rpc.ts";
import type { AuthInfo } from "../definitions.ts";
import type { Incoming, LegacyOutlet, LegacyServing, ServerParts } from "../seam.ts";
import { ResumableStream } from "./event_store.ts";
import type { EventStore } from "./event_store.ts";
import { EventStream } from "./event_stream.ts";
import { writeMessage } from "../common/write_message.ts";
import { refuse } from "./replies.ts";

/** The session's own stream is the one whose name begins so. */
const ownMark = "0";

/** The requests of one POST, while they run. */
export interface RunningRequests {
  /** What their client was asked, and has not answered. */
  readonly asked: Set<unknown>;
  /** Sends a message that belongs to one of them. False when all are answered. */
  send(message: object): boolean;
  /** The session ends: work is called off, and the reply ends without an answer. */
  abort(): void;
  /** The session ends once they are answered. What asks its client, or is left by it, is called off: no answer comes any more. */
  close(): void;
}

/** How a connection begins and ends. */
interface Connecting {
  /** The event that the client saw last, where it comes back. */
  readonly after?: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** When the proof of who reads it ends, in milliseconds since 1970. */
  readonly until?: number | undefined;
}

/** What keeping a session changes of it. */
export interface SessionKeeping {
  /** Digits in the names of its streams, so that those of another process are not taken for them. */
  readonly digits: string;
  /** What serves it. */
  follow(session: HttpSession, serving: LegacyServing): LegacyServing;
}

/** What a session is made of. */
export interface HttpSessionOptions {
  readonly id: string;
  readonly parts: ServerParts;
  readonly store: EventStore;
  readonly keepAlive: number;
  /** The line of a stream that says when to come back; empty: none. */
  readonly retry: string;
  readonly hold: number | undefined;
  /** Who keeps it. */
  readonly table: SessionKeeping;
  readonly auth: AuthInfo | undefined;
  readonly legacy: (outlet: LegacyOutlet) => LegacyServing;
}

/** A session from the `initialize` request to its end. */
export class HttpSession implements LegacyOutlet {
  readonly id: string;
  /** Whom it belongs to: nobody else finds it. */
  readonly principal: string | undefined;
  readonly serving: LegacyServing;
  readonly #options: HttpSessionOptions;
  readonly #own: ResumableStream;
  readonly #streams = new Map<string, ResumableStream>();
  readonly #finished: string[] = [];
  #running = new Map<RequestId, RunningRequests>();
  #begun = 0;
  #lastName = 0;
  #lastUsed!: number;
  #over: (() => void) | undefined;

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.principal = options.auth?.principal;
    this.#own = new ResumableStream(ownMark + options.table.digits, options.store);
    this.touch();
    this.serving = options.table.follow(this, options.legacy(this));
  }

  /** For how long nothing has happened, in milliseconds; 0 while a request runs or a stream is open. */
  get idle(): number {
    const now = this.#options.parts.clock.monotonic();
    if (this.#running.size || this.#own.connected) this.#lastUsed = now;
    return now - this.#lastUsed;
  }

  /** Something has happened. Once it closes, what runs is looked at again, and it ends where nothing does. */
  touch(): void {
    this.#lastUsed = this.#options.parts.clock.monotonic();
    if (!this.#over) return;
    for (const exchange of this.#running.values()) exchange.close();
    if (!this.#running.size || !this.serving.open) this.#over();
  }

  /** Sends on the stream of the request that it belongs to; on the session's own when that one is answered. */
  send(message: JsonRpcRequest | JsonRpcNotification, about: Incoming | undefined): void {
    const exchange = about && this.#running.get(about.message.id);
    if (exchange?.send(message)) return this.touch();
    const text = writeMessage(message, this.parts);
    if (text !== undefined) this.#own.send(text);
  }

  /** The client answers what it was asked. */
  answered(response: JsonRpcResponse): void {
    for (const exchange of this.#running.values()) exchange.asked.delete(response.id);
    this.serving.answered(response);
  }

  /** Whether a request with this id waits for its answer. */
  isRunning(id: RequestId, exchange?: RunningRequests): boolean {
    const found = this.#running.get(id);
    return !!found && (!exchange || found === exchange);
  }

  /** A request begins. */
  began(id: RequestId, exchange: RunningRequests): void {
    // V8 keeps what was in the tables that a map has had, once one of them is old. Another map, now and then, has none.
    if (!(++this.#begun % 1_000)) this.#running = new Map(this.#running);
    this.#running.set(id, exchange);
  }

  /** A request has its answer. */
  ended(id: RequestId): void {
    this.#running.delete(id);
    this.touch();
  }

  /** Calls back when a request has been silent for so long that its reply becomes a stream. */
  afterSilence(callback: () => void): () => void {
    const { parts, keepAlive, hold = keepAlive } = this.#options;
    const wait = this.#primes ? Math.min(keepAlive, hold) : keepAlive;
    return parts.clock.schedule(callback, wait, { background: true });
  }

  /** Opens the session's own stream: what belongs to no request goes there. */
  listen(request: Request, auth: AuthInfo | undefined): Response {
    if (this.#own.connected) return refuse(409, "This session has its stream open already");
    return this.#connect(this.#own, request, { until: auth?.expiresAt });
  }

  /** Goes on with a stream that broke off, after the event that the client saw last. */
  resume(request: Request, lastEventId: string, auth: AuthInfo | undefined): Response {
    const [, name = "", sequence] = /^(\d+)-(\d{1,15})$/.exec(lastEventId) ?? [];
    const stream = name === this.#own.name ? this.#own : this.#streams.get(name);
    if (stream) return this.#connect(stream, request, { after: Number(sequence), until: auth?.expiresAt });
    return name[0] === ownMark ? this.listen(request, auth) : refuse(400, "There is no such stream");
  }

  /** Opens the stream of a POST. */
  openStream(
    request: Request,
    headers: Readonly<Record<string, string>> | undefined,
  ): { stream: ResumableStream; response: Response } {
    const name = this.#options.table.digits + ++this.#lastName;
    const stream = new ResumableStream(name, this.#options.store);
    this.#streams.set(name, stream);
    return { stream, response: this.#connect(stream, request, { headers }) };
  }

  /** The requests of a POST are answered: its stream ends, and is kept for a while for who was cut off. */
  closeStream(stream: ResumableStream): void {
    // The newest.
    const keptStreams = 16;
    stream.end();
    this.#finished.push(stream.name);
    if (this.#finished.length <= keptStreams) return;
    const name = this.#finished.shift()!;
    this.#streams.get(name)?.forget();
    this.#streams.delete(name);
  }

  /** What it works with. */
  get parts(): ServerParts {
    return this.#options.parts;
  }

  /** Ends its own stream, and calls back once nothing runs: at once where it has not begun. */
  close(over: () => void): void {
    this.#over = over;
    this.#own.end();
    this.touch();
  }

  /** Ends it: work is called off, streams end, nothing is kept. */
  end(): void {
    this.serving.close();
    for (const exchange of this.#running.values()) exchange.abort();
    for (const stream of [this.#own, ...this.#streams.values()]) {
      stream.end();
      stream.forget();
    }
  }

  /** Whether its clients know events without data (2025-11-25). */
  get #primes(): boolean {
    return this.serving.open && this.serving.revision >= "2025-11-25";
  }

  #connect(
    stream: ResumableStream,
    request: Request,
    { after, headers, until = Infinity }: Connecting,
  ): Response {
    const { parts: { clock, limits: { outboxBytes } }, keepAlive, retry, hold } = this.#options;
    const primes = this.#primes;
    const isHeld = primes && hold !== undefined && stream !== this.#own;
    // A later connection has a time of its own: who came back is not sent away at once.
    const most = isHeld ? after === undefined ? hold : Math.max(hold, keepAlive) : Infinity;
    const lasts = Math.min(most, until - clock.now());
    const gone = () => this.touch();
    const connection = new EventStream({ clock, keepAlive, outboxBytes, request, headers, lasts, gone });
    stream.connect(connection, after, primes ? retry : undefined);
    return connection.response;
  }
}

/**
 * What a legacy server sends on its own account: the channel itself, or the GET stream over HTTP, and the resource
 * subscriptions that ride on it.
 *
 * @module
 */
import type { Change, ListenFilter } from "../../protocol/types.ts";
import { type ConnectionClosedError, ProtocolViolationError, SessionLostError } from "../../protocol/errors.ts";
import { Backoff } from "./backoff.ts";
import { changeOf, lists } from "./change.ts";
import type { JsonObject, JsonRpcNotification } from "../../protocol/json_rpc.ts";
import type { McpError } from "../../protocol/errors.ts";
import type { LegacyListening, LegacyListenParts, ListenSink, StreamHost } from "./seam.ts";

interface Listener {
  filter: ListenFilter;
  sink: ListenSink;
  /** The resources that are watched for it. */
  watched: string[];
}

/** A resource, and who watches it. */
interface Watch {
  listeners: number;
  /** What the server was asked last: the same for all who come meanwhile, and what is asked next waits for its answer. */
  asked?: Promise<unknown>;
}

/** One stream for all who listen. It is opened when someone does, and re-opened calmly. */
export class LegacyStream implements LegacyListening {
  readonly #parts: LegacyListenParts;
  readonly #session: StreamHost;
  readonly #listeners = new Set<Listener>();
  readonly #watched = new Map<string, Watch>();
  readonly #backoff: Backoff;
  #close: (() => void) | undefined;
  #stopped: boolean | undefined;
  #opening: Promise<boolean> | undefined;
  /** The server has such a stream. */
  #wasOpen: boolean | undefined;
  /** The last event before the stream broke. */
  #lastEventId: string | undefined;

  constructor(session: StreamHost) {
    const parts = this.#parts = session.parts;
    this.#session = session;
    this.#backoff = new Backoff(parts.clock, parts.random);
  }

  /**
   * Over HTTP, servers may send their requests and log messages on the GET stream, and some drop them when it is not
   * there: it is opened before the first call when there is who hears them.
   */
  async ready(): Promise<void> {
    const { inputs, stream = true } = this.#parts;
    const heard = stream && Object.values(inputs?.handlers ?? {}).some(Boolean);
    if (heard || this.#opening) {
      this.#opening = undefined;
      this.hear();
      await this.#opening;
    }
  }

  /** Adds a listener; its sink hears what its filter asks for. */
  listen(filter: ListenFilter, sink: ListenSink): () => void {
    const listener = { filter, sink, watched: [] };
    this.#listeners.add(listener);
    this.hear();
    void this.#subscribe(listener);
    return () => this.#drop(listener);
  }

  /** Opens the stream, unless it was. A channel needs none of its own: its session hears everything from the start. */
  hear(): void {
    if (this.#parts.transport.kind === "http") this.#opening ??= this.#open();
  }

  /** Hands a change to those who asked for it. */
  notified(method: string, params: JsonObject | undefined): void {
    const change = changeOf(method, params);
    if (!change) return;
    this.#parts.client().changed?.(change);
    for (const { filter, sink } of this.#listeners) if (wants(filter, change)) sink.change(change);
  }

  /** After the session was opened anew: subscribes again and says that something may have been missed. */
  async reopened(): Promise<void> {
    for (const uri of this.#watched.keys()) {
      await this.#ask(1, uri).catch((error) => this.lost(error, uri));
    }
    this.#tellOpen();
  }

  /** The channel that everything came over is gone, or one resource cannot be watched any more. */
  lost(reason: McpError | undefined, uri?: string): void {
    for (const listener of this.#listeners) {
      if (uri && !listener.filter.resourceUris?.includes(uri)) continue;
      this.#drop(listener);
      listener.sink.end(reason);
    }
  }

  /** Ends the stream. */
  stop(): void {
    this.#stopped = true;
    this.#backoff.stop();
    this.#close?.();
  }

  /** Opens the stream and tells whether there is one. A server that holds its head back is not waited for. */
  #open(again?: boolean): Promise<boolean> | undefined {
    const headWait = 500;
    if (this.#stopped) return undefined;
    this.#backoff.stop();
    this.#close?.();
    const options = this.#session.dress();
    if (again && this.#lastEventId) options.headers!["last-event-id"] = this.#lastEventId;
    return new Promise((resolve) => {
      const stop = this.#parts.clock.schedule(() => known(true), headWait);
      let over: boolean | undefined;
      const known = (open: boolean): void => {
        stop();
        resolve(open);
      };
      const close = this.#parts.transport.open?.({
        message: (message) => {
          // Servers of older Python SDKs tell here how far calls are.
          this.#session.all().find(({ id }) => id && id === (message as JsonRpcNotification).params?.progressToken)
            ?.message(message);
          this.#session.take(message);
        },
        begin: () => {
          this.#wasOpen = true;
          this.#backoff.opened();
          known(true);
          if (again) this.#tellOpen();
        },
        end: (reason) => {
          if (!over) this.#ended(reason);
          over = true;
          known(false);
        },
      }, options);
      this.#close = () => {
        over = true;
        known(false);
        close?.();
      };
    });
  }

  #ended(reason: McpError | undefined): void {
    // It offers no such stream: 405 as the specification says, and what others answer. What a server says to an id of an
    // event that it does not know, or when it had opened one before, does not mean that.
    if (
      this.#stopped || (!this.#wasOpen && /40[0456]|501/.test((reason as { status?: string })?.status!)) ||
      (!this.#lastEventId && reason instanceof ProtocolViolationError)
    ) return;
    this.#lastEventId = (reason as Partial<ConnectionClosedError>)?.lastEventId;
    const again = this.#backoff.again(reason, async () => {
      const before = this.#opening;
      const isLost = reason instanceof SessionLostError;
      try {
        // A session that the server has forgotten is opened anew by the next request, and the stream with it. Where it is known
        // all the same, something in between said 404: for a while, or since the server has no stream and never had.
        if (isLost) await this.#parts.client().request("ping");
        if (before === this.#opening && !(isLost && !this.#wasOpen)) this.#opening = this.#open(true);
      } catch (cause) {
        this.#ended(cause as McpError);
      }
    });
    if (again) return;
    // Who listens again opens it again, and takes it for one that may not be there.
    this.#wasOpen = this.#opening = undefined;
    this.lost(reason);
  }

  #tellOpen(): void {
    for (const { filter, sink } of this.#listeners) sink.open(filter);
  }

  /** What the server honours: nothing where it has no stream, and single resources only where it lets them be watched. */
  async #subscribe(listener: Listener): Promise<void> {
    const { filter, sink } = listener;
    try {
      if (this.#opening && !await this.#opening) return sink.open({});
      const resourceUris = this.#session.info.capabilities.resources?.subscribe && filter.resourceUris || [];
      const honoured: ListenFilter = { resourceUris };
      for (const list of lists) honoured[list] = !!filter[list];
      for (const uri of resourceUris) {
        // Who has left meanwhile wants nothing watched any more.
        if (!this.#listeners.has(listener)) return;
        listener.watched.push(uri);
        await this.#watch(uri, 1);
      }
      sink.open(honoured);
    } catch (error) {
      this.#drop(listener);
      sink.end(error as McpError);
    }
  }

  /** Forgets a listener, and what was watched for it alone. */
  #drop(listener: Listener): void {
    if (this.#listeners.delete(listener)) { for (const uri of listener.watched) void this.#watch(uri, -1); }
  }

  #ask(step: 1 | -1, uri: string): Promise<JsonObject> {
    return this.#session.request({
      method: `resources/${step > 0 ? "" : "un"}subscribe`,
      params: { uri },
      options: {},
    });
  }

  async #watch(uri: string, step: 1 | -1): Promise<void> {
    const watch: Watch = this.#watched.get(uri) ?? { listeners: 0 };
    this.#watched.set(uri, watch);
    const ask = () => this.#ask(step, uri);
    // The first who comes and the last who goes.
    if ((watch.listeners += step) === Number(step > 0) && !this.#stopped) {
      watch.asked = watch.asked?.then(ask, ask) ?? ask();
    }
    const asked = watch.asked;
    // Nobody waits for the end of a subscription: a failure of it means that the server has none.
    await (step > 0 ? asked : asked?.catch(() => {}));
    if (!watch.listeners && watch.asked === asked) this.#watched.delete(uri);
  }
}

function wants(filter: ListenFilter, change: Change): boolean | undefined {
  return change.type === "resource"
    ? filter.resourceUris?.some((uri) => change.uri.startsWith(uri))
    : change.type === "task"
    ? filter.taskIds?.includes(change.task.taskId)
    : filter[change.type];
}

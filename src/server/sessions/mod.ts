/**
 * Legacy sessions that outlive the memory of a process: what lasts of them is kept in a `Store`, and played again.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import { createBeat } from "../common/beat.ts";
import type { Beat } from "../common/beat.ts";
import { inTime } from "../common/store_steps.ts";
import type { HttpSession } from "../http/legacy_session.ts";
import { noSession, SessionTable } from "../http/legacy_sessions.ts";
import type { SessionBounds, SessionCaller, SessionsOptions, UseSession } from "../http/legacy_sessions.ts";
import type { SessionStore } from "../http/options.ts";
import { closing, refuse } from "../http/replies.ts";
import type { LegacyServing, ServerParts } from "../seam.ts";
import { KeptSession } from "./kept_session.ts";
import { SessionRecords } from "./records.ts";
import type { SessionRecord } from "./records.ts";

/** Options of {@linkcode createSessionStore}. */
export interface SessionStoreOptions {
  /** What keys begin with (`mcp-session:`); the rest is a hash of the session's id. */
  prefix?: string | undefined;
  /** How long the store may take for one step, in milliseconds (5,000). */
  timeout?: number | undefined;
  /**
   * How long a process relies on what it has read of a session, in milliseconds (1,000): with the next request to it after that
   * it hears what another one has changed or ended. One that holds a stream and is asked nothing tells of no resource that was
   * subscribed to elsewhere. `Infinity` where one process alone serves a session.
   */
  fresh?: number | undefined;
  /** The most that is kept of one session, in characters (65,536): what would be more is refused. */
  maxCharacters?: number | undefined;
}

/** How often the time of the last use is written at most, in milliseconds. */
const touchPause = 60_000;
/** How many sessions may be looked up at one time. */
const mostWaking = 1_000;

/**
 * Keeps legacy sessions in a store, for the option `sessions.store` of `createHandler`: they outlive the process, and
 * several processes with one store serve them together.
 *
 * Kept are the handshake, the level of logs, the resources that are watched, and whose session it is: only the same
 * principal finds it. What proves who a caller is is not kept, nor is the session's id. Not kept are streams, calls at work,
 * questions to the client and the messages that a stream could be resumed with: a client whose process has ended sees its
 * streams break, opens its own stream again, and gets 400 when it asks for the rest of a call; the call may be made again.
 * A notice that was on its way is lost.
 *
 * While the store fails, sessions in memory are served, new ones and what changes are written as soon as it works again, and
 * all other sessions get 503. Of two changes to one session in two processes at the same time the last one stays. Records of
 * processes that have died, and of sessions that had to make room, stay until they are asked for: let the store forget what was not written for twice the time that
 * a session may be idle.
 *
 * @param store Where they are kept: all processes that serve have to reach the same.
 * @throws {RangeError} When a number makes no sense.
 *
 * @example Sessions that outlive a handler
 * ```ts
 * import { createHandler, createSessionStore, McpServer } from "@causeway/mcp/server";
 *
 * const texts = new Map<string, string>();
 * const store = createSessionStore({
 *   get: (key) => Promise.resolve(texts.get(key)),
 *   set: (key, value) => Promise.resolve(void texts.set(key, value)),
 *   delete: (key) => Promise.resolve(void texts.delete(key)),
 * });
 * const handler = createHandler(new McpServer({ name: "kept", version: "1.0.0" }), { sessions: { store } });
 * handler.close();
 * ```
 */
export function createSessionStore(store: Store, options: SessionStoreOptions = {}): SessionStore {
  const { prefix = "mcp-session:", timeout = 5_000, fresh = 1_000, maxCharacters = 65_536 } = options;
  for (const [name, value] of Object.entries({ timeout, maxCharacters })) {
    if (!(value > 0)) throw new RangeError(`"${name}" is ${value}, expected a number above 0`);
  }
  if (!(fresh >= 0)) throw new RangeError(`"fresh" is ${fresh}, expected 0 or more`);
  return {
    open: (made, bounds) => {
      const records = new SessionRecords({ store, prefix, timeout, clock: made.parts.clock });
      // A write has two steps.
      return new KeptSessions(made, { ...bounds, records, fresh, maxCharacters, patience: 2 * timeout });
    },
  };
}

interface KeptSessionsOptions extends SessionBounds {
  readonly records: SessionRecords;
  readonly fresh: number;
  readonly maxCharacters: number;
  /** How long one waits for what another request has begun, in milliseconds: a Worker may have ended that. */
  readonly patience: number;
}

class KeptSessions extends SessionTable {
  override readonly digits: string;
  readonly #records: SessionRecords;
  readonly #parts: ServerParts;
  readonly #options: KeptSessionsOptions;
  readonly #kept = new Map<string, KeptSession>();
  /** Of each session whose stream was opened: in a Worker timers end with the request that they belong to. */
  readonly #streams = new WeakMap<HttpSession, Beat>();
  /** Who looks up a session at the same time as the same caller waits for the same look. */
  readonly #waking = new Map<string, Promise<boolean>>();
  /** Writes down what is in use without a request. */
  readonly #beat: Beat;
  #isClosed = false;

  constructor(made: SessionsOptions, options: KeptSessionsOptions) {
    super(made, options);
    const { parts } = made;
    this.#records = options.records;
    this.#parts = parts;
    this.#options = options;
    this.digits = String(1 + Math.floor(parts.random.fraction() * 2 ** 40));
    this.#beat = createBeat(parts.clock, options.idle / 4, () => {
      for (const kept of this.#kept.values()) kept.touchUsed();
      return this.#kept.size > 0;
    });
  }

  override follow(session: HttpSession, serving: LegacyServing): LegacyServing {
    const { id, principal } = session;
    const { idle, fresh, maxCharacters, patience } = this.#options;
    const kept: KeptSession = new KeptSession({
      id,
      principal: principal ?? null,
      serving,
      fresh,
      maxCharacters,
      patience,
      clock: this.#parts.clock,
      records: this.#records,
      touchPause: Math.min(touchPause, idle / 4),
      failed: (message, error) => this.#failed(message, error),
      closed: () => {
        if (this.#kept.get(id) === kept) this.#kept.delete(id);
      },
      // Of one whose stream is open nothing else tells that it is in use.
      isUsed: () => session.idle === 0,
    });
    this.#kept.set(id, kept);
    this.#beat.start();
    return kept;
  }

  override async use(
    id: string,
    caller: SessionCaller,
    use: UseSession,
  ): Promise<Response> {
    const { auth } = caller;
    const here = this.find(id, auth) && this.#kept.get(id);
    let session: HttpSession | undefined;
    try {
      const isThere = here ? await here.refresh() : await this.#wake(id, caller);
      // Another one may be there by now.
      session = this.find(id, auth);
      if (session && !isThere) session = void this.end(session);
    } catch (error) {
      this.#failed("A session could not be read from its store", error);
      // Whoever woke it may never come to an end: the next one begins anew.
      session = this.find(id, auth);
      if (session && here && this.#kept.get(id) === here) this.end(session);
      return refuse(503, "The session cannot be looked up now", { code: -32603, headers: { "retry-after": "5" } });
    }
    // It may be kept all the same: another process has it.
    if (this.#isClosed) return closing();
    if (!session) return refuse(404, noSession);
    const isStream = caller.request.method === "GET";
    if (isStream) this.#kept.get(id)?.ready();
    const response = await use(session);
    if (isStream && response.ok) this.#noteStream(session);
    return response;
  }

  /** Notes that a session is in use for as long as its stream is open. */
  #noteStream(session: HttpSession): void {
    this.#streams.get(session)?.stop();
    const beat = createBeat(this.#parts.clock, this.#options.idle / 4, () => {
      const kept = this.#kept.get(session.id);
      kept?.touchUsed();
      return !!kept && session.idle === 0;
    });
    this.#streams.set(session, beat);
    beat.start();
  }

  override async delete(session: HttpSession): Promise<Response> {
    const kept = this.#kept.get(session.id);
    const ended = super.delete(session);
    await kept?.leave();
    if (await this.#forget(session.id)) return ended;
    return refuse(503, "The session could not be ended for good", { code: -32603 });
  }

  override end(session: HttpSession): void {
    const { idle } = this.#options;
    // Another process may use it.
    const forget = (): void => void this.#forgetIdle(session.id);
    this.#streams.get(session)?.stop();
    if (session.idle >= idle) this.#parts.clock.schedule(forget, idle, { background: true });
    super.end(session);
  }

  override close(): void {
    this.#isClosed = true;
    this.#beat.stop();
    super.close();
  }

  async #wake(id: string, caller: SessionCaller): Promise<boolean> {
    // What cannot be an id is not asked for.
    if (!/^[\x21-\x7e]{1,512}$/.test(id)) return false;
    const key = JSON.stringify([id, caller.auth?.principal ?? null]);
    const begun = this.#waking.get(key);
    const forget = (own: Promise<boolean>): void => {
      if (this.#waking.get(key) === own) this.#waking.delete(key);
    };
    if (begun) {
      return await inTime(this.#parts.clock, this.#options.patience, () => begun).catch((error) => {
        forget(begun);
        throw error;
      });
    }
    if (this.#waking.size >= mostWaking) throw new Error(`${mostWaking} sessions are looked up already`);
    const waking: Promise<boolean> = this.#wakeOnce(id, caller).finally(() => forget(waking));
    this.#waking.set(key, waking);
    return await waking;
  }

  async #wakeOnce(id: string, caller: SessionCaller): Promise<boolean> {
    const { auth } = caller;
    const record = (await this.#records.read(id))?.record;
    if (!record || record.principal !== (auth?.principal ?? null)) return false;
    if (this.#isOver(record)) {
      await this.#forget(id);
      return false;
    }
    // It is at work here, for somebody who may do something else; or nobody would end it any more.
    if (this.has(id) || this.#isClosed) return false;
    if (!this.hasRoom()) throw new Error("Too many sessions are open");
    const session = this.begin(id, auth);
    try {
      return await this.#kept.get(id)!.wake(record, caller);
    } catch (error) {
      this.end(session);
      throw error;
    }
  }

  async #forget(id: string): Promise<boolean> {
    try {
      await this.#records.delete(id);
      return true;
    } catch (error) {
      this.#failed("A session could not be deleted from its store", error);
      return false;
    }
  }

  /** The time of its last use is written down only so often. */
  #isOver({ at }: SessionRecord): boolean {
    return this.#parts.clock.now() - at >= 1.5 * this.#options.idle;
  }

  async #forgetIdle(id: string): Promise<void> {
    try {
      const record = (await this.#records.read(id))?.record;
      if (record && this.#isOver(record)) await this.#records.delete(id);
    } catch (error) {
      this.#failed("A session could not be deleted from its store", error);
    }
  }

  #failed(message: string, error: unknown): void {
    this.#parts.logger?.({ level: "error", message, fields: { error } });
  }
}

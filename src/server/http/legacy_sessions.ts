/**
 * The legacy sessions of one endpoint, within bounds.
 *
 * @module
 */
import { createBeat } from "../common/beat.ts";
import type { Beat } from "../common/beat.ts";
import type { AuthInfo } from "../definitions.ts";
import type { LegacyServing } from "../seam.ts";
import { HttpSession } from "./legacy_session.ts";
import type { HttpSessionOptions, SessionKeeping } from "./legacy_session.ts";
import { refuse } from "./replies.ts";

/** What a client is told whose session is not there. */
export const noSession = "There is no such session: send initialize";

/** What all sessions are made of. */
export type SessionsOptions = Omit<HttpSessionOptions, "id" | "auth" | "table">;

/** The bounds of a table. */
export interface SessionBounds {
  /** The most sessions at one time. */
  readonly max: number;
  /** How long one may be idle, in milliseconds. */
  readonly idle: number;
}

/** Who wants to use a session. */
export interface SessionCaller {
  readonly auth: AuthInfo | undefined;
  readonly request: Request;
}

/** What is done with a session that was found. */
export type UseSession = (session: HttpSession) => Response | Promise<Response>;

/** Finds sessions again, and ends those that nobody uses. */
export class SessionTable implements SessionKeeping {
  readonly digits: string = "";
  /** The one that was used longest ago is first. */
  readonly #sessions = new Map<string, HttpSession>();
  readonly #made: SessionsOptions;
  readonly #bounds: SessionBounds;
  readonly #beat: Beat;
  #sweptAt = -Infinity;

  /** @param made What all sessions are made of. */
  constructor(made: SessionsOptions, bounds: SessionBounds) {
    this.#made = made;
    this.#bounds = bounds;
    this.#beat = createBeat(made.parts.clock, bounds.idle, () => {
      this.#sweep();
      return this.#sessions.size > 0;
    });
  }

  /** Has the session of this caller used. */
  use(id: string, caller: SessionCaller, use: UseSession): Response | Promise<Response> {
    const session = this.find(id, caller.auth);
    return session ? use(session) : refuse(404, noSession);
  }

  follow(_session: HttpSession, serving: LegacyServing): LegacyServing {
    return serving;
  }

  /** Ends a session for its client. */
  delete(session: HttpSession): Response | Promise<Response> {
    this.end(session);
    return new Response();
  }

  /** Finds the session of this caller; somebody else's is not there for them. */
  find(id: string, auth: AuthInfo | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.principal !== auth?.principal || session.serving.isOf?.(auth) === false) return undefined;
    if (session.idle >= this.#bounds.idle) return void this.end(session);
    session.touch();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Whether there is one, whosever it is. */
  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** Makes room for one more. False when all are in use. */
  hasRoom(): boolean {
    // Milliseconds between two looks at all of them for newcomers' sake.
    const sweepGap = 1_000;
    const { max } = this.#bounds;
    // Looking at all of them for each newcomer would be dear.
    if (this.#sessions.size >= max && this.#made.parts.clock.monotonic() - this.#sweptAt >= sweepGap) this.#sweep();
    if (this.#sessions.size < max) return true;
    for (const session of this.#sessions.values()) {
      if (session.idle > 0) {
        this.end(session);
        return true;
      }
    }
    return false;
  }

  /** Begins a session. */
  begin(id: string, auth: AuthInfo | undefined): HttpSession {
    const session = new HttpSession({ ...this.#made, id, auth, table: this });
    this.#sessions.set(id, session);
    this.#beat.start();
    return session;
  }

  /** Ends a session and forgets it. */
  end(session: HttpSession): void {
    if (this.#sessions.delete(session.id)) session.end();
  }

  /** Ends all, each once what is under way in it is answered. */
  close(): void {
    this.#beat.stop();
    for (const session of this.#sessions.values()) session.close(() => this.end(session));
  }

  #sweep(): void {
    this.#sweptAt = this.#made.parts.clock.monotonic();
    for (const session of this.#sessions.values()) if (session.idle >= this.#bounds.idle) this.end(session);
  }
}

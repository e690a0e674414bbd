/**
 * The legacy sessions of one endpoint, within bounds.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { AuthInfo } from "../definitions.ts";
import type { HttpSession } from "./legacy_session.ts";

/** Between two looks at all sessions for newcomers' sake, in milliseconds. */
const sweepGap = 1_000;

/** Finds sessions again, and ends those that nobody uses. */
export class SessionTable {
  /** The one that was used longest ago is first. */
  readonly #sessions = new Map<string, HttpSession>();
  readonly #clock: Clock;
  readonly #max: number;
  readonly #idle: number;
  #stopTimer: (() => void) | undefined;
  #sweptAt = -Infinity;

  /**
   * @param max The most at one time.
   * @param idle How long one may be idle, in milliseconds.
   */
  constructor(clock: Clock, max: number, idle: number) {
    this.#clock = clock;
    this.#max = max;
    this.#idle = idle;
  }

  /** Finds the session of this caller; somebody else's is not there for them. */
  find(id: string, auth: AuthInfo | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.principal !== auth?.principal) return undefined;
    if (session.idle >= this.#idle) return void this.end(session);
    session.touch();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Makes room for one more. False when all are in use. */
  hasRoom(): boolean {
    if (this.#sessions.size < this.#max) return true;
    // Looking at all of them for each newcomer would be dear.
    if (this.#clock.monotonic() - this.#sweptAt >= sweepGap) this.#sweep();
    if (this.#sessions.size < this.#max) return true;
    for (const session of this.#sessions.values()) {
      if (session.idle > 0) {
        this.end(session);
        return true;
      }
    }
    return false;
  }

  /** Takes a new session in. */
  add(session: HttpSession): void {
    this.#sessions.set(session.id, session);
    this.#watch();
  }

  /** Ends a session and forgets it. */
  end(session: HttpSession): void {
    if (this.#sessions.delete(session.id)) session.end();
  }

  /** Ends all. */
  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const session of [...this.#sessions.values()]) this.end(session);
  }

  #sweep(): void {
    this.#sweptAt = this.#clock.monotonic();
    for (const session of [...this.#sessions.values()]) if (session.idle >= this.#idle) this.end(session);
  }

  #watch(): void {
    this.#stopTimer ??= this.#clock.schedule(
      () => {
        this.#stopTimer = undefined;
        this.#sweep();
        if (this.#sessions.size) this.#watch();
      },
      this.#idle,
      { background: true },
    );
  }
}

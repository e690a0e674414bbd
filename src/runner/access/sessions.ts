/**
 * People at a browser: a token that is good once becomes a cookie. All of it is in memory, and ends with the process.
 *
 * @module
 */
import { randomHex, systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { checkAmount } from "../amount.ts";
import { endOf } from "./ends.ts";
import type { Principal } from "./types.ts";

/** Options of {@linkcode createSessions}. */
export interface BrowserSessionOptions {
  /** How long a session lasts, in milliseconds (12 hours); never longer than what its principal has shown. */
  readonly lifetime?: number | undefined;
  /** How long a token waits to be used, in milliseconds (10 minutes). */
  readonly tokenLifetime?: number | undefined;
  /** How many sessions there are at most, and how many tokens wait (1,000): the oldest of the tenant that has most go first. */
  readonly most?: number | undefined;
  /** Time (the system's). */
  readonly clock?: Clock | undefined;
  /** Chance (the system's). */
  readonly random?: Random | undefined;
}

/** A session that has begun. */
export interface BrowserSession {
  /** What the cookie holds. Secret. */
  readonly id: string;
  /** Whose session it is. */
  readonly principal: Principal;
  /** When it ends, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Whose session it is. */
export interface SessionPrincipal extends Principal {
  /** The hash of the API key that it was begun with (none was): it ends with that. */
  readonly key?: string | undefined;
}

/** Keeps sessions of browsers: of `createSessions`, or `createSealedSessions`. */
export interface SessionKeeper {
  /** Begins a session of a principal that has shown who it is; undefined when what it has shown is over. */
  open(principal: SessionPrincipal): Promise<BrowserSession | undefined>;
  /** Begins a session with a token, which has to be good once; undefined when it is not known, was used, or has ended (none is taken). */
  begin?(token: string): Promise<BrowserSession | undefined>;
  /** Whose session it is, with its `key`; undefined when there is none. */
  find(id: string): Promise<SessionPrincipal | undefined>;
  /** Ends a session. */
  end(id: string): Promise<void>;
}

/** The options, filled in. */
export interface SessionParts {
  readonly lifetime: number;
  readonly tokenLifetime: number;
  readonly most: number;
  readonly clock: Clock;
  readonly random: Random;
}

interface Kept {
  readonly principal: SessionPrincipal;
  readonly expiresAt: number;
}

/** Sessions of browsers: made by {@linkcode createSessions}. */
export class BrowserSessions implements SessionKeeper {
  readonly #options: SessionParts;
  /** By the hash of what names them. */
  readonly #tokens = new Map<string, Kept>();
  readonly #sessions = new Map<string, Kept>();

  /** Made by {@linkcode createSessions}. */
  constructor(options: SessionParts) {
    this.#options = options;
  }

  /** Makes a token that begins one session of a principal. It belongs into the fragment of a URL (`#token=…`), which no server and no log sees. */
  async invite(principal: Principal): Promise<string> {
    const { random, tokenLifetime, clock } = this.#options;
    const token = randomHex(random, 32);
    this.#keep(this.#tokens, await sha256(token), { principal, expiresAt: clock.now() + tokenLifetime });
    return token;
  }

  /** Begins a session with a token, which is used up by it; undefined when it is not known, was used, or has ended. */
  async begin(token: string): Promise<BrowserSession | undefined> {
    const hash = await sha256(token);
    const invited = this.#tokens.get(hash);
    this.#tokens.delete(hash);
    if (!invited || invited.expiresAt <= this.#options.clock.now()) return undefined;
    return await this.open(invited.principal);
  }

  /** Begins a session of a principal that has shown who it is; undefined when what it has shown is over. */
  async open(principal: SessionPrincipal): Promise<BrowserSession | undefined> {
    const { random, lifetime, clock } = this.#options;
    const id = randomHex(random, 32);
    const expiresAt = endOf(clock.now(), lifetime, principal.expiresAt);
    if (expiresAt <= clock.now()) return undefined;
    this.#keep(this.#sessions, await sha256(id), { principal: { ...principal, expiresAt }, expiresAt });
    return { id, principal, expiresAt };
  }

  /** Whose session it is; undefined when there is none. */
  async find(id: string): Promise<SessionPrincipal | undefined> {
    const hash = await sha256(id);
    const found = this.#sessions.get(hash);
    if (!found) return undefined;
    if (found.expiresAt > this.#options.clock.now()) return found.principal;
    this.#sessions.delete(hash);
    return undefined;
  }

  /** Ends a session. */
  async end(id: string): Promise<void> {
    this.#sessions.delete(await sha256(id));
  }

  #keep(place: Map<string, Kept>, hash: string, kept: Kept): void {
    place.set(hash, kept);
    const gone = place.size > this.#options.most ? superfluous(place) : undefined;
    if (gone !== undefined) place.delete(gone);
  }
}

/** The oldest one of the tenant that has most of them: nobody is put out by others. */
function superfluous(place: ReadonlyMap<string, Kept>): string | undefined {
  const counts = new Map<string, number>();
  let most = 0;
  for (const { principal: { tenant } } of place.values()) {
    const count = (counts.get(tenant) ?? 0) + 1;
    counts.set(tenant, count);
    most = Math.max(most, count);
  }
  for (const [hash, { principal: { tenant } }] of place) if (counts.get(tenant) === most) return hash;
  return undefined;
}

/**
 * Makes the sessions of a dashboard.
 *
 * @throws {RangeError} When an option is no number of 1 or more.
 *
 * @example A token is good once
 * ```ts
 * import { createSessions } from "@causeway/mcp/runner";
 *
 * const sessions = createSessions();
 * const token = await sessions.invite({ id: "ada", tenant: "acme" });
 * console.assert((await sessions.begin(token))?.principal.id === "ada");
 * console.assert(await sessions.begin(token) === undefined);
 * ```
 */
export function createSessions(options: BrowserSessionOptions = {}): BrowserSessions {
  const { lifetime = 43_200_000, tokenLifetime = 600_000, most = 1_000 } = options;
  const { clock = systemClock, random = systemRandom } = options;
  for (const [name, value] of Object.entries({ lifetime, tokenLifetime, most })) checkAmount(name, value);
  return new BrowserSessions({ lifetime, tokenLifetime, most, clock, random });
}

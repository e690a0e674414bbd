/**
 * The options of an HTTP endpoint.
 *
 * @module
 */
import type { AuthInfo } from "../definitions.ts";
import type { LegacyOutlet, LegacyServing, ModernServing, ServerParts } from "../seam.ts";
import type { SessionBounds, SessionsOptions, SessionTable } from "./legacy_sessions.ts";

/**
 * What verifies a request before anything of it is read: a function of your own, or `protectResource` for bearer tokens.
 */
export interface Authenticate {
  /** Who the caller is, or the reply instead of an answer (401, 403). Undefined: nobody is known, and let through. */
  (request: Request): AuthInfo | Response | undefined | Promise<AuthInfo | Response | undefined>;
  /** Paths that it answers itself, beside the endpoint's: a router has to lead them to the same handler. */
  readonly paths?: readonly string[] | undefined;
  /** Has the last word on a reply: where a handler demanded more than the caller has, it says what. */
  readonly complete?: ((response: Response, auth: AuthInfo | undefined) => Response) | undefined;
}

/** How legacy sessions are kept. */
export interface SessionOptions {
  /** The most at one time (10,000). When it is reached, the one that was idle for longest ends. */
  max?: number | undefined;
  /** How long one may be idle, in milliseconds (30 minutes, for 0 and less too). A running call or an open stream is not idle. */
  idle?: number | undefined;
  /** Makes the id of a session: visible ASCII that nobody can guess. Default: 32 random bytes in hexadecimal. */
  newId?: (() => string) | undefined;
  /** Messages that are kept for each stream, so that a client can come back for them (1,000). */
  events?: number | undefined;
  /** Characters that are kept for all streams of all sessions together (16 Mi); the oldest messages go first. */
  eventCharacters?: number | undefined;
  /**
   * When a client whose stream broke off should come back, in milliseconds. Told to 2025-11-25 clients. Default: 1,000 with `hold`,
   * else nothing is said of it (the official client for Java takes such a line for a fault).
   */
  retry?: number | undefined;
  /**
   * How long the stream of a call is held open, in milliseconds, before a 2025-11-25 client is asked to come back for the
   * rest (SEP-1699): where a proxy allows no long ones. Who came back is held for `keepAlive` at least. Default: until the
   * call has ended.
   */
  hold?: number | undefined;
  /** Keeps them beyond the memory of this process: made by `createSessionStore`. Default: they end with the handler. */
  store?: SessionStore | undefined;
}

/** Keeps legacy sessions: made by `createSessionStore`. */
export interface SessionStore {
  /**
   * Puts it to work at one endpoint.
   *
   * @internal
   */
  open(made: SessionsOptions, bounds: SessionBounds): SessionTable;
}

/** Options of an HTTP endpoint. */
export interface HttpOptions {
  /**
   * The names that this server may be reached by, as in the Host header: `mcp.example.com` (any port) or
   * `mcp.example.com:8443`. `"*"` takes any. Default: names of this machine alone, so that a page whose name was bent to
   * it cannot use it (DNS rebinding).
   */
  allowedHosts?: readonly string[] | "*" | undefined;
  /**
   * The origins whose pages may use this server: `https://app.example.com`. `"*"` takes any. Default: those of this
   * machine alone. Requests without an Origin header come from no page and are not held up.
   */
  allowedOrigins?: readonly string[] | "*" | undefined;
  /** Verifies callers. Default: nobody is verified. */
  auth?: Authenticate | undefined;
  /** Silence on a stream before a comment is sent to keep it open, in milliseconds (5,000, for 0 and less too). A silent call becomes a stream then. */
  keepAlive?: number | undefined;
  /** How legacy sessions are kept. */
  sessions?: SessionOptions | undefined;
}

/** The eras that an endpoint serves, and what they share. At least one of them is there. */
export interface Serving {
  readonly parts: ServerParts;
  /** The modern era, where it is served. */
  readonly modern?: ModernServing | undefined;
  /** Makes one legacy session, where that era is served. */
  readonly legacy?: ((outlet: LegacyOutlet) => LegacyServing) | undefined;
}

/**
 * Servers for callers: what a way to serve is told of them.
 *
 * @module
 */
import type { AuthInfo } from "../definitions.ts";
import type { Methods, Servable, Served } from "../seam.ts";

/** Who asks, as the function of `perCaller` is told. */
export interface Caller {
  /** Who it is, as `auth` of the endpoint found out; undefined where nobody verifies. */
  readonly auth: AuthInfo | undefined;
  /** What was sent, for its URL and its headers. Its body may be taken already. */
  readonly request: Request;
}

/** Servers for callers, for `createHandler`, `createModernHandler` and `createSocketEndpoint`: made by `perCaller`. */
export interface CallerServers {
  /** Gives the server of a caller. Rejects with what the function threw. */
  of(caller: Caller): Promise<Servable>;
  /**
   * Puts the eras together.
   *
   * @param open Puts those of one server together.
   * @internal
   */
  open(open: (methods: Methods) => Served): Served;
}

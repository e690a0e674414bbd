/**
 * What every verifier is told of its authorization server.
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { createGuardedFetch, type GuardedFetch } from "../../egress/guarded_fetch.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import { type Clock, type Fetch, type Logger, type Resolve, systemClock } from "../../ports.ts";
import { readUrl } from "../../egress/url.ts";

/** Options that every verifier shares. */
export interface VerifierOptions {
  /** The issuer, letter by letter as in its tokens and metadata: `https://auth.example.com`. */
  issuer: string;
  /** Sends requests. Default: the runtime's `fetch`. On Workers a service binding's fits too. */
  fetch?: Fetch | undefined;
  /** Resolves names, so that their addresses are judged as well: Node, Bun and Deno have one (`resolve` of their entry). */
  resolve?: Resolve | undefined;
  /** Origins that may be asked beside the issuer's and public https: in an intranet. Default: none. */
  allow?: readonly string[] | undefined;
  /** How long the authorization server may take, in milliseconds (5,000). */
  timeout?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
  /** Hears why a token was refused (`debug`); no token is ever in it. Default: none. */
  logger?: Logger | undefined;
}

/** The options, filled in. */
export interface VerifierParts {
  readonly issuer: string;
  readonly fetch: GuardedFetch;
  readonly timeout: number;
  readonly clock: Clock;
  /** Tells the logger why a token is not taken. */
  readonly refused: (reason: string | undefined) => undefined;
}

/**
 * Fills the options in.
 *
 * @param given An address that the operator gave beside the issuer: it is asked as given.
 * @throws {TypeError} When the issuer or the address is none.
 */
export function createVerifierParts(options: VerifierOptions, given: string | undefined): VerifierParts {
  const { issuer, fetch = (url, init) => globalThis.fetch(url, init), resolve, allow = [], timeout = 5_000 } = options;
  const { clock = systemClock } = options;
  checkAddress(issuer, "the issuer");
  if (!(timeout > 0)) throw new TypeError(`Cannot use "timeout" ${timeout}: expected milliseconds above 0`);
  if (given !== undefined) checkAddress(given, "the address");
  const allowed = given === undefined ? allow : [...allow, new URL(given).origin];
  const guarded = createGuardedFetch({
    fetch,
    resolve,
    operator: issuer,
    allow: allowed,
    clock,
    timeouts: { total: timeout },
  });
  const logger = createSafeLogger(options.logger);
  const refused = (reason: string | undefined): undefined => {
    logger?.({ level: "debug", message: "A token was refused", fields: { reason } });
  };
  return { issuer, fetch: guarded, timeout, clock, refused };
}

function checkAddress(text: string, what: string): void {
  const url = /[\s#]/.test(text) ? undefined : readUrl(text);
  const isSafe = url && (url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname)));
  if (!isSafe) {
    throw new TypeError(`Cannot use ${what} "${text}": expected an absolute https URL, or http on this machine`);
  }
}

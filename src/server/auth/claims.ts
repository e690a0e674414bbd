/**
 * What is asked of the claims that a verifier gives.
 *
 * @module
 */
import type { TokenClaims } from "../../ports.ts";
import { isObject, isTextOrMissing, isTexts } from "../../protocol/json_rpc.ts";
import { canonicalUrl } from "./resource_url.ts";

/** Times before this are seconds that were taken for milliseconds: it is in 1973. */
const earliest = 100_000_000_000;

/**
 * Holds what an author's `verify` gave against its type, before anything is decided by it.
 *
 * @throws {TypeError} When it has another one: nobody is let in by mistake.
 */
export function checkClaims(claims: unknown): TokenClaims {
  if (!isObject(claims)) {
    throw wrong("nothing that holds claims", "an object, or undefined for a token that is not valid");
  }
  const { subject, issuer, audience, scopes, clientId, expiresAt, extra } = claims;
  if (typeof subject !== "string" || subject === "") throw wrong('no "subject"', "a text");
  if (!isTextOrMissing(issuer)) throw wrong('an "issuer" of another type', "a text");
  if (!isTextOrMissing(clientId)) throw wrong('a "clientId" of another type', "a text");
  if (!isTextOrMissing(audience) && !isTexts(audience)) throw wrong('an "audience" of another type', "texts");
  if (scopes !== undefined && !isTexts(scopes)) throw wrong('"scopes" of another type', "a list of texts");
  if (extra !== undefined && !isObject(extra)) throw wrong('an "extra" of another type', "an object");
  if (expiresAt !== undefined && (typeof expiresAt !== "number" || !(expiresAt >= earliest))) {
    throw wrong('an "expiresAt" that is no time', "milliseconds since 1970");
  }
  return claims as unknown as TokenClaims;
}

/** What tokens may be meant for; URLs compare by what they mean, other names by their letters. */
export class Audience {
  readonly #names: ReadonlySet<string>;

  constructor(names: string | readonly string[]) {
    this.#names = new Set([names].flat().map(plain));
  }

  /** Whether a token is meant for one of them. One that names nobody is meant for nobody. */
  has(audience: TokenClaims["audience"]): boolean {
    return audience !== undefined && [audience].flat().some((name) => this.#names.has(plain(name)));
  }
}

function plain(name: string): string {
  return canonicalUrl(name) ?? name;
}

function wrong(what: string, expected: string): TypeError {
  return new TypeError(`Cannot use what "verify" gave: it has ${what}, expected ${expected}`);
}

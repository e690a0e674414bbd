/**
 * Judges proofs of a key (RFC 9449), at a token endpoint and at a resource.
 *
 * @module
 */
import type { Clock } from "../../../src/ports.ts";
import { isJson, isSignedBy, readJwt, sha256, thumbprint } from "./jwt.ts";
import type { SeenRequest } from "./request_log.ts";

/** What a proof was found to be: the thumbprint of its key, or what is wrong with it. */
export type Judged = { readonly jkt: string } | { readonly wrong: string; readonly code: string };

/** How old a proof may be, and how far ahead, in seconds. */
const tolerance = 60;

/** Judges the proofs that come to one place: each is good once. */
export class ProofJudge {
  readonly #clock: Clock;
  readonly #seen = new Set<string>();
  /** The nonce that proofs have to hold; undefined: none is asked for. */
  nonce: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Judges the proof of a request, which goes together with an access token at a resource. */
  async judge(seen: SeenRequest, accessToken?: string): Promise<Judged> {
    const proof = seen.headers.get("dpop") ?? "";
    const read = readJwt(proof);
    if (!read) return bad("it is no JWT, or not one");
    const { typ, jwk } = read.header;
    if (typ !== "dpop+jwt") return bad("its type is another one");
    if (!isJson(jwk)) return bad("it has no key");
    if (["d", "p", "q", "k"].some((name) => name in jwk)) return bad("it tells a private key");
    if (!await isSignedBy(read, jwk)) return bad("its signature is wrong");
    const { htm, htu, iat, jti, ath, nonce } = read.payload;
    if (htm !== seen.method) return bad(`htm is ${String(htm)}`);
    if (htu !== seen.url.origin + seen.url.pathname) return bad(`htu is ${String(htu)}`);
    const now = this.#clock.now() / 1_000;
    if (typeof iat !== "number" || Math.abs(now - iat) > tolerance) return bad("iat is off");
    if (accessToken !== undefined && ath !== await sha256(accessToken)) return bad("ath is of another token");
    if (this.nonce !== undefined && nonce !== this.nonce) return { wrong: "a nonce is needed", code: "use_dpop_nonce" };
    if (typeof jti !== "string" || jti === "" || this.#seen.has(jti)) return bad("jti is not new");
    this.#seen.add(jti);
    const jkt = await thumbprint(jwk);
    return jkt === undefined ? bad("its kind of key is not known") : { jkt };
  }
}

function bad(wrong: string): Judged {
  return { wrong, code: "invalid_dpop_proof" };
}

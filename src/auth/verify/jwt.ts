/**
 * Access tokens that are signed (JWT): verified here, with the keys of the authorization server.
 *
 * @module
 */
import {
  clockSkew,
  clockTolerance,
  customFetch,
  jwksCache,
  KEY_SELECTION,
  OperationProcessingError,
  skipStateCheck,
  validateJwtAccessToken,
  validateJwtAuthResponse,
} from "oauth4webapi";
import { systemClock, type TokenClaims } from "../../ports.ts";
import { AuthorizationError } from "../../protocol/errors.ts";
import { checkClockTolerance } from "../../protocol/limits.ts";
import { claimsOf, type Payload, readJwt } from "./claims.ts";
import { Keys, type KeySet } from "./keys.ts";
import { fetchMetadata } from "../discovery/metadata.ts";
import { createVerifierParts, type VerifierOptions, type VerifierParts } from "./options.ts";

/** Signatures by public keys: with a shared secret, whoever verifies could forge. */
const knownAlgorithms: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"],
  ...["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"],
];
const defaultAlgorithms = knownAlgorithms.filter((name) => !name.startsWith("ML-"));

/** Options of {@linkcode createJwtVerifier}. */
export interface JwtVerifierOptions extends VerifierOptions {
  /**
   * What tokens have to be meant for, letter by letter. Default: whoever uses the claims looks at `audience`, as
   * `protectResource` does.
   */
  audience?: string | readonly string[] | undefined;
  /** Where the keys are. Default: what the metadata of the issuer says (RFC 8414, OpenID Connect Discovery). */
  jwksUri?: string | undefined;
  /** The signatures that are taken. Default: RS, PS and ES with 256, 384 and 512, and Ed25519. */
  algorithms?: readonly string[] | undefined;
  /**
   * What tokens have to look like. `rfc9068` (default): of type `at+jwt`, with all claims that RFC 9068 asks for. `jwt`: also of type
   * `JWT` or none, with `sub`, `aud` and `exp`, as many servers write them: such tokens are told from ID tokens by their audience alone.
   */
  profile?: "rfc9068" | "jwt" | undefined;
  /** How far the issuer's clock may be off, in milliseconds (5,000). */
  clockTolerance?: number | undefined;
}

/**
 * Verifies one token. Undefined: it is not valid. It rejects when nothing could be found out.
 *
 * @throws {ConnectError} When the keys cannot be fetched. It may be tried again.
 */
export type JwtVerifier = (token: string) => Promise<TokenClaims | undefined>;

/**
 * Makes a verifier of signed access tokens: the `verify` of `protectResource`. Signature, issuer, type, expiry and not-before are
 * checked, and `audience` where it is given. Keys are fetched through the egress guard, bounded, once for all who wait, used for
 * ten minutes, and fetched again for an unknown key at most twice a minute. When the server is down, the last keys are good for an hour.
 *
 * @throws {TypeError} When an option makes no sense: an issuer that is no https URL, an algorithm with a shared secret or none.
 *
 * @example The tokens of one server
 * ```ts
 * import { createJwtVerifier } from "@causeway/mcp/auth";
 *
 * const verify = createJwtVerifier({ issuer: "https://auth.example.com" });
 * console.assert(await verify("no.token.") === undefined);
 * ```
 */
export function createJwtVerifier(options: JwtVerifierOptions): JwtVerifier {
  const verifier = new Verifier(options);
  return (token) => verifier.verify(token);
}

class Verifier {
  readonly #options: JwtVerifierOptions;
  readonly #parts: VerifierParts;
  readonly #algorithms: readonly string[];
  readonly #tolerance: number;
  readonly #keys: Keys;

  constructor(options: JwtVerifierOptions) {
    const {
      algorithms = defaultAlgorithms,
      clockTolerance: tolerance = 5_000,
      jwksUri,
      audience,
      profile = "rfc9068",
    } = options;
    for (const name of algorithms) {
      if (knownAlgorithms.includes(name)) continue;
      throw new TypeError(`Cannot take tokens signed by "${name}": expected some of ${knownAlgorithms.join(", ")}`);
    }
    if (!algorithms.length) throw new TypeError("Cannot take tokens signed by nothing: expected an algorithm");
    if (audience !== undefined && !audience.length) {
      throw new TypeError("Cannot take tokens for nobody: expected an audience");
    }
    if (profile !== "rfc9068" && profile !== "jwt") {
      throw new TypeError(`Cannot use the profile ${JSON.stringify(profile)}: expected "rfc9068" or "jwt"`);
    }
    checkClockTolerance(tolerance);
    this.#options = options;
    this.#algorithms = [...algorithms];
    this.#tolerance = tolerance / 1_000;
    this.#parts = createVerifierParts(options, jwksUri);
    const { issuer, fetch, timeout, clock } = this.#parts;
    const locate = async (signal: AbortSignal): Promise<string> => {
      if (jwksUri !== undefined) return jwksUri;
      const { jwks_uri } = await fetchMetadata(issuer, fetch, signal);
      if (typeof jwks_uri === "string") return jwks_uri;
      throw new AuthorizationError(`Cannot find the keys of "${issuer}": its metadata has no "jwks_uri"`);
    };
    this.#keys = new Keys({ fetch, locate, timeout, clock });
  }

  async verify(token: string): Promise<TokenClaims | undefined> {
    const { refused } = this.#parts;
    const read = readJwt(token);
    const reason = read ? this.#refuse(read.header, read.payload) : "it is no JWT";
    if (!read || reason !== undefined) return refused(reason);
    const expected = this.#expected(read.payload);
    if (expected === undefined) return refused("its audience is another one");
    const alg = String(read.header.alg);
    const set = await this.#keys.get();
    try {
      try {
        await this.#check({ token, alg, expected }, set);
      } catch (error) {
        if (!(error instanceof OperationProcessingError) || error.code !== KEY_SELECTION) throw error;
        const newer = await this.#keys.get(set);
        if (newer === set) throw error;
        await this.#check({ token, alg, expected }, newer);
      }
    } catch (error) {
      return refused(error instanceof Error ? error.message : "it cannot be verified");
    }
    return claimsOf(read.payload) ?? refused("a claim is missing");
  }

  /** What needs no key: a token that fails here costs no fetch. */
  #refuse({ alg, typ }: Payload, { iss, cnf, exp, nbf }: Payload): string | undefined {
    const now = this.#parts.clock.now() / 1_000;
    if (typeof alg !== "string" || !this.#algorithms.includes(alg)) return "its algorithm is not taken";
    if (iss !== this.#parts.issuer) return "its issuer is another one";
    if (typeof exp !== "number" || exp + this.#tolerance <= now) return "it has expired";
    if (typeof nbf === "number" && nbf - this.#tolerance > now) return "it is not good yet";
    // It proves itself together with a key, and this is no proof of that.
    if (cnf !== undefined) return "it is bound to a key";
    if (this.#options.profile !== "jwt") return undefined;
    const type = typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;
    return type === undefined || type === "jwt" || type === "at+jwt" ? undefined : "its type is another one";
  }

  /** The audience to hold it against: its own first where whoever uses the claims decides. */
  #expected({ aud }: Payload): string | undefined {
    const named = [aud].flat().filter((name): name is string => typeof name === "string");
    const { audience } = this.#options;
    return audience === undefined ? named[0] : [audience].flat().find((name) => named.includes(name));
  }

  /** @throws {Error} When it is not valid. */
  async #check(
    { token, alg, expected }: { token: string; alg: string; expected: string },
    { keys }: KeySet,
  ): Promise<void> {
    const { issuer, clock } = this.#parts;
    // The library keeps keys by this object: ours, with keys that are always fresh, leaves fetching to us.
    const server = { issuer, jwks_uri: `${issuer}#keys` };
    const now = systemClock.now();
    // Times were judged to the millisecond before; the library counts whole seconds.
    const times = { [clockSkew]: Math.round((clock.now() - now) / 1_000), [clockTolerance]: this.#tolerance + 2 };
    const options = {
      ...times,
      [jwksCache]: { jwks: { keys: [...keys] }, uat: Math.floor(now / 1_000) },
      [customFetch]: () => Promise.reject(new Error("Keys are fetched elsewhere")),
    };
    if (this.#options.profile !== "jwt") {
      const headers = { authorization: `Bearer ${token}` };
      const request = new Request("https://resource.invalid/", { headers });
      await validateJwtAccessToken(server, request, expected, { ...options, signingAlgorithms: [...this.#algorithms] });
      return;
    }
    // The library's check of a JWT with issuer, audience and expiry and no more than that.
    const client = { client_id: expected, authorization_signed_response_alg: alg, ...times };
    await validateJwtAuthResponse(server, client, new URLSearchParams({ response: token }), skipStateCheck, options);
  }
}

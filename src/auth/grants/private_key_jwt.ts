/**
 * Clients that authenticate with a key (`private_key_jwt`; RFC 7523, section 2.2).
 *
 * @module
 */
import { modifyAssertion, PrivateKeyJwt } from "oauth4webapi";
import { type Clock, systemClock } from "../../ports.ts";
import type { ClientAuthentication } from "../seam.ts";
import { type PrivateJwk, readPrivateKey, type SigningAlgorithm, type WebCryptoKey } from "./private_key.ts";

/** Options of {@linkcode privateKeyJwt}. */
export interface PrivateKeyJwtOptions {
  /** How it signs. Default: what the key is made for; a PEM text does not tell, nor does an RSA key as a JWK without `alg`. */
  algorithm?: SigningAlgorithm | undefined;
  /** The key's id in the key set that the server knows. Default: `kid` of a JWK. */
  keyId?: string | undefined;
  /** Whom assertions are meant for. Default: the issuer, which is what the specification wants. */
  audience?: string | undefined;
  /** How long one assertion is good, in milliseconds (60,000; at most an hour). */
  lifetime?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
}

/**
 * Makes what authenticates a client by a signature: the `authenticate` of a client, so that no secret is shared with the
 * server, or sent. Each request carries an assertion of its own, with its own id, that soon ends.
 *
 * @param key The private key: a `CryptoKey` for signing, a PKCS8 PEM text (with `algorithm`), or a JWK. A text is opened at the
 * first request.
 * @returns What authenticates. It rejects with a `TypeError` when the key turns out to be none.
 * @throws {TypeError} When the key cannot be one, or an option makes no sense. The key is never in the message.
 * @throws {RangeError} When `lifetime` is out of its bounds.
 *
 * @example A key of its own
 * ```ts
 * import { clientCredentials, privateKeyJwt } from "@causeway/mcp/auth";
 *
 * const { privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
 * const grant = clientCredentials({ clientId: "nightly-report", authenticate: privateKeyJwt(privateKey) });
 * console.assert(grant.client?.authenticate !== undefined);
 * ```
 */
export function privateKeyJwt(
  key: WebCryptoKey | string | PrivateJwk,
  options: PrivateKeyJwtOptions = {},
): ClientAuthentication {
  const { algorithm: given, audience, lifetime = 60_000, clock = systemClock } = options;
  const { keyId, algorithm, open } = readPrivateKey(key, given, options.keyId);
  if (audience !== undefined && (typeof audience !== "string" || !audience)) {
    throw new TypeError('Cannot use "audience": expected a text that is not empty');
  }
  if (!(lifetime >= 1_000 && lifetime <= 3_600_000)) {
    throw new RangeError(`Cannot use "lifetime" ${lifetime}: expected 1,000 to 3,600,000 ms`);
  }
  const modify = (header: Record<string, unknown>, payload: Record<string, unknown>): void => {
    if (algorithm) header.alg = algorithm;
    if (audience) payload.aud = audience;
    payload.iat = Math.floor(clock.now() / 1000);
    payload.exp = Math.floor((clock.now() + lifetime) / 1000);
    delete payload.nbf; // a server whose clock is a second behind would refuse it
  };
  // Kept once it is there; a promise must not be shared between requests of a Worker.
  let authentication: ReturnType<typeof PrivateKeyJwt> | undefined;
  return async ({ issuer }, client, body, headers) => {
    // The key is checked; what the library calls a CryptoKey has no values in Deno's types.
    authentication ??= PrivateKeyJwt(
      { key: await open(), ...(keyId ? { kid: keyId } : {}) } as Parameters<typeof PrivateKeyJwt>[0],
      { [modifyAssertion]: modify },
    );
    try {
      await authentication({ issuer }, { client_id: client.client_id }, body, headers);
    } catch {
      // What the runtime says of a damaged key may hold parts of it.
      throw new TypeError("Cannot use the private key: it was read, but it does not sign");
    }
  };
}

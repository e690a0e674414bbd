/**
 * A program's own credentials as plain texts, as configs have them.
 *
 * @module
 */
import type { Grant } from "../seam.ts";
import { clientCredentials } from "./client_credentials.ts";
import type { PrivateJwk, SigningAlgorithm } from "./private_key.ts";
import { privateKeyJwt } from "./private_key_jwt.ts";

/** A program, and what it proves itself with: a secret or a key. */
export interface ConfiguredProgram {
  /** The client that the authorization server knows. */
  readonly clientId: string;
  /** Its secret; else it has a key. */
  readonly clientSecret?: string | undefined;
  /** A PKCS8 PEM text, or a JWK as JSON. */
  readonly privateKey?: string | undefined;
  /** How the key signs, such as "ES256", where it does not say so itself. */
  readonly algorithm?: string | undefined;
  /** The key's id in the key set that the server knows. */
  readonly keyId?: string | undefined;
  /** The authorization server that knows the client. */
  readonly issuer?: string | undefined;
}

/**
 * The grant of a program that a config names: `authForConfig` of `@causeway/mcp/hub` takes it as its option `grant`.
 *
 * @param program Its id at the authorization server, and a secret or a key.
 * @returns What `createOAuth` takes as `grant` (RFC 6749, section 4.4; with a key RFC 7523, section 2.2).
 * @throws {TypeError} When something of it cannot be used. Neither secret nor key is in the message.
 *
 * @example A program with a secret
 * ```ts
 * import { configuredGrant, createOAuth } from "@causeway/mcp/auth";
 *
 * const grant = configuredGrant({ clientId: "nightly", clientSecret: "s3cret", issuer: "https://login.example.com" });
 * const auth = createOAuth({ redirectUri: "http://127.0.0.1:8085/callback", grant });
 * console.assert(grant.client?.clientId === "nightly" && auth !== undefined);
 * ```
 */
export function configuredGrant(program: ConfiguredProgram): Grant {
  const { clientId, clientSecret, privateKey, algorithm, keyId, issuer } = program;
  if (privateKey === undefined) return clientCredentials({ clientId, clientSecret, issuer });
  const options = { algorithm: algorithm as SigningAlgorithm | undefined, keyId };
  return clientCredentials({ clientId, issuer, authenticate: privateKeyJwt(readKey(privateKey), options) });
}

function readKey(text: string): string | PrivateJwk {
  if (!text.trimStart().startsWith("{")) return text;
  try {
    return JSON.parse(text) as PrivateJwk;
  } catch {
    throw new TypeError("Cannot use the private key: it begins as a JWK does, and is no JSON");
  }
}

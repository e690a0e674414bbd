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
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** A PKCS8 PEM text, or a JWK as JSON. */
  readonly privateKey?: string | undefined;
  readonly algorithm?: string | undefined;
  readonly keyId?: string | undefined;
  readonly issuer?: string | undefined;
}

/**
 * The grant of a program.
 *
 * @throws {TypeError} When something of it cannot be used. Neither secret nor key is in the message.
 */
export function configuredGrant(program: ConfiguredProgram): Grant {
  const { clientId, clientSecret, privateKey, algorithm, keyId, issuer } = program;
  if (privateKey === undefined) return clientCredentials({ clientId, clientSecret, issuer });
  const options = { algorithm: algorithm as SigningAlgorithm | undefined, keyId };
  return clientCredentials({ clientId, issuer, authenticate: privateKeyJwt(readKey(privateKey), options) });
}

/** Variables of many platforms hold one line: there the lines of a PEM text are parted by `\n` in letters. */
function readKey(text: string): string | PrivateJwk {
  if (!text.trimStart().startsWith("{")) return text.replaceAll("\\n", "\n");
  try {
    return JSON.parse(text) as PrivateJwk;
  } catch {
    throw new TypeError("Cannot use the private key: it begins as a JWK does, and is no JSON");
  }
}

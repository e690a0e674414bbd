/**
 * An authorization server in memory: keys, tokens, metadata and introspection, behind a `fetch`.
 *
 * @module
 */
import type { Fetch } from "../../../src/ports.ts";

export const issuer = "https://auth.example.com";
export const audience = "https://mcp.example.com/mcp";

const algorithms: Readonly<
  Record<"ES256" | "RS256" | "Ed25519", EcKeyGenParams & EcdsaParams | RsaHashedKeyGenParams | Algorithm>
> = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  Ed25519: { name: "Ed25519" },
};

/** A key pair of the server. */
export interface SigningKey {
  readonly alg: keyof typeof algorithms;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  /** As it stands in the key set. */
  readonly jwk: Record<string, unknown>;
}

/** Makes a key pair. */
export async function createKey(kid: string, alg: keyof typeof algorithms = "ES256"): Promise<SigningKey> {
  const made = await crypto.subtle.generateKey(algorithms[alg], true, ["sign", "verify"]);
  const { publicKey, privateKey } = made as CryptoKeyPair;
  const { kty, n, e, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey) as JsonWebKey;
  const fields = Object.entries({ kty, n, e, crv, x, y, kid, alg, use: "sig" });
  return { alg, kid, privateKey, jwk: Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
}

/** Writes base64url. */
export function base64url(bytes: Uint8Array | string): string {
  const binary = typeof bytes === "string"
    ? String.fromCharCode(...new TextEncoder().encode(bytes))
    : String.fromCharCode(...bytes);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The part of a JWT that is signed. */
export function unsigned(header: Record<string, unknown>, payload: unknown): string {
  return `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}`;
}

/** Signs a token. `header` and `payload` are added to, or take away (undefined), what a sound one has. */
export async function sign(
  key: SigningKey,
  payload: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const text = unsigned({ alg: key.alg, typ: "at+jwt", kid: key.kid, ...header }, { ...soundPayload(), ...payload });
  const signature = await crypto.subtle.sign(algorithms[key.alg], key.privateKey, new TextEncoder().encode(text));
  return `${text}.${base64url(new Uint8Array(signature))}`;
}

/** What a sound token of RFC 9068 says at the time of the virtual clock. */
export function soundPayload(): Record<string, unknown> {
  const now = Date.UTC(2026, 6, 28) / 1_000;
  return {
    iss: issuer,
    sub: "ada",
    aud: audience,
    exp: now + 300,
    iat: now,
    jti: "1",
    client_id: "editor",
    scope: "mcp:use files:read",
  };
}

/** The server: its documents by URL, and what was asked of it. */
export class AuthorizationServer {
  readonly asked: string[] = [];
  readonly bodies: string[] = [];
  readonly headers: Headers[] = [];
  readonly documents: Map<string, (request: Request) => Response | Promise<Response>> = new Map();

  constructor(...keys: readonly SigningKey[]) {
    this.setMetadata({ issuer, jwks_uri: `${issuer}/keys` });
    this.setKeys(...keys);
  }

  setKeys(...keys: readonly (SigningKey | Record<string, unknown>)[]): void {
    const jwks = keys.map((key) => "jwk" in key ? key.jwk : key);
    this.documents.set(`${issuer}/keys`, () => Response.json({ keys: jwks }));
  }

  setMetadata(document: unknown, path: string = "/.well-known/oauth-authorization-server"): void {
    this.documents.set(issuer + path, () => Response.json(document));
  }

  /** How often a document was asked for. */
  count(path: string): number {
    return this.asked.filter((url) => url === issuer + path).length;
  }

  readonly fetch: Fetch = async (url, init) => {
    // A request is made of it, as a runtime would: some refuse options that they do not know.
    const request = new Request(url, init);
    this.asked.push(url);
    this.headers.push(request.headers);
    this.bodies.push(await request.text());
    return await this.documents.get(url)?.(request) ?? new Response("nothing here", { status: 404 });
  };
}

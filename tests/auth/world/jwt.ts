/**
 * Signed tokens, by Web Crypto alone: the world judges with its own eyes, not with the library under test.
 *
 * @module
 */

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

const algorithms: Readonly<Record<string, { import: Algorithm & Record<string, unknown>; verify: Algorithm }>> = {
  ES256: {
    import: { name: "ECDSA", namedCurve: "P-256" },
    verify: { name: "ECDSA", hash: "SHA-256" } as Algorithm,
  },
  RS256: {
    import: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
    verify: { name: "RSASSA-PKCS1-v1_5" },
  },
  PS256: {
    import: { name: "RSA-PSS", hash: "SHA-256" },
    verify: { name: "RSA-PSS", saltLength: 32 } as Algorithm,
  },
  Ed25519: { import: { name: "Ed25519" }, verify: { name: "Ed25519" } },
  EdDSA: { import: { name: "Ed25519" }, verify: { name: "Ed25519" } },
};

/** A token, taken apart. */
export interface ReadJwt {
  readonly header: Json;
  readonly payload: Json;
  readonly signed: string;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** Writes base64url. */
export function base64url(bytes: Uint8Array | string): string {
  const plain = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  return btoa(String.fromCharCode(...plain)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Reads base64url. Undefined: it is none. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}

/** The SHA-256 of a text, in base64url. */
export async function sha256(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** Takes a token apart, without judging it. Undefined: it is no JWT. */
export function readJwt(text: string): ReadJwt | undefined {
  const [first = "", second = "", third = "", ...rest] = text.split(".");
  const signature = fromBase64url(third);
  const [header, payload] = [readPart(first), readPart(second)];
  if (!header || !payload || !signature?.length || rest.length) return undefined;
  return { header, payload, signed: `${first}.${second}`, signature };
}

/** Whether a key has signed a token. */
export async function isSignedBy({ header, signed, signature }: ReadJwt, jwk: JsonWebKey): Promise<boolean> {
  const known = typeof header.alg === "string" ? algorithms[header.alg] : undefined;
  if (!known) return false;
  const { kty, crv, x, y, n, e } = jwk;
  const bare = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
  try {
    const key = await crypto.subtle.importKey("jwk", Object.fromEntries(bare), known.import, true, ["verify"]);
    return await crypto.subtle.verify(known.verify, key, signature, new TextEncoder().encode(signed));
  } catch {
    return false;
  }
}

/** The thumbprint of a public key (RFC 7638). Undefined: a kind of key that is not known. */
export async function thumbprint({ kty, crv, x, y, n, e }: JsonWebKey): Promise<string | undefined> {
  if (kty === "EC") return await sha256(JSON.stringify({ crv, kty, x, y }));
  if (kty === "OKP") return await sha256(JSON.stringify({ crv, kty, x }));
  if (kty === "RSA") return await sha256(JSON.stringify({ e, kty, n }));
  return undefined;
}

/** A key pair that signs (ES256). */
export interface Signer {
  /** The public key. */
  readonly jwk: JsonWebKey;
  /** The private key. */
  readonly privateKey: CryptoKey;
  /** Signs; `header` comes on top of `alg`. */
  sign(payload: Json, header?: Json): Promise<string>;
}

/** Makes a key pair. */
export async function createSigner(): Promise<Signer> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const { privateKey, publicKey } = pair as CryptoKeyPair;
  const exported = await crypto.subtle.exportKey("jwk", publicKey) as JsonWebKey;
  const { kty, crv, x, y } = exported;
  return {
    jwk: { kty, crv, x, y } as JsonWebKey,
    privateKey,
    async sign(payload, header = {}) {
      const signed = [{ alg: "ES256", ...header }, payload].map((part) => base64url(JSON.stringify(part))).join(".");
      const algorithm = { name: "ECDSA", hash: "SHA-256" };
      const bytes = await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(signed));
      return `${signed}.${base64url(new Uint8Array(bytes))}`;
    },
  };
}

function readPart(text: string): Json | undefined {
  const bytes = fromBase64url(text);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

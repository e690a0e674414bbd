/**
 * Private keys as operators have them: keys of Web Crypto, PEM, JWK. What is wrong with one is told without showing it.
 *
 * @module
 */

/** How an assertion is signed. `EdDSA` is the older name of `Ed25519`, for servers that know only that. */
export type SigningAlgorithm =
  | "ES256"
  | "ES384"
  | "ES512"
  | "PS256"
  | "PS384"
  | "PS512"
  | "RS256"
  | "RS384"
  | "RS512"
  | "Ed25519"
  | "EdDSA";

/** What is called `CryptoKey` wherever the types of Web Crypto have a name: those of Node alone have none. */
export type WebCryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A private key (RFC 7517). */
export type PrivateJwk = Readonly<Record<string, unknown>>;

/** A key that can be opened, and what is known of it before. */
export interface PrivateKeySource {
  readonly keyId: string | undefined;
  /** What the key is said to sign with; undefined: what it is made for. */
  readonly algorithm: SigningAlgorithm | undefined;
  /**
   * Opens it.
   *
   * @throws {TypeError} When it is no such key.
   */
  open(): Promise<WebCryptoKey>;
}

/** What Web Crypto calls an algorithm. */
interface Parameters {
  readonly name: string;
  readonly namedCurve?: string;
  readonly hash?: string;
}

const algorithms: Readonly<Record<SigningAlgorithm, Parameters>> = {
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384" },
  ES512: { name: "ECDSA", namedCurve: "P-521" },
  PS256: { name: "RSA-PSS", hash: "SHA-256" },
  PS384: { name: "RSA-PSS", hash: "SHA-384" },
  PS512: { name: "RSA-PSS", hash: "SHA-512" },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  RS384: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384" },
  RS512: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" },
  Ed25519: { name: "Ed25519" },
  EdDSA: { name: "Ed25519" },
};

/** What a private JWK of each kind has. */
const fields = { EC: ["x", "y", "d"], OKP: ["x", "d"], RSA: ["n", "e", "d", "p", "q", "dp", "dq", "qi"] } as const;
/** How long `x`, `y` and `d` are, in base64url, by curve. */
const coordinates: Readonly<Record<string, number>> = { "P-256": 43, "P-384": 64, "P-521": 88, Ed25519: 43 };
/** The fewest bits of an RSA key. */
const fewestBits = 2048;

/**
 * Reads a private key, as far as that needs no waiting.
 *
 * @throws {TypeError} When it is none, or its algorithm is not told. The key is not in the message.
 */
export function readPrivateKey(key: unknown, algorithm: unknown, keyId: unknown): PrivateKeySource {
  if (algorithm !== undefined && !isAlgorithm(algorithm)) {
    throw refused(`expected "algorithm" to be one of ${Object.keys(algorithms).join(", ")}`);
  }
  if (keyId !== undefined && (typeof keyId !== "string" || !keyId)) {
    throw refused('expected "keyId" to be a text that is not empty');
  }
  if (key instanceof CryptoKey) {
    checkKey(key, algorithm);
    return { keyId, algorithm, open: () => Promise.resolve(key) };
  }
  if (typeof key === "string") {
    if (!algorithm) throw refused('expected "algorithm" beside a PEM text, such as "ES256"');
    const bytes = readPem(key);
    return {
      keyId,
      algorithm,
      open: () => open(algorithm, (parameters) => crypto.subtle.importKey("pkcs8", bytes, parameters, false, ["sign"])),
    };
  }
  return readJwk(key, algorithm, keyId);
}

function readJwk(key: unknown, given: SigningAlgorithm | undefined, keyId: string | undefined): PrivateKeySource {
  if (typeof key !== "object" || key === null || Array.isArray(key)) {
    throw refused("expected a CryptoKey, a PKCS8 PEM text or a JWK object");
  }
  const { kty, crv, alg, kid, use, d, ...others }: Record<string, unknown> = { ...key };
  if (typeof d !== "string") throw refused('expected the JWK to have "d", a text: without it a key is public');
  if (use !== undefined && use !== "sig") throw refused('expected "use" of the JWK to be "sig"');
  const byCurve = Object.entries(algorithms).find(([, { name, namedCurve }]) => (namedCurve ?? name) === crv)?.[0];
  const algorithm = given ?? alg ?? (kty === "RSA" ? undefined : byCurve);
  if (!isAlgorithm(algorithm)) {
    throw refused(`expected "algorithm", or "alg" of the JWK, to be one of ${Object.keys(algorithms).join(", ")}`);
  }
  const { name, namedCurve } = algorithms[algorithm];
  const wanted = { kty: namedCurve ? "EC" : name === "Ed25519" ? "OKP" : "RSA", crv: namedCurve ?? name } as const;
  if (kty !== wanted.kty) throw refused(`expected "kty" of the JWK to be "${wanted.kty}" for ${algorithm}`);
  if (kty !== "RSA" && crv !== wanted.crv) {
    throw refused(`expected "crv" of the JWK to be "${wanted.crv}" for ${algorithm}`);
  }
  // What says how it may be used stays out: each runtime has its own names for the Edwards curve.
  const jwk: Record<string, string> = { kty: wanted.kty, ...(kty === "RSA" ? {} : { crv: wanted.crv }) };
  for (const field of fields[wanted.kty]) {
    const value = field === "d" ? d : others[field];
    // One runtime does not look at the public part of a key on a curve.
    const length = kty === "RSA" ? undefined : coordinates[wanted.crv];
    if (typeof value !== "string" || !/^[\w-]+$/.test(value) || (length && value.length !== length)) {
      throw refused(`expected "${field}" of the JWK to be ${length ? `${length} characters of ` : ""}base64url`);
    }
    jwk[field] = value;
  }
  return {
    keyId: keyId ?? (typeof kid === "string" && kid ? kid : undefined),
    algorithm,
    open: () => open(algorithm, (parameters) => crypto.subtle.importKey("jwk", jwk, parameters, false, ["sign"])),
  };
}

async function open(
  algorithm: SigningAlgorithm,
  importKey: (parameters: Parameters) => Promise<CryptoKey>,
): Promise<CryptoKey> {
  let key: CryptoKey;
  try {
    key = await importKey(algorithms[algorithm]);
  } catch {
    // What the runtime says may hold parts of it.
    throw refused(`it cannot be read as a key for ${algorithm}`);
  }
  checkKey(key, algorithm);
  return key;
}

function checkKey(key: CryptoKey, algorithm: SigningAlgorithm | undefined): void {
  if (key.type !== "private" || !key.usages.includes("sign")) {
    throw refused('expected a private CryptoKey with "sign" in its usages');
  }
  const { name, namedCurve, hash, modulusLength } = parametersOf(key);
  const isMeant = ([, wanted]: readonly [string, Parameters]) =>
    wanted.name === (name === "EdDSA" ? "Ed25519" : name) && wanted.namedCurve === namedCurve && wanted.hash === hash;
  const fitting = Object.entries(algorithms).filter(isMeant).map(([made]) => made);
  if (!fitting.length) throw refused(`expected it to be made for one of ${Object.keys(algorithms).join(", ")}`);
  if (algorithm && !fitting.includes(algorithm)) throw refused(`it is made for ${fitting[0]}, not for ${algorithm}`);
  if (modulusLength !== undefined && modulusLength < fewestBits) {
    throw refused(`expected an RSA key of ${fewestBits} bits or more, it has ${modulusLength}`);
  }
}

/** What a key is made for; fields that its kind does not have are undefined. */
function parametersOf(key: CryptoKey): Parameters & { readonly modulusLength?: number | undefined } {
  const { name, namedCurve, hash, modulusLength }: Record<string, unknown> = { ...key.algorithm };
  const digest = typeof hash === "object" && hash !== null && "name" in hash ? String(hash.name) : undefined;
  return {
    name: String(name),
    ...(typeof namedCurve === "string" ? { namedCurve } : {}),
    ...(digest === undefined ? {} : { hash: digest }),
    modulusLength: typeof modulusLength === "number" ? modulusLength : undefined,
  };
}

/** The bytes of a PKCS8 key. Environment variables often hold `\n` in the place of line ends. */
function readPem(text: string): Uint8Array<ArrayBuffer> {
  const lines = text.replaceAll("\\n", "\n");
  const label = /-----BEGIN ([A-Z0-9 ]{1,40})-----/.exec(lines)?.[1];
  if (label !== undefined && label !== "PRIVATE KEY") {
    throw refused(
      `expected a PKCS8 PEM text ("BEGIN PRIVATE KEY"), got "BEGIN ${label}": convert it, without a password`,
    );
  }
  const body = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(lines)?.[1];
  try {
    if (body) return Uint8Array.from(atob(body.replace(/\s/g, "")), (character) => character.charCodeAt(0));
  } catch {
    // It is not base64.
  }
  throw refused('expected a PKCS8 PEM text, from "-----BEGIN PRIVATE KEY-----" to its end');
}

function isAlgorithm(value: unknown): value is SigningAlgorithm {
  return typeof value === "string" && Object.hasOwn(algorithms, value);
}

function refused(reason: string): TypeError {
  return new TypeError(`Cannot use the private key: ${reason}`);
}

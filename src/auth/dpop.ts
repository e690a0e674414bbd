/**
 * Tokens that are bound to a key (DPoP, RFC 9449): whoever steals one cannot use it.
 *
 * @module
 */
import {
  allowInsecureRequests,
  customFetch,
  DPoP,
  genericTokenEndpointRequest,
  modifyAssertion,
  protectedResourceRequest,
} from "oauth4webapi";
import { type Clock, systemClock } from "../ports.ts";
import { AuthorizationError } from "../protocol/errors.ts";
import { isTextOrMissing } from "../protocol/json_rpc.ts";
import { readChallenges } from "./challenge.ts";
import { parseObject } from "./parse.ts";
import type { Dpop, DpopHandle, DpopKey } from "./seam.ts";
import { readJwt } from "./verify/claims.ts";

/** How proofs are signed. */
export type DpopAlgorithm = "ES256" | "ES384" | "Ed25519";

/** Options of {@linkcode createDpop}. */
export interface DpopOptions {
  /** How new keys sign ("ES256"): take one that the authorization server lists. A key that was kept signs as it did. */
  readonly algorithm?: DpopAlgorithm | undefined;
  /** Time. Default: the runtime's. */
  readonly clock?: Clock | undefined;
}

/**
 * Binds tokens to a key (RFC 9449): the `dpop` of `createOAuth`. Each request then carries a proof that whoever sends it has the
 * key. Keys are kept beside their tokens, in the store of `createOAuth`.
 *
 * @throws {TypeError} When the algorithm is none of those three.
 *
 * @example A key, and a proof for one request
 * ```ts
 * import { createDpop } from "@causeway/mcp/auth";
 *
 * const dpop = createDpop({ algorithm: "ES256" });
 * const key = await dpop.open();
 * const proof = await key.prove({ url: "https://mcp.example/mcp", method: "POST", accessToken: "t0ken" });
 * console.assert(proof.split(".").length === 3);
 * ```
 */
export function createDpop(options: DpopOptions = {}): Dpop {
  const { algorithm = "ES256", clock = systemClock } = options;
  if (!Object.hasOwn(curves, algorithm)) {
    throw new TypeError(
      `Cannot sign proofs with "${algorithm}": "algorithm" is one of ${Object.keys(curves).join(", ")}`,
    );
  }
  return {
    async open(kept) {
      const text = kept ?? await createKey(algorithm);
      return new Key(text, await openKey(text), clock);
    },
  };
}

/** Most origins whose nonces are remembered. */
const mostOrigins = 100;

/** What the syntax of RFC 9449, section 8.1, lets a nonce be, and a header can carry. */
const soundNonce = /^[!\x23-\x5b\x5d-\x7e]{1,2048}$/;

/** The ways to sign, each with the curve of its keys. */
const curves: Readonly<Record<DpopAlgorithm, { name: string; namedCurve: string; hash: string }>> = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  Ed25519: { name: "Ed25519", namedCurve: "Ed25519", hash: "" },
};

/** As oauth4webapi takes it. */
type Pair = Parameters<typeof DPoP>[1];

class Key implements DpopKey {
  readonly kept: string;
  readonly handle: DpopHandle;
  readonly #atResource: DpopHandle;
  /** By origin, for the resource alone: the authorization server has its own, also on the same origin. */
  readonly #nonces = new Map<string, string>();

  constructor(kept: string, pair: Pair, clock: Clock) {
    const seconds = () => Math.floor(clock.now() / 1_000);
    this.kept = kept;
    this.handle = DPoP({}, pair, { [modifyAssertion]: (_header, payload) => void (payload.iat = seconds()) });
    this.#atResource = DPoP({}, pair, {
      [modifyAssertion]: (_header, payload) => {
        payload.iat = seconds();
        payload.nonce = this.#nonces.get(new URL(String(payload.htu)).origin);
      },
    });
  }

  async post(url: string, send: (proof: string) => Promise<Response>): Promise<Response> {
    // Who asks, and for what, is for `send` to say: the library makes the proof, and keeps the nonce.
    return await genericTokenEndpointRequest(
      { issuer: url, token_endpoint: url },
      { client_id: url },
      () => {},
      url,
      [],
      {
        DPoP: this.handle,
        [allowInsecureRequests]: true,
        [customFetch]: (_url, { headers }) => send(headers.dpop ?? ""),
      },
    );
  }

  async prove({ url, method, accessToken }: Parameters<DpopKey["prove"]>[0]): Promise<string> {
    let proof = "";
    // What runtimes say of a bad header repeats it.
    if (!/^[!-~]+$/.test(accessToken)) {
      throw new AuthorizationError("Cannot prove whose the access token is: it is empty, or no header can carry it");
    }
    // Nothing is sent: the request is made for its header alone.
    await protectedResourceRequest(accessToken, method, new URL(url), new Headers(), null, {
      DPoP: this.#atResource,
      [allowInsecureRequests]: true,
      [customFetch]: (_url, { headers }) => {
        proof = headers.dpop ?? "";
        return Promise.resolve(new Response());
      },
    });
    return proof;
  }

  learn(url: string, response: Response, proof = ""): boolean {
    const nonce = response.headers.get("dpop-nonce") ?? "";
    if (!soundNonce.test(nonce)) return false;
    const { origin } = new URL(url);
    this.#nonces.delete(origin);
    this.#nonces.set(origin, nonce);
    for (const [oldest] of this.#nonces) {
      if (this.#nonces.size <= mostOrigins) break;
      this.#nonces.delete(oldest);
    }
    return response.status === 401 && readJwt(proof)?.payload.nonce !== nonce &&
      readChallenges(response.headers.get("www-authenticate")).some(({ scheme, parameters }) =>
        scheme === "dpop" && parameters.error === "use_dpop_nonce"
      );
  }
}

/** A new private key, as text. */
async function createKey(algorithm: DpopAlgorithm): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey(curves[algorithm], true, ["sign", "verify"]);
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", privateKey);
  return JSON.stringify({ kty, crv, x, y, d });
}

/** The key that a text is. Nothing of the text is in what it throws, nor in a cause. */
async function openKey(kept: string): Promise<Pair> {
  const { kty, crv, x, y, d } = parseObject(kept) ?? {};
  const curve = Object.values(curves).find(({ namedCurve }) => namedCurve === crv);
  if (curve && isTextOrMissing(kty) && isTextOrMissing(x) && isTextOrMissing(y) && isTextOrMissing(d) && d) {
    const shown = Object.fromEntries(Object.entries({ kty, crv: curve.namedCurve, x, y }).filter(([, value]) => value));
    const { subtle } = crypto;
    try {
      const privateKey = await subtle.importKey("jwk", { ...shown, d }, curve, false, ["sign"]);
      const publicKey = await subtle.importKey("jwk", shown, curve, true, ["verify"]);
      const pair = { privateKey, publicKey };
      // Not every runtime sees that the halves do not belong together.
      const signature = await subtle.sign(curve, privateKey, new Uint8Array(1));
      if (isPair(pair) && await subtle.verify(curve, publicKey, signature, new Uint8Array(1))) return pair;
    } catch {
      // Said below: what runtimes say may repeat the text.
    }
  }
  throw new AuthorizationError(
    "Cannot open the key that was kept for DPoP: it is no private JWK on P-256, P-384 or Ed25519",
  );
}

function isPair(pair: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }): pair is Pair {
  return pair.privateKey.type === "private" && pair.publicKey.type === "public";
}

/** Clients that authenticate with a key. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  clientCredentials,
  privateKeyJwt,
  type PrivateKeyJwtOptions,
  type SigningAlgorithm,
} from "../../../src/auth/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { GrantWorld, issuer, readJwt, tokenEndpoint } from "./context.ts";

const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
const makers = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  ES512: { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" },
  PS256: { name: "RSA-PSS", hash: "SHA-256", saltLength: 32, ...rsa },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", ...rsa },
  RS512: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512", ...rsa },
  Ed25519: { name: "Ed25519" },
};

type Made = keyof typeof makers;

async function makeKey(algorithm: Made) {
  const made = await crypto.subtle.generateKey(makers[algorithm], true, ["sign", "verify"]);
  if (!("privateKey" in made)) throw new Error("a pair of keys was expected");
  const { privateKey, publicKey } = made;
  const exported: ArrayBuffer = await crypto.subtle.exportKey("pkcs8", privateKey);
  const digits = btoa(String.fromCharCode(...new Uint8Array(exported)));
  const pem = `-----BEGIN PRIVATE KEY-----\n${digits.replace(/.{64}/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
  const jwk: Record<string, unknown> = { ...await crypto.subtle.exportKey("jwk", privateKey) };
  return { algorithm, privateKey, publicKey, pem, jwk };
}

/** The client of a token request that authenticates so, and the assertion that it sent. */
async function assertionOf(authenticate: ReturnType<typeof privateKeyJwt>) {
  const world = new GrantWorld();
  await world.obtain(clientCredentials({ clientId: "nightly", authenticate }));
  const form = world.forms(tokenEndpoint)[0] ?? new URLSearchParams();
  const text = form.get("client_assertion") ?? "";
  return { form, text, headers: world.seen[0]?.headers, ...readJwt(text) };
}

async function isSignedBy(text: string, key: CryptoKey, algorithm: Made): Promise<boolean> {
  const at = text.lastIndexOf(".");
  const signature = Uint8Array.from(
    atob(text.slice(at + 1).replaceAll("-", "+").replaceAll("_", "/")),
    (character) => character.charCodeAt(0),
  );
  return await crypto.subtle.verify(makers[algorithm], key, signature, new TextEncoder().encode(text.slice(0, at)));
}

const hour = 3_600_000;

describe("a client with a key", () => {
  for (const algorithm of Object.keys(makers).filter((name): name is Made => name in makers)) {
    test(`${algorithm}: as a CryptoKey, as PEM, as a JWK`, async () => {
      const { privateKey, publicKey, pem, jwk } = await makeKey(algorithm);
      const { alg: _, ...bare } = jwk;
      const given: [CryptoKey | string | Record<string, unknown>, SigningAlgorithm?][] = [
        [privateKey],
        [privateKey, algorithm],
        [pem, algorithm],
        [pem.replaceAll("\n", "\\n"), algorithm],
        [`Bag Attributes\n    friendlyName: nightly\n${pem}`, algorithm],
        [{ ...bare, alg: algorithm }],
        [{ ...bare, alg: algorithm, use: "sig", key_ops: ["sign"] }],
        [bare, algorithm],
      ];
      for (const [key, told] of given) {
        const { form, text, header, payload } = await assertionOf(privateKeyJwt(key, { algorithm: told }));
        assertEquals(form.get("client_assertion_type"), "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        assertEquals([header.alg, header.kid], [algorithm, undefined]);
        assertEquals([payload.iss, payload.sub, payload.aud], ["nightly", "nightly", issuer]);
        assert(await isSignedBy(text, publicKey, algorithm), "the signature is of this key");
      }
    });
  }

  test("the curve says enough of a JWK; its kid goes along, or the one that is told", async () => {
    for (const algorithm of ["ES256", "ES384", "ES512", "Ed25519"] as const) {
      const { alg: _, ...jwk } = (await makeKey(algorithm)).jwk;
      const { header } = await assertionOf(privateKeyJwt({ ...jwk, kid: "2026-07" }));
      assertEquals(header, { alg: algorithm, kid: "2026-07" });
      const told = await assertionOf(privateKeyJwt({ ...jwk, kid: "2026-07" }, { keyId: "mine" }));
      assertEquals(told.header.kid, "mine");
    }
  });

  test("a server that knows the older name of Ed25519 gets it", async () => {
    const { privateKey, publicKey, jwk } = await makeKey("Ed25519");
    for (const key of [privateKey, { ...jwk, alg: "EdDSA" }]) {
      const { header, text } = await assertionOf(privateKeyJwt(key, { algorithm: "EdDSA" }));
      assertEquals(header.alg, "EdDSA");
      assert(await isSignedBy(text, publicKey, "Ed25519"));
    }
    assertEquals((await assertionOf(privateKeyJwt({ ...jwk, alg: "EdDSA" }))).header.alg, "EdDSA");
  });

  test("each request has an assertion of its own that soon ends; audience and lifetime can be told", async () => {
    const { privateKey } = await makeKey("ES256");
    const clock = new VirtualClock();
    const authenticate = privateKeyJwt(privateKey, { clock });
    const first = await assertionOf(authenticate);
    await clock.advance(10_000);
    const second = await assertionOf(authenticate);
    const now = Math.floor(clock.now() / 1000);
    assertEquals([first.payload.iat, first.payload.exp], [now - 10, now + 50]);
    assertEquals([second.payload.iat, second.payload.exp], [now, now + 60]);
    assert(typeof first.payload.jti === "string" && first.payload.jti.length >= 20);
    assert(first.payload.jti !== second.payload.jti, "no id is used twice");
    assertEquals("nbf" in first.payload, false, "a server's clock may be a second behind");
    const told = await assertionOf(privateKeyJwt(privateKey, { clock, audience: tokenEndpoint, lifetime: 300_000 }));
    assertEquals([told.payload.aud, told.payload.exp], [tokenEndpoint, now + 300]);
  });

  test("no secret goes along, and the object may change afterwards", async () => {
    const { jwk } = await makeKey("ES256");
    const authenticate = privateKeyJwt(jwk);
    const d = String(jwk.d);
    jwk.d = "changed";
    const { form, headers } = await assertionOf(authenticate);
    assertEquals(
      [...form.keys()].sort().join(),
      "client_assertion,client_assertion_type,client_id,grant_type,resource,scope",
    );
    assertEquals(headers?.get("authorization") ?? null, null);
    assertEquals(form.toString().includes(d), false);
  });

  test("what cannot be a key is refused at once, and never shown", async () => {
    const { pem, jwk, publicKey } = await makeKey("ES256");
    const { privateKey: encryption } = await crypto.subtle.generateKey(
      { name: "ECDH", namedCurve: "P-256" },
      true,
      ["deriveBits"],
    );
    const secrets = [String(jwk.d), pem.split("\n")[1] ?? ""];
    const ec = pem.replaceAll("PRIVATE KEY", "EC PRIVATE KEY");
    const bad: [unknown, PrivateKeyJwtOptions, string][] = [
      [undefined, {}, "expected a CryptoKey, a PKCS8 PEM text or a JWK object"],
      [7, {}, "expected a CryptoKey"],
      [[jwk], {}, "expected a CryptoKey"],
      [publicKey, {}, 'expected a private CryptoKey with "sign"'],
      [encryption, {}, 'expected a private CryptoKey with "sign"'],
      [pem, {}, 'expected "algorithm"'],
      ["", { algorithm: "ES256" }, "PKCS8 PEM"],
      [String(jwk.d), { algorithm: "ES256" }, "PKCS8 PEM"],
      [pem.slice(0, 100), { algorithm: "ES256" }, "PKCS8 PEM"],
      [pem.replace(/=*\n-----END/, "=====\n-----END"), { algorithm: "ES256" }, "PKCS8 PEM"],
      [ec, { algorithm: "ES256" }, 'got "BEGIN EC PRIVATE KEY"'],
      [pem.replaceAll("PRIVATE", "ENCRYPTED PRIVATE"), { algorithm: "ES256" }, 'got "BEGIN ENCRYPTED PRIVATE KEY"'],
      [pem, { algorithm: "HS256" as SigningAlgorithm }, '"algorithm" to be one of ES256'],
      [pem, { algorithm: "toString" as SigningAlgorithm }, '"algorithm" to be one of ES256'],
      [{ ...jwk, d: undefined }, {}, '"d"'],
      [{ ...jwk, use: "enc" }, {}, '"use"'],
      [{ ...jwk, alg: "none" }, {}, '"alg"'],
      [{ ...jwk, kty: "oct" }, {}, '"kty"'],
      [{ ...jwk, crv: "P-384", alg: "ES256" }, {}, '"crv"'],
      [jwk, { algorithm: "ES384" }, '"crv"'],
      [jwk, { algorithm: "RS256" }, '"kty"'],
      [{ kty: "RSA", d: jwk.d }, {}, '"algorithm", or "alg"'],
      [{ ...jwk, x: "AAAA" }, {}, '"x" of the JWK to be 43 characters of base64url'],
      [{ ...jwk, y: undefined }, {}, '"y" of the JWK'],
      [{ ...jwk, d: `${jwk.d}=` }, {}, '"d" of the JWK'],
      [{ ...jwk, kty: "RSA", alg: "RS256", n: "AQAB", e: 7 }, {}, '"e" of the JWK to be base64url'],
      [jwk, { keyId: "" }, '"keyId"'],
      [jwk, { audience: "" }, '"audience"'],
    ];
    for (const [key, options, wanted] of bad) {
      const error = assertThrows(() => privateKeyJwt(key as string, options), TypeError, wanted);
      for (const secret of secrets) assertEquals(error.message.includes(secret), false);
    }
    for (const lifetime of [0, 999, hour + 1, NaN, Infinity]) {
      assertThrows(() => privateKeyJwt(jwk, { lifetime }), RangeError, `"lifetime" ${lifetime}`);
    }
  });

  test("a key of another algorithm, and a short one, are refused at once", async () => {
    const { privateKey } = await makeKey("ES256");
    assertThrows(() => privateKeyJwt(privateKey, { algorithm: "ES384" }), TypeError, "made for ES256, not for ES384");
    const weak = await crypto.subtle.generateKey({ ...makers.RS256, modulusLength: 1024 }, true, ["sign", "verify"]);
    assertThrows(() => privateKeyJwt(weak.privateKey), TypeError, "2048 bits or more, it has 1024");
    const old = await crypto.subtle.generateKey({ ...makers.RS256, hash: "SHA-1" }, true, ["sign", "verify"]);
    assertThrows(() => privateKeyJwt(old.privateKey), TypeError, "made for one of ES256");
  });

  test("what turns out to be no key when it is opened is a TypeError that does not show it; nothing is sent", async () => {
    const { pem, jwk } = await makeKey("ES256");
    const rsaKey = await makeKey("RS256");
    const bad: [string | Record<string, unknown>, SigningAlgorithm][] = [
      [pem, "ES384"],
      [pem, "RS256"],
      [rsaKey.pem, "ES256"],
      [`-----BEGIN PRIVATE KEY-----\n${btoa("no key at all, s3cret")}\n-----END PRIVATE KEY-----`, "ES256"],
      [{ ...rsaKey.jwk, n: "AQAB" }, "RS256"],
    ];
    for (const [key, algorithm] of bad) {
      const world = new GrantWorld();
      const grant = clientCredentials({ clientId: "nightly", authenticate: privateKeyJwt(key, { algorithm }) });
      const error = await assertRejects(() => world.obtain(grant), TypeError, "Cannot use the private key");
      assertEquals(error.cause, undefined);
      for (const secret of [String(jwk.d), pem.split("\n")[1] ?? "", "s3cret"]) {
        assertEquals(error.message.includes(secret), false);
      }
      assertEquals(world.seen, []);
    }
  });

  test("a damaged key that only signing notices is a TypeError too, on runtimes that notice", async () => {
    const { jwk } = await makeKey("RS256");
    const world = new GrantWorld();
    const authenticate = privateKeyJwt({ ...jwk, p: jwk.q });
    const work = world.obtain(clientCredentials({ clientId: "nightly", authenticate }));
    const error = await work.then(() => undefined, (reason: unknown) => reason);
    if (error === undefined) return assertEquals(world.seen.length, 1);
    assert(error instanceof TypeError, `a TypeError was expected, not ${error}`);
    assertEquals([error.message.startsWith("Cannot use the private key: "), error.cause], [true, undefined]);
    assertEquals(world.seen, []);
  });
});

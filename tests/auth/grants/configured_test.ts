/** The grant of a program that a config names. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { configuredGrant } from "../../../src/auth/mod.ts";
import { GrantWorld, issuer, readJwt, tokenEndpoint } from "./context.ts";

const program = { clientId: "nightly", issuer };

/** The assertion that it authenticates with. */
async function assertionOf(privateKey: string, more: { algorithm?: string; keyId?: string }) {
  const world = new GrantWorld();
  const grant = configuredGrant({ ...program, privateKey, ...more });
  assertEquals([grant.client?.clientId, grant.client?.issuer, grant.client?.clientSecret], [
    "nightly",
    issuer,
    undefined,
  ]);
  await world.obtain(grant);
  return readJwt(world.forms(tokenEndpoint)[0]?.get("client_assertion") ?? "");
}

describe("a program of a config", () => {
  test("with a secret it is that client, at that issuer alone", () => {
    const { client } = configuredGrant({ ...program, clientSecret: "s3cret" });
    assertEquals(client, { ...program, clientSecret: "s3cret" });
  });

  test("with a key as PEM, on one line too, and as a JWK: the issuer, the algorithm and the key's id are those of the config", async () => {
    const { privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
      "sign",
      "verify",
    ]);
    const bytes: ArrayBuffer = await crypto.subtle.exportKey("pkcs8", privateKey);
    const digits = btoa(String.fromCharCode(...new Uint8Array(bytes)));
    const pem = `-----BEGIN PRIVATE KEY-----\n${digits}\n-----END PRIVATE KEY-----\n`;
    for (const text of [pem, pem.replaceAll("\n", "\\n")]) {
      const { header } = await assertionOf(text, { algorithm: "ES256", keyId: "key-1" });
      assertEquals([header.alg, header.kid], ["ES256", "key-1"]);
    }
    const jwk = JSON.stringify({ ...await crypto.subtle.exportKey("jwk", privateKey), kid: "key-2" });
    const { header } = await assertionOf(`\n ${jwk}`, {});
    assertEquals([header.alg, header.kid], ["ES256", "key-2"]);
    assertThrows(() => configuredGrant({ ...program, privateKey: pem }), TypeError, '"algorithm"');
  });

  test("what begins as a JWK and is none is told without a word of it", () => {
    const error = assertThrows(() => configuredGrant({ ...program, privateKey: '{"d": "t0p-s3cret' }), TypeError);
    assertEquals(error.message, "Cannot use the private key: it begins as a JWK does, and is no JSON");
    assert(error.cause === undefined);
  });
});

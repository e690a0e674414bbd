/** Tokens that are bound to a key (RFC 9449): every proof is verified as a server would. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { clientCredentialsGrantRequest, customFetch, type DPoPHandle, None } from "oauth4webapi";
import { createDpop, type DpopAlgorithm, type DpopKey } from "../../src/auth/mod.ts";
import { readJwt } from "../../src/auth/verify/claims.ts";
import { AuthorizationError } from "../../src/protocol/errors.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { base64url } from "./verify/authorization_server.ts";
import { readUrl } from "../../src/egress/url.ts";

const url = "https://mcp.example/mcp";
const accessToken = "t0ken.of-the/resource~+=";
const request = { url, method: "POST", accessToken };
const refusal = 'DPoP error="use_dpop_nonce"';

const algorithms = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  Ed25519: { name: "Ed25519", namedCurve: "Ed25519", hash: "" },
} as const;
const names: readonly DpopAlgorithm[] = ["ES256", "ES384", "Ed25519"];

/** Verifies the signature of a proof with the key that it shows; answers what it says. */
async function verify(proof: string): Promise<{ header: Record<string, unknown>; payload: Record<string, unknown> }> {
  const { header, payload } = readJwt(proof) ?? {};
  assert(header && payload, "it is a JWT");
  const algorithm = names.find((name) => name === header.alg);
  assert(algorithm, "its algorithm is known");
  const key = await crypto.subtle.importKey("jwk", header.jwk as JsonWebKey, algorithms[algorithm], false, ["verify"]);
  const [, , signature = ""] = proof.split(".");
  const signed = new TextEncoder().encode(proof.slice(0, -signature.length - 1));
  assert(await crypto.subtle.verify(algorithms[algorithm], key, bytes(signature), signed), "its signature is sound");
  return { header, payload };
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
}

async function digest(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

function reply(status: number, challenge?: string, nonce?: string): Response {
  const headers = new Headers();
  if (challenge !== undefined) headers.set("www-authenticate", challenge);
  if (nonce !== undefined) headers.set("dpop-nonce", nonce);
  return new Response(null, { status, headers });
}

async function nonceAt(key: DpopKey, place: string): Promise<unknown> {
  return (await verify(await key.prove({ ...request, url: place }))).payload.nonce;
}

/** The proof that goes to a token endpoint, which answers with this nonce. */
async function proofForToken(handle: DPoPHandle, issuer: string, nonce?: string): Promise<string> {
  let proof = "";
  await clientCredentialsGrantRequest({ issuer, token_endpoint: `${issuer}/token` }, { client_id: "c" }, None(), {}, {
    DPoP: handle,
    [customFetch]: (_url, { headers }) => {
      proof = headers.dpop ?? "";
      return Promise.resolve(reply(400, undefined, nonce));
    },
  });
  return proof;
}

describe("a proof for the resource", () => {
  test("of each algorithm: its signature is sound, and it says this and nothing more", async () => {
    for (const algorithm of names) {
      const clock = new VirtualClock();
      const key = await createDpop({ algorithm, clock }).open();
      await clock.advance(1_999);
      const { header, payload } = await verify(await key.prove(request));
      const { jti, ...rest } = payload;
      assert(typeof jti === "string" && /^[\w-]{22,}$/.test(jti), String(jti));
      const iat = Date.UTC(2026, 6, 28) / 1_000 + 1;
      assertEquals(rest, { iat, htm: "POST", htu: url, ath: await digest(accessToken) });
      const { jwk, ...head } = header;
      assertEquals(head, { alg: algorithm, typ: "dpop+jwt" });
      const { d: _, ...shown } = JSON.parse(key.kept);
      assertEquals(jwk, shown);
    }
  });

  test("the default is ES256", async () => {
    assertEquals((await verify(await (await createDpop().open()).prove(request))).header.alg, "ES256");
  });

  test("by the runtime's clock where none is given", async () => {
    const key = await createDpop().open();
    const { iat } = (await verify(await key.prove(request))).payload;
    assert(Math.abs(Number(iat) - Date.now() / 1_000) < 60, String(iat));
  });

  test("each is for its method and its token", async () => {
    const key = await createDpop().open();
    for (const method of ["GET", "POST", "DELETE"]) {
      assertEquals((await verify(await key.prove({ ...request, method }))).payload.htm, method);
    }
    const { ath } = (await verify(await key.prove({ ...request, accessToken: "another" }))).payload;
    assertEquals(ath, await digest("another"));
  });

  test("a token that no header can carry is refused, and not shown", async () => {
    const key = await createDpop().open();
    for (const bad of ["", "hunter22\nx: y", "hunter22 é", "hunter22\0", "hunter22 hunter22"]) {
      const error = await assertRejects(() => key.prove({ ...request, accessToken: bad }), AuthorizationError);
      assert(!`${error.stack}${error.cause}`.includes("hunter22"), error.message);
    }
  });

  test("a thousand at once, each with an id of its own", async () => {
    const key = await createDpop().open();
    const proofs = await Promise.all(Array.from({ length: 1_000 }, (_, index) => {
      if (index === 500) key.learn(url, reply(200, undefined, "half-way"));
      return key.prove({ ...request, accessToken: `token-${index % 10}` });
    }));
    const read = await Promise.all(proofs.map(verify));
    assertEquals(new Set(read.map(({ payload }) => payload.jti)).size, 1_000);
    assertEquals(new Set(proofs).size, 1_000);
    const expected = await Promise.all(Array.from({ length: 10 }, (_, index) => digest(`token-${index}`)));
    read.forEach(({ payload }, index) => assertEquals(payload.ath, expected[index % 10]));
    assertEquals(read[999]?.payload.nonce, "half-way");
  });

  test("whatever the address: without query and fragment, and as the request line and the host say it", async () => {
    const key = await createDpop({ algorithm: "Ed25519" }).open();
    const address = fc.webUrl({ withQueryParameters: true, withFragments: true, size: "medium" });
    await fc.assert(
      fc.asyncProperty(address, fc.string(), fc.string(), async (start, query, fragment) => {
        const place = `${start}?${query.replaceAll("#", "")}#${fragment}`;
        if (!readUrl(place)) return;
        const { htu } = (await verify(await key.prove({ ...request, url: place }))).payload;
        const { origin, pathname } = new URL(place);
        assertEquals(htu, origin + pathname, place);
        assert(typeof htu === "string" && !/[?#]/.test(htu), String(htu));
        assertEquals(new URL(htu).href, htu, "it stands for itself");
      }),
      { numRuns: 300 },
    );
    const places: Record<string, string> = {
      "https://MCP.example:443/a/../b?x=1#y": "https://mcp.example/b",
      "https://mcp.example?x": "https://mcp.example/",
      "http://localhost:8080/mcp?": "http://localhost:8080/mcp",
      "https://[2001:DB8::1]:8443/%7Emcp#?": "https://[2001:db8::1]:8443/%7Emcp",
      "https://user:password@mcp.example/mcp": url,
    };
    for (const [place, htu] of Object.entries(places)) {
      assertEquals((await verify(await key.prove({ ...request, url: place }))).payload.htu, htu);
    }
  });
});

describe("nonces", () => {
  test("the last one of an origin is in its proofs, and in no others", async () => {
    const key = await createDpop().open();
    assertEquals(await nonceAt(key, url), undefined);
    key.learn(`${url}?a=1`, reply(200, undefined, "one"));
    key.learn("https://mcp.example:8443/", reply(200, undefined, "of-the-port"));
    key.learn("http://mcp.example/", reply(200, undefined, "of-the-scheme"));
    assertEquals(await nonceAt(key, "https://MCP.example/other"), "one");
    assertEquals(await nonceAt(key, "https://mcp.example:8443/x"), "of-the-port");
    assertEquals(await nonceAt(key, "http://mcp.example/x"), "of-the-scheme");
    assertEquals(await nonceAt(key, "https://www.mcp.example/"), undefined);
    key.learn(url, reply(500, undefined, "two"));
    key.learn(url, reply(200));
    assertEquals(await nonceAt(key, url), "two");
  });

  test("what no nonce can be is not sent", async () => {
    const key = await createDpop().open();
    for (const bad of ['say "x"', "a, b", "back\\slash", "", "n".repeat(2_049)]) {
      assertEquals(key.learn(url, reply(401, refusal, bad)), false, bad);
      assertEquals(await nonceAt(key, url), undefined, bad);
    }
    const longest = "n".repeat(2_048);
    assertEquals(key.learn(url, reply(401, refusal, longest)), true);
    assertEquals(await nonceAt(key, url), longest);
  });

  test("those of a hundred origins are remembered", async () => {
    const key = await createDpop().open();
    const origin = (index: number) => `https://mcp${index}.example`;
    for (let index = 0; index < 100; index++) key.learn(origin(index), reply(200, undefined, `n${index}`));
    key.learn(origin(0), reply(200, undefined, "again"));
    key.learn(origin(100), reply(200, undefined, "n100"));
    const kept = await Promise.all([0, 1, 2, 99, 100].map((index) => nonceAt(key, origin(index))));
    assertEquals(kept, ["again", undefined, "n2", "n99", "n100"]);
  });

  test("a refusal is worth one more when it is a 401, asks for a nonce by name, and brings one", async () => {
    const worth: readonly [status: number, challenge: string | undefined, nonce: string | undefined, is: boolean][] = [
      [401, refusal, "n", true],
      [401, 'DPoP error="use_dpop_nonce", error_description="Take this, \\"please\\""', "n", true],
      [401, "dpop ERROR=use_dpop_nonce", "n", true],
      [401, `Bearer error="invalid_token", DPoP algs="ES256", error="use_dpop_nonce"`, "n", true],
      [401, `${refusal}, Bearer realm="x"`, "n", true],
      [401, refusal, undefined, false],
      [401, undefined, "n", false],
      [401, 'DPoP error="invalid_token"', "n", false],
      [401, 'Bearer error="use_dpop_nonce"', "n", false],
      [401, `Bearer realm="DPoP error=use_dpop_nonce"`, "n", false],
      [401, `DPoP error="invalid_token", error="use_dpop_nonce"`, "n", false],
      [400, refusal, "n", false],
      [403, refusal, "n", false],
      [200, refusal, "n", false],
    ];
    for (const [status, challenge, nonce, is] of worth) {
      const key = await createDpop().open();
      assertEquals(key.learn(url, reply(status, challenge, nonce)), is, `${status} ${challenge} ${nonce}`);
      assertEquals(await nonceAt(key, url), nonce);
    }
  });

  test("many that were refused together all go on with the one nonce; a proof that had it does not", async () => {
    const key = await createDpop().open();
    const first = await Promise.all([1, 2, 3].map(() => key.prove(request)));
    for (const proof of first) assertEquals(key.learn(url, reply(401, refusal, "n1"), proof), true);
    const second = await key.prove(request);
    assertEquals(key.learn(url, reply(401, refusal, "n1"), second), false);
    assertEquals(key.learn(url, reply(401, refusal, "n2"), second), true);
    assertEquals(await nonceAt(key, url), "n2");
  });

  test("the authorization server has its own, also where it is on the same origin", async () => {
    const clock = new VirtualClock();
    const key = await createDpop({ clock }).open();
    const origin = "https://mcp.example";
    key.learn(url, reply(401, refusal, "of-the-resource"));
    await clock.advance(60_000);
    const first = await verify(await proofForToken(key.handle, origin, "of-the-server"));
    const { jti: _, ...said } = first.payload;
    const iat = Date.UTC(2026, 6, 28) / 1_000 + 60;
    assertEquals(said, { iat, htm: "POST", htu: `${origin}/token` });
    assertEquals((await verify(await proofForToken(key.handle, origin))).payload.nonce, "of-the-server");
    assertEquals((await verify(await proofForToken(key.handle, "https://as.example"))).payload.nonce, undefined);
    assertEquals(await nonceAt(key, url), "of-the-resource");
    assertEquals(first.header.jwk, (await verify(await key.prove(request))).header.jwk);
  });
});

describe("a key", () => {
  test("survives as text: the thumbprint and the proofs are those of the same key", async () => {
    for (const algorithm of names) {
      const key = await createDpop({ algorithm }).open();
      const again = await createDpop({ algorithm: "ES384" }).open(key.kept);
      assertEquals(again.kept, key.kept);
      const thumbprint = await key.handle.calculateThumbprint();
      assertEquals(await again.handle.calculateThumbprint(), thumbprint);
      const { kty, crv, x, y } = JSON.parse(key.kept);
      const required = y === undefined ? { crv, kty, x } : { crv, kty, x, y };
      assertEquals(thumbprint, await digest(JSON.stringify(required)), "RFC 7638");
      const { header } = await verify(await again.prove(request));
      assertEquals(header, (await verify(await key.prove(request))).header);
      const { jwk } = (await verify(await proofForToken(again.handle, "https://as.example"))).header;
      assertEquals(jwk, header.jwk);
    }
  });

  test("each is new, and nonces are not shared", async () => {
    const dpop = createDpop();
    const [one, two] = await Promise.all([dpop.open(), dpop.open()]);
    assertNotEquals(one.kept, two.kept);
    assertNotEquals(await one.handle.calculateThumbprint(), await two.handle.calculateThumbprint());
    one.learn(url, reply(200, undefined, "n"));
    assertEquals(await nonceAt(two, url), undefined);
  });

  test("a text that is no such key is refused, and not shown", async () => {
    const keep = async (algorithm: DpopAlgorithm) => JSON.parse((await createDpop({ algorithm }).open()).kept);
    const [one, other, edwards, otherEdwards] = await Promise.all([
      keep("ES256"),
      keep("ES256"),
      keep("Ed25519"),
      keep("Ed25519"),
    ]);
    const bad: Record<string, string> = {
      "empty": "",
      "no JSON": "hunter22 is no JSON",
      "cut off": JSON.stringify(one).slice(0, -10),
      "null": "null",
      "a list": JSON.stringify([one]),
      "no fields": "{}",
      "a public key": JSON.stringify({ ...one, d: undefined }),
      "an empty secret": JSON.stringify({ ...one, d: "" }),
      "a secret of another type": JSON.stringify({ ...one, d: 7 }),
      "a secret that is no base64url": JSON.stringify({ ...one, d: "hunter22 ä" }),
      "a secret of another length": JSON.stringify({ ...one, d: "hunter22" }),
      "the secret of another key": JSON.stringify({ ...one, d: other.d }),
      "the secret of another key, Ed25519": JSON.stringify({ ...edwards, d: otherEdwards.d }),
      "a point off the curve": JSON.stringify({ ...one, x: one.y, y: one.x }),
      "no point": JSON.stringify({ ...one, x: undefined }),
      "half a point": JSON.stringify({ ...one, y: undefined }),
      "another kind": JSON.stringify({ ...one, kty: "OKP" }),
      "another curve": JSON.stringify({ ...one, crv: "P-384" }),
      "a curve that we do not take": JSON.stringify({ ...one, crv: "secp256k1" }),
      "a shared secret": JSON.stringify({ kty: "oct", k: "hunter22" }),
    };
    for (const [what, text] of Object.entries(bad)) {
      const error = await assertRejects(() => createDpop().open(text), AuthorizationError, "Cannot open the key", what);
      const shown = [error.message, error.stack, String(error.cause), JSON.stringify(error)].join("\n");
      for (const secret of ["hunter22", one.d, one.x, other.d, edwards.d]) assert(!shown.includes(secret), what);
    }
  });

  test("of an algorithm that we do not know is not made", () => {
    for (const algorithm of ["none", "HS256", "RS256", "es256", "", "constructor", "__proto__"]) {
      assertThrows(() => createDpop({ algorithm: algorithm as DpopAlgorithm }), TypeError, `"${algorithm}"`);
    }
  });
});

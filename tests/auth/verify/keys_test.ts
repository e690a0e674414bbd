/** Keys of an authorization server: where they come from, how long they are used, and what happens when there are none. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { createJwtVerifier } from "../../../src/auth/mod.ts";
import type { JwtVerifier, JwtVerifierOptions } from "../../../src/auth/mod.ts";
import { Keys } from "../../../src/auth/verify/keys.ts";
import type { GuardedFetch } from "../../../src/egress/guarded_fetch.ts";
import { ConnectError } from "../../../src/protocol/errors.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { AuthorizationServer, createKey, issuer, sign, soundPayload, unsigned } from "./authorization_server.ts";

const keysPath = "/keys";

function verifier(
  server: AuthorizationServer,
  clock: VirtualClock,
  options: Partial<JwtVerifierOptions> = {},
): JwtVerifier {
  return createJwtVerifier({ issuer, fetch: server.fetch, clock, ...options });
}

/** A token that lasts as long as the test. */
const lasting = { exp: Date.UTC(2026, 6, 29) / 1_000 };

describe("where keys are", () => {
  test("where the metadata says, asked for once", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const verify = verifier(server, new VirtualClock());
    for (let turn = 0; turn < 3; turn++) assertEquals((await verify(await sign(key)))?.subject, "ada");
    assertEquals(server.asked, [`${issuer}/.well-known/oauth-authorization-server`, `${issuer}${keysPath}`]);
  });

  test("OpenID's metadata will do, and an issuer with a path has three places", async () => {
    const key = await createKey("one");
    const tenant = `${issuer}/tenant`;
    const places = [
      "/.well-known/oauth-authorization-server/tenant",
      "/.well-known/openid-configuration/tenant",
      "/tenant/.well-known/openid-configuration",
    ];
    const server = new AuthorizationServer(key);
    server.setMetadata({ issuer: tenant, jwks_uri: `${issuer}/keys` }, places[2]!);
    const verify = verifier(server, new VirtualClock(), { issuer: tenant });
    assertEquals((await verify(await sign(key, { iss: tenant })))?.issuer, tenant);
    assertEquals(server.asked, [...places.map((path) => issuer + path), `${issuer}${keysPath}`]);
  });

  test("metadata of another issuer is not used", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    server.setMetadata({ issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` });
    await assertRejects(
      () => sign(key).then(verifier(server, new VirtualClock())),
      ConnectError,
      "Cannot fetch the keys",
    );
    assertEquals(server.count(keysPath), 0);
  });

  test("what the metadata names is held to the egress rules", async () => {
    const key = await createKey("one");
    for (
      const address of [
        "http://auth.example.com/keys",
        "https://10.0.0.1/keys",
        "https://localhost/keys",
        "file:///keys",
        7,
      ]
    ) {
      const server = new AuthorizationServer(key);
      server.setMetadata({ issuer, jwks_uri: address });
      await assertRejects(() => sign(key).then(verifier(server, new VirtualClock())), ConnectError);
      assertEquals(server.asked.filter((url) => !url.includes(".well-known")), []);
    }
  });

  test("a name is judged by what it resolves to, unless the operator allows its origin", async () => {
    const key = await createKey("one");
    const elsewhere = "https://keys.example.com";
    const server = new AuthorizationServer(key);
    server.setMetadata({ issuer, jwks_uri: `${elsewhere}/keys` });
    server.documents.set(`${elsewhere}/keys`, () => Response.json({ keys: [key.jwk] }));
    const token = await sign(key);
    const inside = () => Promise.resolve(["10.0.0.1"]);
    await assertRejects(() => verifier(server, new VirtualClock(), { resolve: inside })(token), ConnectError);
    assertEquals(server.asked, [`${issuer}/.well-known/oauth-authorization-server`]);
    for (const options of [{ resolve: inside, allow: [elsewhere] }, { resolve: () => Promise.resolve(["8.8.8.8"]) }]) {
      assertEquals((await verifier(server, new VirtualClock(), options)(token))?.subject, "ada");
    }
  });

  test("where the operator says, without metadata", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const verify = verifier(server, new VirtualClock(), { jwksUri: `${issuer}${keysPath}` });
    assertEquals((await verify(await sign(key)))?.subject, "ada");
    assertEquals(server.asked, [`${issuer}${keysPath}`]);
  });
});

describe("how keys are kept", () => {
  test("one fetch for all who wait", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const verify = verifier(server, new VirtualClock());
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => sign(key, { sub: `user ${index}` })));
    const claims = await Promise.all(tokens.map((token) => verify(token)));
    assertEquals(claims.map((claim) => claim?.subject), tokens.map((_, index) => `user ${index}`));
    assertEquals(server.count(keysPath), 1);
  });

  test("a new key is found when a token names it; withdrawn ones are good no longer after ten minutes", async () => {
    const [old, young] = [await createKey("old"), await createKey("young")];
    const server = new AuthorizationServer(old);
    const clock = new VirtualClock();
    const verify = verifier(server, clock);
    assertEquals((await verify(await sign(old, lasting)))?.subject, "ada");
    server.setKeys(young);
    await clock.advance(30_000);
    assertEquals((await verify(await sign(young, lasting)))?.subject, "ada");
    assertEquals(server.count(keysPath), 2);
    assertEquals(await verify(await sign(old, lasting)), undefined);
    server.setKeys();
    await clock.advance(599_000);
    assertEquals((await verify(await sign(young, lasting)))?.subject, "ada");
    await clock.advance(1_000);
    assertEquals(await verify(await sign(young, lasting)), undefined);
  });

  test("a token of the plain profile is held to its own algorithm by newer keys, too", async () => {
    const [old, young] = [await createKey("old"), await createKey("young")];
    const server = new AuthorizationServer(old);
    const clock = new VirtualClock();
    const verify = verifier(server, clock, { profile: "jwt" });
    assertEquals((await verify(await sign(old, lasting)))?.subject, "ada");
    server.setKeys(young);
    await clock.advance(30_000);
    assertEquals((await verify(await sign(young, lasting)))?.subject, "ada");
  });

  test("unknown keys bring about no more than one fetch in half a minute", async () => {
    const [key, stranger] = [await createKey("one"), await createKey("two")];
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    const verify = verifier(server, clock);
    for (let turn = 0; turn < 60; turn++) {
      assertEquals(await verify(await sign(stranger, lasting, { kid: `unknown ${turn}` })), undefined);
      assertEquals((await verify(await sign(key, lasting)))?.subject, "ada");
      await clock.advance(1_000);
    }
    assertEquals(server.count(keysPath), 2);
  });

  test("a signature that is wrong brings about none: its key is known", async () => {
    const [key, forger] = [await createKey("one"), await createKey("one")];
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    const verify = verifier(server, clock);
    for (let turn = 0; turn < 3; turn++) {
      assertEquals((await verify(await sign(key, lasting)))?.subject, "ada");
      assertEquals(await verify(await sign(forger, lasting)), undefined);
      await clock.advance(60_000);
    }
    assertEquals(server.count(keysPath), 1);
  });

  test("many unknown keys at once bring about one", async () => {
    const [key, stranger] = [await createKey("one"), await createKey("two")];
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    const verify = verifier(server, clock);
    await verify(await sign(key, lasting));
    await clock.advance(30_000);
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, kid) => sign(stranger, lasting, { kid: `${kid}` })),
    );
    assertEquals((await Promise.all(tokens.map((token) => verify(token)))).filter(Boolean), []);
    assertEquals(server.count(keysPath), 2);
  });

  test("keys that cannot be used are passed over", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer();
    const secret = { kty: "oct", k: "c2VjcmV0", kid: "one", alg: "HS256" };
    const broken = { kty: "EC", crv: "P-256", kid: "broken" };
    server.setKeys(secret, broken, { ...key.jwk, d: "AAAA", kid: "private" }, key);
    server.documents.set(
      `${issuer}${keysPath}`,
      ((given) => async (request: Request) => {
        const { keys } = await (await given(request)).json();
        return Response.json({ keys: [7, null, "x", ...keys] });
      })(server.documents.get(`${issuer}${keysPath}`)!),
    );
    const verify = verifier(server, new VirtualClock());
    assertEquals((await verify(await sign(key)))?.subject, "ada");
    assertEquals(await verify(await sign(key, {}, { kid: "broken" })), undefined);
    assertEquals(await verify(await sign(key, {}, { kid: "private" })), undefined);
  });

  test("without a name for its key a token needs a set where only one fits", async () => {
    const [one, two] = [await createKey("one"), await createKey("two")];
    const server = new AuthorizationServer(one);
    const clock = new VirtualClock();
    const verify = verifier(server, clock);
    assertEquals((await verify(await sign(one, lasting, { kid: undefined })))?.subject, "ada");
    server.setKeys(one, two);
    await clock.advance(600_000);
    assertEquals(await verify(await sign(one, lasting, { kid: undefined })), undefined);
  });
});

describe("when keys cannot be had", () => {
  test("a dead server: it may be tried again, and is asked again after a pause", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    let isDead = true;
    const fetch: typeof server.fetch = (url, init) => {
      if (!isDead) return server.fetch(url, init);
      server.asked.push(url);
      return Promise.reject(new TypeError("connection refused"));
    };
    const verify = verifier(server, clock, { fetch });
    const token = await sign(key, lasting);
    for (let turn = 0; turn < 10; turn++) {
      const error = await assertRejects(() => verify(token), ConnectError, "Cannot fetch the keys");
      assertEquals(error.retryable, true);
    }
    assertEquals(server.asked.length, 1);
    isDead = false;
    await clock.advance(5_000);
    assertEquals((await verify(token))?.subject, "ada");
  });

  test("a server that died later: the last keys are good for an hour", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    const verify = verifier(server, clock);
    const token = await sign(key, lasting);
    await verify(token);
    server.documents.clear();
    for (let minutes = 10; minutes < 60; minutes += 10) {
      await clock.advance(600_000);
      assertEquals((await verify(token))?.subject, "ada", `${minutes} minutes`);
    }
    await clock.advance(600_000);
    // Also while nobody is asked, since it failed a moment ago.
    for (let turn = 0; turn < 3; turn++) await assertRejects(() => verify(token), ConnectError);
  });

  test("a server that never answers: all who wait are let go in time", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    let isHanging = true;
    const fetch: typeof server.fetch = (url, init) => isHanging ? new Promise(() => {}) : server.fetch(url, init);
    const verify = verifier(server, clock, { fetch, timeout: 2_000 });
    const token = await sign(key, lasting);
    const waiting = Promise.allSettled([verify(token), verify(token)]);
    const settled = await clock.until(waiting, 2_000);
    assertEquals(settled.map(({ status }) => status), ["rejected", "rejected"]);
    isHanging = false;
    await clock.advance(5_000);
    assertEquals((await verify(token))?.subject, "ada");
  });

  test("a fetch that was broken off with its request keeps others no longer than a second", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    let asked = 0;
    const fetch: typeof server.fetch = (url, init) => asked++ ? server.fetch(url, init) : new Promise(() => {});
    const verify = verifier(server, clock, { fetch });
    const token = await sign(key, lasting);
    const waiting = Promise.all([verify(token), verify(token), verify(token)]);
    assertEquals((await clock.until(waiting, 1_000)).map((claims) => claims?.subject), ["ada", "ada", "ada"]);
    assertEquals([asked, server.count(keysPath)], [3, 1]);
  });

  test("a slow server is asked once a second at most, however many wait; its late answer is taken", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const clock = new VirtualClock();
    let asked = 0;
    const fetch: typeof server.fetch = async (url, init) => {
      asked++;
      await new Promise<void>((resolve) => void clock.schedule(resolve, 3_500));
      return await server.fetch(url, init);
    };
    const verify = verifier(server, clock, { fetch, jwksUri: `${issuer}${keysPath}` });
    const token = await sign(key, lasting);
    const waiting = Promise.all(Array.from({ length: 20 }, () => verify(token)));
    assertEquals((await clock.until(waiting, 3_500)).every((claims) => claims?.subject === "ada"), true);
    assertEquals(asked, 4);
  });

  test("a server that hangs later keeps who has a known key no longer than a second, now and then", async () => {
    const server = new AuthorizationServer(await createKey("one"));
    const clock = new VirtualClock();
    let isHanging = false;
    let asked = 0;
    const fetch: GuardedFetch = async (url) => {
      asked++;
      if (isHanging) await new Promise(() => {});
      const response = await server.fetch(url, {});
      return { status: 200, headers: response.headers, text: await response.text(), body: new Uint8Array(), url };
    };
    const keys = new Keys({ fetch, locate: () => Promise.resolve(`${issuer}${keysPath}`), timeout: 5_000, clock });
    const old = await clock.until(keys.get());
    await clock.advance(600_000);
    isHanging = true;
    asked = 0;
    const waits: number[] = [];
    // As many come as never before, and half of them with a key that nobody knows.
    for (let turn = 0; turn < 40; turn++) {
      const began = clock.monotonic();
      void keys.get().then((set) => {
        assertEquals(set, old);
        waits.push(clock.monotonic() - began);
      });
      void keys.get().then((set) => keys.get(set)).catch(() => {});
      await clock.advance(500);
    }
    await clock.advance(10_000);
    assertEquals([waits.length, Math.max(...waits)], [40, 1_000]);
    const held = waits.filter((wait) => wait > 0).length;
    assertEquals(held <= 10, true, `${held} of 40 were held up`);
    // For half a minute somebody waited: each second brings one fetch at most.
    assertEquals(asked <= 30, true, `${asked} fetches`);
    isHanging = false;
    await clock.advance(30_000);
    assertEquals(await clock.until(keys.get()) === old, false);
  });

  test("a server that hangs: its keys are good for an hour, however many ask", async () => {
    const server = new AuthorizationServer(await createKey("one"));
    const clock = new VirtualClock();
    let isHanging = false;
    const fetch: GuardedFetch = async (url) => {
      if (isHanging) await new Promise(() => {});
      const response = await server.fetch(url, {});
      return { status: 200, headers: response.headers, text: await response.text(), body: new Uint8Array(), url };
    };
    const keys = new Keys({ fetch, locate: () => Promise.resolve(`${issuer}${keysPath}`), timeout: 5_000, clock });
    const { at } = await clock.until(keys.get());
    isHanging = true;
    await clock.advance(3_590_000);
    const told: boolean[] = [];
    for (let turn = 0; turn < 40; turn++) {
      const isGood = clock.monotonic() - at < 3_600_000;
      void keys.get().then(() => told.push(isGood), () => told.push(!isGood));
      await clock.advance(500);
    }
    await clock.advance(10_000);
    assertEquals(told, Array.from({ length: 40 }, () => true));
  });

  test("what is no key set is none, and neither is one that is too long", async () => {
    const key = await createKey("one");
    const answers = [
      () => new Response("<html>", { status: 200 }),
      () => Response.json([]),
      () => Response.json({ keys: {} }),
      () => Response.json({ keys: [key.jwk] }, { status: 500 }),
      () => Response.json({ keys: [key.jwk], more: "x".repeat(300_000) }),
      () => new Response(null, { status: 302, headers: { location: "http://auth.example.com/keys" } }),
      () => new Response(null, { status: 302, headers: { location: "https://10.0.0.1/keys" } }),
    ];
    for (const answer of answers) {
      const server = new AuthorizationServer(key);
      server.documents.set(`${issuer}${keysPath}`, answer);
      await assertRejects(() => sign(key).then(verifier(server, new VirtualClock())), ConnectError);
    }
  });

  test("an unsound token is refused before anything is fetched", async () => {
    const server = new AuthorizationServer();
    const verify = verifier(server, new VirtualClock());
    assertEquals(
      await verify(unsigned({ alg: "ES256" }, { ...soundPayload(), iss: "https://evil.example" }) + ".AA"),
      undefined,
    );
    assertEquals(server.asked, []);
  });
});

/** The world's other grants, its ways to know a client, registration, devices and keys refuse what they should. */
import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { ask, call, exchange, getCode, introduce, link, nameOf, post, prove, signIn } from "./by_hand.ts";
import { createSigner } from "./jwt.ts";
import { soundRegistration } from "./server/knobs.ts";
import { createWorld, issuer, redirectUri, resourceUrl, type World } from "./world.ts";

const prefix = "urn:ietf:params:oauth:grant-type:";

/** The seconds of the world's clock. */
const seconds = (world: World) => Math.floor(world.clock.now() / 1_000);

describe("who asks", () => {
  const grant = { grant_type: "client_credentials", resource: resourceUrl };
  const grantTypes = ["client_credentials"];

  test("shows a secret in the way that was agreed", async () => {
    const world = await createWorld();
    const { clients } = world.server;
    clients.add({ id: "a:b", secret: "s e+c", grantTypes });
    clients.add({ id: "post", secret: "secret", authMethod: "client_secret_post", grantTypes });
    const token = world.server.url("token");
    const basic = (id: string, secret: string) => {
      return { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}` };
    };
    assertEquals((await post(world, token, grant, basic("a:b", "s e+c"))).status, 200);
    assertEquals((await post(world, token, { ...grant, client_id: "post", client_secret: "secret" })).status, 200);
    const refused = [
      post(world, token, grant, basic("a:b", "other")),
      post(world, token, grant, basic("post", "secret")),
      post(world, token, { ...grant, client_id: "post", client_secret: "other" }),
      post(world, token, { ...grant, client_id: "post" }),
      post(world, token, grant),
    ];
    for (const { status, body } of await Promise.all(refused)) {
      assertEquals([status, body.error], [401, "invalid_client"]);
    }
    const both = await post(world, token, { ...grant, client_secret: "secret" }, basic("a:b", "s e+c"));
    assertEquals(both.body.error, "invalid_request");
  });

  test("signs an assertion, each once", async () => {
    const world = await createWorld();
    const key = await createSigner();
    world.server.clients.add({ id: "signer", keys: [key.jwk], grantTypes });
    const sound = { iss: "signer", sub: "signer", aud: issuer, exp: seconds(world) + 60 };
    const show = (assertion: string) =>
      post(world, world.server.url("token"), {
        ...grant,
        client_assertion: assertion,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      });
    const assertion = await key.sign({ ...sound, jti: "1" });
    assertEquals((await show(assertion)).status, 200);
    const wrong = [
      assertion,
      await key.sign({ ...sound, jti: "2", aud: "https://evil.example.com" }),
      await key.sign({ ...sound, jti: "3", exp: seconds(world) }),
      await key.sign({ ...sound, jti: "4", iss: "other" }),
      await (await createSigner()).sign({ ...sound, jti: "5" }),
      await key.sign(sound),
    ];
    for (const text of wrong) assertEquals((await show(text)).body.error, "invalid_client");
  });

  test("registers, and is held to what it said", async () => {
    const world = await createWorld();
    const register = async (body: unknown) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await world.fetch(world.server.url("register"), init);
      return { status: response.status, body: await response.json() };
    };
    const { status, body } = await register({ redirect_uris: [redirectUri], token_endpoint_auth_method: "none" });
    assertEquals([status, body.client_secret, body.grant_types], [201, undefined, ["authorization_code"]]);
    const client = { client_id: String(body.client_id) };
    const given = await ask(world, { ...client, ...exchange(await getCode(world, client)) });
    assertEquals([given.status, given.body.refresh_token], [200, undefined]);
    const wrong = [
      {},
      { redirect_uris: ["http://app.example.com/callback"] },
      { redirect_uris: ["http://127.0.0.1:3000/callback"] },
      { redirect_uris: [redirectUri], application_type: "native" },
    ];
    for (const metadata of wrong) assertEquals((await register(metadata)).body.error, "invalid_redirect_uri");
    const grantTypes = { grant_types: [`${prefix}device_code`] };
    assertEquals((await register(grantTypes)).body.error, "invalid_client_metadata");
    assertEquals((await register({ ...grantTypes, response_types: [] })).status, 201);
    const local = { redirect_uris: ["http://127.0.0.1:3000/callback"], application_type: "native" };
    assertEquals((await register(local)).status, 201);
    world.server.knobs.registration = { ...soundRegistration(), refuses: (uri) => uri.includes("127.0.0.1") };
    assertEquals((await register(local)).body.error, "invalid_redirect_uri");
  });

  test("gets a secret that ends", async () => {
    const knobs = { ...soundRegistration(), authMethod: "client_secret_post", secretLifetime: 60 };
    const world = await createWorld({ server: { registration: knobs } });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: "none" });
    const response = await world.fetch(world.server.url("register"), { method: "POST", headers, body });
    const { client_id, client_secret, client_secret_expires_at: end } = await response.json();
    assertEquals(end, seconds(world) + 60);
    const client = { client_id: String(client_id), client_secret: String(client_secret) };
    const come = async () => await ask(world, { ...client, ...exchange(await getCode(world, { client_id })) });
    assertEquals((await come()).status, 200);
    await world.clock.advance(60_000);
    assertEquals((await come()).body.error, "invalid_client");
  });

  test("is a document on the web, which names itself", async () => {
    const world = await createWorld();
    const id = "https://app.example.com/client.json";
    world.documents.set(id, { client_id: id, redirect_uris: [redirectUri] });
    const client = { client_id: id };
    assertEquals((await ask(world, { ...client, ...exchange(await getCode(world, client)) })).status, 200);
    world.documents.set(id, { client_id: "https://evil.example.com/client.json", redirect_uris: [redirectUri] });
    assertEquals((await world.fetch(await link(world, client), {})).status, 400);
  });
});

describe("other grants", () => {
  test("trade an identity for an assertion, and the assertion for a token", async () => {
    const world = await createWorld();
    const home = await world.addServer("https://id.example.com", { needsResource: false });
    const key = await createSigner();
    home.trusted.set(home.issuer, [key.jwk]);
    home.clients.add({ id: "at-home", grantTypes: [`${prefix}token-exchange`] });
    home.clientIdsElsewhere.set("at-home", "editor");
    world.server.trusted.set(home.issuer, [(await home.signer()).jwk]);
    world.server.clients.add({ id: "editor", grantTypes: [`${prefix}jwt-bearer`] });
    const identity = { iss: home.issuer, sub: "ada", aud: "at-home", exp: seconds(world) + 60 };
    const trade = async (claims: Record<string, unknown>, audience: string = issuer) =>
      await post(world, home.url("token"), {
        client_id: "at-home",
        grant_type: `${prefix}token-exchange`,
        requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
        audience,
        resource: resourceUrl,
        scope: "mcp:use",
        subject_token: await key.sign(claims),
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      });
    const { body } = await trade(identity);
    assertEquals(body.token_type, "N_A");
    const use = (assertion: unknown, changes: Record<string, string> = {}) =>
      ask(world, {
        grant_type: `${prefix}jwt-bearer`,
        assertion: String(assertion),
        scope: "mcp:use",
        ...changes,
      });
    const given = await use(body.access_token);
    const reply = await call(world, { authorization: `Bearer ${String(given.body.access_token)}` });
    assertEquals(reply.status, 200);
    assertEquals((await trade({ ...identity, aud: "another" })).body.error, "invalid_grant");
    assertEquals((await trade({ ...identity, exp: 1 })).body.error, "invalid_grant");
    assertEquals((await use((await trade(identity, "https://x.example")).body.access_token)).status, 400);
    assertEquals((await use(await key.sign({ ...identity, aud: issuer }))).body.error, "invalid_grant");
    const elsewhere = await use(body.access_token, { resource: "https://mcp.example.com/other" });
    assertEquals(elsewhere.body.error, "invalid_target");
  });

  test("wait for a person with another device", async () => {
    const world = await createWorld();
    const type = `${prefix}device_code`;
    world.server.clients.add({ id: "editor", grantTypes: [type] });
    const begin = async () => {
      const url = world.server.url("device");
      return (await post(world, url, { client_id: "editor", resource: resourceUrl, scope: "mcp:use" })).body;
    };
    const first = await begin();
    const poll = (device: Record<string, unknown>) => {
      return ask(world, { grant_type: type, device_code: String(device.device_code) });
    };
    const after = async (wait: number, device: Record<string, unknown>) => {
      await world.clock.advance(wait * 1_000);
      return (await poll(device)).body.error;
    };
    assertEquals(first.interval, 5);
    assertEquals(await after(5, first), "authorization_pending");
    assertEquals(await after(4, first), "slow_down");
    assertEquals(await after(9, first), "slow_down");
    world.server.devices.decide(String(first.user_code), "approved");
    await world.clock.advance(15_000);
    assertEquals((await poll(first)).status, 200);
    assertEquals(await after(15, first), "invalid_grant");
    const second = await begin();
    world.server.devices.decide(String(second.user_code), "denied");
    assertEquals(await after(5, second), "access_denied");
    assertEquals(await after(600, await begin()), "expired_token");
  });
});

describe("keys", () => {
  test("have to be proved at both ends, each time anew", async () => {
    const world = await createWorld({ server: { dpop: "needed" } });
    const [key, thief] = await Promise.all([createSigner(), createSigner()]);
    const token = world.server.url("token");
    introduce(world);
    assertEquals((await ask(world, exchange(await getCode(world)))).body.error, "invalid_dpop_proof");
    const { body } = await signIn(world, { dpop: await prove(world, key, token) });
    assertEquals(body.token_type, "DPoP");
    const text = String(body.access_token);
    assertEquals(world.server.find(text)?.jkt, await nameOf(key));
    const proof = await prove(world, key, resourceUrl, { token: text });
    const use = (dpop: string, scheme: string = "DPoP") => call(world, { authorization: `${scheme} ${text}`, dpop });
    assertEquals((await use(proof)).status, 200);
    const now = seconds(world);
    const wrong = [
      proof,
      await prove(world, thief, resourceUrl, { token: text }),
      await prove(world, key, resourceUrl, { token: "another" }),
      await prove(world, key, resourceUrl),
      await prove(world, key, `${resourceUrl}/x`, { token: text }),
      await prove(world, key, resourceUrl, { token: text, method: "GET" }),
      await prove(world, key, resourceUrl, { token: text, payload: { iat: now - 61 } }),
      await prove(world, key, resourceUrl, { token: text, header: { typ: "JWT" } }),
      await prove(world, key, resourceUrl, { token: text, header: { jwk: thief.jwk } }),
    ];
    for (const dpop of wrong) assertEquals((await use(dpop)).status, 401);
    const bearer = await use(await prove(world, key, resourceUrl, { token: text }), "Bearer");
    assertEquals(bearer.status, 401);
    const renew = { grant_type: "refresh_token", refresh_token: String(body.refresh_token) };
    const stolen = await ask(world, renew, { dpop: await prove(world, thief, token) });
    assertEquals(stolen.body.error, "invalid_grant");
    assertEquals((await ask(world, renew, { dpop: await prove(world, key, token) })).status, 200);
  });

  test("hold nonces where those are wanted", async () => {
    const world = await createWorld();
    const key = await createSigner();
    world.server.proofs.nonce = "one";
    world.resource.proofs.nonce = "two";
    introduce(world);
    const [url, code] = [world.server.url("token"), await getCode(world)];
    const refused = await ask(world, exchange(code), { dpop: await prove(world, key, url) });
    assertEquals([refused.body.error, refused.headers.get("dpop-nonce")], ["use_dpop_nonce", "one"]);
    const { body } = await ask(world, exchange(code), { dpop: await prove(world, key, url, { nonce: "one" }) });
    const token = String(body.access_token);
    const use = async (nonce?: string) => {
      const dpop = await prove(world, key, resourceUrl, { token, ...(nonce !== undefined && { nonce }) });
      return await call(world, { authorization: `DPoP ${token}`, dpop });
    };
    const away = await use();
    assertEquals([away.status, away.headers.get("dpop-nonce")], [401, "two"]);
    assertMatch(away.headers.get("www-authenticate") ?? "", /^DPoP error="use_dpop_nonce"/);
    const taken = await use("two");
    assertEquals([taken.status, taken.headers.get("dpop-nonce")], [200, "two"]);
  });
});

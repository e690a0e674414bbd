/** The world refuses what it should refuse: otherwise tests in it would prove nothing. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ask, call, exchange, getCode, introduce, link, post, signIn } from "./by_hand.ts";
import { answer, lostReply, networkFailure, refusal } from "./faults.ts";
import { createWorld, redirectUri, resourceUrl } from "./world.ts";

const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` });

describe("the resource", () => {
  test("takes tokens that were issued for it, until they expire", async () => {
    const world = await createWorld();
    const { body } = await signIn(world);
    const reply = await call(world, bearer(body.access_token));
    assertStringIncludes(await reply.text(), "echo: hello");
    await world.clock.advance(300_000);
    assertEquals((await call(world, bearer(body.access_token))).status, 401);
    assertEquals(world.resource.admitted, 1);
  });

  test("sends others away, and says where tokens come from", async () => {
    const world = await createWorld({ resource: { scope: "mcp:use" } });
    const refused = await call(world, {});
    const place = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
    assertEquals(refused.status, 401);
    assertEquals(refused.headers.get("www-authenticate"), `Bearer scope="mcp:use", resource_metadata="${place}"`);
    const told = await (await world.fetch(place, {})).json();
    assertEquals([told.resource, told.authorization_servers], [resourceUrl, ["https://auth.example.com"]]);
    assertEquals((await call(world, bearer("forged"))).status, 401);
    assertEquals((await world.fetch(`${resourceUrl}?access_token=forged`, { method: "POST" })).status, 400);
  });

  test("refuses tokens of another server, and tokens for another resource", async () => {
    const world = await createWorld();
    const other = await world.addServer("https://other.example.com", { needsResource: false });
    const grounds = { clientId: "x", subject: "ada", scopes: [], resource: resourceUrl, family: "f" };
    const foreign = other.issued.token("access", grounds, 60);
    const elsewhere = world.server.issued.token("access", { ...grounds, resource: "https://mcp.example.com/" }, 60);
    for (const token of [foreign, elsewhere]) assertEquals((await call(world, bearer(token))).status, 401);
  });

  test("asks for more scope", async () => {
    const world = await createWorld({ resource: { needs: ({ name }) => name === "write" ? ["files:write"] : [] } });
    const { body } = await signIn(world);
    assertEquals((await call(world, bearer(body.access_token))).status, 200);
    const refused = await call(world, bearer(body.access_token), "write");
    assertEquals(refused.status, 403);
    const challenge = refused.headers.get("www-authenticate") ?? "";
    assertStringIncludes(challenge, 'Bearer error="insufficient_scope", scope="files:write"');
  });

  test("writes challenges in many ways", async () => {
    const world = await createWorld({ resource: { metadataUrl: "absent", scope: "a", before: ["Basic"] } });
    const said = async () => (await call(world, {})).headers.get("www-authenticate");
    world.resource.knobs.after = ['Digest realm="x, Bearer y"'];
    assertEquals(await said(), 'Basic, Bearer scope="a", Digest realm="x, Bearer y"');
    world.resource.knobs.quoting = "escaped";
    assertEquals(await said(), 'Basic, Bearer SCOPE="\\a", Digest realm="x, Bearer y"');
    Object.assign(world.resource.knobs, { quoting: "token", before: [], after: [], scheme: "bearer" });
    assertEquals(await said(), "bearer scope=a");
  });
});

describe("the authorization endpoint", () => {
  test("sends nobody to a place that is not the client's", async () => {
    const world = await createWorld();
    introduce(world);
    const wrong = [
      { client_id: "stranger" },
      { redirect_uri: `${redirectUri}/` },
      { redirect_uri: "https://evil.example.com/callback" },
    ];
    for (const change of wrong) {
      const url = await link(world, change);
      await assertRejects(() => world.person.follow(url), Error, "stuck at 400");
    }
  });

  test("tells the client what is wrong with its question", async () => {
    const world = await createWorld({ server: { resources: [resourceUrl] } });
    introduce(world);
    const cases: [Record<string, string | undefined>, string][] = [
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ code_challenge: undefined }, "invalid_request"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ state: undefined }, "invalid_request"],
      [{ resource: undefined }, "invalid_target"],
      [{ resource: "https://other.example.com/mcp" }, "invalid_target"],
      [{ scope: "admin" }, "invalid_scope"],
    ];
    for (const [change, error] of cases) {
      const back = new URL(await world.person.follow(await link(world, change)));
      assertEquals(back.searchParams.get("error"), error);
      assertEquals(back.searchParams.get("code"), null);
    }
  });

  test("names itself, does not, or names another", async () => {
    const world = await createWorld();
    introduce(world);
    const iss = async () => new URL(await world.person.follow(await link(world))).searchParams.get("iss");
    assertEquals(await iss(), "https://auth.example.com");
    world.server.knobs.iss = "absent";
    assertEquals(await iss(), null);
    world.server.knobs.iss = { wrong: "https://evil.example.com" };
    assertEquals(await iss(), "https://evil.example.com");
  });
});

describe("the token endpoint", () => {
  test("gives tokens for a code once, and takes them back the second time", async () => {
    const world = await createWorld();
    introduce(world);
    const code = await getCode(world);
    const { body } = await ask(world, exchange(code));
    assertEquals([body.token_type, body.expires_in, body.scope], ["Bearer", 300, "mcp:use offline_access"]);
    assertEquals((await call(world, bearer(body.access_token))).status, 200);
    assertEquals((await ask(world, exchange(code))).body.error, "invalid_grant");
    assertEquals((await call(world, bearer(body.access_token))).status, 401);
  });

  test("refuses what does not go with the code", async () => {
    const world = await createWorld();
    introduce(world);
    const cases: [Record<string, string | undefined>, string][] = [
      [{ code_verifier: "x".repeat(43) }, "invalid_grant"],
      [{ code_verifier: undefined }, "invalid_request"],
      [{ redirect_uri: "https://app.example.com/other" }, "invalid_grant"],
      [{ resource: undefined }, "invalid_target"],
      [{ resource: "https://mcp.example.com/other" }, "invalid_target"],
      [{ client_id: "stranger" }, "invalid_client"],
      [{ code: "guessed" }, "invalid_grant"],
      [{ grant_type: "password" }, "unsupported_grant_type"],
      [{ grant_type: "client_credentials" }, "unauthorized_client"],
    ];
    for (const [change, error] of cases) {
      const code = await getCode(world);
      assertEquals((await ask(world, { ...exchange(code), ...change })).body.error, error, JSON.stringify(change));
    }
    const old = await getCode(world);
    await world.clock.advance(60_000);
    assertEquals((await ask(world, exchange(old))).body.error, "invalid_grant");
  });

  test("renews once with each refresh token, and takes all back when one comes twice", async () => {
    const world = await createWorld();
    const first = (await signIn(world)).body;
    const renew = (token: unknown) => ask(world, { grant_type: "refresh_token", refresh_token: String(token) });
    const second = (await renew(first.refresh_token)).body;
    assert(second.refresh_token !== first.refresh_token && second.access_token !== first.access_token);
    assertEquals((await renew(first.refresh_token)).body.error, "invalid_grant");
    assertEquals((await renew(second.refresh_token)).body.error, "invalid_grant");
    assertEquals((await call(world, bearer(second.access_token))).status, 401);
    assertEquals(world.log.tokens("refresh_token").length, 3);
  });

  test("writes its replies in many ways", async () => {
    const world = await createWorld({ server: { reply: "form", expiresIn: "text" } });
    introduce(world);
    const url = world.server.url("token");
    const asking = { client_id: "editor", resource: resourceUrl };
    const send = async () => {
      const body = new URLSearchParams({ ...asking, ...exchange(await getCode(world)) });
      return await world.fetch(url, { method: "POST", body });
    };
    const form = await send();
    assertEquals(form.headers.get("content-type"), "application/x-www-form-urlencoded");
    assertEquals(new URLSearchParams(await form.text()).get("expires_in"), "300");
    Object.assign(world.server.knobs, { reply: "json", refusesWith200: true, tokenReply: { token_type: "mac" } });
    const told = await (await send()).json();
    assertEquals([told.token_type, told.expires_in], ["mac", "300"]);
    const refused = await ask(world, exchange("guessed"));
    assertEquals([refused.status, refused.body.error], [200, "invalid_grant"]);
  });

  test("takes tokens back on demand, of their own client alone", async () => {
    const world = await createWorld();
    const { body } = await signIn(world);
    world.server.clients.add({ id: "other" });
    const revoke = (client: string) => {
      return post(world, world.server.url("revoke"), { client_id: client, token: String(body.refresh_token) });
    };
    assertEquals((await revoke("other")).body.error, "invalid_grant");
    assertEquals((await call(world, bearer(body.access_token))).status, 200);
    assertEquals((await revoke("editor")).status, 200);
    assertEquals((await call(world, bearer(body.access_token))).status, 401);
  });
});

describe("the way", () => {
  test("breaks where a test wants it, so often as it wants", async () => {
    const world = await createWorld();
    introduce(world);
    const [code, lost] = [await getCode(world), await getCode(world)];
    world.fault("/token", networkFailure);
    world.fault("/token", answer(503, "", { "retry-after": "1" }));
    await assertRejects(() => ask(world, exchange(code)), TypeError);
    // Both stood before the first request: each is spent on it.
    assertEquals((await ask(world, exchange(code))).status, 200);
    world.fault(world.server.url("token"), refusal("invalid_grant"), 2);
    assertEquals((await ask(world, {})).body.error, "invalid_grant");
    assertEquals((await ask(world, {})).body.error, "invalid_grant");
    world.fault("/token", lostReply);
    await assertRejects(() => ask(world, exchange(lost)), TypeError);
    assertEquals((await ask(world, exchange(lost))).body.error, "invalid_grant");
    assertEquals(world.log.tokens().map(({ status }) => status), [0, 200, 400, 400, 0, 400]);
  });

  test("is left by who gives up", async () => {
    const world = await createWorld();
    world.fault("/mcp", () => new Promise<Response>(() => {}));
    const controller = new AbortController();
    const asked = world.fetch(resourceUrl, { method: "POST", body: "{}", signal: controller.signal });
    controller.abort(new Error("enough"));
    await assertRejects(() => asked, Error, "enough");
  });

  test("remembers where a secret went", async () => {
    const world = await createWorld();
    const { body } = await signIn(world);
    await call(world, bearer(body.access_token));
    const [held] = world.log.holding(String(body.access_token));
    assertEquals(held?.url.href, resourceUrl);
    assert(world.secrets.includes(String(body.access_token)));
    assertEquals(world.log.holding(String(body.refresh_token)), []);
  });
});

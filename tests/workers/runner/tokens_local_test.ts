/** Access tokens of an authorization server in the deployed Worker: whose they are, what they are meant for, and what is loaded for them. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { connect, UnauthorizedError } from "../../../src/entry/local.ts";
import { createKey, issuer, sign } from "../../auth/verify/authorization_server.ts";
import type { SigningKey } from "../../auth/verify/authorization_server.ts";
import { buildRunnerWorker, readAtStart } from "../../../tools/build/runner_worker.ts";
import { skip, startWorld, usualConfig } from "./world.ts";
import type { WorkerWorld, WorldOptions } from "./world.ts";

const resource = "https://runner.example.com/mcp";
const bindings = { PUBLIC_URL: "https://runner.example.com/", TOKEN_ISSUER: issuer, TOKEN_TENANT_CLAIM: "org" };
const [ada, nowhere] = [`${issuer}#ada`, "void"];

let world: WorkerWorld;
let key: SigningKey;
/** The authorization server: where its keys are, and these. */
const web: WorldOptions["web"] = {
  hosts: [new URL(issuer).hostname],
  fetch: (url) => {
    const isKeys = String(url) === `${issuer}/keys`;
    return Promise.resolve(Response.json(isKeys ? { keys: [key.jwk] } : { issuer, jwks_uri: `${issuer}/keys` }));
  },
};
before(async () => {
  if (skip) return;
  key = await createKey("one");
  world = await startWorld({
    bindings,
    config: { ...usualConfig, rules: [{ principals: [ada, "ada"], effect: "allow" }] },
    web,
  });
});
after(() => world?.[Symbol.asyncDispose]());

/** A token that is good for five minutes. */
async function tokenOf(payload: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> {
  const seconds = Math.floor(Date.now() / 1_000);
  return await sign(key, { aud: resource, org: "acme", iat: seconds, exp: seconds + 300, ...payload }, header);
}

const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const path = "/api/tools/data__fetch_data";

/** The status of a call with a token, and why. */
async function called(token: string): Promise<[number, unknown]> {
  const reply = await world.ask(path, { body: { city: "Rome" }, ...withToken(token) });
  return [reply.status, (await reply.json()).code];
}

describe("access tokens in the Worker", { concurrency: false }, () => {
  test("say whose caller it is, and the policy what it may", { skip }, async () => {
    const token = await tokenOf();
    assertEquals(await world.json("/api/session", withToken(token)), { principal: ada, tenant: "acme", way: "token" });
    assertEquals(await called(token), [200, undefined]);
    // The subject of a token is not the principal of a key, whatever it calls itself.
    assertEquals((await called(await tokenOf({ sub: "eve" })))[0], 404);
    assertEquals(world.ledger.length, 1);
    await using client = await connect(`${world.url}/mcp`, withToken(token));
    const { structuredContent } = await client.callTool("data__fetch_data", { city: "Bern" });
    assertEquals(structuredContent, { degrees: 21, city: "Bern as acme.example knows it" });
    const key = await world.json<{ principal: string }>("/api/session");
    assertEquals(key.principal, "ada");
  });

  test("are refused when they are for others, over, of nobody's tenant or not signed so", { skip }, async () => {
    const before = world.ledger.length;
    const other = await createKey("one");
    const seconds = Math.floor(Date.now() / 1_000);
    const wrong = [
      await tokenOf({ aud: "https://runner.example.com/other" }),
      await tokenOf({ exp: seconds - 60 }),
      await tokenOf({ iss: "https://elsewhere.example" }),
      await tokenOf({}, { typ: "JWT" }),
      await sign(other, { aud: resource, org: "acme", iat: seconds, exp: seconds + 300 }),
      "no.token.",
    ];
    for (const token of wrong) assertEquals(await called(token), [401, "not_signed_in"]);
    for (const org of [undefined, "", 7, ["acme"]]) {
      assertEquals(await called(await tokenOf({ org })), [403, "no_tenant"]);
    }
    assertEquals((await called(await tokenOf({ org: nowhere, sub: "eve" })))[0], 404);
    assertEquals((await world.rows(nowhere)).keys, []);
    assertEquals(world.ledger.length, before);
    // A token begins no session of a browser.
    const reply = await world.ask("/api/session", { body: { token: (await tokenOf()).slice(0, 256) } });
    assertEquals([reply.status, reply.headers.get("set-cookie")], [401, null], await reply.text());
  });

  test("are told of: where one signs in", { skip }, async () => {
    const metadata = await world.ask("/.well-known/oauth-protected-resource/mcp", { headers: { authorization: "" } });
    const { resource: named, authorization_servers } = await metadata.json();
    assertEquals([named, authorization_servers], [resource, [issuer]]);
    const nobody = await world.ask(path, { body: {}, headers: { authorization: "" } });
    const { code } = await nobody.json();
    assertEquals([nobody.status, code], [401, "not_signed_in"]);
    assertStringIncludes(nobody.headers.get("www-authenticate") ?? "", "resource_metadata=");
    const refused = await connect(`${world.url}/mcp`, withToken("no.token.")).then(() => undefined, (error) => error);
    assert(refused instanceof UnauthorizedError, String(refused));
  });

  test("are not good while their server is down, and nothing is done", { skip }, async () => {
    const down = {
      hosts: [new URL(issuer).hostname],
      fetch: () => Promise.resolve(new Response(null, { status: 500 })),
    };
    await using own = await startWorld({ bindings, web: down });
    const reply = await own.ask(path, { body: { city: "Rome" }, ...withToken(await tokenOf()) });
    assertEquals([reply.status, (await reply.json()).code, own.ledger], [503, "unavailable", []]);
  });

  test("may be an issuer's that has names and types of its own", { skip }, async () => {
    const own = { ...bindings, TOKEN_AUDIENCE: "api://runner", TOKEN_PROFILE: "jwt" };
    await using other = await startWorld({ bindings: own, web });
    const ask = async (token: string) => {
      const reply = await other.ask("/api/session", withToken(token));
      await reply.body?.cancel();
      return reply.status;
    };
    assertEquals(await ask(await tokenOf({ aud: "api://runner" }, { typ: "JWT" })), 200);
    assertEquals(await ask(await tokenOf({}, { typ: "JWT" })), 401);
  });

  test("are verified by what no isolate reads when it starts", { skip }, async () => {
    const { modules } = await buildRunnerWorker();
    const read = readAtStart(modules);
    const holds = ({ text }: { readonly text: string }) => text.includes("ML-DSA-44");
    assertEquals([modules.some(holds), read.some(holds)], [true, false]);
  });

  test("want what they need to be set up, and say what is missing in the log alone", { skip }, async () => {
    for (
      const wrong of [{ TOKEN_TENANT_CLAIM: "" }, { PUBLIC_URL: "" }, { TOKEN_PROFILE: "id" }, { TOKEN_ISSUER: "x" }]
    ) {
      await using own = await startWorld({ bindings: { ...bindings, ...wrong } });
      const reply = await own.ask("/api/tools");
      assertEquals([reply.status, (await reply.json()).code], [500, "not_set_up"], JSON.stringify(wrong));
    }
  });
});

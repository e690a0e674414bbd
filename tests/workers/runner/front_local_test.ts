/** The front of the deployed Worker: keys, hosts, CORS, tools, the gateway, large results, and what happens when a store is down. */
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { connect } from "../../../src/entry/local.ts";
import { createApiKey } from "../../../src/runner/mod.ts";
import { resultsOf, skip, startWorld, usualConfig } from "./world.ts";
import type { WorkerWorld } from "./world.ts";

let world: WorkerWorld;
before(async () => {
  if (!skip) {
    world = await startWorld({
      principals: {
        ada: { principal: "ada", tenant: "acme" },
        bob: { principal: "bob", tenant: "acme" },
        nil: { principal: "nil", tenant: "void" },
      },
      bindings: { ALLOWED_ORIGINS: "https://app.example.com" },
      config: {
        ...usualConfig,
        rules: [{ principals: ["ada"], effect: "allow" }, {
          principals: ["ada"],
          tools: ["send"],
          actions: ["call"],
          effect: "ask",
        }],
      },
    });
  }
});
after(() => world?.[Symbol.asyncDispose]());

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: unknown;
}

const textOf = ({ content: [first] }: Result): string => first?.text ?? "";
const sent = () => world.ledger.length;

describe("the Worker in front of tenants", { concurrency: false }, () => {
  test("lists and calls tools, and says who asks", { skip }, async () => {
    const { tools } = await world.json<{ tools: { name: string }[] }>("/api/tools");
    assertEquals(tools.map(({ name }) => name).sort(), ["data__big", "data__fetch_data", "data__greet", "data__send"]);
    const called = await world.json<Result>("/api/tools/data__fetch_data", { body: { city: "Rome" } });
    assertEquals(called.structuredContent, { degrees: 21, city: "Rome as acme.example knows it" });
    assertEquals(await world.json("/api/session"), { principal: "ada", tenant: "acme", way: "key" });
    assertEquals((await world.json<{ openapi: string }>("/openapi.json")).openapi, "3.1.0");
  });

  test("lets nobody in without a key, from another page, or by another name", { skip }, async () => {
    const before = sent();
    const body = { city: "Rome" };
    const path = "/api/tools/data__fetch_data";
    assertEquals((await world.ask(path, { body, as: "nobody" })).status, 401);
    assertEquals((await world.ask(path, { body, headers: { origin: "https://evil.example" } })).status, 403);
    assertEquals((await world.ask(path, { body, headers: { authorization: "Bearer x" } })).status, 401);
    const forged = {
      authorization: "",
      "causeway-access": `${"0".repeat(64)}.["ada","acme",null,null,null,"acme",9e15]`,
    };
    assertEquals((await world.ask(path, { body, headers: forged })).status, 401);
    assertEquals(sent(), before);
  });

  test("takes keys that are in KV, until they are withdrawn or end", { skip }, async () => {
    const kv = await world.flare.getKVNamespace("CONFIG") as unknown as {
      put(key: string, value: string): Promise<void>;
      delete(key: string): Promise<void>;
    };
    const { key, hash } = await createApiKey();
    const headers = { authorization: `Bearer ${key}` };
    const status = async () => {
      const response = await world.ask("/api/session", { headers });
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await status(), 401);
    await kv.put(`causeway:key/${hash}`, JSON.stringify({ principal: "ada", tenant: "acme" }));
    assertEquals(await status(), 200);
    await kv.put(`causeway:key/${hash}`, JSON.stringify({ principal: "ada", tenant: "acme", expiresAt: 1 }));
    assertEquals(await status(), 401);
    await kv.put(`causeway:key/${hash}`, "broken");
    assertEquals(await status(), 503);
    await kv.delete(`causeway:key/${hash}`);
    assertEquals(await status(), 401);
  });

  test("lets pages of an allowed origin ask, without credentials", { skip }, async () => {
    const headers = { origin: "https://app.example.com" };
    const called = await world.ask("/api/tools", { headers });
    await called.body?.cancel();
    assertEquals(called.headers.get("access-control-allow-origin"), "https://app.example.com");
    assertEquals(called.headers.get("access-control-allow-credentials"), null);
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
    const preflight = await world.ask("/api/tools/x", { method: "OPTIONS", headers: { ...headers, ...asked } });
    await preflight.body?.cancel();
    assertEquals(preflight.status, 204);
  });

  test("has sessions of browsers, for its own page alone", { skip }, async () => {
    const page = { origin: world.url, "sec-fetch-site": "same-origin" };
    const nobody = { authorization: "" };
    const body = { token: world.key("ada") };
    const begun = await world.ask("/api/session", { body, headers: { ...nobody, ...page } });
    const [cookie = ""] = (begun.headers.get("set-cookie") ?? "").split(";");
    const name = `causeway-session-${new URL(world.url).port}=`;
    assertEquals([begun.status, cookie.startsWith(name)], [204, true]);
    const path = "/api/tools/data__fetch_data";
    const called = await world.ask(path, { body: { city: "Rome" }, headers: { ...nobody, ...page, cookie } });
    assertEquals(called.status, 200, await called.text());
    const before = sent();
    for (
      const headers of [{ cookie }, { cookie, origin: world.url }, { cookie, ...page, "sec-fetch-site": "same-site" }]
    ) {
      const refused = await world.ask(path, { body: { city: "Rome" }, headers: { ...nobody, ...headers } });
      assertEquals(refused.status, 403, JSON.stringify(headers));
    }
    assertEquals(sent(), before);
  });

  test("refuses in the object what the policy denies, and what is not well formed", { skip }, async () => {
    const before = sent();
    assertEquals((await world.ask("/api/tools/data__fetch_data", { body: { city: "x" }, as: "bob" })).status, 404);
    assertEquals((await world.ask("/api/tools/data__fetch_data", { body: "{", as: "ada" })).status, 400);
    assertEquals((await world.ask("/api/runs", { body: { agent: "helper" } })).status, 400);
    assertEquals((await world.ask("/api/runs", { body: { agent: "nobody", input: "x" } })).status, 404);
    const large = await world.ask("/api/runs", { body: { agent: "helper", input: "x".repeat(5_000_000) } });
    assertEquals(large.status, 413, await large.text());
    assertEquals(sent(), before);
  });

  test("asks for an approval, which is good once", { skip }, async () => {
    const asked = await world.ask("/api/tools/data__send", { body: { text: "a" } });
    const { approval } = await asked.json();
    assertEquals(asked.status, 428);
    await world.json(`/api/approvals/${approval.id}`, { body: { action: "accept" } });
    const headers = { "causeway-approval": approval.id };
    const before = sent();
    const called = await world.json<Result>("/api/tools/data__send", { body: { text: "a" }, headers });
    assertEquals([textOf(called), sent()], ["acme.example has sent it", before + 1]);
    const again = await world.ask("/api/tools/data__send", { body: { text: "a" }, headers });
    assert(again.status === 403 || again.status === 428, String(again.status));
    assertEquals(sent(), before + 1);
  });

  test("tells progress and result of a call as a stream", { skip }, async () => {
    const headers = { accept: "text/event-stream" };
    const response = await world.ask("/api/tools/data__fetch_data", { body: { city: "Rome" }, headers });
    assert((await response.text()).includes("event: result"));
  });

  test("takes what a server asks to the client at /mcp whose call it is", { skip }, async () => {
    for (const era of ["modern", "legacy"] as const) {
      await using client = await connect(`${world.url}/mcp`, {
        headers: { authorization: `Bearer ${world.key("ada")}` },
        handlers: { elicitation: () => ({ action: "accept", content: { name: era } }) },
        verdict: { era },
      });
      assertEquals(textOf(await client.callTool("data__greet") as Result), `Hello, ${era}`);
    }
  });

  test("is one MCP server, over HTTP in both eras and over WebSocket", { skip }, async () => {
    const headers = { authorization: `Bearer ${world.key("ada")}` };
    const legacy = { era: "legacy", revision: "2025-11-25" } as const;
    for (const options of [{ headers }, { headers, verdict: legacy }]) {
      await using client = await connect(`${world.url}/mcp`, options);
      const { structuredContent } = await client.callTool("data__fetch_data", { city: "Bern" });
      assertEquals(structuredContent, { degrees: 21, city: "Bern as acme.example knows it" });
    }
    await using socket = await connect(`${world.url.replace("http", "ws")}/mcp`, { headers });
    const { structuredContent } = await socket.callTool("data__fetch_data", { city: "Oslo" });
    assertEquals(structuredContent, { degrees: 21, city: "Oslo as acme.example knows it" });
    const nobody = { headers: { authorization: `Bearer ${world.key("nobody")}` } };
    const refused = await connect(`${world.url.replace("http", "ws")}/mcp`, nobody).then(() => "in", () => "out");
    assertEquals(refused, "out");
  });

  test("keeps a large result in R2, and reads it back after the object was evicted", { skip }, async () => {
    const cut = textOf({
      content: [(await world.json<Result>("/api/tools/data__big", { body: {} })).content.at(-1) ?? { text: "" }],
    });
    const [uri = ""] = /causeway:\/\/results\/[0-9a-f]{32}/.exec(cut) ?? [];
    assert(uri !== "", cut);
    const bucket = await resultsOf(world);
    const { objects } = await bucket.list({ prefix: "" });
    assert(objects.length > 1, `${objects.length} objects`);
    // Nothing there says whose it is.
    assert(objects.every(({ key }) => /^[0-9a-f]{64}\/results\/[0-9a-f]{32}/.test(key)));
    await world.evict("acme");
    const { contents } = await world.json<{ contents: { text: string }[] }>("/api/resources/read", {
      body: { uri: `${uri}/0` },
    });
    assertEquals(contents.map(({ text }) => text).join(""), "0123456789".repeat(60_000));
    const other = await world.ask("/api/resources/read", { body: { uri: `causeway://results/${"0".repeat(32)}` } });
    assertEquals(other.status, 404);
  });

  test("lists after an eviction without asking anybody, and connects with the first call", { skip }, async () => {
    await world.json("/api/tools");
    await world.evict("acme");
    const { servers } = await world.json<{ servers: { name: string; state: string }[] }>("/api/servers");
    assertEquals(servers.map(({ name, state }) => [name, state]), [["data", "disconnected"]]);
    assertEquals((await world.json<{ tools: unknown[] }>("/api/tools")).tools.length, 4);
    // By its other name it is called in the object.
    await world.json("/api/tools/data.fetch_data", { body: { city: "Rome" } });
    const now = await world.json<{ servers: { state: string }[] }>("/api/servers");
    assertEquals(now.servers[0]?.state, "connected");
  });

  test("wakes no object for a tenant that the caller has no business in", { skip }, async () => {
    assertEquals(await world.json("/api/tools", { as: "nil" }), { tools: [] });
    assertEquals((await world.rows("void")).keys, []);
  });
});

describe("the Worker while a store is down", { concurrency: false }, () => {
  test("gives 503 and calls nothing, until the store is there again", { skip, timeout: 30_000 }, async () => {
    await using own = await startWorld();
    const call = () => own.ask("/api/tools/data__fetch_data", { body: { city: "Rome" } });
    assertEquals((await call()).status, 200);
    const before = own.ledger.length;
    await own.spoil("{ no JSON");
    // What was read before is good for five seconds.
    const until = Date.now() + 15_000;
    let response = await call();
    while (response.status === 200 && Date.now() < until) {
      await response.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, 500));
      response = await call();
    }
    const called = own.ledger.length;
    assert(called > before);
    assertEquals([response.status, (await response.json()).code], [503, "unavailable"]);
    for (const path of ["/api/tools", "/api/runs", "/api/servers", "/v1/models"]) {
      const down = await own.ask(path);
      await down.body?.cancel();
      assertEquals(down.status, 503, path);
    }
    assertEquals(own.ledger.length, called);
    await own.configure(usualConfig);
    assertEquals((await call()).status, 200);
  });

  test("says that it is not set up without its secret", { skip }, async () => {
    await using own = await startWorld({ bindings: { RUNNER_SECRET: "short" } });
    const response = await own.ask("/api/tools");
    const text = await response.text();
    assertEquals([response.status, JSON.parse(text).code], [500, "not_set_up"]);
    assert(!text.includes("short"));
  });
});

/** Tools that the Worker calls by itself, with what the object of the tenant has lent it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { resultsOf, serversOf, skip, startWorld, usualConfig } from "./world.ts";
import type { WorkerWorld } from "./world.ts";

interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
}

const rome = { body: { city: "Rome" } };
const lent = "POST /direct";

let world: WorkerWorld;
before(async () => {
  if (!skip) world = await startWorld();
});
after(async () => {
  if (!skip) await world[Symbol.asyncDispose]();
});

describe("tools that the Worker calls by itself", { concurrency: false }, () => {
  test("are called past the object, which has lent them, with the same result", { skip }, async () => {
    const inObject = await world.json<Result>("/api/tools/data.fetch_data", rome);
    assert((await world.seen("acme")).includes("POST /api/tools/data.fetch_data"));
    const direct = await world.json<Result>("/api/tools/data__fetch_data", rome);
    const again = await world.json<Result>("/api/tools/data__fetch_data", rome);
    assertEquals(await world.seen("acme"), [lent]);
    assertEquals(direct, inObject);
    assertEquals(again, inObject);
    assertEquals(world.ledger.splice(0).map(({ server, tool }) => `${server} ${tool}`), [
      ...["acme.example fetch_data", "acme.example fetch_data", "acme.example fetch_data"],
    ]);
  });

  test("are called once each, many at a time", { skip }, async () => {
    // A loan that was used up is followed by one of 64 calls. Where the Worker stands still for a moment, all that were sent
    // meanwhile begin at once, before anything more is lent: the rest of them has to find room in the object.
    for (let calls = 0, seen = [""]; calls < 2 || !seen.includes(lent); calls++) {
      await world.json<Result>("/api/tools/data__fetch_data", rome);
      seen = await world.seen("acme");
    }
    world.ledger.splice(0);
    const cities = Array.from({ length: 90 }, (_, at) => `city ${at}`);
    const results = await Promise.all(
      cities.map((city) => world.json<Result>("/api/tools/data__fetch_data", { body: { city } })),
    );
    assert(results.every(({ isError }, at) => !isError && JSON.stringify(results[at]).includes(`city ${at} as acme`)));
    assertEquals(world.ledger.splice(0).map(({ given }) => String(given.city)).sort(), [...cities].sort());
    // Those that came while something was borrowed went to the object.
    const seen = await world.seen("acme");
    assert(seen.filter((line) => line !== lent).length < 45, seen.join());
  });

  test("tell their progress to whoever listens", { skip }, async () => {
    const headers = { accept: "text/event-stream" };
    const response = await world.ask("/api/tools/data__fetch_data", { ...rome, headers });
    assertMatch(await response.text(), /^(: open\n)?event: result\ndata: \{.*Rome as acme\.example.*\}\n\n$/s);
    world.ledger.splice(0);
  });

  test("that ask something find nobody to ask, here as there", { skip }, async () => {
    const answers = await Promise.all(["data.greet", "data__greet"].map(async (name) => {
      const response = await world.ask(`/api/tools/${name}`, { body: {} });
      const { requestId: _, ...rest } = await response.json();
      return [response.status, rest];
    }));
    assertEquals(answers[0], answers[1]);
    world.ledger.splice(0);
  });

  test("are no tools of anybody else", { skip }, async () => {
    const { content } = await world.json<Result>("/api/tools/data__fetch_data", { ...rome, as: "eve" });
    assert(JSON.stringify(content).includes("other.example"));
    const headers = { "causeway-tenant": "acme" };
    // Whose business it is, the object decides: quotas are those of whoever asks.
    await world.seen("acme");
    await (await world.ask("/api/tools/data__fetch_data", { ...rome, as: "eve", headers })).body?.cancel();
    assert(!(await world.seen("acme")).includes(lent));
    world.ledger.splice(0);
  });

  test("are lent to the Worker alone", { skip }, async () => {
    const { url } = world;
    const key = { authorization: `Bearer ${world.key("ada")}` };
    const body = JSON.stringify({ ask: "get", key: "servers" });
    for (const proof of ["", "x", `${Date.now() + 9_000}.${"0".repeat(64)}.acme`]) {
      const headers = { ...key, "causeway-direct": proof, "content-type": "application/json" };
      assertEquals((await fetch(`${url}/direct`, { method: "POST", headers, body })).status, 404);
      // Through a route that is handed over, the header changes nothing or is refused.
      const tools = await fetch(`${url}/api/servers`, { headers });
      const text = await tools.text();
      assert(tools.status === 404 || text.includes('"data"'), text);
      const back = await fetch(`${url}/oauth/callback?to=${"0".repeat(64)}.x`, { headers });
      assertEquals(back.status, 400);
      await back.body?.cancel();
    }
  });
});

describe("calls that the object answers", { concurrency: false }, () => {
  test("are those that the policy does not simply allow", { skip }, async () => {
    const rules = [
      { effect: "allow" },
      { tools: ["send"], actions: ["call"], effect: "ask" },
      { tools: ["big"], actions: ["call"], effect: "deny" },
    ];
    await using own = await startWorld({ config: { ...usualConfig, rules } });
    await own.json("/api/tools/data__fetch_data", rome);
    await own.seen("acme");
    const asked = await own.ask("/api/tools/data__send", { body: { text: "hi" } });
    const { approval } = await asked.json();
    assertEquals(asked.status, 428);
    const denied = await own.ask("/api/tools/data__big", { body: {} });
    assertEquals(denied.status, 404);
    await denied.body?.cancel();
    assertEquals(await own.seen("acme"), ["POST /api/tools/data__send", "POST /api/tools/data__big"]);
    assertEquals(own.ledger.map(({ tool }) => tool), ["fetch_data"]);
    assert(approval !== undefined);
  });

  test(
    "are those beyond the tenant's quota, wherever the others were answered",
    { skip, timeout: 60_000 },
    async () => {
      const quotas = { requestsPerMinute: 40 };
      await using own = await startWorld({ config: { ...usualConfig, quotas } });
      const begun = Date.now();
      let good = 0;
      for (let at = 0; at < 70; at++) {
        const response = await own.ask("/api/tools/data__fetch_data", rome);
        await response.body?.cancel();
        assert(response.status === 200 || response.status === 429, String(response.status));
        if (response.status === 200) good++;
      }
      const refilled = Math.ceil((Date.now() - begun) / 60_000 * 40) + 1;
      assert(good >= 20 && good <= 40 + refilled, `${good} of 70, ${refilled} more by time`);
      assertEquals(own.ledger.length, good);
    },
  );

  test("are those to a server that has not answered, until something is lent anew", { skip }, async () => {
    let isDown = false;
    const { createHandler, McpServer } = await import("../../../src/server/mod.ts");
    const server = new McpServer({ name: "shaky", version: "1.0.0" });
    server.tool("noop", {}, () => "ok");
    const handler = createHandler(server, { allowedHosts: "*" });
    const config = { ...usualConfig, tenants: { acme: { servers: { shaky: { url: "https://shaky.example/mcp" } } } } };
    const web = {
      hosts: ["shaky.example"],
      fetch: async (url: string, init?: RequestInit) =>
        isDown ? new Response("down", { status: 502 }) : await handler(new Request(url, init)),
    };
    await using own = await startWorld({ config, web });
    const call = async () => {
      const response = await own.ask("/api/tools/shaky__noop", { body: {} });
      const { code } = await response.json();
      return [response.status, code, (await own.seen("acme")).filter((line) => line !== lent).length];
    };
    assertEquals(await call(), [200, undefined, 0]);
    isDown = true;
    const [status, code, forwarded] = await call();
    assertEquals([status, forwarded], [502, 0], String(code));
    assertEquals((await call()).slice(0, 2), [502, code], "the object says the same");
    isDown = false;
    const [now, , there] = await call();
    assertEquals([now, there], [200, 1]);
  });

  test("are not those after callers that have left: their places are free again", { skip }, async () => {
    let isSlow = true;
    const { createHandler, McpServer } = await import("../../../src/server/mod.ts");
    const server = new McpServer({ name: "slow", version: "1.0.0" });
    let begun = 0;
    server.tool("wait", {}, () => {
      begun++;
      return isSlow ? new Promise<string>(() => {}) : "ok";
    });
    const handler = createHandler(server, { allowedHosts: "*" });
    const tenants = { acme: { servers: { slow: { url: "https://slow.example/mcp" } } } };
    const web = {
      hosts: ["slow.example"],
      fetch: (url: string, init?: RequestInit) => handler(new Request(url, init)),
    };
    await using own = await startWorld({ config: { ...usualConfig, tenants, quotas: { concurrent: 4 } }, web });
    const headers = { authorization: `Bearer ${own.key("ada")}`, "content-type": "application/json" };
    // Two places are lent: each caller leaves one behind, if it does.
    for (let at = 0; at < 4; at++) {
      const controller = new AbortController();
      const { signal } = controller;
      const call = fetch(`${own.url}/api/tools/slow__wait`, { method: "POST", headers, body: "{}", signal });
      for (let turns = 0; begun <= at && turns < 1_000; turns++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assertEquals(begun, at + 1);
      controller.abort();
      await call.catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    isSlow = false;
    await own.seen("acme");
    const response = await own.ask("/api/tools/slow__wait", { body: {} });
    assertEquals([response.status, (await own.seen("acme")).filter((line) => line !== lent)], [200, []]);
  });

  test(
    "are all of them where nothing is stored elsewhere: large results are kept in the object",
    { skip },
    async () => {
      const r2Buckets: string[] = [];
      await using own = await startWorld({ more: { r2Buckets } });
      await own.json("/api/tools/data__fetch_data", rome);
      await own.seen("acme");
      const { content } = await own.json<Result>("/api/tools/data__big", { body: {} });
      const seen = await own.seen("acme");
      assert(seen.length > 0 && seen.every((line) => line === lent), seen.join());
      const [uri = ""] = /causeway:\/\/results\/[0-9a-f]{32}/.exec(JSON.stringify(content)) ?? [];
      const read = await own.json<{ contents: { text: string }[] }>("/api/resources/read", {
        body: { uri: `${uri}/0` },
      });
      assertEquals(read.contents.map(({ text }) => text).join(""), "0123456789".repeat(60_000));
    },
  );

  test(
    "are those to servers that a config has taken away or has given new headers",
    { skip, timeout: 60_000 },
    async () => {
      const seen: (string | null)[] = [];
      const { createHandler, McpServer } = await import("../../../src/server/mod.ts");
      const server = new McpServer({ name: "keyed", version: "1.0.0" });
      server.tool("noop", {}, () => "ok");
      const handler = createHandler(server, { allowedHosts: "*" });
      const of = (key: string) => {
        const keyed = { url: "https://keyed.example/mcp", headers: { authorization: `Bearer ${key}` } };
        return { ...usualConfig, tenants: { acme: { servers: { ...serversOf("acme"), keyed } } } };
      };
      const web = {
        hosts: ["keyed.example"],
        fetch: async (url: string, init?: RequestInit) => {
          seen.push(new Headers(init?.headers).get("authorization"));
          return await handler(new Request(url, init));
        },
      };
      await using own = await startWorld({ config: of("one"), web });
      const call = async () => (await own.ask("/api/tools/keyed__noop", { body: {} })).status;
      const last = () => seen.at(-1);
      assertEquals([await call(), await call()], [200, 200]);
      assert(seen.every((header) => header === "Bearer one"));
      await own.configure(of("two"));
      for (const end = Date.now() + 20_000; Date.now() < end && last() !== "Bearer two";) {
        assertEquals(await call(), 200);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      assertEquals([await call(), last()], [200, "Bearer two"]);
      await own.configure(usualConfig);
      let status = 200;
      for (const end = Date.now() + 20_000; Date.now() < end && status === 200;) {
        status = await call();
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      assertEquals(status, 404);
    },
  );

  test("keeps results in a bucket that it shares with the object", { skip }, async () => {
    await using own = await startWorld();
    await own.json("/api/tools/data__big", { body: {} });
    const { objects } = await (await resultsOf(own)).list({ prefix: "" });
    assert(objects.every(({ key }) => /^[0-9a-f]{64}\/results\/[0-9a-f]{32}/.test(key)) && objects.length > 1);
  });
});

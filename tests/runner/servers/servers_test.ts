import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import { createOAuth } from "../../../src/auth/mod.ts";
import type { Fetch } from "../../../src/ports.ts";
import { ConnectError } from "../../../src/protocol/errors.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { createApiKey, createKeyList, createKeyStore, createPolicy, createRunner } from "../../../src/runner/mod.ts";
import { createServer, inMemory, openHub } from "../../hub/support.ts";
import { deferred } from "../../servers/core/wire.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createAsk } from "../support/asking.ts";
import { createWorld, problemOf, type World } from "../support/world.ts";

const url = "https://tools.example.com/mcp";
const principals = {
  ada: { principal: "ada", tenant: "acme" },
  eve: { principal: "eve", tenant: "other" },
};

/** The web with one server on it, and what was asked of it. */
function createSite(): { fetch: Fetch; seen: Request[] } {
  const server = new McpServer({ name: "site", version: "1.0.0" });
  server.tool("look", {}, () => "here");
  const handler = createHandler(server, { allowedHosts: "*" });
  const seen: Request[] = [];
  return {
    seen,
    fetch: async (address, init) => {
      const request = new Request(address, init);
      seen.push(request);
      if (new URL(address).host !== "tools.example.com") throw new TypeError("there is nothing");
      return await handler(request);
    },
  };
}

describe("servers of a tenant", () => {
  it("that are slow to answer hold up no start of a run", async () => {
    const { fetch } = createSite();
    const { promise: held, resolve: go } = deferred<void>();
    const { promise: asked, resolve: tell } = deferred<void>();
    const egress: { fetch: Fetch } = { fetch: async (...request) => (tell(), await held, await fetch(...request)) };
    await using world = await createWorld({ egress, principals });
    const adding = world.ask("/api/servers", { body: { name: "web", url } });
    await asked;
    // The server is held until the run has begun.
    assertEquals((await world.ask("/api/runs", { body: { agent: "helper", input: "hi" } })).status, 202);
    go();
    assertEquals((await adding).status, 201);
  });

  it("are added, used, kept, and removed", async () => {
    const { fetch, seen } = createSite();
    const stores = { servers: createMemoryStore() };
    const resolve = () => Promise.resolve(["93.184.215.14"]);
    const options = { stores, egress: { fetch, resolve }, principals };
    const secret = "sk-very-secret";
    await using world = await createWorld(options);
    const headers = { "X-Key": secret, SITE_API_KEY: secret };
    const response = await world.ask("/api/servers", { body: { name: "web", url, headers } });
    assertEquals(response.status, 201);
    const added = await response.json();
    assertEquals([added.name, added.state, added.tools, added.added], ["web", "connected", 1, true]);
    assertEquals((await world.ask("/api/tools/web__look", { body: {} })).status, 200);
    const keysOf = ({ headers }: Request) => [headers.get("x-key"), headers.get("site_api_key")];
    assert(seen.every((one) => keysOf(one).every((key) => key === secret) && !one.headers.has("authorization")));
    const listed = await (await world.ask("/api/servers")).text();
    assertEquals(JSON.parse(listed).servers.map(({ name, added }: { name: string; added: boolean }) => [name, added]), [
      ["alpha", false],
      ["web", true],
    ]);
    assert(!listed.includes(secret));
    assertEquals((await world.ask("/api/tools/web__look", { as: "eve", body: {} })).status, 404);
    const twice = await world.ask("/api/servers", { body: { name: "web", url } });
    assertEquals([twice.status, (await problemOf(twice)).code], [409, "name_taken"]);
    await using other = await createWorld(options);
    assertEquals((await other.ask("/api/tools/web__look", { body: {} })).status, 200);
    assertEquals((await other.ask("/api/servers/web", { method: "DELETE" })).status, 204);
    assertEquals((await other.ask("/api/servers/web", { method: "DELETE" })).status, 404);
    const given = await other.ask("/api/servers/alpha", { method: "DELETE" });
    assertEquals([given.status, (await problemOf(given)).code], [409, "not_added"]);
    assertEquals((await (await other.ask("/api/tools")).json()).tools.length, 2);
    await using later = await createWorld(options);
    assertEquals((await (await later.ask("/api/servers")).json()).servers.length, 1, "it is kept no more");
  });

  it("of one name that two processes add are one: the second is told, and no runner is kept from opening", async () => {
    const { fetch } = createSite();
    const resolve = () => Promise.resolve(["93.184.215.14"]);
    const options = { stores: { servers: createMemoryStore() }, egress: { fetch, resolve }, principals };
    await using here = await createWorld(options);
    await using there = await createWorld(options);
    // Both have opened the tenant before.
    for (const world of [here, there]) assertEquals((await world.ask("/api/servers")).status, 200);
    const add = (world: World) => world.ask("/api/servers", { body: { name: "web", url } });
    assertEquals((await add(here)).status, 201);
    const twice = await add(there);
    assertEquals([twice.status, (await problemOf(twice)).code], [409, "name_taken"]);
    const servers = await (await there.ask("/api/servers")).json();
    assertEquals(servers.servers.map(({ name }: { name: string }) => name), ["alpha"]);
    await using next = await createWorld(options);
    assertEquals((await next.ask("/api/tools/web__look", { body: {} })).status, 200);
  });

  it("that one process adds or removes come and go in the others that have the same store", async () => {
    const { fetch, seen } = createSite();
    const resolve = () => Promise.resolve(["93.184.215.14"]);
    const options = { stores: { servers: createMemoryStore() }, egress: { fetch, resolve }, principals };
    const [here, there] = [new VirtualClock(), new VirtualClock()];
    await using one = await createWorld({ ...options, clock: here });
    await using two = await createWorld({ ...options, clock: there });
    const call = async (world: World) => (await world.ask("/api/tools/web__look", { body: {} })).status;
    // They look with the first request after a while, and it does not wait for what they find.
    const later = async (world: World, clock: VirtualClock) => {
      await clock.advance(5_000);
      await world.ask("/api/servers");
      await clock.settle();
      return await call(world);
    };
    assertEquals([await call(one), await call(two)], [404, 404]);
    const add = (path = "") => one.ask("/api/servers", { body: { name: "web", url: url + path } });
    assertEquals((await add()).status, 201);
    assertEquals([await call(one), await later(two, there)], [200, 200]);
    assertEquals(await later(one, here), 200, "it is there once");
    // Who has not added it removes it.
    assertEquals((await two.ask("/api/servers/web", { method: "DELETE" })).status, 204);
    assertEquals([await call(two), await later(one, here)], [404, 404]);
    assertEquals((await add()).status, 201);
    assertEquals(await later(two, there), 200);
    // Another one of its name is another one.
    assertEquals((await one.ask("/api/servers/web", { method: "DELETE" })).status, 204);
    await here.advance(1);
    assertEquals((await add("?new")).status, 201);
    seen.length = 0;
    assertEquals(await later(two, there), 200);
    assert(seen.length > 0 && seen.every(({ url }) => url.endsWith("?new")));
  });

  it("that are the operator's stay, whatever is kept, and so do all while the store is down", async () => {
    const { fetch } = createSite();
    const resolve = () => Promise.resolve(["93.184.215.14"]);
    const store = createMemoryStore();
    const clock = new VirtualClock();
    const options = { stores: { servers: store }, egress: { fetch, resolve }, principals, logger: () => {}, clock };
    await using world = await createWorld(options);
    assertEquals((await world.ask("/api/servers", { body: { name: "web", url } })).status, 201);
    const { get } = store;
    store.get = () => Promise.reject(new Error("the disk is on fire"));
    await clock.advance(5_000);
    for (const tool of ["web__look", "alpha__echo", "web__look"]) {
      assertEquals((await world.ask(`/api/tools/${tool}`, { body: {} })).status, 200);
      await clock.settle();
    }
    // One that was removed though the store said that it was not.
    const { compareAndSet } = store;
    store.get = get;
    store.compareAndSet = async (...given) => {
      await compareAndSet(...given);
      throw new Error("it took too long");
    };
    assertEquals((await world.ask("/api/servers/web", { method: "DELETE" })).status, 503);
    await clock.advance(5_000);
    await world.ask("/api/tools");
    await clock.settle();
    assertEquals((await world.ask("/api/tools/web__look", { body: {} })).status, 404);
    assertEquals((await world.ask("/api/tools/alpha__echo", { body: {} })).status, 200);
  });

  it("that cannot be used as they are kept hold up none of the others", async () => {
    const { fetch } = createSite();
    const resolve = () => Promise.resolve(["93.184.215.14"]);
    const store = createMemoryStore();
    const options = { stores: { servers: store }, egress: { fetch, resolve }, principals };
    const kept: [string, string][] = [];
    const { set, compareAndSet } = store;
    store.set = (key, value) => (kept.push([key, value]), set(key, value));
    store.compareAndSet = (key, before, value = "") => (kept.push([key, value]), compareAndSet(key, before, value));
    {
      await using first = await createWorld(options);
      assertEquals((await first.ask("/api/servers", { body: { name: "web", url } })).status, 201);
    }
    const [key = "", value = ""] = kept.at(-1) ?? [];
    const [web] = JSON.parse(value);
    const bad = [null, 5, "web", [], {}, { ...web, name: 5 }, { ...web, url: null, name: "b" }, {
      ...web,
      headers: "x",
      name: "c",
    }];
    await set(key, JSON.stringify([...bad, web, { ...web, url: "https://other.example.com/mcp" }]));
    await using next = await createWorld(options);
    assertEquals((await next.ask("/api/tools/web__look", { body: {} })).status, 200);
    const listed = await (await next.ask("/api/servers")).json();
    assertEquals(listed.servers.map(({ name, added }: { name: string; added: boolean }) => [name, added]), [
      ["alpha", false],
      ["web", true],
    ]);
    assertEquals((await next.ask("/api/servers/web", { method: "DELETE" })).status, 204);
  });

  it("are kept in a store that says null where there is nothing, as keys and sign-ins are", async () => {
    const { fetch } = createSite();
    const resolve = () => Promise.resolve(["93.184.215.14"]);
    const inner = createMemoryStore();
    const store = { ...inner, get: async (name: string) => await inner.get(name) ?? null as unknown as undefined };
    const keys = createKeyStore(store);
    const { key, hash } = await createApiKey();
    await keys.add(hash, principals.ada);
    const oauth = () => createOAuth({ redirectUri: "https://app.example.com/callback" });
    await using world = await createWorld({
      ...{ stores: { servers: store, records: store }, egress: { fetch, resolve }, oauth },
      access: { keys },
    });
    const ask = (bearer: string, body?: object) =>
      world.ask("/api/servers", { as: undefined, headers: { authorization: `Bearer ${bearer}` }, body });
    assertEquals((await ask((await createApiKey()).key)).status, 401);
    assertEquals((await ask(key, { name: "web", url })).status, 201);
    const back = await world.ask("/oauth/callback?state=unknown&code=c");
    assertEquals([back.status, (await problemOf(back)).code], [400, "sign_in_unknown"]);
  });

  it("are public https alone, by text and by address, and name no command", async () => {
    const { fetch, seen } = createSite();
    const resolve = (name: string) => Promise.resolve(name === "inside.example.com" ? ["10.0.0.1"] : ["93.184.215.14"]);
    await using world = await createWorld({ egress: { fetch, resolve } });
    for (
      const wrong of [
        "http://tools.example.com/mcp",
        "https://127.0.0.1/mcp",
        "https://[::1]/mcp",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/mcp",
        "https://router.local/",
        "https://intranet/",
        "https://2130706433/",
        "https://inside.example.com/mcp",
        "https://ada:secret@tools.example.com/mcp",
        "file:///etc/passwd",
        "ws://tools.example.com/mcp",
        "javascript:alert(1)",
        "no url",
      ]
    ) {
      const response = await world.ask("/api/servers", { body: { name: "web", url: wrong } });
      const problem = await problemOf(response);
      assertEquals([problem.status, problem.code], [400, "egress_denied"], wrong);
      assert(!String(problem.detail).includes("secret"));
    }
    for (
      const body of [
        { name: "web", command: "sh", args: ["-c", "id"] },
        { name: "web", url, command: "sh" },
        { name: "a b", url },
        { name: "", url },
        { name: "web", url, headers: { "X-Key": "a\nb" } },
        { name: "web", url, headers: { Host: "other" } },
        { name: "web", url, headers: { "mcp-session-id": "x" } },
        { name: "web", url, headers: { MCP_Session_Id: "x" } },
        { name: "web", url, headers: { Content_Length: "1" } },
        { name: "web", url, headers: { Transfer_Encoding: "chunked" } },
      ]
    ) {
      const response = await world.ask("/api/servers", { body });
      assertEquals([response.status, (await problemOf(response)).code], [400, "invalid_request"], JSON.stringify(body));
    }
    assertEquals(seen, []);
  });

  it("that redirect inside are not followed", async () => {
    const fetched: string[] = [];
    const fetch: Fetch = (address) => {
      fetched.push(address);
      const location = "http://169.254.169.254/latest/meta-data";
      return Promise.resolve(new Response(null, { status: 307, headers: { location } }));
    };
    await using world = await createWorld({ egress: { fetch } });
    const response = await world.ask("/api/servers", { body: { name: "web", url } });
    assertEquals([response.status, (await problemOf(response)).code], [502, "server_unavailable"]);
    assertEquals([...new Set(fetched)], [url]);
  });

  it("that cannot be reached, or kept, are not there", async () => {
    const { fetch } = createSite();
    const servers = createMemoryStore();
    await using world = await createWorld({ stores: { servers }, egress: { fetch } });
    const gone = await world.ask("/api/servers", { body: { name: "web", url: "https://gone.example.com/mcp" } });
    assertEquals([gone.status, (await problemOf(gone)).code], [502, "server_unavailable"]);
    const { compareAndSet } = servers;
    servers.compareAndSet = () => Promise.reject(new Error("the disk is on fire"));
    const broken = await world.ask("/api/servers", { body: { name: "web", url } });
    assertEquals(broken.status, 503);
    assertEquals((await (await world.ask("/api/servers")).json()).servers.length, 1);
    servers.compareAndSet = compareAndSet;
    assertEquals((await world.ask("/api/servers", { body: { name: "web", url } })).status, 201);
  });

  it("are asked nothing where nothing more may be kept, or their name cannot be resolved", async () => {
    const { fetch, seen } = createSite();
    const resolve = () => Promise.reject(new ConnectError("the resolver is down"));
    for (
      const [options, status, code] of [
        [{ egress: { fetch }, quotas: { storedBytes: 50 } }, 429, "too_much_stored"],
        [{ egress: { fetch, resolve } }, 400, "egress_denied"],
      ] as const
    ) {
      await using world = await createWorld(options);
      const problem = await problemOf(await world.ask("/api/servers", { body: { name: "web", url } }));
      assertEquals([problem.status, problem.code, seen.length], [status, code, 0]);
    }
  });

  it("are so many at most", async () => {
    const { fetch } = createSite();
    await using world = await createWorld({ egress: { fetch }, quotas: { servers: 2 } });
    const add = (name: string) => world.ask("/api/servers", { body: { name, url } });
    const statuses = (await Promise.all(["a", "b", "c", "d"].map(add))).map(({ status }) => status);
    assertEquals(statuses.sort(), [201, 201, 429, 429]);
    assertEquals((await (await world.ask("/api/servers")).json()).servers.length, 3);
  });

  it("are managed by those who may", async () => {
    await using world = await createWorld({ policy: [{ actions: ["see", "call"], effect: "allow" }] });
    const adding = await world.ask("/api/servers", { body: { name: "web", url } });
    assertEquals([adding.status, (await problemOf(adding)).code], [403, "forbidden"]);
    for (const [method, path] of [["DELETE", "/api/servers/alpha"], ["POST", "/api/servers/alpha/connect"]] as const) {
      assertEquals((await world.ask(path, { method })).status, 404);
    }
  });
});

describe("a hub that tenants share", () => {
  it("takes no servers of theirs, unless the operator says that they are everybody's", async () => {
    const { fetch } = createSite();
    const { key, hash } = await createApiKey();
    for (const addToHub of [undefined, true]) {
      await using hub = await openHub({});
      await using runner = createRunner({
        hub,
        addToHub,
        egress: { fetch },
        access: {
          keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
          policy: createPolicy([{ effect: "allow" }]),
        },
      });
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const body = JSON.stringify({ name: "web", url });
      const response = await runner.fetch(
        new Request("http://localhost/api/servers", { method: "POST", headers, body }),
      );
      assertEquals(response.status, addToHub ? 201 : 404);
      assertEquals(hub.status().length, addToHub ? 1 : 0);
      await response.body?.cancel();
      await runner.forget("acme");
      assertEquals(hub.status().length, 0);
      await runner.close();
      await hub.add("after", inMemory(createServer("after")).config);
      assertEquals(hub.tools().length, 2);
    }
  });

  it("follows what another process removes for one of them, also after nobody has used it for long", async () => {
    const { fetch } = createSite();
    const clock = new VirtualClock();
    const store = createMemoryStore();
    const keys = await Promise.all(["acme", "other"].map(async (tenant) => ({ tenant, ...await createApiKey() })));
    const access = {
      keys: createKeyList(keys.map(({ hash, tenant }) => ({ hash, principal: "ada", tenant }))),
      policy: createPolicy([{ effect: "allow" }]),
    };
    const [near, far] = [await openHub({}), await openHub({})];
    await using _near = near;
    await using _far = far;
    const make = (hub: typeof near) =>
      createRunner({ hub, addToHub: true, stores: { servers: store }, egress: { fetch }, access, clock });
    await using here = make(near);
    await using there = make(far);
    const ask = createAsk(keys, clock);
    for (const [who, name] of ["one", "two"].entries()) {
      assertEquals(await ask(here, "/api/servers", { who, method: "POST", body: JSON.stringify({ name, url }) }), 201);
    }
    const names = (hub: typeof near) => hub.status().map(({ name }) => name);
    await clock.advance(700_000);
    for (const who of [0, 1]) assertEquals(await ask(here, "/api/tools", { who }), 200);
    assertEquals(names(near), ["one", "two"]);
    assertEquals(await ask(there, "/api/servers/one", { method: "DELETE" }), 204);
    await clock.advance(5_000);
    for (const who of [1, 0]) assertEquals(await ask(here, "/api/tools", { who }), 200);
    assertEquals(names(near), ["two"]);
  });
});

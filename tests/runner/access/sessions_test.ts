import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import { createApiKey, createKeyStore, createSealedSessions, createSessions } from "../../../src/runner/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createWorld, problemOf } from "../support/world.ts";
import type { World } from "../support/world.ts";

const page = { origin: "http://localhost", "sec-fetch-site": "same-origin" };
const ada = { id: "ada", tenant: "acme" };

async function signIn(world: World, token: string): Promise<string> {
  const response = await world.ask("/api/session", { as: undefined, body: { token }, headers: page });
  assertEquals(response.status, 204);
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  return cookie;
}

describe("sessions of browsers", () => {
  it("begin with a token that is good once, and are a strict cookie", async () => {
    const sessions = createSessions();
    await using world = await createWorld({ access: { sessions } });
    const token = await sessions.invite(ada);
    const response = await world.ask("/api/session", { as: undefined, body: { token }, headers: page });
    assertMatch(
      response.headers.get("set-cookie") ?? "",
      /^causeway-session=[0-9a-f]{64}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    );
    const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const who = await (await world.ask("/api/session", { as: undefined, headers: { cookie } })).json();
    assertEquals(who, { principal: "ada", tenant: "acme", way: "session" });
    const again = await world.ask("/api/session", { as: undefined, body: { token }, headers: page });
    assertEquals([again.status, (await problemOf(again)).code], [401, "not_signed_in"]);
    assert(!JSON.stringify(world.audit).includes(token));
  });

  it("are good for a WebSocket of this runner's own page alone", async () => {
    const sessions = createSessions();
    await using world = await createWorld({ access: { sessions }, allowedOrigins: ["https://other.example"] });
    const cookie = await signIn(world, await sessions.invite(ada));
    const upgrade = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp", cookie };
    const admit = (headers: Readonly<Record<string, string>>) =>
      world.runner.webSocket.admit(new Request("http://localhost/mcp", { headers: { ...upgrade, ...headers } }));
    const foreign = [
      ...[{}, { origin: "http://localhost" }, { "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }],
      ...[{ ...page, origin: "https://other.example" }, { ...page, origin: "http://localhost:8080" }],
      { ...page, "sec-fetch-site": "same-site" },
    ];
    for (const headers of foreign) {
      const refused = await admit(headers);
      assert(refused instanceof Response, JSON.stringify(headers));
      assertEquals((await problemOf(refused)).status, 403);
    }
    const accept = await admit(page);
    assertEquals(typeof accept, "function");
  });

  it("of runners on two ports of one machine stand side by side: browsers keep one jar for all ports", async () => {
    const jar = new Map<string, string>();
    const visit = async (url: string) => {
      const sessions = createSessions();
      const world = await createWorld({ access: { sessions } });
      const ask = (init: RequestInit = {}) => {
        const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
        const headers = {
          origin: new URL(url).origin,
          "sec-fetch-site": "same-origin",
          "content-type": "application/json",
          cookie,
        };
        return world.runner.fetch(new Request(`${url}/api/session`, { headers, ...init }));
      };
      const begun = await ask({ method: "POST", body: JSON.stringify({ token: await sessions.invite(ada) }) });
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(begun.headers.get("set-cookie") ?? "") ?? [];
      jar.set(name, value);
      return { world, status: async () => (await ask()).status };
    };
    for (const scheme of ["http", "https"]) {
      const hosts = [await visit(`${scheme}://localhost:8080`), await visit(`${scheme}://localhost:8081`)];
      for (const { status } of hosts) assertEquals(await status(), 200);
      for (const { world } of hosts) await world[Symbol.asyncDispose]();
    }
  });

  it("end with what their principal has shown, and with the lifetime of sessions at the latest", async () => {
    const clock = new VirtualClock();
    const sessions = createSessions({ clock, lifetime: 60_000 });
    const principals = { ada: { principal: "ada", tenant: "acme", expiresAt: clock.now() + 5_000 } };
    await using world = await createWorld({ clock, principals, access: { sessions } });
    const response = await world.ask("/api/session", {
      as: undefined,
      body: { token: world.key("ada") },
      headers: page,
    });
    assertMatch(response.headers.get("set-cookie") ?? "", /; Max-Age=5;/);
    const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const status = async () => (await world.ask("/api/session", { as: undefined, headers: { cookie } })).status;
    assertEquals(await status(), 200);
    await clock.advance(5_000);
    assertEquals(await status(), 401);
    const long = await sessions.begin(await sessions.invite(ada));
    assertEquals(long?.expiresAt, clock.now() + 60_000);
  });

  it("begin with no token that is too old, and for nobody whose proof has ended", async () => {
    const clock = new VirtualClock();
    const sessions = createSessions({ clock });
    const [late, soon] = [
      await sessions.invite(ada),
      await sessions.invite({ ...ada, expiresAt: clock.now() + 1_000 }),
    ];
    await clock.advance(1_000);
    assertEquals(await sessions.begin(soon), undefined);
    await clock.advance(599_000);
    assertEquals(await sessions.begin(late), undefined);
    assertEquals(await sessions.open({ ...ada, expiresAt: clock.now() }), undefined);
    assertEquals((await sessions.open({ ...ada, expiresAt: clock.now() + 1 }))?.expiresAt, clock.now() + 1);
  });

  it("of one tenant do not put an end to those of others", async () => {
    const sessions = createSessions({ most: 10 });
    const begin = async (tenant: string) => await sessions.begin(await sessions.invite({ id: "ada", tenant }));
    const [first, other] = [await begin("acme"), await begin("other")];
    for (let count = 0; count < 30; count++) await begin("other");
    assertEquals((await sessions.find(first?.id ?? ""))?.tenant, "acme");
    assertEquals(await sessions.find(other?.id ?? ""), undefined);
    const last = await begin("acme");
    assertEquals((await sessions.find(last?.id ?? ""))?.tenant, "acme");
  });

  it("are bound to their host over https", async () => {
    const sessions = createSessions();
    await using world = await createWorld({ access: { sessions }, allowedHosts: ["runner.example"] });
    const request = new Request("https://runner.example/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: await sessions.invite(ada) }),
    });
    const response = await world.runner.fetch(request);
    assertMatch(response.headers.get("set-cookie") ?? "", /^__Host-causeway=.*; Path=\/;.*SameSite=Strict; Secure$/);
    assertEquals(response.headers.get("strict-transport-security"), "max-age=31536000");
  });

  it("change something only for our own page: cookie, Origin and Sec-Fetch-Site", async () => {
    const sessions = createSessions();
    await using world = await createWorld({ access: { sessions }, allowedOrigins: "*" });
    const cookie = await signIn(world, await sessions.invite(ada));
    const changing = world.runner.routes.filter(({ method, policy }) => method !== "GET" && policy.kind !== "public");
    for (const { method, path } of changing) {
      const filled = path.replace(/:\w+/g, "alpha__echo");
      for (
        const headers of [
          { cookie },
          { cookie, origin: "http://localhost" },
          { cookie, "sec-fetch-site": "same-origin" },
          { cookie, ...page, origin: "http://localhost:8081" },
          { cookie, ...page, origin: "https://attacker.test" },
          { cookie, ...page, "sec-fetch-site": "cross-site" },
          { cookie, ...page, "sec-fetch-site": "same-site" },
        ]
      ) {
        const body = method === "DELETE" ? {} : { body: {} };
        const response = await world.ask(filled, {
          as: undefined,
          method: method === "ALL" ? "POST" : method,
          headers,
          ...body,
        });
        assertEquals([response.status, (await problemOf(response)).code], [403, "forbidden"], `${method} ${filled}`);
      }
    }
    assertEquals(world.ledger, []);
    const own = await world.ask("/api/tools/alpha__echo", { as: undefined, body: {}, headers: { cookie, ...page } });
    assertEquals(own.status, 200);
  });

  it("end when one says so, with time, and with the process", async () => {
    const clock = new VirtualClock();
    const sessions = createSessions({ clock, lifetime: 1_000 });
    await using world = await createWorld({ clock, access: { sessions } });
    const status = async (cookie: string) =>
      (await world.ask("/api/session", { as: undefined, headers: { cookie } })).status;
    const one = await signIn(world, await sessions.invite(ada));
    assertEquals(await status(one), 200);
    const out = await world.ask("/api/session", { as: undefined, method: "DELETE", headers: { cookie: one, ...page } });
    assertMatch(out.headers.get("set-cookie") ?? "", /^causeway-session=; .*Max-Age=0/);
    assertEquals(await status(one), 401);
    const two = await signIn(world, await sessions.invite(ada));
    await clock.advance(1_001);
    assertEquals(await status(two), 401);
    const three = await signIn(world, await sessions.invite(ada));
    await using other = await createWorld({ access: { sessions: createSessions() } });
    assertEquals((await other.ask("/api/session", { as: undefined, headers: { cookie: three } })).status, 401);
    assertEquals(await status(`${three}; causeway-session=x`), 401);
  });

  it("begin with an API key too, and not from foreign pages", async () => {
    await using world = await createWorld({ access: { sessions: createSessions() } });
    const cookie = await signIn(world, world.key("ada"));
    assertEquals((await world.ask("/api/tools", { as: undefined, headers: { cookie } })).status, 200);
    for (const token of [world.key("none"), "x"]) {
      assertEquals((await world.ask("/api/session", { as: undefined, body: { token }, headers: page })).status, 401);
    }
    const body = { token: world.key("ada") };
    const foreign = await world.ask("/api/session", {
      as: undefined,
      body,
      headers: { "sec-fetch-site": "cross-site" },
    });
    assertEquals(foreign.status, 403);
    await using none = await createWorld();
    assertEquals((await none.ask("/api/session", { as: undefined, body, headers: page })).status, 404);
  });

  it("begin with a body as long as a token wants: anybody may send a long one, and hold it open", async () => {
    await using world = await createWorld({ access: { sessions: createSessions() } });
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1_024;
        controller.enqueue(new Uint8Array(1_024).fill(0x20));
      },
    });
    const headers = { "content-type": "application/json" };
    const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
    const endless = await world.runner.fetch(new Request("http://localhost/api/session", init));
    assertEquals(endless.status, 413);
    assert(sent < 200_000, `${sent} bytes were taken`);
    const whole = await world.ask("/api/session", { as: undefined, body: { token: "t".repeat(5_000) }, headers: page });
    assertEquals(whole.status, 413);
    // What is no token for its length alone is told as before.
    const long = await world.ask("/api/session", { as: undefined, body: { token: "t".repeat(300) }, headers: page });
    assertEquals(long.status, 400);
  });

  it("end with the API key that began them, when it is withdrawn, and may what it may", async () => {
    const policy = [{ scope: "tools", effect: "allow" as const }];
    for (const sessions of [createSessions(), createSealedSessions({ secret: "a secret of this test alone" })]) {
      const keys = createKeyStore(createMemoryStore());
      const { key, hash } = await createApiKey();
      await using world = await createWorld({ policy, access: { sessions, keys } });
      const countTools = async (cookie: string) => {
        const response = await world.ask("/api/tools", { as: undefined, headers: { cookie } });
        return response.ok ? (await response.json()).tools.length : response.status;
      };
      await keys.add(hash, { principal: "ada", tenant: "acme", scopes: ["tools"] });
      const cookie = await signIn(world, key);
      assertEquals(await countTools(cookie), 2);
      await keys.add(hash, { principal: "ada", tenant: "acme" });
      assertEquals(await countTools(cookie), 0);
      for (const [principal, tenant] of [["eve", "acme"], ["ada", "other"]] as const) {
        await keys.add(hash, { principal, tenant, scopes: ["tools"] });
        assertEquals(await countTools(cookie), 401, "the key stands for somebody else");
      }
      await keys.remove(hash);
      assertEquals(await countTools(cookie), 401);
    }
  });
});

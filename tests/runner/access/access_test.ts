import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import { McpServer, protectResource } from "../../../src/server/mod.ts";
import { sha256 } from "../../../src/protocol/web_crypto.ts";
import { until } from "../../support/clients.ts";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import {
  createAccessCheck,
  createApiKey,
  createJudge,
  createKeyList,
  createKeyStore,
  createPolicy,
  hashApiKey,
  objectName,
  Refusal,
  scopeHub,
  signAccess,
} from "../../../src/runner/mod.ts";
import type { AuditRow } from "../../../src/runner/mod.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createWorld, problemOf } from "../support/world.ts";

const secret = "a secret of 16 bytes or more";
const ada = { id: "ada", tenant: "acme" };

describe("API keys", () => {
  it("are unguessable, and only their hashes are kept", async () => {
    const { key, hash } = await createApiKey();
    assertMatch(key, /^causeway_[0-9a-f]{64}$/);
    assertEquals(await hashApiKey(key), hash);
    const store = createMemoryStore();
    const keys = createKeyStore(store);
    await keys.add(hash, { principal: "ada", tenant: "acme" });
    assertEquals(await keys.find(hash), { principal: "ada", tenant: "acme" });
    assertEquals(await store.get(`key/${hash}`), '{"principal":"ada","tenant":"acme"}');
    await keys.remove(hash);
    assertEquals(await keys.find(hash), undefined);
    for (const wrong of [key.slice(1), `${key}0`, key.toUpperCase(), "causeway_", "", `${key}\n`]) {
      assertEquals(await hashApiKey(wrong), undefined);
    }
    await assertRejects(() => keys.add("x", { principal: "a", tenant: "b" }), TypeError, "64 hexadecimal digits");
    assertThrows(() => createKeyList([{ hash: key, principal: "a", tenant: "b" }]), TypeError, "no SHA-256");
    assertThrows(() => createKeyList([{ hash, principal: "", tenant: "b" }]), TypeError, '"principal"');
  });

  it("may have null for their scopes, as a database gives for none", async () => {
    const find = () => ({ principal: "ada", tenant: "acme", scopes: null as never });
    await using world = await createWorld({ access: { keys: { find } } });
    const headers = { accept: "application/json, text/event-stream" };
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    assertEquals((await world.ask("/mcp", { body, headers })).status, 200);
  });

  it("end, and can be withdrawn while the runner is at work", async () => {
    const clock = new VirtualClock();
    const keys = createKeyStore(createMemoryStore());
    const [one, two] = [await createApiKey(), await createApiKey()];
    await keys.add(one.hash, { principal: "ada", tenant: "acme", expiresAt: clock.now() + 1_000 });
    await keys.add(two.hash, { principal: "ada", tenant: "acme" });
    await using world = await createWorld({ clock, access: { keys } });
    const status = async (key: string) =>
      (await world.ask("/api/tools", { as: undefined, headers: { authorization: `Bearer ${key}` } })).status;
    assertEquals([await status(one.key), await status(two.key)], [200, 200]);
    await clock.advance(1_000);
    await keys.remove(two.hash);
    assertEquals([await status(one.key), await status(two.key)], [401, 401]);
  });
});

describe("signed access tokens", () => {
  const resource = protectResource({
    resource: "https://runner.example/mcp",
    authorizationServers: ["https://auth.example.com"],
    verify: (token) => {
      if (token === "down") throw new Error("the issuer is down");
      const [subject = "", place = "", tenant] = token.split("~");
      const audience = `https://${place}.example/mcp`;
      const extra = tenant === undefined ? undefined : { tenant };
      return subject === "bad" ? undefined : { subject, audience, issuer: "https://auth.example.com", extra };
    },
  });
  const tenantOf = ({ extra }: { extra?: Readonly<Record<string, unknown>> | undefined }) =>
    typeof extra?.tenant === "string" ? extra.tenant : undefined;

  it("let their subjects into their tenants, when they are meant for us", async () => {
    await using world = await createWorld({ access: { tokens: { resource, tenantOf } } });
    const send = (token: string) =>
      world.ask("/api/session", { as: undefined, headers: { authorization: `Bearer ${token}` } });
    const sound = await send("ada~runner~acme");
    assertEquals(await sound.json(), { principal: "https://auth.example.com#ada", tenant: "acme", way: "token" });
    for (
      const [token, status, code] of [
        ["bad", 401, "not_signed_in"],
        ["ada~other~acme", 401, "not_signed_in"],
        ["ada~runner", 403, "no_tenant"],
        ["down", 503, "unavailable"],
        ["a b", 400, "invalid_token"],
      ] as const
    ) {
      const response = await send(token);
      assertEquals([response.status, (await problemOf(response)).code], [status, code], token);
      if (status === 401) assertMatch(response.headers.get("www-authenticate") ?? "", /resource_metadata=/);
    }
    const metadata = await world.ask("/.well-known/oauth-protected-resource/mcp", { as: undefined });
    assertEquals((await metadata.json()).resource, "https://runner.example/mcp");
    const none = await world.ask("/api/tools", { as: undefined });
    assertMatch(none.headers.get("www-authenticate") ?? "", /resource_metadata=/);
    assertEquals((await world.ask("/api/tools")).status, 200);
  });
});

describe("policies", () => {
  it("deny what no rule speaks of; deny comes before ask, and ask before allow", async () => {
    const can = await createPolicy([
      { tools: ["a*"], effect: "allow" },
      { tools: ["ab*"], effect: "ask" },
      { tools: ["abc"], effect: "deny" },
      { tools: ["z"], scope: "admin", effect: "allow" },
    ]).open(ada, "acme");
    const effects = ["a", "ab", "abc", "b", "z"].map((tool) => can("s", tool, "call"));
    assertEquals(effects, ["allow", "ask", "deny", "deny", "deny"]);
    const rules = (["ask", "allow", "deny"] as const).map((effect) => ({ effect }));
    const [ask, , deny] = rules;
    for (const [given, effect] of [[rules, "deny"], [rules.slice(0, 2), "ask"], [[deny, ask], "deny"]] as const) {
      assertEquals((await createPolicy(given as typeof rules).open(ada, "acme"))("s", "t", "call"), effect);
    }
  });

  it("answers each question by itself, whatever was asked before", async () => {
    const can = await createPolicy([
      { actions: ["call"], effect: "allow" },
      { servers: ["a"], tools: ["x"], actions: ["call"], effect: "ask" },
      { servers: ["b"], effect: "deny" },
    ]).open(ada, "acme");
    const asked = [["a", "x"], ["a", "x"], ["a", "y"], ["b", "x"], ["a", "x"]].map(([server = "", tool = ""]) =>
      can(server, tool, "call")
    );
    assertEquals(asked, ["ask", "ask", "allow", "deny", "ask"]);
    assertEquals([can("a", "x", "read"), can("a", "x", "call")], ["deny", "ask"]);
  });

  it("hold for the principal's own tenant, unless they name others", async () => {
    const own = createPolicy([{ effect: "allow" }]);
    const all = createPolicy([{ tenants: ["*"], effect: "allow" }]);
    assertEquals([(await own.open(ada, "other"))("s", "t", "call"), (await all.open(ada, "other"))("s", "t", "call")], [
      ...["deny", "allow"],
    ]);
  });

  it("can be a function, whose mistakes deny", async () => {
    const effects: Readonly<Record<string, unknown>> = { x: "allow", y: "yes", z: "ask" };
    const can = await createPolicy(({ tool }) => effects[tool] as "allow").open(ada, "acme");
    assertEquals(["x", "y", "z", ""].map((tool) => can("s", tool, "call")), ["allow", "deny", "ask", "deny"]);
  });

  it("are refused when they cannot be meant", () => {
    for (
      const [rule, part] of [
        [{ effect: "yes" }, '"effect" is "yes"'],
        [{ effect: "allow", tool: ["x"] }, '"tool" is not known'],
        [{ effect: "allow", tools: "x" }, '"tools"'],
        [{ effect: "allow", actions: ["eat"] }, 'holds "eat"'],
        [{ effect: "allow", scope: 1 }, '"scope"'],
        ["allow", "expected an object"],
      ] as const
    ) {
      assertThrows(() => createPolicy([rule as never]), TypeError, part);
    }
  });
});

describe("what is handed to an object", () => {
  it("is good for a while, unchanged, with the same secret", async () => {
    const clock = new VirtualClock();
    const policy = createPolicy([{ effect: "allow" }]);
    const question = { tenant: "acme", server: "s", tool: "t", action: "call" } as const;
    const check = createAccessCheck({ policy, secret, clock });
    const signed = await signAccess({ principal: ada, tenant: "acme" }, { secret, clock });
    assertEquals(await check(signed, question), "allow");
    const other = await signAccess({ principal: ada, tenant: "acme" }, { secret: `${secret}!`, clock });
    const changed = signed.replace('"ada"', '"eve"');
    for (const wrong of [other, changed, signed.slice(1), "", undefined, { principal: ada, tenant: "acme" }]) {
      assertEquals(await check(wrong, question), "deny");
    }
    await clock.advance(60_001);
    assertEquals(await check(signed, question), "deny");
    const plain = createAccessCheck({ policy, clock });
    assertEquals(await plain({ principal: ada, tenant: "acme" }, question), "allow");
    const whose = (more: object) => ({ principal: { ...ada, ...more }, tenant: "acme" });
    assertEquals(await plain(whose({ expiresAt: clock.now() + 1, scopes: ["a"] }), question), "allow");
    const ended = [{ expiresAt: clock.now() }, { expiresAt: "never" }, { scopes: "all" }, { tenant: 1 }].map(whose);
    for (
      const wrong of [
        {},
        { principal: ada },
        { principal: { id: 1, tenant: "acme" }, tenant: "acme" },
        signed,
        ...ended,
      ]
    ) {
      assertEquals(await plain(wrong, question), "deny");
    }
    assertThrows(() => createAccessCheck({ policy, secret: "short" }), RangeError, "16 or more");
  });

  it("names objects so that no two pairs meet, and nobody guesses them", async () => {
    const names = await Promise.all([
      objectName(secret, "a", "bc"),
      objectName(secret, "ab", "c"),
      objectName(secret, "a|b", "c"),
      objectName(secret, "a", "b|c"),
      objectName(`${secret}!`, "a", "bc"),
    ]);
    assertEquals(new Set(names).size, names.length);
    assert(names.every((name) => /^[0-9a-f]{64}$/.test(name)));
  });
});

describe("each decision", () => {
  it("is written down whole, by which request and of which arguments", async () => {
    const clock = new VirtualClock();
    const principals = { eve: { principal: "eve", tenant: "other" } };
    await using world = await createWorld({ clock, principals, policy: [{ tenants: ["*"], effect: "allow" }] });
    const headers = { "causeway-tenant": "acme", "x-request-id": "request-17" };
    await world.ask("/api/tools/alpha__echo", { as: "eve", body: { b: 1, a: 2 }, headers });
    const argumentsHash = await sha256('{"a":2,"b":1}');
    assertEquals(world.audit, [{
      ...{ at: clock.now(), requestId: "request-17", principal: "eve", from: "other", tenant: "acme" },
      ...{ server: "alpha", tool: "echo", action: "call", outcome: "allow", argumentsHash },
    }]);
  });

  it("is written down too where it is a no or wants a yes, and not where there is nothing to decide on", async () => {
    const policy = [
      { effect: "allow" as const },
      { tools: ["echo"], actions: ["call" as const], effect: "deny" as const },
      { tools: ["send"], actions: ["call" as const], effect: "ask" as const },
    ];
    await using world = await createWorld({ policy });
    for (
      const [tool, status, outcomes] of [
        ["alpha__echo", 404, ["deny"]],
        ["alpha__send", 428, ["ask"]],
        ["alpha__nothing", 404, []],
      ] as const
    ) {
      assertEquals((await world.ask(`/api/tools/${tool}`, { body: {} })).status, status, tool);
      assertEquals(world.audit.splice(0).map(({ action, outcome }) => [action, outcome]), [
        ...outcomes.map((outcome) => ["call", outcome]),
      ]);
    }
    assertEquals(world.ledger, []);
  });

  it("is kept before anything is done, however long that takes", async () => {
    let keep = (): void => {};
    let isAsked = false;
    const write = () => {
      isAsked = true;
      return new Promise<void>((resolve) => keep = resolve);
    };
    await using world = await createWorld({ access: { audit: { write } } });
    const answer = world.ask("/api/tools/alpha__echo", { body: {} });
    await until(() => isAsked);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assertEquals(world.ledger, []);
    keep();
    assertEquals([(await answer).status, world.ledger.length], [200, 1]);
    const down = { write: () => Promise.reject(new Error("the log is full")) };
    await using closed = await createWorld({ access: { audit: down }, logger: () => {} });
    assertEquals([(await closed.ask("/api/tools/alpha__echo", { body: {} })).status, closed.ledger], [503, []]);
  });

  it("of a completion is written down too, or it is not done", async () => {
    const server = new McpServer({ name: "data", version: "1.0.0" });
    server.template("data://{city}", { name: "a city", complete: { city: () => ["Bern"] } }, () => "21");
    await using hub = await openHub({ data: inMemory(server).config });
    const policy = createPolicy([{ effect: "allow" }, { principals: ["eve"], actions: ["read"], effect: "deny" }]);
    const complete = async (id: string, write: (row: AuditRow) => void) => {
      const judge = createJudge({ policy, principal: { id, tenant: "acme" }, tenant: "acme", audit: { write } });
      const scoped = await scopeHub(hub, judge);
      const reference = { type: "ref/resource", server: "data", uri: "data://{city}" } as const;
      return (await scoped.complete(reference, { name: "city", value: "" })).completion.values;
    };
    const rows: AuditRow[] = [];
    const write = (row: AuditRow) => void rows.push(row);
    assertEquals(await complete("ada", write), ["Bern"]);
    await assertRejects(() => complete("eve", write), InvalidParamsError, "no resource");
    assertEquals(
      rows.map(({ principal, server, tool, action, outcome }) => [principal, server, tool, action, outcome]),
      [
        ["ada", "data", "data://{city}", "read", "allow"],
        ["eve", "data", "data://{city}", "read", "deny"],
      ],
    );
    const broken = () => {
      throw new Error("the log is full");
    };
    await assertRejects(() => complete("ada", broken), Refusal, "audit log");
  });
});

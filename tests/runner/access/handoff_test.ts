import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import {
  createApiKey,
  createHandedOver,
  createKeyList,
  createPolicy,
  createRunner,
  createSessions,
  handOver,
  nameIn,
  principalOf,
  signAccess,
} from "../../../src/runner/mod.ts";
import type {
  AccessRule,
  ApiKeyRecord,
  ForwardCall,
  HandedOverCall,
  Principal,
  Runner,
} from "../../../src/runner/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { joinedSockets } from "../support/joined_sockets.ts";
import { createWorld, problemOf } from "../support/world.ts";

const secret = "a secret of this test alone";
const ada: Principal = { id: "ada", tenant: "acme" };

/** A runner that lets callers in, and one behind it that has what is asked for. */
async function createPair(
  options: { readonly front?: readonly AccessRule[]; readonly back?: readonly AccessRule[] } = {},
) {
  const { front: frontRules = [{ effect: "allow" }], back: backRules = [{ effect: "allow" }] } = options;
  const clock = new VirtualClock();
  const world = await createWorld({
    clock,
    policy: backRules,
    access: { handedOver: createHandedOver({ secret, tenant: "acme", clock }) },
  });
  const { key, hash } = await createApiKey();
  const sessions = createSessions({ clock });
  const sent: Request[] = [];
  let forward: ForwardCall = async (call) => {
    const request = await handOver(call, { secret, clock });
    sent.push(request);
    return await world.runner.fetch(request);
  };
  const front: Runner = createRunner({
    clock,
    agents: [{ name: "helper" }],
    forward: (call) => forward(call),
    access: {
      sessions,
      keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
      policy: createPolicy(frontRules),
    },
  });
  const ask = (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers };
    return front.fetch(new Request(`http://localhost${path}`, { ...init, headers }));
  };
  return {
    ...{ world, front, sent, ask, clock, sessions, hash },
    break: () => forward = () => Promise.reject(new Error("the object is gone")),
    async [Symbol.asyncDispose]() {
      await front.close();
      await world.runner.close();
    },
  };
}

describe("a runner that hands calls over", () => {
  it("lets in, and the other one answers", async () => {
    await using pair = await createPair();
    const called = await pair.ask("/api/tools/alpha__echo", { method: "POST", body: '{"text":"hi"}' });
    assertEquals([called.status, pair.world.ledger.length], [200, 1]);
    assert((await called.text()).includes("acme/alpha/echo"));
    const [request] = pair.sent;
    assertEquals(request?.headers.get("authorization"), null);
    const caller = await createHandedOver({ secret, tenant: "acme", clock: pair.clock }).find(request!);
    assertEquals([caller?.way, caller?.key], ["key", pair.hash]);
    assertEquals(request?.headers.get("x-request-id"), called.headers.get("x-request-id"));
    const run = await pair.ask("/api/runs", { method: "POST", body: '{"agent":"helper","input":"hello"}' });
    const { id, principal } = await run.json();
    assertEquals([run.status, principal], [202, "ada"]);
    const events = await pair.ask(`/api/runs/${id}/events`, { headers: { "last-event-id": "2" } });
    assertEquals([...(await events.text()).matchAll(/^id: (\d+)$/gm)].map(([, id]) => id), ["3", "4"]);
  });

  it("answers itself what is nobody's in particular, and sends away who is not let in", async () => {
    await using pair = await createPair();
    assertEquals((await pair.ask("/healthz")).status, 200);
    assertEquals((await (await pair.ask("/api/session")).json()).way, "key");
    const nobody = { authorization: `Bearer causeway_${"0".repeat(64)}` };
    assertEquals((await pair.ask("/api/tools", { headers: nobody })).status, 401);
    assertEquals((await pair.ask("/api/nothing")).status, 404);
    assertEquals((await pair.ask("/api/tools", { headers: { host: "evil.example" } })).status, 403);
    assertEquals(pair.sent.length, 0);
  });

  it("wakes nothing of a tenant that the caller has no business in", async () => {
    await using pair = await createPair();
    const elsewhere = { "causeway-tenant": "other" };
    assertEquals(await (await pair.ask("/api/tools", { headers: elsewhere })).json(), { tools: [] });
    assertEquals(await (await pair.ask("/api/runs", { headers: elsewhere })).json(), { runs: [] });
    for (const path of ["/api/runs/run_1", "/api/runs/run_1/events", "/v1/models/helper"]) {
      assertEquals((await pair.ask(path, { headers: elsewhere })).status, 404, path);
    }
    assertEquals(pair.sent.length, 0);
  });

  it("is not trusted: the other one decides again", async () => {
    await using pair = await createPair({ back: [{ tools: ["send"], effect: "deny" }, { effect: "allow" }] });
    const denied = await pair.ask("/api/tools/alpha__send", { method: "POST", body: "{}" });
    assertEquals([denied.status, pair.sent.length, pair.world.ledger.length], [404, 1, 0]);
  });

  it("is the only way in: the other one answers nobody else, whatever they bring", async () => {
    await using pair = await createPair();
    const { runner, key } = pair.world;
    const sent = await handOver(
      { request: new Request("http://localhost/api/tools"), principal: ada, tenant: "acme" },
      {
        secret,
        clock: pair.clock,
      },
    );
    assertEquals((await runner.fetch(sent.clone())).status, 200);
    const late = new Headers(sent.headers);
    await pair.clock.advance(60_001);
    for (const headers of [late, {}, { authorization: `Bearer ${key("ada")}` }]) {
      const response = await runner.fetch(new Request("http://localhost/api/tools", { headers }));
      assertEquals([response.status, (await problemOf(response)).code], [401, "not_signed_in"]);
    }
  });

  it("gives 503 while the other one is down", async () => {
    await using pair = await createPair();
    pair.break();
    const down = await pair.ask("/api/tools/alpha__echo", { method: "POST", body: "{}" });
    assertEquals([down.status, (await problemOf(down)).code], [503, "unavailable"]);
  });

  it("looks at the page before it hands over a socket of a browser", async () => {
    await using pair = await createPair();
    const session = await pair.sessions.begin(await pair.sessions.invite(ada));
    const request = new Request("http://localhost/mcp", {
      headers: { upgrade: "websocket", cookie: `causeway-session=${session?.id}` },
    });
    assertEquals([(await pair.front.fetch(request)).status, pair.sent.length], [403, 0]);
  });
});

describe("a socket that was handed over", () => {
  const hash = "a".repeat(64);
  const record: ApiKeyRecord = { principal: "ada", tenant: "acme", scopes: ["tools"] };
  const holder: Principal = { ...ada, scopes: ["tools"] };

  /** Whether it is open before its key's record was changed to this, and after, when it came so. */
  async function standing(
    changed: ApiKeyRecord | undefined,
    shown: Pick<HandedOverCall, "way" | "key">,
    principal = holder,
  ): Promise<boolean[]> {
    const clock = new VirtualClock();
    let now: ApiKeyRecord | undefined = record;
    const keys = { find: (given: string) => given === hash ? now : undefined };
    const handedOver = createHandedOver({ secret, tenant: "acme", clock });
    await using world = await createWorld({ clock, access: { handedOver, keys } });
    const upgrade = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
    const page = { origin: "http://localhost", "sec-fetch-site": "same-origin", cookie: "causeway-session=x" };
    const request = new Request("http://localhost/mcp", { headers: { ...upgrade, ...page } });
    const accept = await world.runner.webSocket.admit(
      await handOver({ request, principal, tenant: "acme", ...shown }, { secret, clock }),
    );
    assert(typeof accept === "function");
    const [near, far] = joinedSockets();
    accept(far);
    const seen: boolean[] = [];
    for (const next of [record, changed]) {
      now = next;
      await clock.advance(130_000);
      seen.push(near.readyState === 1);
    }
    near.close();
    return seen;
  }

  it("ends within a minute when its key was withdrawn, has ended or got other scopes", async () => {
    for (const way of ["key", "session"] as const) {
      const shown = { way, key: hash };
      assertEquals(await standing(record, shown), [true, true]);
      assertEquals(await standing({ ...record, scopes: ["tools", "more"] }, shown), [true, false]);
      assertEquals(await standing({ ...record, principal: "eve" }, shown), [true, false]);
      assertEquals(await standing({ ...record, expiresAt: 1 }, shown), [true, false]);
      assertEquals(await standing(undefined, shown), [true, false]);
    }
  });

  it("stays where nothing is known of what its caller has shown: a token, or a runner in front that does not say it", async () => {
    assertEquals(await standing(undefined, { way: "token" }, { ...holder, clientId: "app" }), [true, true]);
    assertEquals(await standing(undefined, { way: "key" }), [true, true]);
  });
});

describe("requests that were handed over", () => {
  const url = "http://localhost/api/tools";
  const clock = new VirtualClock();
  const handedOver = createHandedOver({ secret, tenant: "acme", clock });
  const find = async (request: Request | Promise<Request>) => (await handedOver.find(await request))?.principal.id;
  const hand = (principal: Principal, tenant: string, key = secret) =>
    handOver({ request: new Request(url), principal, tenant }, { secret: key, clock });

  it("say who asks, whatever their letters, and how they came", async () => {
    assertEquals(await find(hand(ada, "acme")), "ada");
    const visitor = { id: "Zoë \u{1F600}\n", tenant: "Müller & Söhne" };
    assertEquals(await find(hand(visitor, "acme")), visitor.id);
    const request = await handOver({ request: new Request(url), principal: ada, tenant: "acme", way: "session" }, {
      secret,
      clock,
    });
    assertEquals((await handedOver.find(request))?.way, "session");
  });

  it("are nobody's for another tenant, with another secret, without a signature, changed, or too late", async () => {
    assertEquals(await find(hand(ada, "other")), undefined);
    assertEquals(await find(hand(ada, "acme", "another secret of a test")), undefined);
    assertEquals(await find(new Request(url)), undefined);
    const signed = await signAccess({ principal: ada, tenant: "acme" }, { secret, clock });
    const given = (text: string, more = {}) => new Request(url, { headers: { "causeway-access": text, ...more } });
    assertEquals(await find(given(signed)), "ada");
    assertEquals(await find(given(signed.replace("ada", "eve"))), undefined);
    assertEquals(await find(given(signed, { "causeway-tenant": "other" })), undefined);
    await clock.advance(60_001);
    assertEquals(await find(given(signed)), undefined);
  });

  it("overwrite what the caller has put in their place", async () => {
    const forged = await signAccess({ principal: { id: "root", tenant: "acme" }, tenant: "acme" }, {
      secret: "a secret of somebody else",
      clock,
    });
    const request = new Request(url, { headers: { "causeway-access": forged } });
    assertEquals(await find(handOver({ request, principal: ada, tenant: "acme" }, { secret, clock })), "ada");
  });
});

describe("the names of principals", () => {
  it("stand for them again", () => {
    const principals = [ada, { id: "@ada", tenant: "acme" }, { id: "@4:acme/x", tenant: "acme" }];
    const visitors = [{ id: "a/b", tenant: "x:1/y" }, { id: "@e", tenant: "@4:o" }, { id: "", tenant: "other" }];
    for (const principal of [...principals, ...visitors]) {
      assertEquals(principalOf(nameIn(principal, "acme"), "acme"), principal);
    }
  });
});

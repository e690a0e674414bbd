import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { createRunner, createSessions } from "../../../src/runner/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { joinedSockets } from "../support/joined_sockets.ts";
import { createWorld, problemOf } from "../support/world.ts";
import type { World } from "../support/world.ts";

const principals = {
  ada: { principal: "ada", tenant: "acme" },
  eve: { principal: "eve", tenant: "other" },
};

interface Answer {
  readonly id?: number;
  readonly error?: { readonly message: string };
}

/** Sends messages, and gives their answers. */
type Send = (messages: readonly { readonly id: number }[]) => Promise<Answer[]>;

const hello = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** A session over one WebSocket of Ada's. */
async function openSocket(world: World): Promise<Send> {
  const headers = {
    authorization: `Bearer ${world.key("ada")}`,
    upgrade: "websocket",
    connection: "upgrade",
    "sec-websocket-protocol": "mcp",
  };
  const accept = await world.runner.webSocket.admit(new Request("http://localhost/mcp", { headers }));
  if (accept instanceof Response) throw new Error(`${accept.status}`);
  const [near, far] = joinedSockets();
  accept(far);
  const waiting = new Map<number, (answer: Answer) => void>();
  near.addEventListener("message", ({ data }) => {
    const answer: Answer = JSON.parse(String(data));
    waiting.get(answer.id ?? -1)?.(answer);
  });
  const send: Send = (messages) =>
    Promise.all(messages.map((message) => {
      const answer = new Promise<Answer>((resolve) => waiting.set(message.id, resolve));
      near.send(JSON.stringify(message));
      return answer;
    }));
  await send([hello]);
  near.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  return send;
}

/** A session of Ada's over HTTP, whose messages come in one array. */
async function openSession(world: World): Promise<Send> {
  const headers = { accept: "application/json, text/event-stream" };
  const begun = await world.ask("/mcp", { body: hello, headers });
  const session = { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  return async (messages) => {
    const text = await (await world.ask("/mcp", { body: messages, headers: session })).text();
    const parts = text.startsWith("[")
      ? [text]
      : text.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
    return parts.flatMap((part): Answer[] => JSON.parse(part)).filter(({ id }) => id !== undefined);
  };
}

describe("quotas", () => {
  it("of requests: 429 with the time to wait, and others are not touched at ten times the limit", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ principals, clock, quotas: { requestsPerMinute: 60 } });
    const statuses: number[] = [];
    for (let count = 0; count < 600; count++) {
      statuses.push((await world.ask("/api/tools/alpha__echo", { body: {} })).status);
      if (count % 20 === 0) {
        assertEquals((await world.ask("/api/tools/alpha__echo", { as: "eve", body: {} })).status, 200);
      }
    }
    assertEquals(statuses.filter((status) => status === 200).length, 60);
    assertEquals(statuses.filter((status) => status === 429).length, 540);
    assertEquals(world.ledger.filter(({ tenant }) => tenant === "acme").length, 60);
    const refused = await world.ask("/api/tools");
    assertEquals([refused.headers.get("retry-after"), (await problemOf(refused)).code], ["1", "too_many_requests"]);
    await clock.advance(1_000);
    assertEquals((await world.ask("/api/tools")).status, 200);
    assertEquals((await world.ask("/api/tools")).status, 429);
  });

  it("of what another tenant is asked for are paid by who asks", async () => {
    const policy = [{ tenants: ["*"], effect: "allow" as const }];
    await using world = await createWorld({ principals, policy, quotas: { requestsPerMinute: 5 } });
    const headers = { "causeway-tenant": "acme" };
    for (let count = 0; count < 10; count++) await world.ask("/api/tools", { as: "eve", headers });
    assertEquals((await world.ask("/api/tools")).status, 200);
  });

  it("of bytes hold at /mcp and for models too, both ways", async () => {
    const text = "x".repeat(40_000);
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "alpha__echo", arguments: { text } } };
    const about = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const modern = { ...call, params: { ...call.params, _meta: about } };
    const headers = {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "alpha__echo",
    };
    const chat = { model: "helper", messages: [{ role: "user", content: text }] };
    const requests: readonly (readonly [string, object, Record<string, string>])[] = [
      ["/mcp", modern, headers],
      ["/v1/chat/completions", chat, {}],
      ["/v1/chat/completions", { ...chat, stream: true }, {}],
    ];
    for (const [path, body, headers] of requests) {
      await using world = await createWorld({ quotas: { bytesPerMinute: 120_000 } });
      const sizes: number[] = [];
      const statuses: number[] = [];
      for (let count = 0; count < 3; count++) {
        const sent = { ...headers, "content-length": String(JSON.stringify(body).length) };
        const response = await world.ask(path, { body, headers: sent });
        statuses.push(response.status);
        sizes.push((await response.text()).length);
      }
      assertEquals(statuses, [200, 200, 429], path);
      assert(sizes[0]! > 40_000, path);
    }
  });

  it("of requests and bytes hold for what comes in one WebSocket, and in one array", async () => {
    const call = (id: number, text = "") => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "alpha__echo", arguments: { text } },
    });
    for (const way of ["socket", "array"] as const) {
      await using world = await createWorld({ principals, quotas: { requestsPerMinute: 10 } });
      const calls = Array.from({ length: 60 }, (_, at) => call(at + 1));
      const send = await (way === "socket" ? openSocket(world) : openSession(world));
      const answers = await send(calls);
      assertEquals(answers.length, 60, way);
      const refused = answers.filter(({ error }) => error?.message.includes("may send 10 requests a minute"));
      assert(world.ledger.length <= 10, `${way}: ${world.ledger.length} calls`);
      assertEquals(refused.length, 60 - world.ledger.length, way);
      assertEquals((await world.ask("/api/tools")).status, 429, way);
      assertEquals((await world.ask("/api/tools", { as: "eve" })).status, 200, way);
    }
    await using world = await createWorld({ quotas: { bytesPerMinute: 120_000 } });
    const send = await openSocket(world);
    const text = "x".repeat(40_000);
    const answers: Answer[] = [];
    for (let id = 1; id <= 4; id++) answers.push(...await send([call(id, text)]));
    assertEquals(answers.map(({ error }) => error === undefined), [true, true, false, false]);
    assertEquals(world.ledger.length, 2);
  });

  it("of requests under way hold in one WebSocket", async () => {
    let open = (_said: string): void => {};
    const opened = new Promise<string>((resolve) => open = resolve);
    await using world = await createWorld({ quotas: { concurrent: 5 }, onCall: () => opened });
    const send = await openSocket(world);
    const name = "alpha__echo";
    const calls = Array.from(
      { length: 20 },
      (_, at) => ({ jsonrpc: "2.0", id: at + 1, method: "tools/call", params: { name } }),
    );
    const answered = send(calls);
    while (world.ledger.length < 4) await new Promise((resolve) => setTimeout(resolve, 1));
    open("done");
    const answers = await answered;
    assertEquals(world.ledger.length, 5);
    assertEquals(answers.filter(({ error }) => error?.message.includes("5 requests under way")).length, 15);
    assertEquals((await send([{ ...calls[0]!, id: 21 }])).map(({ error }) => error), [undefined]);
  });

  it("of runs: as many as one likes, more than one page of them", async () => {
    for (const runs of [1_000, 1_050, 1_101.5, Infinity]) {
      const clock = new VirtualClock();
      await using world = await createWorld({ clock, quotas: { runs } });
      const start = () => world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
      assertEquals((await start()).status, 202);
      for (let count = 1; count < 1_100; count++) {
        if (count % 10 === 0) await clock.advance(1);
        await world.runs("acme").start({ agent: "helper", principal: "ada", input: "hang" });
      }
      assertEquals((await start()).status, runs < 1_100 ? 429 : 202, `${runs}`);
    }
  });

  it("of runs: what is over is not begun, also when many come at once", async () => {
    await using world = await createWorld({ principals, quotas: { runs: 3 } });
    const start = (as: string) => world.ask("/api/runs", { as, body: { agent: "helper", input: "hang" } });
    const responses = await Promise.all(Array.from({ length: 30 }, () => start("ada")));
    assertEquals(responses.filter(({ status }) => status === 202).length, 3);
    const refused = responses.find(({ status }) => status === 429)!;
    assert(Number(refused.headers.get("retry-after")) > 0);
    assertEquals((await problemOf(refused)).code, "too_many_runs");
    assertEquals(world.runs("acme").started.length, 3);
    assertEquals((await start("eve")).status, 202);
    const { runs } = await (await world.ask("/api/runs")).json();
    await world.ask(`/api/runs/${runs[0].id}`, { method: "DELETE" });
    assertEquals((await start("ada")).status, 202);
  });

  it("of runs: as many as one likes", async () => {
    await using world = await createWorld({ principals, quotas: { runs: 1_000_000 } });
    const started = await world.ask("/api/runs", { as: "ada", body: { agent: "helper", input: "hello" } });
    assertEquals(started.status, 202);
  });

  it("of runs that are more than one list of runs may hold", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ clock, quotas: { runs: 1_500, requestsPerMinute: 10_000 } });
    const start = () => world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
    const responses = await Promise.all(Array.from({ length: 150 }, start));
    assertEquals(responses.filter(({ status }) => status === 202).length, 150);
    for (let count = 150; count < 1_500; count++) {
      // Several of one time, as they come.
      if (count % 100 === 0) await clock.advance(1);
      await world.runs("acme").start({ agent: "helper", principal: "ada", input: "hang" });
    }
    assertEquals((await problemOf(await start())).code, "too_many_runs");
  });

  it("of runs are counted by what keeps them, where it can", async () => {
    await using world = await createWorld({ quotas: { runs: 3 } });
    let open = 2;
    Object.assign(world.runs("acme"), { countOpen: () => Promise.resolve(open) });
    const start = () => world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
    assertEquals((await start()).status, 202);
    open = 3;
    assertEquals((await problemOf(await start())).code, "too_many_runs");
  });

  it("of runs that are full elsewhere too", async () => {
    await using world = await createWorld();
    world.runs("acme").most = 0;
    const refused = await world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
    assertEquals([refused.status, (await problemOf(refused)).code], [429, "too_many_runs"]);
  });

  it("of bytes, and of what is stored", async () => {
    await using world = await createWorld({ quotas: { bytesPerMinute: 5_000 }, stored: () => 70_000_000 });
    const body = { text: "x".repeat(6_000) };
    assertEquals((await world.ask("/api/tools/alpha__echo", { body })).status, 200);
    const refused = await world.ask("/api/tools/alpha__echo", { body });
    assertEquals([refused.status, (await problemOf(refused)).code], [429, "too_many_bytes"]);
    await using full = await createWorld({ stored: () => 70_000_000 });
    const run = await full.ask("/api/runs", { body: { agent: "helper", input: "hello" } });
    assertEquals([run.status, (await problemOf(run)).code], [429, "too_much_stored"]);
    assertEquals(full.runs("acme").started.length, 0);
  });

  it("of what is under way: a stream holds its place until it ends", async () => {
    await using world = await createWorld({ quotas: { concurrent: 2 } });
    const { id } = await (await world.ask("/api/runs", { body: { agent: "helper", input: "hang" } })).json();
    const one = await world.ask(`/api/runs/${id}/events`);
    const two = await world.ask(`/api/runs/${id}/events`);
    const refused = await world.ask(`/api/runs/${id}/events`);
    assertEquals([refused.status, (await problemOf(refused)).code], [429, "too_many_at_once"]);
    await one.body?.cancel();
    assertEquals((await world.ask("/api/tools")).status, 200);
    await two.body?.cancel();
  });

  it("of what is under way: a call of a handshake client that has left its stream holds its place until it ends", async () => {
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => letGo = resolve);
    await using world = await createWorld({ quotas: { concurrent: 1 }, onCall: () => held });
    const headers = { accept: "application/json, text/event-stream" };
    const begun = await world.ask("/mcp", { body: hello, headers });
    await begun.text();
    const session = { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const params = { name: "alpha__echo", arguments: {}, _meta: { progressToken: 1 } };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const left = await world.ask("/mcp", { body: call, headers: session });
    await left.body?.cancel();
    assertEquals(world.ledger.length, 1);
    const refused = await world.ask("/mcp", { body: { ...call, id: 2 }, headers: session });
    assertEquals(refused.status, 429);
    assertEquals((await problemOf(refused)).code, "too_many_at_once");
    letGo();
    let status = 429;
    while (status === 429) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      status = (await world.ask("/api/tools")).status;
    }
    assertEquals([status, world.ledger.length], [200, 1]);
  });

  it("of nothing at all say when to come back by a number", async () => {
    for (const quotas of [{ requestsPerMinute: 0 }, { bytesPerMinute: 0 }, { concurrent: 0 }]) {
      await using world = await createWorld({ quotas });
      const refused = await world.ask("/api/tools");
      assertEquals(refused.status, 429);
      assert(/^\d+$/.test(refused.headers.get("retry-after") ?? ""), `${refused.headers.get("retry-after")}`);
    }
  });

  it("of less than one request a minute let one in when its time has come", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ clock, quotas: { requestsPerMinute: 0.5 } });
    for (const wait of [60, 120]) {
      const refused = await world.ask("/api/tools");
      assertEquals([refused.status, refused.headers.get("retry-after")], [429, String(wait)]);
      await clock.advance(wait * 1_000);
      assertEquals((await world.ask("/api/tools")).status, 200);
    }
  });

  it("are asked for of tenants alone: who signs in has none yet", async () => {
    const asked = new Set<string>();
    const sessions = createSessions({ clock: new VirtualClock() });
    const quotas = (tenant: string) => {
      asked.add(tenant);
      if (tenant !== "acme") throw new TypeError(`There is no tenant "${tenant}"`);
      return {};
    };
    await using world = await createWorld({ quotas, access: { sessions } });
    const token = await sessions.invite({ id: "ada", tenant: "acme" });
    assertEquals((await world.ask("/api/session", { as: undefined, body: { token } })).status, 204);
    assertEquals((await world.ask("/api/tools")).status, 200);
    assertEquals([...asked], ["acme"]);
  });

  it("that make no sense are refused", () => {
    const access = { keys: { find: () => undefined }, policy: { open: () => () => "allow" as const } };
    const hubs = () => Promise.reject(new Error("nobody asked"));
    assertThrows(() => createRunner({ hubs, access, quotas: { runs: -1 } }), RangeError, '"runs"');
    assertThrows(() => createRunner({ hubs, access, quotas: { runs: "5" as never } }), RangeError, '"runs": it is "5"');
    assertThrows(() => createRunner({ hubs, access, pool: { most: 0 } }), RangeError, '"pool.most": it is 0');
    assertThrows(() => createRunner({ hubs, access, pool: { idle: "1" as never } }), RangeError, '"pool.idle"');
    const none = { hub: null, relay: null, runs: null, oauth: null, stored: null, forward: null, direct: null };
    createRunner({ access, hubs, ...none } as never);
    assertThrows(() => createRunner({ access, ...none, hubs: null } as never), TypeError, 'expected "hub" or "hubs"');
    for (const name of ["hubs", "relay", "runs", "oauth", "stored", "direct"]) {
      assertThrows(() => createRunner({ access, hubs, [name]: {} } as never), TypeError, `"${name}" is no function`);
    }
    assertThrows(() => createRunner({ hubs, access: { policy: access.policy } }), TypeError, "nobody could come in");
  });
});

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { turns } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { joinedSockets } from "./support/joined_sockets.ts";
import { createWorld } from "./support/world.ts";
import type { World } from "./support/world.ts";

const quotas = { concurrent: 3, requestsPerMinute: 10_000 };

async function hangingRun(world: World): Promise<string> {
  const started = await world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
  return `/api/runs/${(await started.json()).id}/events`;
}

describe("who leaves a stream of events gives the place back", () => {
  it("after having read some of it", async () => {
    await using world = await createWorld({ quotas });
    const path = await hangingRun(world);
    for (let count = 0; count < 50; count++) {
      const response = await world.ask(path);
      assertEquals(response.status, 200);
      const reader = response.body!.getReader();
      await reader.read();
      await reader.read();
      await reader.cancel();
    }
  });

  it("without having read anything", async () => {
    await using world = await createWorld({ quotas });
    const path = await hangingRun(world);
    for (let count = 0; count < 50; count++) {
      const response = await world.ask(path);
      assertEquals(response.status, 200);
      await response.body!.cancel();
    }
  });

  it("where the host tells of it by the signal of the request alone", async () => {
    await using world = await createWorld({ quotas });
    const path = await hangingRun(world);
    for (let count = 0; count < 50; count++) {
      const controller = new AbortController();
      const response = await world.ask(path, { signal: controller.signal });
      assertEquals(response.status, 200);
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  });

  it("from a tool's progress", async () => {
    await using world = await createWorld({ quotas, onCall: () => new Promise(() => {}) });
    for (let count = 0; count < 20; count++) {
      const response = await world.ask("/api/tools/alpha__echo", {
        body: {},
        headers: { accept: "text/event-stream" },
      });
      assertEquals(response.status, 200);
      const reader = response.body!.getReader();
      await reader.read();
      await reader.cancel();
    }
  });
});

describe("a WebSocket at /mcp gives its place back", () => {
  const upgrade = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
  const admit = (world: World, more: Record<string, string> = {}) => {
    const headers = { authorization: `Bearer ${world.key("ada")}`, ...upgrade, ...more };
    return world.runner.webSocket.admit(new Request("http://localhost/mcp", { headers }));
  };
  const statusOf = async (world: World): Promise<number> => (await world.ask("/api/session")).status;

  it("when its client leaves", async () => {
    await using world = await createWorld({ quotas: { ...quotas, concurrent: 1 } });
    for (let count = 0; count < 3; count++) {
      const accept = await admit(world);
      assert(typeof accept === "function");
      assertEquals(await statusOf(world), 429);
      const [near, far] = joinedSockets();
      accept(far);
      assertEquals(await statusOf(world), 429);
      near.close();
      while (await statusOf(world) !== 200) await turns(1);
    }
  });

  it("when it is refused, and when it never comes", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ clock, quotas: { ...quotas, concurrent: 1 } });
    for (const more of [{ upgrade: "other" }, { "sec-websocket-protocol": "other" }]) {
      assert(await admit(world, more) instanceof Response);
      assertEquals(await statusOf(world), 200, JSON.stringify(more));
    }
    assert(typeof await admit(world) === "function");
    await clock.advance(29_000);
    assertEquals(await statusOf(world), 429);
    await clock.advance(2_000);
    assertEquals(await statusOf(world), 200);
    // One that has come stays longer than that.
    const accept = await admit(world);
    assert(typeof accept === "function");
    const [near, far] = joinedSockets();
    accept(far);
    await clock.advance(40_000);
    assertEquals(await statusOf(world), 429);
    near.close();
  });

  it("when its key got other scopes than it came with", async () => {
    const clock = new VirtualClock();
    let scopes = ["tools"];
    const find = () => ({ principal: "ada", tenant: "acme", scopes });
    await using world = await createWorld({ clock, quotas: { concurrent: 1 }, access: { keys: { find } } });
    const accept = await admit(world);
    assert(typeof accept === "function");
    const [near, far] = joinedSockets();
    accept(far);
    await clock.advance(200_000);
    assertEquals([near.readyState, await statusOf(world)], [1, 429]);
    scopes = [];
    await clock.advance(61_000);
    while (near.readyState !== 3 || await statusOf(world) !== 200) await turns(1);
  });
});

describe("a stream of changes at /mcp ends when its key was withdrawn, and gives its place back", () => {
  const accept = { accept: "application/json, text/event-stream" };
  const clientInfo = { name: "raw", version: "1" };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const streams: Readonly<Record<string, (world: World) => Promise<Response>>> = {
    "2025-11-25": async (world) => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
      const begun = await world.ask("/mcp", {
        body: { jsonrpc: "2.0", id: 1, method: "initialize", params },
        headers: accept,
      });
      await begun.text();
      const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
      return await world.ask("/mcp", { headers: { accept: "text/event-stream", ...session } });
    },
    "2026-07-28": (world) =>
      world.ask("/mcp", {
        body: {
          jsonrpc: "2.0",
          id: 1,
          method: "subscriptions/listen",
          params: { notifications: { toolsListChanged: true }, _meta },
        },
        headers: { ...accept, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
      }),
  };
  for (const [revision, open] of Object.entries(streams)) {
    it(`in ${revision}`, async () => {
      const clock = new VirtualClock();
      const ada = { principal: "ada", tenant: "acme" };
      let isOut = false;
      const find = () => isOut ? undefined : ada;
      await using world = await createWorld({ clock, quotas: { concurrent: 1 }, access: { keys: { find } } });
      const stream = await open(world);
      assertEquals([stream.status, stream.headers.get("content-type")], [200, "text/event-stream"]);
      let isOver = false;
      const read = stream.text().then(() => isOver = true);
      await clock.advance(200_000);
      assertEquals([isOver, (await world.ask("/api/tools")).status], [false, 429]);
      isOut = true;
      await clock.advance(61_000);
      await read;
      isOut = false;
      assertEquals((await world.ask("/api/tools")).status, 200);
    });
  }

  it("or may do less, or more, than at first: what it comes back for is judged by what it may then", async () => {
    const clock = new VirtualClock();
    let scopes = ["read", "write"];
    const find = () => ({ principal: "ada", tenant: "acme", scopes });
    await using world = await createWorld({ clock, quotas: { concurrent: 1 }, access: { keys: { find } } });
    for (const open of Object.values(streams)) {
      const stream = await open(world);
      let isOver = false;
      const read = stream.text().then(() => isOver = true);
      await clock.advance(200_000);
      assertEquals(isOver, false);
      scopes = scopes.length > 1 ? ["read"] : ["read", "write"];
      await clock.advance(61_000);
      await read;
      assertEquals((await world.ask("/api/tools")).status, 200);
    }
  });

  it("also while nobody reads it", async () => {
    const clock = new VirtualClock();
    let isOut = false;
    const find = () => isOut ? undefined : { principal: "ada", tenant: "acme" };
    await using world = await createWorld({ clock, quotas: { concurrent: 1 }, access: { keys: { find } } });
    for (const open of Object.values(streams)) {
      const stream = await open(world);
      assertEquals((await world.ask("/api/tools")).status, 429);
      isOut = true;
      await clock.advance(61_000);
      isOut = false;
      assertEquals((await world.ask("/api/tools")).status, 200);
      await stream.text();
    }
  });

  it("but no call that is under way: it is answered", async () => {
    const clock = new VirtualClock();
    let isOut = false;
    let letGo = (): void => {};
    const held = new Promise<string>((resolve) => letGo = () => resolve("late"));
    const find = () => isOut ? undefined : { principal: "ada", tenant: "acme" };
    await using world = await createWorld({ clock, access: { keys: { find } }, onCall: () => held });
    const params = { name: "alpha__echo", arguments: {}, _meta: { ..._meta, progressToken: 1 } };
    const reply = await world.ask("/mcp", {
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      headers: {
        ...accept,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "alpha__echo",
      },
    });
    assertEquals([reply.status, reply.headers.get("content-type")], [200, "text/event-stream"]);
    const read = reply.text();
    isOut = true;
    await clock.advance(130_000);
    letGo();
    assert((await read).includes("late"));
  });
});

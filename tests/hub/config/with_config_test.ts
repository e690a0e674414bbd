/** What a config says of its servers, done around a hub. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { readHubConfig } from "../../../src/hub/config/read.ts";
import type { ReadServer } from "../../../src/hub/config/types.ts";
import { withConfig } from "../../../src/hub/config/with_config.ts";
import type { ApprovalRequest } from "../../../src/hub/pins/approval.ts";
import { withPins } from "../../../src/hub/pins/mod.ts";
import type { PinReport } from "../../../src/hub/pins/types.ts";
import type { HubLike } from "../../../src/hub/seam.ts";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { turns } from "../../support/clients.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { FakeHub } from "../support/fake_hub.ts";
import { inMemory, openHub, textOf } from "../support.ts";

/** Servers of a config in which nothing is wrong. */
function read(mcpServers: Record<string, object>): Readonly<Record<string, ReadServer>> {
  const { servers, problems } = readHubConfig({ mcpServers }, { environment: {} });
  assertEquals(problems, []);
  return servers;
}

const names = (hub: HubLike): string[] => hub.tools().map(({ qualifiedName }) => qualifiedName);
const url = "https://one.example/mcp";
const tool = { description: "Does it" };

/** The digest of a tool, as a report tells it. */
async function digestOf(hub: HubLike, server: string, name: string): Promise<string> {
  const pinned = await withPins(hub, {
    store: createMemoryStore(),
    identities: () => ({ url }),
    onFirstSight: "ask",
  });
  const report = (await pinned.report()).find((report) => report.server === server && report.name === name);
  return report?.digest ?? "";
}

describe("withConfig: idempotent", () => {
  test("its tools are repeated when nobody knows whether they ran; others are not", async () => {
    const server = new McpServer({ name: "one", version: "1.0.0" });
    const runs: string[] = [];
    for (const name of ["read", "write"]) server.tool(name, {}, () => (runs.push(name), name));
    const handler = createHandler(server);
    let lost = 0;
    const servers = read({ one: { url: "http://localhost/mcp", idempotent: ["read"] } });
    await using hub = await openHub(servers, {
      listen: false,
      fetch: async (address, init) => {
        const before = runs.length;
        const reply = await handler(new Request(address, init));
        if (runs.length === before || lost++ > 0) return reply;
        await reply.body?.cancel();
        throw new TypeError("the connection broke");
      },
    });
    const layer = await withConfig(hub, servers);
    assertEquals(textOf(await layer.callTool("one__read")), "read");
    assertEquals([runs, lost], [["read", "read"], 2]);
    lost = 0;
    assertEquals((await layer.callTool("one__write")).isError, true);
    assertEquals([runs, lost], [["read", "read", "write"], 1]);
    lost = 0;
    assertEquals((await layer.callTool("one.read", {}, { idempotent: false })).isError, true);
  });

  test("a name counts for its own server alone, however a tool is named", async () => {
    const tools = { "b.c": tool, c: tool };
    const hub = new FakeHub({ a: { tools }, "a.b": { tools } });
    const layer = await withConfig(hub, read({ a: { url }, "a.b": { url, idempotent: ["c", "toString"] } }));
    await layer.callTool({ server: "a", name: "b.c" });
    await layer.callTool("a__c");
    await layer.callTool({ server: "a.b", name: "c" }, { x: 1 });
    await layer.callTool({ server: "a.b", name: "b.c" });
    assertEquals(
      hub.calls.map(({ server, name, options }) => [server, name, options.idempotent]),
      [["a", "b.c", undefined], ["a", "c", undefined], ["a.b", "c", true], ["a.b", "b.c", undefined]],
    );
    assertEquals(hub.calls[2]?.args, { x: 1 });
  });
});

describe("withConfig: approval", () => {
  const tools = { get: tool, set: tool };

  test("what the config approves goes through, all else is asked for", async () => {
    const hub = new FakeHub({ one: { tools }, two: { tools }, three: { tools } });
    const asked: ApprovalRequest[] = [];
    const servers = read({ one: { url, autoApprove: ["get"] }, two: { url, trust: true }, three: { url } });
    const layer = await withConfig(hub, servers, { approve: (request) => (asked.push(request), false) });
    const results: unknown[] = [];
    for (const name of names(hub)) results.push((await layer.callTool(name)).isError ?? false);
    assertEquals(asked.map(({ server, name }) => `${server}.${name}`), ["one.set", "three.get", "three.set"]);
    assertEquals(results, [false, true, false, false, true, true]);
  });

  test("a server cannot name its tools so that they count as those of another", async () => {
    // Written as patterns these would be the same: "a.b" and "a__b" for all of a server.
    const hub = new FakeHub({ a: { tools: { b: tool, "b.get": tool } }, "a.b": { tools }, a__b: { tools } });
    const servers = read({ a: { url }, "a.b": { url, trust: true, autoApprove: ["get"] }, a__b: { url, trust: true } });
    const layer = await withConfig(hub, servers, { approve: () => false });
    const answers = [];
    for (const name of ["b", "b.get"]) answers.push((await layer.callTool({ server: "a", name })).isError);
    assertEquals([answers, hub.calls], [[true, true], []]);
  });

  test("without anybody to ask nobody is asked", async () => {
    const hub = new FakeHub({ one: { tools } });
    const layer = await withConfig(hub, read({ one: { url, autoApprove: [] } }));
    assertEquals((await layer.callTool("one__set")).isError, undefined);
  });
});

describe("withConfig: pins", () => {
  const tools = { get: tool, set: tool };

  test("of a server with pins only those tools are there that are what is written; others are as they were", async () => {
    const hub = new FakeHub({ one: { tools }, two: { tools } });
    const digest = await digestOf(hub, "one", "get");
    assert(/^[\da-f]{64}$/.test(digest), digest);
    for (const pin of [digest, `sha256:${digest}`, `sha256-${digest.toUpperCase()}`]) {
      const blocked: PinReport[] = [];
      const servers = read({ one: { url, pins: { get: pin } }, two: { url } });
      const layer = await withConfig(hub, servers, { onBlocked: (report) => blocked.push(report) });
      assertEquals(names(layer), ["one__get", "two__get", "two__set"]);
      assertEquals(blocked.map(({ name, digest }) => [name, digest]), [["set", await digestOf(hub, "one", "set")]]);
      assertEquals((await layer.callTool("one__get")).isError, undefined);
      const refused = await layer.callTool("one__set");
      assertEquals([refused.isError, textOf(refused).includes("is blocked")], [true, true]);
      assertEquals((await layer.callTool("two.set")).isError, undefined);
      assertEquals((await layer.report()).map(({ name, status }) => [name, status]), [["get", "approved"], [
        "set",
        "new",
      ]]);
    }
  });

  test("a digest of another definition blocks it; so does none at all", async () => {
    const hub = new FakeHub({ one: { tools } });
    for (const pins of [{ get: "0".repeat(64) }, {}]) {
      const blocked: string[] = [];
      const layer = await withConfig(hub, read({ one: { url, pins } }), {
        onBlocked: ({ name }) => blocked.push(name),
      });
      await layer.check();
      assertEquals([names(layer), blocked], [[], ["get", "set"]]);
    }
  });

  test("whoever is told of it may fail", async () => {
    const hub = new FakeHub({ one: { tools } });
    const layer = await withConfig(hub, read({ one: { url, pins: {} } }), {
      onBlocked: () => Promise.reject(new Error("the pager is down")),
    });
    await layer.check();
    assertEquals(names(layer), []);
    // A rejection that nobody takes fails the run.
    await turns();
  });

  test("a digest says nothing of where a server is", async () => {
    const hub = new FakeHub({ one: { tools } });
    const pins = { get: await digestOf(hub, "one", "get") };
    const places = [{ url: "http://localhost:1/x" }, { command: "sh", args: ["-c", "x"] }];
    for (const place of places) {
      assertEquals(names(await withConfig(hub, read({ one: { ...place, pins } }))), ["one__get"]);
    }
  });

  test("what is not listed goes to servers without pins, and to no others", async () => {
    const hub = new FakeHub({ one: { tools }, two: { tools } });
    const passed: unknown[] = [];
    const { callTool } = hub;
    hub.callTool = (name, ...rest) => (passed.push(name), callTool.call(hub, name, ...rest));
    const layer = await withConfig(hub, read({ one: { url, pins: {} }, two: { url } }));
    const other = { server: "two", name: "more" };
    for (const name of ["one.more", "one__more", { server: "one", name: "more" }, "more", "two__more", other]) {
      assertEquals((await layer.callTool(name)).isError, true);
    }
    assertEquals(passed, ["two__more", other]);
  });

  test("a tool that changes while it runs is gone before the change is told, and named", async () => {
    const clock = new VirtualClock();
    const server = new McpServer({ name: "one", version: "1.0.0" });
    const remove = server.tool("get", { description: "Gets it" }, () => "got");
    const hub = await clock.until(openHub({ one: inMemory(server).config }, { clock }));
    const servers = { one: { url, pins: { get: await digestOf(hub, "one", "get") } } };
    const blocked: string[] = [];
    const layer = await withConfig(hub, servers, { onBlocked: ({ status }) => blocked.push(status) });
    assertEquals(textOf(await clock.until(layer.callTool("one__get"))), "got");
    const told = (async () => {
      for await (const event of layer.events()) if (event.type === "catalog") return names(layer);
    })();
    remove();
    server.tool("get", { description: "Sends it to somebody else" }, () => "got");
    assertEquals([await clock.until(told), blocked], [[], ["changed"]]);
    assertEquals((await clock.until(layer.callTool("one__get"))).isError, true);
    await clock.until(hub.close());
  });
});

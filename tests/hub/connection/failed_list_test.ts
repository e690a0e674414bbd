/** A server that answers a list with an error: the list of tools is asked for again. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { HubOptions } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { errorReply, front } from "../../support/clients.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { urlOf } from "../faulty.ts";
import { openHub, stateOf } from "../support.ts";

interface Failing extends HubOptions {
  readonly code?: number;
  /** How many requests are met by a server that is still being started. */
  readonly starting?: number;
}

/** A hub with a server whose lists of these methods fail until `mend` is called. */
async function setUp(failing: readonly string[], { code = -32603, starting = 0, ...options }: Failing = {}) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  let isBroken = true;
  const results: Readonly<Record<string, object>> = {
    "initialize": {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, prompts: {} },
      serverInfo: { name: "shop", version: "1.0.0" },
    },
    "tools/list": { tools: [{ name: "buy", inputSchema: { type: "object" } }] },
    "prompts/list": { prompts: [{ name: "advise" }] },
  };
  const serve = async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method } = await request.json();
    asked.push(method);
    if (asked.length <= starting) return new Response("starting", { status: 503 });
    if (id === undefined) return new Response(null, { status: 202 });
    const result = isBroken && failing.includes(method) ? undefined : results[method];
    const error = { code: method in results ? code : -32601, message: "no database" };
    return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
  };
  const config = { shop: { url: urlOf("shop"), fetch: memoryFetch({ fetch: serve }) } };
  const hub = await clock.until(openHub(config, { clock, ...options }));
  return {
    clock,
    config,
    hub,
    mend: () => isBroken = false,
    count: (method: string) => asked.filter((one) => one === method).length,
    names: () => [...hub.tools(), ...hub.prompts()].map(({ name }) => name),
  };
}

describe("a list that is answered with an error", () => {
  test("is asked for again after a minute, where it is that of tools", async () => {
    const { clock, hub, mend, count, names } = await setUp(["tools/list"]);
    assertEquals([stateOf(hub, "shop"), names(), hub.status()[0]?.lastError?.message], [
      "connected",
      ["advise"],
      "no database",
    ]);
    await clock.advance(61_000);
    assertEquals([count("tools/list"), count("prompts/list"), names()], [2, 1, ["advise"]]);
    mend();
    await clock.advance(61_000);
    assertEquals([count("tools/list"), count("prompts/list"), names()], [3, 1, ["buy", "advise"]]);
    await clock.advance(600_000);
    assertEquals(count("tools/list"), 3);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("is asked for at once where somebody wants it", async () => {
    const { clock, hub, mend, count, names } = await setUp(["tools/list"]);
    mend();
    await clock.until(hub.retry("shop"));
    assertEquals(names(), ["buy", "advise"]);
    await clock.advance(600_000);
    assertEquals([count("tools/list"), count("prompts/list")], [2, 1]);
    await clock.until(hub.close());
  });

  test("is asked for again after five minutes, where its server had not been well before", async () => {
    const { clock, hub, mend, count, names } = await setUp(["tools/list"], { starting: 2 });
    await clock.advance(10_000);
    assertEquals([stateOf(hub, "shop"), names()], ["connected", ["advise"]]);
    await clock.advance(280_000);
    assertEquals(count("tools/list"), 1);
    mend();
    await clock.advance(30_000);
    assertEquals([count("tools/list"), names()], [2, ["buy", "advise"]]);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  for (const starting of [0, 2]) {
    const when = starting ? ", where its server had not been well before" : "";
    test(`is in no catalog that is stored: whoever is given that asks for it at once${when}`, async () => {
      const { clock, hub, mend, config } = await setUp(["tools/list"], { starting });
      await clock.advance(10_000);
      const catalog = JSON.parse(JSON.stringify(hub.catalog()));
      assertEquals([stateOf(hub, "shop"), catalog.servers], ["connected", []]);
      await clock.until(hub.close());
      mend();
      const next = await clock.until(openHub(config, { clock, catalog }));
      assertEquals(next.tools().map(({ name }) => name), ["buy"]);
      assertEquals(next.catalog().servers.length, 1);
      await clock.until(next.close());
    });
  }

  test("is asked for where somebody wants it, also by a hub that asks for nothing by itself", async () => {
    const { clock, hub, mend, count, names } = await setUp(["tools/list"], { listen: false });
    mend();
    await clock.advance(600_000);
    assertEquals([count("tools/list"), names()], [1, ["advise"]]);
    await clock.until(hub.retry("shop"));
    assertEquals([count("tools/list"), names()], [2, ["buy", "advise"]]);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("is asked for again once where it is another one: the server may have begun too early", async () => {
    const { clock, hub, mend, count, names } = await setUp(["prompts/list"]);
    assertEquals(names(), ["buy"]);
    mend();
    await clock.advance(61_000);
    assertEquals([count("prompts/list"), count("tools/list"), names()], [2, 1, ["buy", "advise"]]);
    await clock.advance(600_000);
    assertEquals(count("prompts/list"), 2);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  for (const [era, create] of Object.entries({ legacy: createLegacyServer, modern: createModernServer })) {
    test(`is asked for as soon as its server tells of a change (${era})`, async () => {
      const clock = new VirtualClock();
      const inner = create();
      let isBroken = true;
      const server = front(
        inner,
        (seen) => isBroken && seen.method === "tools/list" ? errorReply(seen, -32603) : undefined,
      );
      const hub = await clock.until(openHub({ shop: { url: urlOf("shop"), fetch: memoryFetch(server) } }, { clock }));
      assertEquals([stateOf(hub, "shop"), hub.tools().length], ["connected", 0]);
      isBroken = false;
      inner.emit({ type: "tools" });
      await clock.advance(11_000);
      assertEquals(hub.tools().length > 0, true);
      await clock.until(hub.close());
    });
  }

  test("is left in peace then, until somebody wants it", async () => {
    const { clock, hub, mend, count, names } = await setUp(["prompts/list"]);
    await clock.advance(600_000);
    assertEquals([count("prompts/list"), count("tools/list"), names()], [2, 1, ["buy"]]);
    mend();
    await clock.until(hub.retry("shop"));
    assertEquals([count("prompts/list"), count("tools/list"), names()], [3, 1, ["buy", "advise"]]);
    await clock.until(hub.close());
  });

  test("is left in peace where there is no such list", async () => {
    const none = await setUp(["tools/list"], { code: -32601 });
    await none.clock.advance(600_000);
    assertEquals([none.count("tools/list"), none.names()], [1, ["advise"]]);
    await none.clock.until(none.hub.close());
    assertEquals(none.clock.waiting, 0);
  });

  test("is asked for no more when the hub has closed", async () => {
    const { clock, hub, count } = await setUp(["tools/list"]);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
    await clock.advance(600_000);
    assertEquals(count("tools/list"), 1);
  });
});

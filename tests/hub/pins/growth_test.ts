/**
 * What pins remember of servers and tools that come and go for a long time.
 */
import { assertEquals, assertLess } from "@std/assert";
import { test } from "node:test";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { withPins } from "../../../src/hub/pins/mod.ts";
import type { Tool } from "../../../src/protocol/types.ts";
import { digestsMade } from "../../support/clocks/busy_crypto.ts";
import { PlayedHub, send } from "./support.ts";

const identities = (server: string) => ({ url: `https://${server}.test/mcp` });

test("servers that were removed are forgotten, and those that stay are not", async () => {
  const hub = new PlayedHub([send]);
  const pinned = await withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "trust" });
  const shown = () => pinned.tools().map(({ server }) => server);
  for (let count = 0; count < 250; count++) {
    hub.list([send], `guest${count}`);
    await pinned.check();
    assertEquals(shown(), ["shop", `guest${count}`]);
    hub.list(undefined, `guest${count}`);
  }
  // Of a server that is known nothing has to be read.
  hub.list([send], "guest0");
  assertEquals(shown(), ["shop"]);
  await pinned.check();
  assertEquals(shown(), ["shop", "guest0"]);
});

test("what was refused is remembered, but not for ever where a server thinks of new names all the time", async () => {
  const tool = (name: string): Tool => ({ name, inputSchema: { type: "object" } });
  const hub = new PlayedHub([tool("first"), tool("second")]);
  let asked = 0;
  const approve = (): boolean => ++asked < 0;
  const pinned = await withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "ask", approve });
  await pinned.check();
  assertEquals(asked, 2);
  for (let round = 0; round < 10; round++) {
    hub.list(Array.from({ length: 1_000 }, (_, count) => tool(`new_${round}_${count}`)));
    await pinned.check();
  }
  hub.list([tool("first")]);
  await pinned.check();
  assertEquals(asked, 10_003);
});

test("more pins than a row has room for are not kept", async () => {
  const tools = Array.from(
    { length: 10_001 },
    (_, count): Tool => ({ name: `t${count}`, inputSchema: { type: "object" } }),
  );
  const hub = new PlayedHub(tools);
  const store = createMemoryStore();
  const pinned = await withPins(hub, { store, identities, onFirstSight: "trust" });
  assertEquals([pinned.tools().length, await store.get("pins/shop")], [0, undefined]);
  hub.list(tools.slice(0, 1));
  const [report] = await pinned.report();
  assertEquals([report?.status, report?.reason], ["unknown", '"shop" has 10001 pins, expected at most 10000']);
});

test("tools that are approved one by one are not all looked at again for each of them", async () => {
  const tools = Array.from({ length: 400 }, (_, count): Tool => ({ ...send, name: `t${count}` }));
  const pinned = await withPins(new PlayedHub(tools), { store: createMemoryStore(), identities, onFirstSight: "ask" });
  const reports = await pinned.report();
  const before = digestsMade();
  for (const { server, name, fingerprint = "" } of reports) await pinned.approve({ server, name }, fingerprint);
  assertEquals(pinned.tools().length, tools.length);
  // A few for each; 80,000 where the digest of each pin that is known is made again for each of them.
  assertLess(digestsMade() - before, 10 * tools.length);
});

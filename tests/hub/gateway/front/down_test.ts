import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { ChannelTransport, RpcError } from "../../../../mod.ts";
import type { Client, Transport } from "../../../../mod.ts";
import { createMemoryStore } from "../../../../src/auth/mod.ts";
import { withPins } from "../../../../src/hub/mod.ts";
import { all, open, textOf } from "../support.ts";

/** A server that cannot be started until it is repaired. */
function broken() {
  const server = all("dead", "modern");
  const state = { isDown: true };
  const behind = server.config.transport as () => Transport;
  const transport = (): Transport =>
    state.isDown
      ? new ChannelTransport(() => {
        throw new Error("its disk is full");
      })
      : behind();
  return { config: { ...server.config, transport, maxRetries: 0 }, state };
}

for (const front of ["modern", "legacy"] as const) {
  describe(`a server behind a gateway that is down, ${front} in front`, () => {
    test("whoever connects reads of it, and a call of its tools says why, under own names", async () => {
      await using scene = await open({ dead: broken().config }, { names: "own" });
      const client = await scene.join(front);
      assertMatch(client.info?.instructions ?? "", /^# dead\nThis server cannot be used now, .*its disk is full/);
      assertEquals((await client.listTools()).tools, []);
      const result = await client.callTool("sum", { a: 1, b: 2 });
      assertEquals(result.isError, true);
      assertStringIncludes(textOf(result), '"dead"');
      assertStringIncludes(textOf(result), "its disk is full");
      const asked = [
        (client: Client) => client.readResource("note://dead/own"),
        (client: Client) => client.getPrompt("greet", { who: "you" }),
      ];
      for (const ask of asked) {
        const error = await assertRejects(() => ask(client), RpcError);
        assertMatch(error.message, /"dead".*its disk is full/);
      }
    });

    test("beside others it is known by its name; what names none of it is unknown as ever", async () => {
      const dead = broken();
      await using scene = await open({ one: all("one", "legacy").config, dead: dead.config });
      const client = await scene.join(front);
      const { instructions = "" } = client.info ?? {};
      assert(instructions.includes("How to use one") && instructions.includes("its disk is full"), instructions);
      for (const name of ["dead__sum", "dead.sum"]) {
        const result = await client.callTool(name, { a: 1, b: 2 });
        assertEquals(result.isError, true);
        assertMatch(textOf(result), /"dead".*its disk is full/);
      }
      for (const name of ["one__nothing", "nobody", "deadly__sum"]) {
        const error = await assertRejects(() => client.callTool(name), RpcError);
        assertEquals([error.rpcCode, error.message], [-32602, `Unknown tool: ${name}`]);
      }
      const error = await assertRejects(() => client.getPrompt("dead__greet", { who: "you" }), RpcError);
      assertMatch(error.message, /"dead".*its disk is full/);
      const unread = await assertRejects(() => client.readResource("hub://dead/note://x"), RpcError);
      assertMatch(unread.message, /"dead".*its disk is full/);
      assertEquals((await client.callTool("one__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    });

    test("it is known by its name also where that begins as the name of another one", async () => {
      const servers = { docs: all("docs", "modern").config, "docs.v2": broken().config };
      await using scene = await open(servers);
      const client = await scene.join(front);
      const result = await client.callTool("docs.v2.sum", { a: 1, b: 2 });
      assertMatch(textOf(result), /"docs\.v2".*its disk is full/);
      assertEquals((await client.callTool("docs.sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
      const error = await assertRejects(() => client.callTool("docs.nothing"), RpcError);
      assertEquals(error.message, "Unknown tool: docs.nothing");
    });

    test("of two that are down it is the one with the longer name, and none where the name is that of one that is up", async () => {
      await using scene = await open({ docs: broken().config, "docs.v2": broken().config });
      const result = await (await scene.join(front)).callTool("docs.v2.sum", { a: 1, b: 2 });
      assertMatch(textOf(result), /"docs\.v2".*its disk is full/);
      await using other = await open({ docs: all("docs", "modern").config, dead: broken().config }, { names: "own" });
      const client = await other.join(front);
      const error = await assertRejects(() => client.callTool("docs.nothing"), RpcError);
      assertEquals(error.message, "Unknown tool: docs.nothing");
    });

    test("once it is back, what is called is called", async () => {
      const dead = broken();
      await using scene = await open({ dead: dead.config }, { names: "own" });
      const client = await scene.join(front);
      assertEquals((await client.callTool("sum", { a: 1, b: 2 })).isError, true);
      dead.state.isDown = false;
      await scene.hub.retry("dead");
      assertEquals((await client.callTool("sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    });
  });
}

test("a call of a tool of a server that is down says why where its tools are pinned, too", async () => {
  const dead = broken();
  await using scene = await open({ dead: dead.config });
  const identities = { dead: { command: "dead" } };
  const pinned = await withPins(scene.hub, { store: createMemoryStore(), identities, onFirstSight: "trust" });
  for (const name of ["dead__sum", "dead.sum", { server: "dead", name: "sum" }]) {
    const result = await pinned.callTool(name, { a: 1, b: 2 });
    assertEquals(result.isError, true);
    assertMatch(textOf(result), /sum".* is not listed.* not called.*cannot be used now.*its disk is full/);
  }
  assertMatch(textOf(await pinned.callTool("nobody__sum")), /is not listed.* It was not called$/);
  dead.state.isDown = false;
  await scene.hub.retry("dead");
  assertEquals((await pinned.callTool("dead__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
});

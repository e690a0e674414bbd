import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChannelTransport, createMemoryPair, RpcError } from "../../../mod.ts";
import type { Client } from "../../../mod.ts";
import { withFilter } from "../../../src/hub/mod.ts";
import { all, open, textOf } from "./support.ts";

const lazy = { lazy: true } as const;

/** A server that never says a word. */
function silent(timeout: number) {
  let starts = 0;
  const transport = () =>
    new ChannelTransport(() => {
      starts++;
      return createMemoryPair()[0];
    });
  return { config: { transport, timeout, maxRetries: 0 }, starts: () => starts };
}

for (const front of ["modern", "legacy"] as const) {
  describe(`a gateway over a lazy hub, ${front} in front`, () => {
    test("connects all that was never listed for the first list, once for all who ask", async () => {
      const [one, two] = [all("one", "modern"), all("two", "legacy")];
      await using scene = await open({ one: one.config, two: two.config }, {}, lazy);
      assertEquals([one.starts, two.starts], [0, 0]);
      const [client, other] = [await scene.join(front), await scene.join(front)];
      const [{ tools }, { resources }, { prompts }, templates] = await Promise.all([
        client.listTools(),
        other.listResources(),
        client.listPrompts(),
        other.listResourceTemplates(),
      ]);
      assertEquals([tools.length, resources.length, prompts.length], [18, 4, 2]);
      assertEquals(templates.resourceTemplates.length, 4);
      assertEquals([one.starts, two.starts], [1, 1]);
      assertEquals((await client.callTool("two__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
      assertEquals([one.starts, two.starts], [1, 1]);
    });

    test("waits for a server that does not answer only so long, and only once", async () => {
      const one = all("one", "modern");
      const none = silent(60);
      await using scene = await open({ one: one.config, none: none.config }, {}, lazy);
      const client = await scene.join(front);
      assertEquals((await client.listTools()).tools.length, 9);
      assertEquals(scene.hub.status()[1]?.state, "failed");
      const { starts } = none;
      const before = starts();
      assertEquals((await client.listTools()).tools.length, 9);
      assertEquals(starts(), before);
    });

    test("finds what is called, read, got and completed before anything was listed", async () => {
      const calls = [
        async (client: Client) =>
          assertEquals((await client.callTool("one__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 }),
        async (client: Client) => assertEquals((await client.readResource("note://one/own")).contents.length, 1),
        async (client: Client) =>
          assertEquals((await client.getPrompt("one__greet", { who: "you" })).messages.length, 1),
        async (client: Client) => {
          const reference = { type: "ref/resource", uri: "day://one/{day}" } as const;
          const { completion } = await client.complete(reference, { name: "day", value: "mon" });
          assertEquals(completion.values, ["monday"]);
        },
        (client: Client) => assertRejects(() => client.callTool("one__nothing"), RpcError),
      ];
      for (const call of calls) {
        await using scene = await open({ one: all("one", "modern").config }, {}, lazy);
        await call(await scene.join(front));
      }
    });
  });
}

describe("a gateway over a hub that knows", () => {
  test("a stored catalog is listed as it is, and connects nothing", async () => {
    await using first = await open({ one: all("one", "modern").config });
    const catalog = first.hub.catalog();
    const one = all("one", "modern");
    const two = all("two", "modern");
    await using scene = await open({ one: one.config }, {}, { catalog });
    const client = await scene.join("modern");
    assertEquals((await client.listTools()).tools.length, 9);
    assertEquals(one.starts, 0);
    // A call of what is known wakes its own server alone.
    await using both = await open({ one: one.config, two: two.config }, {}, { catalog, lazy: true });
    const other = await both.join("modern");
    assertEquals(textOf(await other.callTool("one__fails")), "it failed");
    assertEquals([one.starts, two.starts], [1, 0]);
    assertEquals((await other.listTools()).tools.length, 18);
    assertEquals([one.starts, two.starts], [1, 1]);
  });

  test("what goes around a hub lets the first list through", async () => {
    const one = all("one", "modern");
    const around = {
      ...lazy,
      around: (hub: Parameters<typeof withFilter>[0]) => withFilter(hub, { allow: ["one.sum"] }),
    };
    await using scene = await open({ one: one.config }, {}, around);
    const client = await scene.join("modern");
    assertEquals((await client.listTools()).tools.map(({ name }) => name), ["one__sum"]);
  });

  test("who gives up waits no longer", async () => {
    const none = silent(60_000);
    await using scene = await open({ none: none.config }, {}, lazy);
    const client = await scene.join("modern");
    const controller = new AbortController();
    const list = client.request("tools/list", {}, { signal: controller.signal });
    while (none.starts() === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    setTimeout(() => controller.abort(new Error("enough")), 20);
    await assertRejects(() => list, Error, "enough");
    assert(none.starts() === 1);
  });

  test("a server that is disabled is not waited for", async () => {
    const one = all("one", "modern");
    await using scene = await open({ one: { ...one.config, disabled: true } }, {}, lazy);
    const client = await scene.join("modern");
    assertEquals((await client.listTools()).tools, []);
    assertEquals(one.starts, 0);
  });
});

/** A hub that is put together from parts: it has what was named, and works without the rest. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { connectTarget, createOpenHub, createSchemaValidator, listenFeature } from "../../mod.ts";
import type { Hub, OpenHub } from "../../mod.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { stateOf, textOf } from "./support.ts";

const parts = { features: { listen: listenFeature }, validator: createSchemaValidator(), handlers: undefined };
const openHub: OpenHub = createOpenHub((target, options) => connectTarget(target, { ...options, ...parts }));
const config = { one: { url: "https://one.example.com/mcp" } };

for (const [era, create] of Object.entries({ modern: createModernServer, legacy: createLegacyServer })) {
  describe(`a hub of HTTP, output checks and changes alone (${era})`, () => {
    const withHub = async (run: (hub: Hub, server: ReturnType<typeof create>) => Promise<void>): Promise<void> => {
      const server = create();
      await using hub = await openHub(config, { fetch: memoryFetch(server) });
      await run(hub, server);
    };

    test("lists and calls", () =>
      withHub(async (hub) => {
        assertEquals(stateOf(hub, "one"), "connected");
        assertEquals(textOf(await hub.callTool("one.echo", { text: "hello" })), "hello");
      }));

    test("refuses what does not fit its schema", () =>
      withHub(async (hub) => {
        const refused = await hub.callTool("one__bad_output");
        assert(refused.isError && textOf(refused).includes('"structuredContent/sum"'), textOf(refused));
      }));

    test("hears of changes", () =>
      withHub(async (hub, server) => {
        const changes = (await hub.client("one")).listen({ prompts: true });
        await changes.acknowledged;
        server.emit({ type: "prompts" });
        assertEquals(await changes.next(), { done: false, value: { type: "prompts" } });
        changes.close();
      }));

    test("answers no question, since that part was not named", () =>
      withHub(async (hub) => {
        assertEquals((await hub.client("one")).inputs, undefined);
        assertEquals((await hub.callTool("one__ask")).isError, true);
      }));
  });
}

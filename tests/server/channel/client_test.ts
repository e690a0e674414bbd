import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect } from "../../../mod.ts";
import type { Client } from "../../../mod.ts";
import { serveChannel } from "../../../src/server/channel_server.ts";
import { ChannelTransport } from "../../../src/transport/channel.ts";
import { createMemoryPair } from "../../../src/transport/memory.ts";
import { textOf, until } from "../../client/support.ts";
import { said, standIn } from "../stand_in.ts";

const inputSchema = { type: "object" };

/** A server and the client of this library, joined in memory. */
async function joined(options: NonNullable<Parameters<typeof connect>[1]> = {}) {
  const signals: AbortSignal[] = [];
  const server = standIn({
    "tools/list": () => ({ tools: ["steps", "ask", "hang"].map((name) => ({ name, inputSchema })) }),
    "tools/call": async ({ name }, context) => {
      signals.push(context.signal);
      if (name === "ask") {
        const [user, model, places] = await Promise.all([
          context.elicit({ message: "Go on?" }),
          context.sample({ messages: [], maxTokens: 1 }),
          context.roots(),
        ]);
        return said(`${user.action} ${model.model} ${places.length}`);
      }
      if (name === "hang") await context.elicit({ message: "hang" });
      for (let progress = 1; progress <= 3; progress++) context.progress({ progress, total: 3 });
      return said("done");
    },
    "resources/read": ({ uri }) => ({ contents: [{ uri: String(uri), text: "x" }] }),
  });
  const [near, far] = createMemoryPair();
  const serving = serveChannel(server, far, { eras: ["legacy"] });
  const client: Client = await connect(new ChannelTransport(() => near), options);
  return { ...server, change: server.change, client, serving, signals };
}

describe("the client of this library on a legacy channel", () => {
  test("calls, with progress whose last sign is not lost", async () => {
    const { client, serving } = await joined();
    assertEquals([client.era, client.revision, client.info?.server?.title], ["legacy", "2025-11-25", "A Stand-in"]);
    const seen: number[] = [];
    const result = await client.callTool("steps", {}, { onProgress: ({ progress }) => void seen.push(progress) });
    assertEquals([textOf(result), seen], ["done", [1, 3]]);
    assertEquals((await client.readResource("a:b")).contents[0]?.uri, "a:b");
    await client.close();
    await serving.closed;
  });

  test("is asked in the middle of a call, several things at once", async () => {
    const { client } = await joined({
      handlers: {
        elicitation: () => ({ action: "decline" }),
        sampling: () => ({ role: "assistant", content: { type: "text", text: "!" }, model: "m" }),
        roots: () => [{ uri: "file:///a" }],
      },
    });
    assertEquals(textOf(await client.callTool("ask")), "decline m 1");
    await client.close();
  });

  test("calls off what it does not want any more, and then is not asked for it", async () => {
    let asked: AbortSignal | undefined;
    const { client, signals } = await joined({
      handlers: {
        elicitation: (_, { signal }) => {
          asked = signal;
          return new Promise(() => {});
        },
      },
    });
    const controller = new AbortController();
    const call = client.callTool("hang", {}, { signal: controller.signal });
    await until(() => asked !== undefined);
    controller.abort();
    await assertRejects(() => call);
    await until(() => signals[0]?.aborted === true && asked?.aborted === true);
    assertEquals(textOf(await client.callTool("steps")), "done");
    await client.close();
  });

  test("hears of changes", async () => {
    const { client, change } = await joined();
    const heard: unknown[] = [];
    const changes = client.listen({ tools: true, resourceUris: ["a:b"] });
    const reading = (async () => {
      for await (const change of changes) heard.push(change);
    })();
    await changes.acknowledged;
    change({ type: "tools" });
    change({ type: "prompts" });
    change({ type: "resource", uri: "a:b" });
    await until(() => heard.length === 2);
    assertEquals(heard, [{ type: "tools" }, { type: "resource", uri: "a:b" }]);
    await client.close();
    await reading.catch(() => {});
  });
});

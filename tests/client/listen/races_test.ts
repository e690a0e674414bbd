/**
 * Streams of changes that are closed, refused or asked at the wrong time.
 */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect, ConnectionClosedError, McpError } from "../../../mod.ts";
import type { Fetch } from "../../../src/ports.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createPipe, errorReply, front, textOf, url } from "../support.ts";

describe("watching a resource of a handshake server", () => {
  test("what could not be subscribed to is asked for again, and not taken for watched", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const busy = front(
      server,
      ({ method }, count) =>
        method === "resources/subscribe" && count < 4 ? new Response("", { status: 503 }) : undefined,
    );
    const client = await clock.until(connect(url, { fetch: memoryFetch(busy), clock }));
    const stream = client.subscribeResource("test://text");
    await clock.until(stream.acknowledged);
    assertEquals([...server.session()?.watched ?? []], ["test://text"]);
    assertEquals((await stream.next()).value, { type: "resource", uri: "test://text", missed: true });
    const next = stream.next();
    server.emit({ type: "resource", uri: "test://text" });
    assertEquals((await clock.until(next)).value, { type: "resource", uri: "test://text" });
    await clock.until(client.close());
  });

  test("one that the server refuses is refused for all who wait for it", async () => {
    const clock = new VirtualClock();
    const server = front(
      createLegacyServer({ clock }),
      (seen) => seen.method === "resources/subscribe" ? errorReply(seen, -32602, { text: "not this one" }) : undefined,
    );
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const streams = Array.from({ length: 3 }, () => client.subscribeResource("test://secret"));
    await clock.settle();
    for (const stream of streams) {
      await assertRejects(() => clock.until(stream.acknowledged), McpError, "not this one");
      await assertRejects(() => clock.until(stream.next()), McpError, "not this one");
    }
    await clock.until(client.close());
  });

  test("over HTTP, who watches it again is not overtaken by the end of the last who did", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const slow = front(
      server,
      async ({ method }) => {
        if (method === "resources/unsubscribe") await new Promise<void>((resolve) => clock.schedule(resolve, 50));
        return undefined;
      },
    );
    const client = await clock.until(connect(url, { fetch: memoryFetch(slow), clock }));
    const before = client.subscribeResource("test://text");
    await clock.until(before.acknowledged);
    before.close();
    const stream = client.subscribeResource("test://text");
    await clock.until(stream.acknowledged);
    await clock.advance(1_000);
    assertEquals([...server.session()?.watched ?? []], ["test://text"]);
    stream.close();
    await clock.advance(1_000);
    assertEquals([...server.session()?.watched ?? []], []);
    await clock.until(client.close());
  });

  test("closed while its stream is opened: nothing is watched any more", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const stream = client.subscribeResource("test://text");
    for (let turn = 0; turn < 4; turn++) await Promise.resolve();
    stream.close();
    await clock.advance(1_000);
    assertEquals([...server.session()?.watched ?? []], []);
    await clock.until(client.close());
  });
});

test("what may have come while a stream could not be opened at first is told as missed", async () => {
  const clock = new VirtualClock();
  const good = memoryFetch(createModernServer());
  let failures = 0;
  const fetch: Fetch = (target, init) => {
    const isListen = new Headers(init.headers).get("mcp-method") === "subscriptions/listen";
    return isListen && failures++ < 2 ? Promise.resolve(new Response("", { status: 502 })) : good(target, init);
  };
  const client = await clock.until(connect(url, { fetch, clock }));
  const stream = client.listen({ tools: true });
  await clock.until(stream.acknowledged);
  assertEquals(await stream.next(), { done: false, value: { type: "tools", missed: true } });
  assertEquals(failures, 3);
  await clock.until(client.close());
});

test("asked twice for the next change, both are answered", async () => {
  const clock = new VirtualClock();
  const server = createModernServer({ clock });
  const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
  const stream = client.listen({ tools: true });
  await clock.until(stream.acknowledged);
  const changes = Promise.all([stream.next(), stream.next()]);
  server.emit({ type: "tools" });
  assertEquals((await clock.until(changes)).map(({ value }) => value), [{ type: "tools" }, { type: "tools" }]);
  const ends = Promise.all([stream.next(), stream.next()]);
  stream.close();
  assertEquals((await clock.until(ends)).map(({ done }) => done), [true, true]);
  await clock.until(client.close());
});

test("a client that is closed listens to nothing, and tries nothing", async () => {
  const clock = new VirtualClock();
  const client = await clock.until(connect(url, { fetch: memoryFetch(createModernServer({ clock })), clock }));
  await clock.until(client.close());
  const stream = client.listen({ tools: true });
  await assertRejects(() => stream.acknowledged, ConnectionClosedError);
  assertEquals((await stream.next()).done, true);
  await clock.advance(1_000);
  assertEquals(clock.waiting, 0);
});

test("an onBreak that throws keeps nobody else from hearing of the end", async () => {
  const clock = new VirtualClock();
  const pipe = createPipe({ era: "legacy" });
  const reasons: unknown[] = [];
  const onBreak = (reason: unknown) => {
    reasons.push(reason);
    throw new Error("a mistake of the program");
  };
  const client = await clock.until(connect(pipe.transport, { clock, onBreak }));
  const streams = [client.listen({ tools: true }), client.listen({ prompts: true })];
  await clock.until(Promise.all(streams.map(({ acknowledged }) => acknowledged)));
  pipe.die();
  assertEquals(reasons.length, 2);
  assertEquals(textOf(await clock.until(client.callTool("echo", { text: "a" }))), "a");
  await clock.until(client.close());
});

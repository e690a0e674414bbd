/** What a handshake server says to the GET of its stream: that it has none, or has none for a while. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect, McpError } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { front, url } from "../support.ts";
import { take } from "./support.ts";

describe("a GET stream that is refused", () => {
  const none: [string, () => Response][] = [
    ...[400, 406, 501].map((
      status,
    ): [string, () => Response] => [`with ${status}`, () => new Response("", { status })]),
    ...[["text/html", "<!doctype html><title>The app</title>"], ["application/json", "{}"]].map(
      ([type = "", body]): [string, () => Response] => [
        `by a page that is there for all paths (200, ${type})`,
        () => new Response(body, { headers: { "content-type": type } }),
      ],
    ),
  ];
  for (const [how, refuse] of none) {
    test(`${how}: there is none, and nobody asks for it again`, async () => {
      const clock = new VirtualClock();
      const server = front(createLegacyServer(), ({ httpMethod }) => httpMethod === "GET" ? refuse() : undefined);
      const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
      const stream = client.listen({ tools: true });
      assertEquals(await clock.until(stream.acknowledged), {});
      await clock.advance(600_000);
      assertEquals(server.seen.filter(({ httpMethod }) => httpMethod === "GET").length, 1);
      await clock.until(client.close());
      assertEquals(await stream.next(), { done: true, value: undefined });
    });
  }

  for (
    const [why, status, body] of [
      ["takes the old one for open", 400, "Session registration failed: session already exists"],
      ["takes it for open, and says so otherwise", 409, "Conflict: Only one SSE stream is allowed per session"],
      ["is started anew behind its router", 405, ""],
    ] as const
  ) {
    test(`a server that ${why} (${status}) for two minutes: the stream is opened again`, async () => {
      const clock = new VirtualClock();
      const legacy = createLegacyServer();
      let isBusy = false;
      const server = front(
        legacy,
        ({ httpMethod }) => httpMethod === "GET" && isBusy ? new Response(body, { status }) : undefined,
      );
      const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
      const stream = client.listen({ tools: true });
      await clock.until(stream.acknowledged);
      isBusy = true;
      legacy.dropStreams();
      await clock.advance(110_000);
      isBusy = false;
      await clock.advance(90_000);
      assertEquals([legacy.getStreams(), ...await take(stream, 1)], [1, { type: "tools", missed: true }]);
      await clock.until(client.close());
    });
  }

  test("one that the server has no more (405): that is told, and who listens again hears at once that there is none", async () => {
    const clock = new VirtualClock();
    const legacy = createLegacyServer();
    let isGone = false;
    const server = front(
      legacy,
      ({ httpMethod }) => httpMethod === "GET" && isGone ? new Response("", { status: 405 }) : undefined,
    );
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const stream = client.listen({ tools: true });
    await clock.until(stream.acknowledged);
    isGone = true;
    legacy.dropStreams();
    await clock.advance(600_000);
    await assertRejects(() => take(stream, 1), McpError, "405");
    const asked = server.seen.length;
    const again = client.listen({ tools: true });
    assertEquals(await clock.until(again.acknowledged), {});
    await clock.advance(600_000);
    assertEquals(server.seen.length, asked + 1);
    await clock.until(client.close());
  });
});

test("what is no JSON-RPC on a GET stream, a server's own heartbeat, is passed over: the stream goes on", async () => {
  const clock = new VirtualClock();
  const notice = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const events = ['{"type":"heartbeat"}', "ping", "[]", JSON.stringify(notice)].map((data) => `data: ${data}\n\n`);
  const server = front(createLegacyServer(), ({ httpMethod }) => {
    if (httpMethod !== "GET") return undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const event of events) controller.enqueue(new TextEncoder().encode(event));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
  const stream = client.listen({ tools: true });
  assertEquals(await clock.until(take(stream, 1)), [{ type: "tools" }]);
  assertEquals(server.seen.filter(({ httpMethod }) => httpMethod === "GET").length, 1);
  await clock.until(client.close());
});

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
  for (const status of [400, 406, 501]) {
    test(`with ${status}: there is none, and nobody asks for it again`, async () => {
      const clock = new VirtualClock();
      const legacy = createLegacyServer();
      const server = front(
        legacy,
        ({ httpMethod }) => httpMethod === "GET" ? new Response("", { status }) : undefined,
      );
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

/** Streams of changes over what lies between: a proxy that ends whatever is silent, an outage of some minutes. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect, HttpStatusError } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { front, url } from "../support.ts";
import { take } from "./support.ts";

const eras = {
  modern: () => {
    const server = createModernServer();
    return { server, drop: () => server.dropSubscriptions() };
  },
  legacy: () => {
    const server = createLegacyServer();
    return { server, drop: () => server.dropStreams("break") };
  },
};

describe("a stream that a proxy ends whenever it is silent", () => {
  for (const [era, make] of Object.entries(eras)) {
    // Envoy, Google's load balancer, HAProxy as it is documented, nginx and Amazon's load balancer.
    for (const seconds of [15, 30, 50, 60]) {
      test(`is opened again each time (${era}, ${seconds} s)`, async () => {
        const clock = new VirtualClock();
        const { server, drop } = make();
        const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
        const stream = client.listen({ tools: true });
        await clock.until(stream.acknowledged);
        for (let cut = 0; cut < 20; cut++) {
          await clock.advance(seconds * 1_000);
          drop();
          await clock.advance(2_000);
          assertEquals(await take(stream, 1), [{ type: "tools", missed: true }]);
        }
        server.emit({ type: "tools" });
        assertEquals(await take(stream, 1), [{ type: "tools" }]);
        await clock.until(client.close());
      });
    }
  }
});

describe("a legacy stream whose server is away for minutes", () => {
  async function away(minutes: number) {
    const clock = new VirtualClock();
    const legacy = createLegacyServer();
    let isAway = false;
    const server = front(legacy, () => isAway ? new Response("", { status: 502 }) : undefined);
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const stream = client.listen({ tools: true });
    await clock.until(stream.acknowledged);
    isAway = true;
    legacy.dropStreams("break");
    await clock.advance(minutes * 60_000);
    isAway = false;
    await clock.advance(120_000);
    return { clock, client, stream, legacy };
  }

  for (const minutes of [1, 4, 5]) {
    test(`is there again behind ${minutes} min`, async () => {
      const { clock, client, stream, legacy } = await away(minutes);
      assertEquals(await take(stream, 1), [{ type: "tools", missed: true }]);
      assertEquals(legacy.getStreams(), 1);
      legacy.emit({ type: "tools" });
      assertEquals(await take(stream, 1), [{ type: "tools" }]);
      await clock.until(client.close());
    });
  }

  test("is given up at last, and whoever listens is told", async () => {
    const { clock, client, stream } = await away(60);
    await assertRejects(() => stream.next(), HttpStatusError);
    await clock.until(client.close());
  });
});

/**
 * A reply of a handshake server that ends early is gone on with by GET (specification 2025-11-25: Resumability and Redelivery).
 */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, OutcomeUnknownError } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { front, paramsOf, textOf, turns, until, url } from "../support.ts";

describe("a stream that ends before its answer", () => {
  test("2025-11-25: it is polled again after `retry`, by GET with Last-Event-ID; the call runs once (C-111 to C-114)", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ retry: 3_000 });
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const call = client.callTool("reconnect", { text: "resumed" });
    await until(() => server.calls("reconnect") === 1);
    await clock.advance(2_900);
    const gets = () => server.log.filter(({ httpMethod }) => httpMethod === "GET");
    assertEquals(gets().length, 0);
    await clock.advance(200);
    assertEquals(textOf(await call), "resumed");
    assertEquals(gets().length, 1);
    assert(/^s\d+_\d+$/.test(gets()[0]?.headers["last-event-id"] ?? ""));
    assertEquals(server.calls("reconnect"), 1);
    await client.close();
    assertEquals(server.violations, []);
  });

  for (const how of ["end", "break"] as const) {
    test(`${how} in the middle of a call: the answer is fetched, the call runs once`, async () => {
      const clock = new VirtualClock();
      const server = createLegacyServer();
      const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
      const call = client.callTool("slow");
      await until(() => server.calls("slow") === 1);
      await turns();
      server.dropStreams(how);
      server.release();
      assertEquals(textOf(await clock.until(call)), "done");
      assertEquals(server.calls("slow"), 1);
      await client.close();
      assertEquals(server.violations, []);
    });
  }

  test("a server that no longer knows the session (404) is polled once: nobody will answer (C-105)", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer();
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const failed = assertRejects(() => client.callTool("slow"), OutcomeUnknownError);
    await until(() => server.calls("slow") === 1);
    await turns();
    server.dropStreams();
    server.forgetSessions();
    const began = clock.monotonic();
    await clock.until(failed);
    assert(clock.monotonic() - began <= 1_100, `after ${clock.monotonic() - began} ms`);
    assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "GET").length, 1);
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "next" }))), "next");
    await client.close();
  });

  test("a poll that fails is no end: the answer is fetched by the next one", async () => {
    const clock = new VirtualClock();
    const legacy = createLegacyServer();
    let cancelled = 0;
    const body = new ReadableStream({
      cancel() {
        cancelled++;
      },
    });
    const server = front(
      legacy,
      ({ method }, count) => method === "GET" && count === 1 ? new Response(body, { status: 503 }) : undefined,
    );
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const call = client.callTool("slow");
    await until(() => legacy.calls("slow") === 1);
    await turns();
    legacy.dropStreams();
    legacy.release();
    assertEquals(textOf(await clock.until(call)), "done");
    assertEquals([legacy.calls("slow"), server.methods.filter((method) => method === "GET").length, cancelled], [
      1,
      2,
      1,
    ]);
    await client.close();
  });

  test("progress and log lines that were on the way come after all", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const progress: number[] = [];
    const call = client.callTool("progress", { count: 4, milliseconds: 100 }, {
      onProgress: (sign) => void progress.push(sign.progress),
    });
    await until(() => server.calls("progress") === 1);
    await clock.advance(150);
    server.dropStreams();
    assertEquals(textOf(await clock.until(call)), "progressed 4");
    assertEquals(progress, [1, 2, 3, 4]);
    assertEquals(paramsOf(server, "tools/call").length, 1);
    await client.close();
  });
});

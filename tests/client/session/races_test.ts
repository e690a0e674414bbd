/**
 * What goes on while a session is opened, lost, opened anew or closed, and what a request that ends early leaves behind.
 */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChannelTransport, Client, connect, HttpTransport, McpError } from "../../../mod.ts";
import type { CallToolResult, Verdict } from "../../../mod.ts";
import { createLegacySseChannel } from "../../../src/transport/legacy_sse.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { createSse2024Server } from "../../servers/sse_2024.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createPipe, front, methodsOf, textOf, url } from "../support.ts";
import { played } from "../played.ts";

const accept = (name: string) => ({ action: "accept" as const, content: { name } });

describe("a session that is opened in the place of another", () => {
  test("on a pipe: a call that comes when the new process runs waits for the handshake", async () => {
    const clock = new VirtualClock();
    const pipe = createPipe({ era: "legacy" });
    const client = await clock.until(connect(pipe.transport, { clock }));
    pipe.die();
    await clock.settle();
    const calls = [client.callTool("echo", { text: "one" })];
    for (let turn = 0; turn < 200 && calls.length < 2; turn++) {
      await Promise.resolve();
      if (!pipe.transport.ended) calls.push(client.callTool("echo", { text: "two" }));
    }
    assertEquals((await clock.until(Promise.all(calls))).map(textOf), ["one", "two"]);
    assertEquals(methodsOf(pipe.server), ["initialize", "notifications/initialized", "tools/call", "tools/call"]);
    assertEquals(pipe.server.violations, []);
    await client.close();
  });

  test("over HTTP: what the old one asked for is not the answer to a question of the new one", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const dialogs: ((name: string) => void)[] = [];
    const elicitation = () =>
      new Promise<ReturnType<typeof accept>>((resolve) => dialogs.push((name) => resolve(accept(name))));
    const options = { fetch: memoryFetch(server), clock, handlers: { elicitation } };
    const client = await clock.until(connect(url, options));
    const lost = client.callTool("ask").catch(() => {});
    await clock.settle();
    server.forgetSessions();
    await clock.until(client.callTool("echo", { text: "opens it anew" }));
    const asks: Promise<CallToolResult> = client.callTool("ask");
    await clock.settle();
    assertEquals(dialogs.length, 2, "the user is asked again, though the question has the id of the older one");
    dialogs[0]?.("older");
    await clock.settle();
    dialogs[1]?.("newer");
    assertEquals(textOf(await clock.until(asks)), '["newer"]');
    assertEquals(server.violations, []);
    await clock.until(client.close());
    await lost;
  });

  test("over HTTP: its stream is not opened once more by what was planned for the old one", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, handlers: { log() {} } }));
    const streams = () => methodsOf(server).filter((method) => method === "GET").length;
    server.dropStreams("break");
    await clock.settle();
    server.forgetSessions();
    await clock.until(client.callTool("echo", { text: "opens it anew" }));
    assertEquals(streams(), 2);
    await clock.advance(5_000);
    assertEquals([streams(), server.getStreams()], [2, 1]);
    await clock.until(client.close());
  });
});

test("closed while its stream is opened: nothing tries to open it again", async () => {
  const clock = new VirtualClock();
  const server = front(
    createLegacyServer({ clock }),
    ({ method }) => method === "GET" ? new Promise<Response>(() => {}) : undefined,
  );
  const { signal, abort } = withAbort();
  const options = { fetch: memoryFetch(server), clock, signal, handlers: { log() {} } };
  const rejected = assertRejects(() => connect(url, options));
  await clock.advance(100);
  assertEquals(server.methods.at(-1), "GET");
  abort();
  await clock.until(rejected);
  await clock.advance(1_000);
  assertEquals(clock.waiting, 0);
});

test("called off in whatever turn after the usual binding was refused: no stream of the older one is left", async () => {
  for (let turn = 0; turn < 40; turn++) {
    const clock = new VirtualClock();
    const server = createSse2024Server({ clock });
    const { signal, abort } = withAbort();
    const fetch = memoryFetch({
      async fetch(request) {
        const reply = await server.fetch(request);
        if (reply.status !== 405 || server.count("initialize") !== 1) return reply;
        void (async () => {
          for (let left = turn; left; left--) await undefined;
          abort();
        })();
        return reply;
      },
    });
    const options = { fetch, clock, signal, logLevel: "info" } as const;
    const client = await clock.until(connect(url, options).catch(() => undefined));
    await clock.until(Promise.resolve(client?.close()));
    await clock.advance(1_000);
    assertEquals([server.streams(), clock.waiting], [0, 0], `after ${turn} turns`);
  }
});

test("closed before the older binding is opened, or while it is: nothing is opened then, nor later", async () => {
  for (const verdict of [{ era: "legacy", binding: "http+sse" }, undefined] as const) {
    for (let turn = 0; turn < 40; turn++) {
      const clock = new VirtualClock();
      const server = createSse2024Server({ clock });
      let sent = 0;
      const inner = memoryFetch(server);
      const fetch: typeof inner = (...request) => {
        sent++;
        return inner(...request);
      };
      const fallback = () => new ChannelTransport(() => createLegacySseChannel(url, { fetch, clock }));
      const client = new Client(new HttpTransport(url, { fetch, clock }), { clock, verdict, fallback });
      const opened = client.connect().catch(() => {});
      for (let left = turn; left; left--) await undefined;
      void client.close();
      const before = sent;
      await clock.until(opened);
      await assertRejects(() => clock.until(client.callTool("echo", { text: "hi" })), McpError);
      await clock.advance(1_000);
      const what = [sent - before, server.streams(), clock.waiting];
      assertEquals(what, [0, 0, 0], `after ${turn} turns`);
    }
  }
});

test("what is remembered does not hold: all calls that found it out at once are sent as the server wants them", async () => {
  const clock = new VirtualClock();
  const server = createLegacyServer({ clock });
  const verdict: Verdict = { era: "modern", revision: "2026-07-28" };
  const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, verdict }));
  const texts = ["a", "b", "c"];
  const calls = Promise.all(texts.map((text) => client.callTool("echo", { text })));
  assertEquals((await clock.until(calls)).map(textOf), texts);
  assertEquals([server.count("initialize"), server.calls("echo")], [1, 3]);
  await clock.until(client.close());
});

test("a later round that is refused for now is sent again: not the rounds before it, and nobody is asked twice", async () => {
  const clock = new VirtualClock();
  const server = createModernServer({ clock });
  const busy = front(
    server,
    ({ method }, count) => method === "tools/call" && count === 2 ? new Response("", { status: 429 }) : undefined,
  );
  let asked = 0;
  const handlers = { elicitation: () => accept(`n${++asked}`) };
  const client = await clock.until(connect(url, { fetch: memoryFetch(busy), clock, handlers }));
  assertEquals(textOf(await clock.until(client.callTool("ask", { rounds: 1 }))), '["n1"]');
  assertEquals([asked, server.calls("ask"), busy.methods.filter((method) => method === "tools/call").length], [
    1,
    1,
    3,
  ]);
  await clock.until(client.close());
  assertEquals(server.violations, []);
});

test("a handler whose answer nobody wants any more holds up no deadline of others", async () => {
  const clock = new VirtualClock();
  const info = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } };
  const server = played(({ id, method, params }, send) => {
    if (method === "initialize") send({ jsonrpc: "2.0", id, result: info });
    else if (method === "server/discover") send({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
    else if (method === "tools/call" && JSON.stringify(params).includes('"ask"')) {
      const requestedSchema = { type: "object", properties: {} };
      send({ jsonrpc: "2.0", id: 1, method: "elicitation/create", params: { message: "?", requestedSchema } });
    }
  });
  const options = { clock, timeouts: { idle: 1_000 }, handlers: { elicitation: () => new Promise<never>(() => {}) } };
  const client = await clock.until(connect(server.transport, options));
  const { signal, abort } = withAbort();
  const asks = assertRejects(() => client.callTool("ask", {}, { signal }));
  await clock.settle();
  server.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  abort();
  await asks;
  const startedAt = clock.monotonic();
  await assertRejects(() => clock.until(client.callTool("silent")));
  assert(clock.monotonic() - startedAt <= 2_000);
  await client.close();
});

function withAbort(): { signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error("not wanted any more")) };
}

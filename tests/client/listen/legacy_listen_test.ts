import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, McpError } from "../../../mod.ts";
import type { Client, Verdict } from "../../../mod.ts";
import type { Fetch } from "../../../src/ports.ts";
import type { ServerChange } from "../../servers/core/wire.ts";
import type { LedgerView } from "../../servers/core/ledger.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { played } from "../played.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { listening, take } from "./support.ts";
import {
  createPipe,
  errorReply,
  eventReply,
  front,
  methodsOf,
  paramsOf,
  turns,
  until,
  url,
  withLegacy,
  withPipe,
} from "../support.ts";

interface Server extends LedgerView {
  emit(change: ServerChange): void;
  watched(): string[];
}

/** The same over both bindings of the handshake era. */
function onBoth(name: string, run: (client: Client, server: Server) => Promise<void>): void {
  test(`${name} (HTTP)`, () =>
    withLegacy((client, server) =>
      run(client, Object.assign(server, { watched: () => [...server.session()?.watched ?? []] }))
    ));
  test(`${name} (pipe)`, () =>
    withPipe(
      (client, { server }) => run(client, Object.assign(server, { watched: () => [...server.session.watched] })),
      { server: { era: "legacy" } },
    ));
}

const lists = { tools: true, prompts: true, resources: true };
const none = { tools: false, prompts: false, resources: false, resourceUris: [] };

describe("listening to a handshake server", () => {
  onBoth("lists that change, and resources that were subscribed to (C-109 C-153)", async (client, server) => {
    const stream = client.listen({ tools: true, resourceUris: ["test://text"] });
    assertEquals((await stream.acknowledged).resourceUris, ["test://text"]);
    await until(() => server.watched().length === 1);
    await turns();
    server.emit({ type: "prompts" });
    server.emit({ type: "resource", uri: "test://text" });
    server.emit({ type: "tools" });
    assertEquals(await take(stream, 2), [{ type: "resource", uri: "test://text" }, { type: "tools" }]);
    stream.close();
    await until(() => server.watched().length === 0);
  });

  onBoth("many listeners to one resource subscribe once, and the last one unsubscribes", async (client, server) => {
    const streams = Array.from({ length: 5 }, () => client.subscribeResource("test://text"));
    await Promise.all(streams.map(({ acknowledged }) => acknowledged));
    await turns();
    assertEquals([server.count("resources/subscribe"), server.watched()], [1, ["test://text"]]);
    server.emit({ type: "resource", uri: "test://text" });
    for (const stream of streams) assertEquals(await take(stream, 1), [{ type: "resource", uri: "test://text" }]);
    for (const stream of streams.slice(1)) stream.close();
    await turns();
    assertEquals([server.count("resources/unsubscribe"), server.watched()], [0, ["test://text"]]);
    streams[0]?.close();
    await until(() => server.watched().length === 0);
    assertEquals(server.count("resources/unsubscribe"), 1);
    const again = client.subscribeResource("test://text");
    await again.acknowledged;
    assertEquals([server.count("resources/subscribe"), server.watched()], [2, ["test://text"]]);
    again.close();
  });

  test("a change of something below a watched resource is told, one beside it is not (C-152)", async () => {
    const server = played((message, send) => {
      const { id, method } = message;
      if (id === undefined) return;
      if (method === "server/discover") return send({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
      const capabilities = { resources: { subscribe: true } };
      const serverInfo = { name: "x", version: "1" };
      send({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
    });
    await using client = await connect(server.transport);
    const stream = client.listen({ resourceUris: ["test://dir/"] });
    await stream.acknowledged;
    for (const uri of ["test://other", "test://dir/a/b", "test://dir/"]) {
      server.send({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
    }
    assertEquals(await take(stream, 2), [
      { type: "resource", uri: "test://dir/a/b" },
      { type: "resource", uri: "test://dir/" },
    ]);
    stream.close();
  });

  onBoth("a listener hears only what it asked for", async (client, server) => {
    const tools = client.listen({ tools: true });
    const all = client.listen(lists);
    await Promise.all([tools.acknowledged, all.acknowledged]);
    await turns();
    server.emit({ type: "prompts" });
    server.emit({ type: "tools" });
    assertEquals(await take(all, 2), [{ type: "prompts" }, { type: "tools" }]);
    assertEquals(await take(tools, 1), [{ type: "tools" }]);
    tools.close();
    all.close();
  });

  test("a server that cannot be subscribed to: it says so, and is not asked (C-153)", () =>
    withLegacy(async (client, server) => {
      const stream = client.listen({ tools: true, resourceUris: ["test://text"] });
      const honoured = await stream.acknowledged;
      assertEquals([honoured.tools, honoured.resourceUris], [true, []]);
      assertEquals(server.count("resources/subscribe"), 0);
    }, { server: { capabilities: { tools: { listChanged: true }, resources: {} } } }));

  test("a subscription that the server refuses: the error reaches the listener", async () => {
    const server = front(
      createLegacyServer(),
      (seen) => seen.method === "resources/subscribe" ? errorReply(seen, -32602, { text: "not this one" }) : undefined,
    );
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const stream = client.subscribeResource("test://secret");
    await assertRejects(() => stream.next(), McpError, "not this one");
  });

  test("one GET stream serves all who listen, and none is opened before (C-109)", () =>
    withLegacy(async (client, server) => {
      await client.callTool("echo", { text: "hi" });
      assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "GET").length, 0);
      const streams = Array.from({ length: 4 }, () => client.listen({ tools: true }));
      await Promise.all(streams.map(({ acknowledged }) => acknowledged));
      await until(() => server.getStreams() === 1);
      assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "GET").length, 1);
      const [get] = server.log.filter(({ httpMethod }) => httpMethod === "GET");
      assertEquals([get?.headers.accept, get?.headers["content-type"]], ["text/event-stream", undefined]);
    }));

  for (const known of [true, false]) {
    test(`one that broke goes on behind its last event, ${known ? "" : "or anew where the server does not know it "}(C-111)`, async () => {
      const legacy = createLegacyServer();
      const server = front(
        legacy,
        ({ headers }) => !known && headers["last-event-id"] ? new Response("", { status: 400 }) : undefined,
      );
      const clock = new VirtualClock();
      const connecting = connect(url, { fetch: memoryFetch(server), clock, handlers: { log() {} } });
      await using client = await clock.until(connecting);
      const stream = client.subscribeResource("test://text");
      await stream.acknowledged;
      legacy.dropStreams();
      await turns();
      legacy.emit({ type: "resource", uri: "test://text" });
      await clock.advance(10_000);
      const gets = server.seen.filter(({ httpMethod }) => httpMethod === "GET");
      assertEquals(gets.map(({ headers }) => headers["last-event-id"]), [
        undefined,
        "s0_0",
        ...known ? [] : [undefined],
      ]);
      if (known) assertEquals((await stream.next()).value, { type: "resource", uri: "test://text" });
      assertEquals([legacy.getStreams(), legacy.violations], [1, []]);
    });
  }

  test("handlers open it at the start, so that nothing is missed; `stream: false` does not", async () => {
    const gets = (server: LedgerView) => server.log.filter(({ httpMethod }) => httpMethod === "GET").length;
    const handlers = { log() {} };
    await withLegacy((_, server) => Promise.resolve(assertEquals(gets(server), 1)), { client: { handlers } });
    await withLegacy(async (client, server) => {
      await client.listTools();
      assertEquals(gets(server), 0);
    }, { client: { handlers, stream: false } });
  });

  test("an answer to nothing on it is left out, and not answered", async () => {
    const legacy = createLegacyServer();
    const reply = eventReply([{ jsonrpc: "2.0", id: "nobody", result: {} }]);
    const server = front(legacy, ({ method }) => method === "GET" ? reply : undefined);
    await using client = await connect(url, { fetch: memoryFetch(server), handlers: { log() {} } });
    await client.callTool("echo", { text: "hi" });
    await turns();
    assertEquals(server.seen.filter(({ message }) => message && !("method" in message)), []);
    assertEquals(legacy.violations, []);
  });

  test("a server without a GET stream (405) works all the same (C-109)", () =>
    withLegacy(async (client, server) => {
      await client.callTool("echo", { text: "hi" });
      const stream = client.listen({ tools: true });
      await stream.acknowledged;
      await turns();
      assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "GET").length, 1);
      stream.close();
    }, { server: { getStream: false }, client: { handlers: { log() {} } } }));
});

for (const [era, create] of Object.entries({ legacy: createLegacyServer, modern: createModernServer })) {
  test(`a stream of changes has no end, so limits.streamBytes does not count it (${era})`, async () => {
    const server = create();
    const limits = { streamBytes: 4_000 };
    await using client = await connect(url, { fetch: memoryFetch(server), limits, verdict: { era } as Verdict });
    const stream = client.listen({ tools: true });
    await stream.acknowledged;
    for (let count = 0; count < 100; count++) {
      server.emit({ type: "tools" });
      assertEquals(await take(stream, 1), [{ type: "tools" }]);
    }
  });
}

describe("a GET stream that breaks", () => {
  for (const how of ["end", "break"] as const) {
    test(`${how}: opened again, calmly, and what may be missed is told`, async () => {
      const server = createLegacyServer({ retry: 1 });
      const { clock, client, stream } = await listening(server, { tools: true });
      await until(() => server.getStreams() === 1);
      server.dropStreams(how);
      await until(() => server.getStreams() === 0);
      await clock.advance(2_000);
      assertEquals(server.getStreams(), 1);
      assertEquals(await take(stream, 1), [{ type: "tools", missed: true }]);
      server.emit({ type: "tools" });
      assertEquals(await take(stream, 1), [{ type: "tools" }]);
      await client.close();
      assertEquals(server.violations, []);
    });
  }

  test("the server's `retry` is honoured: not before it (C-112)", async () => {
    const server = createLegacyServer({ retry: 7_000 });
    const { clock, client } = await listening(server, { tools: true });
    await until(() => server.getStreams() === 1);
    await turns();
    server.dropStreams();
    await clock.advance(6_500);
    assertEquals(server.getStreams(), 0);
    await clock.advance(2_500);
    assertEquals(server.getStreams(), 1);
    await client.close();
  });

  test("subscriptions do not get lost when the process of a pipe does (C-067)", async () => {
    const clock = new VirtualClock();
    const pipe = createPipe({ era: "legacy" });
    const client = await clock.until(connect(pipe.transport, { clock }));
    const stream = client.listen({ tools: true, resourceUris: ["test://text"] });
    await clock.until(stream.acknowledged);
    pipe.die();
    await clock.advance(3_000);
    assertEquals(pipe.servers.length, 2);
    assertEquals([...pipe.server.session.watched], ["test://text"]);
    const changes = await take(stream, 2);
    assertEquals(changes.map((change) => "missed" in change && change.missed), [true, true]);
    pipe.server.emit({ type: "resource", uri: "test://text" });
    assertEquals(await take(stream, 1), [{ type: "resource", uri: "test://text" }]);
    await client.close();
    assertEquals(pipe.server.violations, []);
  });

  test("nor when the server forgets the session, also where nothing else is asked of it", async () => {
    const server = createLegacyServer();
    const { clock, client, stream } = await listening(server, { tools: true, resourceUris: ["test://text"] });
    await until(() => server.getStreams() === 1);
    server.forgetSessions();
    server.dropStreams();
    await clock.advance(600_000);
    const changes = await take(stream, 2);
    assertEquals(changes.map((change) => "missed" in change && change.missed), [true, true]);
    assertEquals([server.getStreams(), ...server.session()?.watched ?? []], [1, "test://text"]);
    server.emit({ type: "resource", uri: "test://text" });
    assertEquals(await take(stream, 1), [{ type: "resource", uri: "test://text" }]);
    // The one that is not known, and the one that is; nothing more comes of it.
    assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "GET").length, 3);
    await client.close();
  });

  for (const had of [true, false]) {
    const then = had ? "the stream is opened again" : "there is no stream, and nobody asks for it again";
    test(`a 404 to the stream alone, of a session that is still known: ${then}`, async () => {
      const clock = new VirtualClock();
      const legacy = createLegacyServer();
      // As of a proxy whose server is started anew, and of a router that knows no GET here.
      let away = had ? 0 : Infinity;
      const server = front(
        legacy,
        ({ httpMethod }) => httpMethod === "GET" && away-- > 0 ? new Response("no page", { status: 404 }) : undefined,
      );
      const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
      const stream = client.listen({ tools: true });
      assertEquals(await clock.until(stream.acknowledged), had ? { ...none, tools: true } : {});
      if (had) away = 2;
      legacy.dropStreams();
      await clock.advance(600_000);
      const asked = server.seen.map(({ httpMethod, message }) =>
        message && "method" in message ? message.method : httpMethod
      );
      const again = had ? ["GET", "ping", "GET", "ping", "GET"] : ["ping"];
      assertEquals(asked.slice(3), ["GET", ...again]);
      if (had) assertEquals(await take(stream, 1), [{ type: "tools", missed: true }]);
      await clock.until(client.close());
    });
  }

  test("nor when the server does not know the session for a moment, and knows it again", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer();
    const good = memoryFetch(server);
    let isAway = false;
    const away = () => Promise.resolve(new Response("", { status: 404 }));
    const fetch: Fetch = (target, init) => (isAway && init.method === "GET" ? away : good)(target, init);
    const client = await clock.until(connect(url, { fetch, clock }));
    const stream = client.listen({ tools: true });
    await clock.until(stream.acknowledged);
    isAway = true;
    server.dropStreams();
    await clock.advance(4_000);
    isAway = false;
    await clock.advance(60_000);
    assertEquals([server.getStreams(), ...await take(stream, 1)], [1, { type: "tools", missed: true }]);
    await client.close();
  });

  test("after the client was closed nothing is opened any more", async () => {
    const server = createLegacyServer();
    const { clock, client, stream } = await listening(server, { tools: true, resourceUris: ["test://text"] });
    await clock.until(client.close());
    const before = server.log.length;
    await clock.advance(300_000);
    assertEquals([server.log.length, server.getStreams()], [before, 0]);
    assertEquals(await stream.next(), { done: true, value: undefined });
    assert(methodsOf(server).includes("DELETE"));
    assertEquals(paramsOf(server, "resources/subscribe"), [{ uri: "test://text" }]);
  });
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ChannelTransport,
  Client,
  connect,
  InvalidParamsError,
  isSnapshot,
  ProtocolViolationError,
} from "../../mod.ts";
import type { Snapshot } from "../../mod.ts";
import { createWebSocketChannel } from "../../src/transport/websocket.ts";
import { objectAt } from "../servers/core/wire.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { type FetchTarget, memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { createSse2024Server } from "../servers/sse_2024.ts";
import { methodsOf, type Options, paramsOf, textOf, turns, until, url } from "./support.ts";

/** A trip through storage. */
function stored(client: Client): Snapshot {
  const text = JSON.stringify(client.snapshot());
  const value: unknown = JSON.parse(text);
  assert(isSnapshot(value));
  assertEquals(JSON.parse(JSON.stringify(value)), value);
  return value;
}

function options(server: FetchTarget, more: Options = {}): Options {
  return { fetch: memoryFetch(server), ...more };
}

describe("a client that goes on elsewhere", () => {
  test("modern: without a request, with what was known", async () => {
    const server = createModernServer({ name: "shop" });
    const first = await connect(`${url}?tenant=a`, options(server));
    await first.listTools();
    await first.setLogLevel("error");
    const snapshot = stored(first);
    await first.close();
    const before = server.log.length;

    await using second = await connect(snapshot, options(server));
    assertEquals([second.era, second.revision, second.info?.server?.name], ["modern", "2026-07-28", "shop"]);
    assertEquals(server.log.length, before);
    // Mirrored headers and output checks work without a new list, and the query is still there.
    await second.callTool("header_tool", { region: "eu" });
    await assertRejects(() => second.callTool("bad_output"), ProtocolViolationError);
    assertEquals(methodsOf(server).slice(before), ["tools/call", "tools/call"]);
    const last = server.log.at(-1);
    assertEquals(last?.url, `${url}?tenant=a`);
    const meta = objectAt(objectAt(last?.message ?? {}, "params"), "_meta");
    assertEquals(meta["io.modelcontextprotocol/logLevel"], "error");
    assertEquals(server.violations, []);
  });

  test("handshake: the session goes on, without a request", async () => {
    const server = createLegacyServer({ name: "old", revision: "2025-06-18" });
    const first = await connect(url, options(server));
    await first.listTools();
    const snapshot = stored(first);
    assertEquals(snapshot.sessionId, server.sessionIds()[0]);
    const before = server.log.length;

    const second = await connect(snapshot, options(server));
    assertEquals([second.era, second.revision as string, second.info?.server?.name], ["legacy", "2025-06-18", "old"]);
    assertEquals(server.log.length, before);
    assertEquals(textOf(await second.callTool("echo", { text: "hi" })), "hi");
    assertEquals([server.count("initialize"), server.sessionIds().length], [1, 1]);
    assertEquals(server.log.at(-1)?.headers["mcp-protocol-version"], "2025-06-18");
    await second.close();
    assertEquals([server.sessionIds(), server.violations], [[], []]);
    await first.close();
  });

  test("handshake: a client that asked for nothing ends its session in the revision that was agreed on (C-103)", async () => {
    const server = createLegacyServer({ revision: "2025-06-18" });
    const first = await connect(url, options(server));
    const second = await connect(stored(first), options(server));
    await second.close();
    const { httpMethod, headers } = server.log.at(-1) ?? {};
    assertEquals([httpMethod, headers?.["mcp-protocol-version"], server.sessionIds()], ["DELETE", "2025-06-18", []]);
    await first.close();
  });

  test("handshake: ids are not used again by the next client (C-004)", async () => {
    const server = createLegacyServer();
    let client = await connect(url, options(server));
    for (let round = 0; round < 5; round++) {
      await client.callTool("echo", { text: "hi" });
      client = await connect(stored(client), options(server));
    }
    await client.callTool("echo", { text: "hi" });
    const ids = server.log.flatMap(({ message }) => message?.id === undefined ? [] : [message.id]);
    assertEquals([new Set(ids).size, server.count("initialize"), server.violations], [ids.length, 1, []]);
    await client.close();
  });

  test("handshake: a session that was forgotten meanwhile is opened anew, the call runs once", async () => {
    const server = createLegacyServer();
    const first = await connect(url, options(server, { logLevel: "warning" }));
    const snapshot = stored(first);
    server.forgetSessions();
    await using second = await connect(snapshot, options(server));
    assertEquals(textOf(await second.callTool("echo", { text: "hi" })), "hi");
    assertEquals([server.count("initialize"), server.calls("echo")], [2, 1]);
    assertEquals(server.session()?.logLevel, "warning");
    await first.close();
  });

  test("handshake: a server that speaks the modern era alone by now is found, each call runs once (C-025)", async () => {
    const old = createLegacyServer();
    const first = await connect(url, options(old));
    const snapshot = stored(first);
    const server = createModernServer();
    await using second = await connect(snapshot, options(server));
    const calls = ["a", "b", "c"].map((text) => second.callTool("echo", { text }));
    assertEquals((await Promise.all(calls)).map(textOf), ["a", "b", "c"]);
    assertEquals([second.era, server.count("server/discover"), server.calls("echo")], ["modern", 1, 3]);
    await first.close();
  });

  test("handshake: what the caller got wrong costs no session", async () => {
    const server = createLegacyServer();
    const first = await connect(url, options(server));
    await using second = await connect(stored(first), options(server));
    await assertRejects(() => second.callTool("nowhere"), InvalidParamsError);
    assertEquals([server.count("initialize"), server.sessionIds().length], [1, 1]);
    await first.close();
  });

  test("of a newer version of this library: a revision that is not spoken here is not claimed (C-011)", async () => {
    const server = createModernServer();
    const first = await connect(url, options(server));
    const { verdict, ...rest } = stored(first);
    await first.close();
    const before = server.log.length;
    const newer = { ...verdict, era: "modern", revision: "2027-01-01" as "2026-07-28" } as const;
    await using second = await connect({ ...rest, verdict: newer }, options(server));
    await second.callTool("echo", { text: "hi" });
    const claimed = server.log.slice(before).map(({ headers }) => headers["mcp-protocol-version"]);
    assertEquals([...new Set(claimed)], ["2026-07-28"]);
  });

  test("handshake with handlers: questions are heard again", async () => {
    const server = createLegacyServer();
    const handlers = { elicitation: () => ({ action: "accept" as const, content: { name: "Grace" } }) };
    const first = await connect(url, options(server, { handlers }));
    const snapshot = stored(first);
    server.dropStreams();
    await using second = await connect(snapshot, options(server, { handlers }));
    assertEquals(textOf(await second.callTool("ask")), '["Grace"]');
    await until(() => server.getStreams() === 1);
    const asked = server.session()?.ask("elicitation/create", { message: "?", requestedSchema: {} });
    assertEquals(await asked, { action: "accept", content: { name: "Grace" } });
    await first.close();
  });

  test("handshake without a session id: works on, the question for the era is not asked", async () => {
    const server = createLegacyServer({ sessions: false });
    const first = await connect(url, options(server));
    const snapshot = stored(first);
    assertEquals(snapshot.sessionId, undefined);
    const before = server.log.length;
    await using second = await connect(snapshot, options(server));
    assertEquals(textOf(await second.callTool("echo", { text: "hi" })), "hi");
    assert(!methodsOf(server).slice(before).includes("server/discover"));
    await first.close();
  });

  test("handshake, of which the era alone is known: a session is opened, the question for the era is not asked", async () => {
    const server = createLegacyServer();
    const known: Snapshot = {
      kind: "causeway.snapshot",
      version: 1,
      target: url,
      verdict: { era: "legacy" },
      tools: [],
    };
    await using client = await connect(known, options(server));
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    assertEquals(methodsOf(server).slice(0, 2), ["initialize", "notifications/initialized"]);
  });

  test("HTTP+SSE: straight to the stream, without a POST before", async () => {
    const server = createSse2024Server();
    const first = await connect(url, options(server));
    const snapshot = stored(first);
    await until(() => server.count("notifications/initialized") === 1);
    await first.close();
    const before = server.log.length;
    await using second = await connect(snapshot, options(server));
    assertEquals(textOf(await second.callTool("echo", { text: "hi" })), "hi");
    assertEquals(methodsOf(server).slice(before, before + 2), ["GET", "initialize"]);
  });

  test("HTTP+SSE and WebSocket: the query is still there, and in no name for people", async () => {
    const address = `${url}?tenant=a`;
    const server = createSse2024Server();
    const first = await connect(address, options(server));
    const snapshot = stored(first);
    assertEquals([snapshot.target, first.label], [address, url]);
    await first.close();
    await using second = await connect(snapshot, options(server));
    assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "GET").map(({ url }) => url), [address, address]);
    assertEquals(second.era, "legacy");

    const socket = "ws://fake.test/mcp?tenant=a";
    const openWebSocket = () => Promise.reject(new Error("not here"));
    await using client = new Client(new ChannelTransport(() => createWebSocketChannel(socket, { openWebSocket })));
    assertEquals([client.snapshot().target, client.label], [socket, "ws://fake.test/mcp"]);
  });

  test("a stopped call goes on there too", async () => {
    const server = createModernServer();
    const capabilities = { elicitation: { form: {} } };
    const first = await connect(url, options(server, { capabilities }));
    const error: unknown = await assertRejects(() => first.callTool("ask"));
    const packed = JSON.stringify({ pending: (error as { pending: unknown }).pending, snapshot: first.snapshot() });
    await first.close();
    const { pending, snapshot } = JSON.parse(packed);
    await using second = await connect(snapshot as Snapshot, options(server, { capabilities }));
    const result = await second.resume(pending, { name_1: { action: "accept", content: { name: "Ada" } } });
    assertEquals([textOf(result), server.count("server/discover")], ['["Ada"]', 1]);
  });

  test("what the caller passes goes before what was kept: other headers, another log level", async () => {
    const server = createModernServer();
    const first = await connect(url, options(server, { headers: { Authorization: "Bearer one" } }));
    const snapshot = stored(first);
    assert(!JSON.stringify(snapshot).includes("Bearer"), "credentials are not kept");
    await first.close();
    await using second = await connect(snapshot, options(server, { headers: { Authorization: "Bearer two" } }));
    await second.listTools();
    assertEquals(server.log.at(-1)?.headers.authorization, "Bearer two");
  });

  test("what is no snapshot is a TypeError", async () => {
    const wrong: unknown[] = [null, { kind: "causeway.snapshot" }, {
      kind: "causeway.snapshot",
      version: 2,
      target: url,
      tools: [],
    }, {}];
    for (const value of wrong) {
      assertEquals(isSnapshot(value), false);
      await assertRejects(() => connect(value as Snapshot), TypeError, "Cannot connect to");
    }
  });
});

describe("several clients", () => {
  test("of one handshake server have sessions of their own", async () => {
    const server = createLegacyServer();
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(url, options(server))));
    assertEquals(new Set(server.sessionIds()).size, 8);
    await clients[0]?.close();
    const rest = clients.slice(1);
    assertEquals(server.sessionIds().length, 7);
    const results = await Promise.all(rest.map((client, index) => client.callTool("echo", { text: `${index}` })));
    assertEquals(results.map(textOf), rest.map((_, index) => `${index}`));
    await Promise.all(rest.map((client) => client.close()));
    assertEquals([server.sessionIds(), server.violations], [[], []]);
  });

  test("of one modern server share nothing: neither answers, nor handlers, nor streams", async () => {
    const server = createModernServer();
    const names = ["a", "b", "c", "d", "e"];
    const clients = await Promise.all(names.map((name) => {
      const handlers = { elicitation: () => ({ action: "accept" as const, content: { name } }) };
      return connect(url, options(server, { handlers }));
    }));
    const answers = await Promise.all(clients.map((client) => client.callTool("ask", { rounds: 2 })));
    assertEquals(answers.map(textOf), names.map((name) => JSON.stringify([name, name])));
    const streams = clients.map((client) => client.listen({ tools: true }));
    await Promise.all(streams.map(({ acknowledged }) => acknowledged));
    await clients[0]?.close();
    await until(() => server.listeners() === 4);
    const ids = server.log.flatMap(({ message }) => message?.id === undefined ? [] : [message.id]);
    assertEquals(new Set(ids).size, ids.length);
    await Promise.all(clients.map((client) => client.close()));
    await until(() => server.listeners() === 0);
    assertEquals(server.violations, []);
  });

  test("of both eras live side by side", async () => {
    const [modern, legacy] = [createModernServer(), createLegacyServer()];
    await using one = await connect(url, options(modern));
    await using two = await connect(url, options(legacy));
    const texts = await Promise.all([one, two].map((client) => client.callTool("echo", { text: client.era ?? "" })));
    assertEquals(texts.map(textOf), ["modern", "legacy"]);
    await turns();
    assertEquals([paramsOf(modern, "tools/call").length, paramsOf(legacy, "tools/call").length], [1, 1]);
  });
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ChannelTransport,
  connect,
  ConnectError,
  ConnectionClosedError,
  createLegacySseChannel,
  HttpStatusError,
  McpError,
  ProtocolViolationError,
  RedirectRefusedError,
  TimeoutError,
  UnauthorizedError,
} from "../../mod.ts";
import type { Fetch, HttpTransportOptions } from "../../mod.ts";
import { type FetchTarget, memoryFetch } from "../servers/memory_fetch.ts";
import { createSse2024Server, type Sse2024Server } from "../servers/sse_2024.ts";
import { textOf, turns, until } from "../support/clients.ts";
import { serverUrl } from "../support/server_url.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { transportSuite } from "../suites/transport.ts";
import { fresh, remoteState, subjectOf } from "./support.ts";

const address = "http://fake.test/sse";

function transport(target: FetchTarget, options: HttpTransportOptions = {}): ChannelTransport {
  return new ChannelTransport(() => createLegacySseChannel(address, { fetch: memoryFetch(target), ...options }));
}

transportSuite("HTTP+SSE in memory", () => {
  const server = createSse2024Server({ revision: "2025-11-25" });
  return subjectOf(transport(server), "legacy", () => server);
});

const base = serverUrl() ?? "";
const skip = base === "" ? "the test server does not run: start the tests with tools/run.ts" : false;
transportSuite("HTTP+SSE over a socket", () => {
  const path = `/sse2024@${fresh()}/sse`;
  const channel = new ChannelTransport(() => createLegacySseChannel(base + path));
  return { transport: channel, era: "legacy", state: () => remoteState(base, path) };
}, { skip });

/** Why the first message could not be sent. */
function failure(channel: ChannelTransport): Promise<McpError | undefined> {
  return new Promise((resolve) => {
    channel.send({ jsonrpc: "2.0", id: 1, method: "ping" }, { message() {}, end: (reason) => resolve(reason) });
  });
}

/** A server that answers the GET with this, and notes all POSTs. */
function streaming(text: string, init: ResponseInit = {}) {
  const posts: string[] = [];
  const target: FetchTarget = {
    fetch(request) {
      if (request.method === "POST") {
        posts.push(request.url);
        return Promise.resolve(new Response("Accepted", { status: 202 }));
      }
      if (init.status !== undefined) return Promise.resolve(new Response("refused", init));
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      });
      return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" }, ...init }));
    },
  };
  return { target, posts };
}

describe("HTTP+SSE of 2024-11-05", () => {
  const endpoints: [string, string][] = [
    ["/messages?id=1", "http://fake.test/messages?id=1"],
    ["messages", "http://fake.test/messages"],
    ["http://fake.test/other", "http://fake.test/other"],
    ["?id=2", "http://fake.test/sse?id=2"],
  ];
  for (const [data, expected] of endpoints) {
    test(`posts to ${data}, as seen from the stream (C-118 C-122)`, async () => {
      const { target, posts } = streaming(`event: endpoint\ndata: ${data}\n\n`);
      const channel = transport(target);
      void failure(channel);
      await until(() => posts.length === 1);
      assertEquals(posts, [expected]);
      await channel.close();
    });
  }

  for (
    const data of [
      "http://evil.test/m",
      "https://fake.test/m",
      "http://fake.test:81/m",
      "//evil.test/m",
      "javascript:1",
    ]
  ) {
    test(`never posts to ${data} (C-122)`, async () => {
      const { target, posts } = streaming(`event: endpoint\ndata: ${data}\n\n`);
      const channel = transport(target);
      assert(await failure(channel) instanceof RedirectRefusedError);
      assertEquals(posts, []);
      await channel.close();
    });
  }

  test("only the first endpoint counts", async () => {
    const { target, posts } = streaming("event: endpoint\ndata: /one\n\nevent: endpoint\ndata: http://evil.test/\n\n");
    const channel = transport(target);
    void failure(channel);
    await until(() => posts.length === 1);
    assertEquals(posts, ["http://fake.test/one"]);
    await channel.close();
  });

  test("a stream that never names one: a time-out, `timeouts.start`", async () => {
    const clock = new VirtualClock();
    const { target } = streaming(": hello\n\n");
    const channel = transport(target, { clock, timeouts: { start: 3_000 } });
    const failed = failure(channel);
    await clock.advance(3_100);
    const error = await failed;
    assert(error instanceof TimeoutError);
    assertEquals([error.timeout, error.milliseconds, error.delivery], ["start", 3_000, "not-sent"]);
    await channel.close();
  });

  const refused: [string, ResponseInit, new (...args: never[]) => McpError][] = [
    ["401", { status: 401 }, UnauthorizedError],
    ["403", { status: 403 }, UnauthorizedError],
    ["404", { status: 404 }, HttpStatusError],
    ["503", { status: 503 }, HttpStatusError],
    ["a page", { headers: { "content-type": "text/html" } }, ProtocolViolationError],
  ];
  for (const [name, init, expected] of refused) {
    test(`a GET that is answered with ${name}`, async () => {
      const channel = transport(streaming("", init).target);
      const error = await failure(channel);
      assert(error instanceof expected, String(error));
      assertEquals(error.delivery === "unknown", false);
      await channel.close();
    });
  }

  test("a POST that is refused ends the connection with its status", async () => {
    const target: FetchTarget = {
      fetch: (request) =>
        request.method === "POST"
          ? Promise.resolve(new Response("no", { status: 400 }))
          : streaming("event: endpoint\ndata: /m\n\n").target.fetch(request),
    };
    const channel = transport(target);
    const error = await failure(channel);
    assert(error instanceof HttpStatusError && error.status === 400);
    assertEquals(channel.ended, true);
    await channel.close();
  });

  /** Its first POST waits for `answer`; the others are accepted, and counted. */
  function holding(answer: Promise<Response>) {
    let posts = 0;
    const target: FetchTarget = {
      fetch: (request) =>
        request.method === "POST"
          ? ++posts === 1 ? answer : Promise.resolve(new Response("Accepted", { status: 202 }))
          : streaming("event: endpoint\ndata: /m\n\n").target.fetch(request),
    };
    return { target, posts: () => posts };
  }

  test("a POST whose head never comes does not hold back what is written behind it", async () => {
    const clock = new VirtualClock();
    const { target, posts } = holding(new Promise(() => {}));
    const channel = transport(target, { clock });
    for (let call = 0; call < 3; call++) void failure(channel);
    await until(() => posts() === 1);
    await clock.until(until(() => posts() === 3));
    assertEquals([posts(), channel.ended], [3, false]);
    await channel.close();
    assertEquals(clock.waiting, 0);
  });

  test("a POST that is refused late ends the connection with its status", async () => {
    const clock = new VirtualClock();
    let refuse = (_: Response): void => {};
    const { target, posts } = holding(new Promise((resolve) => refuse = resolve));
    const channel = transport(target, { clock });
    void failure(channel);
    const failed = failure(channel);
    await until(() => posts() === 1);
    await clock.until(until(() => posts() === 2));
    refuse(new Response("no", { status: 400 }));
    const error = await clock.until(failed);
    assert(error instanceof HttpStatusError && error.status === 400);
    assertEquals([error.delivery, channel.ended], ["unknown", true]);
    await channel.close();
  });

  test("a POST that does not get there says nothing of a call that did, behind it", async () => {
    const clock = new VirtualClock();
    const server = createSse2024Server();
    const held = new Set<() => void>();
    const behind = memoryFetch(server);
    const fetch: Fetch = (url, init) =>
      String(init.body).includes('"held"')
        ? new Promise((_, reject) => held.add(() => reject(Object.assign(new Error(), { code: "CONNECT_TIMEOUT" }))))
        : behind(url, init);
    const client = await connect(transport(server, { clock, fetch }), { clock });
    await client.notify("notifications/message", { data: "held" });
    await until(() => held.size === 1);
    const call = client.callTool("slow");
    await clock.until(until(() => server.calls("slow") === 1));
    for (const fail of held) fail();
    const error = await assertRejects(() => clock.until(call), ConnectError);
    assertEquals([error.delivery, server.calls("slow")], ["unknown", 1]);
    await client.close();
  });

  test("a stream that ends takes all that waits with it", async () => {
    const server: Sse2024Server = createSse2024Server();
    const client = await connect(transport(server));
    const calls = Array.from({ length: 3 }, () => assertRejects(() => client.callTool("slow"), McpError));
    await until(() => server.calls("slow") === 3);
    server.dropStreams();
    for (const error of await Promise.all(calls)) assert(error.cause instanceof ConnectionClosedError);
    await client.close();
  });

  test("server requests and changes come over the stream", async () => {
    const server = createSse2024Server({ revision: "2025-11-25" });
    const handlers = { elicitation: () => ({ action: "accept" as const, content: { name: "Grace" } }) };
    await using client = await connect(transport(server), { handlers });
    assertEquals(textOf(await client.callTool("ask")), '["Grace"]');
    const stream = client.listen({ tools: true });
    await stream.acknowledged;
    await turns();
    server.emit({ type: "tools" });
    assertEquals((await stream.next()).value, { type: "tools" });
    stream.close();
    assertEquals(server.violations, []);
  });
});

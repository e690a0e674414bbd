import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, connect, HttpStatusError, HttpTransport, RedirectRefusedError, TimeoutError } from "../../../mod.ts";
import type { Verdict } from "../../../mod.ts";
import { objectAt } from "../../servers/core/wire.ts";
import { createLegacyServer, type LegacyOptions } from "../../servers/legacy.ts";
import { type FetchTarget, memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { createSse2024Server } from "../../servers/sse_2024.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import {
  front,
  methodsOf,
  modernRevision,
  nobody,
  type Options,
  textOf,
  until,
  url,
  withLegacy,
  withModern,
} from "../support.ts";

const day = 86_400_000;
const modern: Verdict = { era: "modern", revision: "2026-07-28" };

function reach(target: FetchTarget, options: Options = {}) {
  return connect(url, { fetch: memoryFetch(target), ...options });
}

function legacyUntil(expires: number): Verdict {
  return { era: "legacy", revision: "2025-11-25", expires };
}

describe("what is known of a server already", () => {
  test("a told verdict saves the question: connect makes no request, a call makes one (C-024 C-025)", async () => {
    const server = createModernServer();
    const first = await reach(server);
    const kept: Verdict = JSON.parse(JSON.stringify(first.verdict));
    await first.close();
    const before = server.log.length;
    await using client = await reach(server, { verdict: kept });
    assertEquals(server.log.length - before, 0);
    assertEquals([client.era, client.revision], ["modern", modernRevision]);
    assertEquals(client.info?.server, { name: "fake", version: "1.0.0" });
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    assertEquals(server.log.length - before, 1);
    assertEquals(server.violations, []);
  });

  test("a modern verdict has no end, a handshake verdict ends after a day (C-026)", async () => {
    const clock = new VirtualClock();
    const old = await reach(createLegacyServer(), { clock });
    const { era, revision, expires } = old.verdict ?? {};
    assertEquals([era, revision, expires], ["legacy", "2025-11-25", clock.now() + day]);
    await old.close();
    await using fresh = await reach(createModernServer());
    assertEquals([fresh.verdict?.era, fresh.verdict?.expires], ["modern", undefined]);
  });

  test("a handshake verdict that is still good saves the question", () =>
    withLegacy(async (client, server) => {
      assertEquals(methodsOf(server), ["initialize", "notifications/initialized"]);
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    }, { client: { verdict: legacyUntil(Date.now() + day) } }));

  test("a handshake verdict that is over is asked again: the server has been upgraded (C-026)", () =>
    withModern((client, server) => {
      assertEquals([client.era, methodsOf(server)], ["modern", ["server/discover"]]);
      return Promise.resolve();
    }, { client: { verdict: legacyUntil(Date.now() - 1) } }));

  test("a handshake verdict that does not hold any more is asked again: only the modern era is left (C-025)", () =>
    withModern((client, server) => {
      assertEquals([client.era, server.count("initialize")], ["modern", 1]);
      assertEquals(client.verdict?.era, "modern");
      return Promise.resolve();
    }, { client: { verdict: legacyUntil(Date.now() + day) } }));

  const refusals: LegacyOptions[] = [
    {},
    { sessions: false },
    { revision: "2025-06-18" },
    { revision: "2025-03-26", sessions: false },
  ];
  for (const options of refusals) {
    test(`a modern verdict that does not hold is asked again, the call runs once: ${JSON.stringify(options)}`, () =>
      withLegacy(async (client, server) => {
        assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
        assertEquals([client.era, client.verdict?.era, server.calls("echo")], ["legacy", "legacy", 1]);
      }, { client: { verdict: modern }, server: options }));
  }

  for (const status of [400, 404, 405]) {
    test(`a modern verdict and a bare ${status}: asked again`, async () => {
      const old = createLegacyServer();
      const server = front(old, ({ headers }) => {
        return headers["mcp-protocol-version"] === modernRevision ? new Response("", { status }) : undefined;
      });
      await using client = await reach(server, { verdict: modern });
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals([client.era, old.calls("echo")], ["legacy", 1]);
    });
  }

  test("an outage does not cost a good verdict (C-022)", async () => {
    let broken = true;
    const server = front(createModernServer(), () => broken ? new Response("", { status: 502 }) : undefined);
    await using client = await reach(server, { verdict: modern, retry: { attempts: 1 } });
    await assertRejects(() => client.listTools(), HttpStatusError);
    broken = false;
    await client.listTools();
    assertEquals(server.methods, ["tools/list", "tools/list"]);
  });

  test("calls that come at once share one question", async () => {
    const server = createModernServer();
    await using client = new Client(new HttpTransport(url, { fetch: memoryFetch(server) }));
    assertEquals([client.info, client.era, client.revision, client.verdict], [null, undefined, undefined, undefined]);
    const echoes = ["a", "b", "c"].map((text) => client.callTool("echo", { text }));
    assertEquals((await Promise.all(echoes)).map(textOf), ["a", "b", "c"]);
    assertEquals([server.count("server/discover"), server.log.length], [1, 4]);
    assert(client.info !== null);
  });

  test("after a failure the next call asks anew", async () => {
    let target = nobody;
    const fetch = (address: string, init: RequestInit) => memoryFetch(target)(address, init);
    await using client = new Client(new HttpTransport(url, { fetch }), { retry: { attempts: 1 } });
    await assertRejects(() => client.listTools(), HttpStatusError);
    assertEquals([client.era, client.info], [undefined, null]);
    target = createModernServer();
    await client.listTools();
    assertEquals(client.era, "modern");
  });
});

describe("a server that only knows HTTP+SSE of 2024-11-05 (C-118 to C-123)", () => {
  const address = "http://fake.test/sse";

  for (const postStatus of [400, 404, 405]) {
    test(`is found after a POST was answered ${postStatus} (C-119 C-120)`, async () => {
      const server = createSse2024Server({ postStatus });
      const headers = { Authorization: "Bearer secret" };
      const client = await connect(address, { fetch: memoryFetch(server), headers });
      assertEquals([client.era, client.revision, client.verdict?.binding], ["legacy", "2024-11-05", "http+sse"]);
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals((await client.listTools()).tools.length > 10, true);
      // The token goes on the stream and on every POST (C-123).
      for (const { headers } of server.log) assertEquals(headers.authorization, "Bearer secret");
      await client.close();
      assertEquals([server.streams(), server.violations], [0, []]);
    });
  }

  for (const status of [401, 403, 429, 500, 503]) {
    test(`is not looked for after ${status}`, async () => {
      const server = createSse2024Server({ postStatus: status });
      await assertRejects(() => connect(address, { fetch: memoryFetch(server), retry: { attempts: 1 } }));
      assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "GET"), []);
    });
  }

  test("an absolute address of the same origin is taken", async () => {
    const server = createSse2024Server({ endpoint: "absolute" });
    await using client = await connect(address, { fetch: memoryFetch(server) });
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
  });

  test("an address at another origin is refused: nothing is sent there (C-122)", async () => {
    const server = createSse2024Server({ endpoint: "foreign" });
    const error = await assertRejects(() => connect(address, { fetch: memoryFetch(server) }), RedirectRefusedError);
    assert(error.cause instanceof HttpStatusError && error.cause.status === 405, String(error.cause));
    assertEquals(server.log.filter(({ url }) => !url.startsWith("http://fake.test/")), []);
    assertEquals(server.streams(), 0);
  });

  test("a verdict goes there at once, without a POST before", async () => {
    const server = createSse2024Server();
    const first = await connect(address, { fetch: memoryFetch(server) });
    const verdict: Verdict = JSON.parse(JSON.stringify(first.verdict));
    await until(() => server.count("notifications/initialized") === 1);
    await first.close();
    const before = server.log.length;
    await using client = await connect(address, { fetch: memoryFetch(server), verdict });
    assertEquals(server.log[before]?.httpMethod, "GET");
    assertEquals(methodsOf(server).slice(before, before + 2), ["GET", "initialize"]);
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
  });

  for (const [name, expires] of [["is over", -1], ["does not hold any more", day]] as const) {
    test(`a verdict that ${name}: the server has been upgraded, and is found (C-025 C-026)`, async () => {
      const server = createModernServer();
      const verdict: Verdict = { era: "legacy", binding: "http+sse", expires: Date.now() + expires };
      await using client = await reach(server, { verdict });
      assertEquals([client.era, client.verdict?.era, client.verdict?.binding], ["modern", "modern", undefined]);
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals(methodsOf(server).filter((method) => method === "GET").length, expires > 0 ? 1 : 0);
    });
  }

  test("a page that is neither: the answer to the POST is what the caller hears", async () => {
    const server = front(nobody, () => new Response("<html>hello</html>", { status: 404 }));
    const error = await assertRejects(() => reach(server), HttpStatusError);
    assertEquals(error.status, 404);
    assert(error.message.includes("hello"));
    assertEquals(server.seen.map(({ httpMethod }) => httpMethod), ["POST", "POST", "GET"]);
  });

  test("a server that refuses the POST, and whose stream says nothing: both are told", async () => {
    const server = front(
      nobody,
      ({ httpMethod }) =>
        httpMethod === "POST"
          ? new Response("the header X-Tenant is missing", { status: 400 })
          : new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }),
    );
    const clock = new VirtualClock();
    const error = await clock.until(assertRejects(() => reach(server, { clock }), TimeoutError));
    assert(error.cause instanceof HttpStatusError);
    assert(error.cause.message.includes("the header X-Tenant is missing"));
  });

  test("a stream that broke: the next call opens it anew, and the session with it", async () => {
    const server = createSse2024Server();
    await using client = await connect(address, { fetch: memoryFetch(server) });
    server.dropStreams();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assertEquals(textOf(await client.callTool("echo", { text: "again" })), "again");
    assertEquals([server.count("initialize"), server.calls("echo")], [3, 1]);
    assertEquals(objectAt(server.log.at(-1)?.message ?? {}, "params").name, "echo");
  });
});

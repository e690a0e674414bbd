import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, HttpStatusError, InvalidParamsError } from "../../mod.ts";
import type { Client } from "../../mod.ts";
import type { CacheHints } from "../servers/core/modern_peer.ts";
import { objectAt } from "../servers/core/wire.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer, type ModernOptions, type ModernServer } from "../servers/modern.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { errorReply, front, type Options, resultReply, turns, until, url, withModern } from "./support.ts";

const minute: CacheHints = { ttlMs: 60_000, cacheScope: "private" };

/** A client on a clock that stands still, and a server that allows its results to be kept. */
async function keeping(
  run: (parts: { client: Client; server: ModernServer; clock: VirtualClock }) => Promise<void>,
  options: { server?: ModernOptions; client?: Options } = {},
): Promise<void> {
  const clock = new VirtualClock();
  const server = createModernServer({ cache: minute, ...options.server });
  const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, ...options.client }));
  try {
    await run({ client, server, clock });
  } finally {
    await client.close();
  }
  assertEquals(server.violations, []);
}

describe("how long results are kept (C-191 C-192)", () => {
  test("as long as the server says, from the request on, and no longer", () =>
    keeping(async ({ client, server, clock }) => {
      const first = await client.listTools();
      assertEquals(await client.listTools(), first);
      await clock.advance(59_900);
      await client.listTools();
      assertEquals(server.count("tools/list"), 1);
      await clock.advance(200);
      await client.listTools();
      assertEquals(server.count("tools/list"), 2);
    }));

  for (const hints of [{ ttlMs: 0 }, { ttlMs: -5 }, {}, { cacheScope: "public" }]) {
    test(`not at all: ${JSON.stringify(hints)}`, () =>
      keeping(async ({ client, server }) => {
        await client.listTools();
        await client.listTools();
        assertEquals(server.count("tools/list"), 2);
      }, { server: { cache: hints } }));
  }

  test("a day at most, whatever the server says", () =>
    keeping(async ({ client, server, clock }) => {
      await client.listPrompts();
      await clock.advance(86_300_000);
      await client.listPrompts();
      assertEquals(server.count("prompts/list"), 1);
      await clock.advance(200_000);
      await client.listPrompts();
      assertEquals(server.count("prompts/list"), 2);
    }, { server: { cache: { ttlMs: 1e12 } } }));

  test("lists, templates and reads; nothing else (C-200)", () =>
    keeping(async ({ client, server }) => {
      for (let round = 0; round < 2; round++) {
        await client.listResources();
        await client.listResourceTemplates();
        await client.listPrompts();
        await client.readResource("test://watched");
        await client.getPrompt("plain");
        await client.complete({ type: "ref/prompt", name: "greet" }, { name: "who", value: "a" });
        await client.callTool("echo", { text: "hi" });
      }
      const methods = ["resources/list", "resources/templates/list", "prompts/list", "resources/read", "prompts/get"];
      assertEquals(methods.map((method) => server.count(method)), [1, 1, 1, 1, 2]);
      assertEquals([server.count("completion/complete"), server.calls("echo")], [2, 2]);
    }));

  test("512 of them at most: the oldest goes first", () =>
    keeping(async ({ client, server }) => {
      for (let id = 0; id <= 512; id++) await client.readResource(`test://item/${id}`);
      const asked = server.count("resources/read");
      await client.readResource("test://item/1");
      assertEquals(server.count("resources/read"), asked);
      await client.readResource("test://item/0");
      assertEquals(server.count("resources/read"), asked + 1);
    }));

  test("what a caller does to its result does not touch the kept one", () =>
    keeping(async ({ client, server }) => {
      // The first one comes from the server, the others were kept.
      for (let round = 0; round < 3; round++) {
        const result = await client.readResource("test://text");
        const [content] = result.contents;
        assertEquals(content?.text, "hello world");
        if (content) content.text = "changed";
        result.contents.length = 0;
      }
      assertEquals(server.count("resources/read"), 1);
    }));

  test("other parameters are another result, other pages too (C-193 C-198)", () =>
    keeping(async ({ client, server }) => {
      assertEquals((await client.readResource("test://text")).contents[0]?.text, "hello world");
      assertEquals((await client.readResource("test://many")).contents[0]?.text, "one");
      const first = await client.listResources({ cursor: null });
      await client.listResources({ cursor: first.nextCursor ?? "" });
      assertEquals(server.count("resources/list"), 2);
      // The whole list is made of the same pages: only the third one is new.
      assertEquals((await client.listResources()).resources.length, 5);
      assertEquals([server.count("resources/list"), server.count("resources/read")], [3, 2]);
    }, { server: { pageSize: 2 } }));

  test("`cache: false`, and requests with _meta or headers of their own, always ask", async () => {
    await keeping(async ({ client, server }) => {
      await client.listTools();
      await client.listTools();
      assertEquals(server.count("tools/list"), 2);
    }, { client: { cache: false } });
    await keeping(async ({ client, server }) => {
      await client.listTools();
      await client.listTools({ meta: { "com.example/a": 1 } });
      await client.listTools({ headers: { "X-Tenant": "b" } });
      assertEquals(server.count("tools/list"), 3);
    });
  });

  test("another client keeps its own: another authorization, another cache (C-195)", () =>
    keeping(async ({ client, server }) => {
      await using other = await connect(url, {
        fetch: memoryFetch(server),
        headers: { Authorization: "Bearer other" },
      });
      await client.listTools();
      await other.listTools();
      assertEquals(server.count("tools/list"), 2);
    }));

  test("a page whose cursor is refused takes the pages before it along (C-198)", async () => {
    let good = "a";
    const server = front(createModernServer(), (seen) => {
      if (seen.method !== "prompts/list") return undefined;
      const { cursor } = objectAt(seen.message ?? {}, "params");
      if (cursor === undefined) return resultReply(seen, { prompts: [{ name: "one" }], nextCursor: good, ...minute });
      return cursor === good ? resultReply(seen, { prompts: [{ name: "two" }] }) : errorReply(seen, -32602);
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    assertEquals((await client.listPrompts()).prompts.length, 2);
    good = "b";
    await assertRejects(() => client.listPrompts(), InvalidParamsError);
    assertEquals((await client.listPrompts()).prompts.length, 2);
  });

  test("what was asked for with answers is never kept (C-194)", () =>
    keeping(async ({ client, server }) => {
      assertEquals((await client.readResource("test://ask")).contents[0]?.text, '{"name":"n1"}');
      assertEquals((await client.readResource("test://ask")).contents[0]?.text, '{"name":"n2"}');
      assertEquals(server.count("resources/read"), 4);
    }, { client: { handlers: { elicitation: answers() } } }));
});

describe("the same request at once", () => {
  test("ten listTools make one request", () =>
    keeping(async ({ client, server }) => {
      const lists = await Promise.all(Array.from({ length: 10 }, () => client.listTools()));
      assertEquals(server.count("tools/list"), 1);
      for (const list of lists) assertEquals(list, lists[0]);
      assert(lists[0] !== lists[1], "each caller has a result of its own");
    }, { server: { cache: {} } }));

  test("afterwards it is asked again when nothing may be kept", () =>
    keeping(async ({ client, server }) => {
      await Promise.all([client.readResource("test://watched"), client.readResource("test://watched")]);
      assertEquals((await client.readResource("test://watched")).contents[0]?.text, "read 2 times");
      assertEquals(server.count("resources/read"), 2);
    }, { server: { cache: {} } }));

  test("one who may give up waits alone: the others are not harmed", () =>
    keeping(async ({ client, server }) => {
      const controller = new AbortController();
      const impatient = assertRejects(() => client.listTools({ signal: controller.signal }));
      const patient = client.listTools();
      controller.abort(new Error("enough"));
      assertEquals((await impatient as Error).message, "enough");
      assert((await patient).tools.length > 10);
      assert(server.count("tools/list") <= 2);
    }));

  test("a failure is told to all, and is not kept", async () => {
    let broken = true;
    const server = front(createModernServer({ cache: minute }), ({ method }) => {
      return broken && method === "tools/list" ? new Response("", { status: 404 }) : undefined;
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const failures = Array.from({ length: 3 }, () => assertRejects(() => client.listTools(), HttpStatusError));
    await Promise.all(failures);
    broken = false;
    assert((await client.listTools()).tools.length > 10);
    assertEquals(server.methods.filter((method) => method === "tools/list").length, 2);
  });
});

describe("changes make what was kept stale at once (C-197)", () => {
  test("a list that changed, with all its pages, and no other", () =>
    keeping(async ({ client, server }) => {
      const stream = client.listen({ tools: true, resources: true });
      await stream.acknowledged;
      await client.listTools();
      await client.listPrompts();
      await client.listResources();
      const [tools, resources] = [server.count("tools/list"), server.count("resources/list")];
      server.emit({ type: "tools" });
      await until(() => server.log.length > 0);
      await stream.next();
      await client.listTools();
      await client.listPrompts();
      await client.listResources();
      assertEquals([server.count("tools/list"), server.count("resources/list")], [2 * tools, resources]);
      assertEquals(server.count("prompts/list"), 2);
      server.emit({ type: "resources" });
      await stream.next();
      await client.listResources();
      assertEquals(server.count("resources/list"), 2 * resources);
      stream.close();
    }, { server: { pageSize: 2 } }));

  test("a resource that was updated", () =>
    keeping(async ({ client, server }) => {
      const stream = client.subscribeResource("test://watched");
      await stream.acknowledged;
      assertEquals((await client.readResource("test://watched")).contents[0]?.text, "read 1 times");
      assertEquals((await client.readResource("test://watched")).contents[0]?.text, "read 1 times");
      server.emit({ type: "resource", uri: "test://watched" });
      await stream.next();
      assertEquals((await client.readResource("test://watched")).contents[0]?.text, "read 2 times");
      stream.close();
    }));

  test("also when nobody reads the stream of changes", () =>
    keeping(async ({ client, server }) => {
      const stream = client.listen({ tools: true });
      await stream.acknowledged;
      await client.listTools();
      server.emit({ type: "tools" });
      await turns();
      await client.listTools();
      assertEquals(server.count("tools/list"), 2);
      stream.close();
    }));

  test("a stream that broke makes all stale that it stood for (C-151)", () =>
    keeping(async ({ client, server, clock }) => {
      const stream = client.listen({ tools: true });
      await clock.until(stream.acknowledged);
      await client.listTools();
      server.dropSubscriptions();
      await clock.advance(2_000);
      assertEquals(server.listeners(), 1);
      await client.listTools();
      assertEquals(server.count("tools/list"), 2);
    }, { server: { cache: { ttlMs: 3_600_000 } } }));

  test("a change while the list is under way: that list is not kept", async () => {
    const inner = createModernServer({ cache: minute });
    let answer = () => {};
    const server = front(inner, async (seen, count) => {
      if (seen.method !== "tools/list" || count > 1) return undefined;
      await new Promise<void>((resolve) => answer = resolve);
      return resultReply(seen, { resultType: "complete", tools: [], ...minute });
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const stream = client.listen({ tools: true });
    await stream.acknowledged;
    const old = client.listTools();
    await until(() => server.methods.includes("tools/list"));
    inner.emit({ type: "tools" });
    await stream.next();
    answer();
    assertEquals((await old).tools, []);
    assert((await client.listTools()).tools.length > 10);
    stream.close();
  });

  test("a call that changes the server's tools is seen by who listens", () =>
    withModern(async (client, server) => {
      const stream = client.listen({ tools: true });
      await stream.acknowledged;
      await client.listTools();
      await client.callTool("change", { what: "tools" });
      await stream.next();
      await client.listTools();
      assertEquals(server.count("tools/list"), 2);
      stream.close();
    }, { server: { cache: minute } }));
});

function answers() {
  let count = 0;
  return () => ({ action: "accept" as const, content: { name: `n${++count}` } });
}

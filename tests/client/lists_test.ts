import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, InvalidParamsError, openHub, ProtocolViolationError } from "../../mod.ts";
import type { LogRecord } from "../../mod.ts";
import type { JsonObject } from "../servers/core/wire.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { type FetchTarget, memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import {
  eventReply,
  front,
  inEveryWay,
  type Options,
  paramsOf,
  resultReply,
  textOf,
  url,
  withLegacy,
  withModern,
} from "./support.ts";

const tool = (name: string): JsonObject => ({ name, inputSchema: { type: "object" } });

/** A server that lists these pages: page n names the cursor of page n + 1. */
function paged(
  pages: { tools: JsonObject[]; nextCursor?: string | null }[],
  target: FetchTarget = createModernServer(),
) {
  return front(target, (seen, count) => {
    const page = pages[count - 1];
    return seen.method === "tools/list" && page ? resultReply(seen, { ...page, ttlMs: 0 }) : undefined;
  });
}

describe("lists that come in pages", () => {
  inEveryWay("all pages are gathered, whatever their size (C-186 C-189)", async (client, server) => {
    const { tools, nextCursor, truncated } = await client.listTools();
    assertEquals([nextCursor, truncated], [undefined, undefined]);
    assert(tools.length > 15);
    assertEquals(server.count("tools/list"), Math.ceil(tools.length / 2));
    assertEquals(paramsOf(server, "tools/list").slice(0, 3).map(({ cursor }) => cursor), [
      undefined,
      "page:2",
      "page:4",
    ]);
    assertEquals((await client.listResources()).resources.length, 5);
    assertEquals((await client.listResourceTemplates()).resourceTemplates.length, 2);
    assertEquals((await client.listPrompts()).prompts.length, 3);
    assertEquals([server.count("resources/list"), server.count("prompts/list")], [3, 2]);
  }, { server: { pageSize: 2 } });

  inEveryWay("one raw page by its cursor; null is the first (C-187)", async (client, server) => {
    const first = await client.listResources({ cursor: null });
    assertEquals([first.resources.length, first.nextCursor], [2, "page:2"]);
    const second = await client.listResources({ cursor: first.nextCursor ?? "" });
    assertEquals(second.resources.map(({ name }) => name), ["many", "ask"]);
    const last = await client.listResources({ cursor: second.nextCursor ?? "" });
    assertEquals([last.resources.length, last.nextCursor], [1, undefined]);
    assertEquals(server.count("resources/list"), 3);
  }, { server: { pageSize: 2 } });

  inEveryWay("a cursor that the server does not know: InvalidParamsError", async (client) => {
    await assertRejects(() => client.listTools({ cursor: "made up" }), InvalidParamsError);
  });

  test('"" is a cursor, and the same cursor twice may be right (C-188)', async () => {
    const server = paged([
      { tools: [tool("a")], nextCursor: "" },
      { tools: [tool("b")], nextCursor: "" },
      { tools: [tool("c")], nextCursor: "x" },
      { tools: [tool("d")], nextCursor: "x" },
      { tools: [tool("e")], nextCursor: null },
      { tools: [tool("f")] },
    ]);
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const { tools, nextCursor } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), ["a", "b", "c", "d", "e"]);
    assert(nextCursor === undefined || nextCursor === null);
    const cursors = server.seen.slice(1).map(({ message }) => (message?.params as JsonObject).cursor);
    assertEquals(cursors, [undefined, "", "", "x", "x"]);
    assertEquals((await client.listTools({ cursor: "" })).tools.map(({ name }) => name), ["f"]);
    assertEquals((server.seen.at(-1)?.message?.params as JsonObject).cursor, "");
  });

  test("empty pages are no end", async () => {
    const server = paged([{ tools: [], nextCursor: "1" }, { tools: [], nextCursor: "2" }, { tools: [tool("a")] }]);
    await using client = await connect(url, { fetch: memoryFetch(server) });
    assertEquals((await client.listTools()).tools.map(({ name }) => name), ["a"]);
  });

  const endless: { tools: JsonObject[]; nextCursor: string }[] = Array.from({ length: 200 }, (_, index) => ({
    tools: [tool(`t${index}`)],
    nextCursor: "more",
  }));
  const caps: [string, Options, string, number][] = [
    ["100 pages by default", {}, "pages", 100],
    ["100 pages, undefined is none", { limits: { pages: undefined } as unknown as Options["limits"] }, "pages", 100],
    ["limits.pages", { limits: { pages: 7 } }, "pages", 7],
    ["limits.items", { limits: { items: 5 } }, "items", 5],
    ["limits.tools", { limits: { tools: 3 } }, "items", 3],
  ];
  for (const [name, options, truncated, count] of caps) {
    test(`a list without an end is cut off, and says why: ${name}`, async () => {
      await using client = await connect(url, { fetch: memoryFetch(paged(endless)), ...options });
      const result = await client.listTools();
      assertEquals([result.truncated, result.tools.length, result.tools[0]?.name], [truncated, count, "t0"]);
    });
  }

  test("a list that takes too long is cut off: timeouts.pages", async () => {
    const clock = new VirtualClock();
    const slow = front(createModernServer(), async (seen) => {
      if (seen.method !== "tools/list") return undefined;
      await new Promise<void>((resolve) => clock.schedule(resolve, 1_000));
      return resultReply(seen, { tools: [tool(`t${seen.message?.id}`)], nextCursor: "more", ttlMs: 0 });
    });
    const options: Options = { fetch: memoryFetch(slow), clock, timeouts: { pages: 3_500 } };
    const client = await clock.until(connect(url, options));
    const { tools, truncated } = await clock.until(client.listTools());
    assertEquals([truncated, tools.length], ["time", 4]);
    await client.close();
  });

  test("a list that fits exactly is not cut off", async () => {
    const pages = [{ tools: [tool("a"), tool("b")], nextCursor: "1" }, { tools: [tool("c")] }];
    const limits = { pages: 2, items: 3, tools: 3 };
    await using client = await connect(url, { fetch: memoryFetch(paged(pages)), limits });
    const { tools, truncated } = await client.listTools();
    assertEquals([tools.length, truncated], [3, undefined]);
  });

  test("what is no tool is left out with its reason, the others stay", async () => {
    const pages = [{ tools: [tool("a"), { inputSchema: {} }, { name: 5, inputSchema: {} }, { name: "b" }, tool("c")] }];
    const logged: LogRecord[] = [];
    const logger = (record: LogRecord) => void (record.message.includes("tools") && logged.push(record));
    await using client = await connect(url, { fetch: memoryFetch(paged(pages)), logger });
    const { tools, rejected = [] } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), ["a", "c"]);
    assertEquals(rejected.length, 3);
    for (const { reason } of rejected) assert(reason.length > 5);
    // It is told to the operator as well (C-094), in a hub with the name of the server.
    const records = (more: object) =>
      rejected.map((fields) => ({ level: "warning", message: "Dropped from tools", fields: { ...more, ...fields } }));
    assertEquals(logged, records({}) as LogRecord[]);
    logged.length = 0;
    await using hub = await openHub({ one: { url } }, { fetch: memoryFetch(paged(pages)), logger });
    assertEquals([hub.tools().length, logged], [2, records({ server: "one" }) as LogRecord[]]);
  });

  test("what is no resource, template or prompt is left out with its reason, the others stay", async () => {
    const lists: Record<string, [string, JsonObject]> = {
      "resources/list": ["resources", { uri: "note://a", name: "a" }],
      "resources/templates/list": ["resourceTemplates", { uriTemplate: "note://{a}", name: "a" }],
      "prompts/list": ["prompts", { name: "a" }],
    };
    const target = front(createModernServer(), (seen) => {
      const [key, good] = lists[seen.method] ?? [];
      if (!key || !good) return undefined;
      const { name: _, ...nameless } = good;
      const isFirst = !(seen.message?.params as JsonObject | undefined)?.cursor;
      const items = isFirst ? [good, nameless, null] : [{ ...good, name: 5 }, { ...good, name: "b" }];
      return resultReply(seen, { [key]: items, ttlMs: 60_000, ...(isFirst && { nextCursor: "more" }) });
    });
    const logged: LogRecord[] = [];
    const logger = (record: LogRecord) => void (record.message.startsWith("Dropped") && logged.push(record));
    await using client = await connect(url, { fetch: memoryFetch(target), logger });
    const { resources, rejected = [] } = await client.listResources();
    assertEquals(resources.map(({ name }) => name), ["a", "b"]);
    assertEquals(rejected, [
      { name: "note://a", reason: '"name" is missing: expected a string' },
      { name: "", reason: '"resources[0]" is null: expected an object' },
      { name: "", reason: '"name" is a number: expected a string' },
    ]);
    assertEquals(
      logged,
      rejected.map((fields) => ({ level: "warning", message: "Dropped from resources", fields })) as LogRecord[],
    );
    // Also of one raw page, and of one that was kept.
    const page = await client.listResources({ cursor: "more" });
    assertEquals([page.resources.length, page.rejected?.length], [1, 1]);
    const { resourceTemplates, rejected: templates } = await client.listResourceTemplates();
    const { prompts, rejected: others } = await client.listPrompts();
    assertEquals([resourceTemplates.length, templates?.length, prompts.length, others?.length], [2, 3, 2, 3]);
    await using hub = await openHub({ one: { url } }, { fetch: memoryFetch(target) });
    // Both resources have one URI.
    assertEquals([hub.resources().length, hub.templates().length, hub.prompts().length, hub.errors.size], [1, 1, 2, 0]);
  });

  test("an item whose name is no text spoils no list, whatever it is", async () => {
    for (const name of [{ toString: 1 }, [{ toString: 1 }], null, true]) {
      const pages = [{ tools: [tool("a"), { name, inputSchema: {} }] }];
      await using client = await connect(url, { fetch: memoryFetch(paged(pages)) });
      const { tools, rejected } = await client.listTools();
      assertEquals([tools.length, rejected?.length], [1, 1]);
    }
  });

  test("a tool that is listed twice is kept once, the second is rejected", async () => {
    const pages = [{ tools: [tool("a"), tool("b")], nextCursor: "1" }, { tools: [tool("a"), tool("A")] }];
    await using client = await connect(url, { fetch: memoryFetch(paged(pages)) });
    const { tools, rejected } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), ["a", "b", "A"]);
    assertEquals(rejected?.map(({ name }) => name), ["a"]);
  });
});

describe("what a result may be", () => {
  test("without resultType it is complete: a server of the draft (C-056)", () =>
    withModern(async (client) => {
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assert((await client.listTools()).tools.length > 10);
    }, { server: { omitResultType: true, anonymous: true } }));

  const wrong: [string, string, JsonObject][] = [
    ["an unknown resultType (C-057)", "tools/call", { resultType: "surprise", content: [] }],
    ["a resultType that is no text", "tools/call", { resultType: 1, content: [] }],
    ["a task that was not declared (C-057)", "tools/call", { resultType: "task", taskId: "1", status: "working" }],
    ["input_required on a list (C-058)", "tools/list", { resultType: "input_required", inputRequests: {} }],
    ["a list without its items", "tools/list", { resultType: "complete" }],
    ["items that are no list", "tools/list", { resultType: "complete", tools: "many" }],
    ["content that is no list", "tools/call", { resultType: "complete", content: "text" }],
  ];
  for (const [name, method, result] of wrong) {
    test(`${name}: ProtocolViolationError, asked once`, async () => {
      const server = front(
        createModernServer(),
        (seen) => seen.method === method ? resultReply(seen, result) : undefined,
      );
      await using client = await connect(url, { fetch: memoryFetch(server) });
      const verb = method === "tools/list" ? () => client.listTools() : () => client.callTool("echo", { text: "hi" });
      const error = await assertRejects(verb, ProtocolViolationError);
      assertEquals([error.delivery, error.method], ["answered", method]);
      assertEquals(server.methods, ["server/discover", method]);
    });
  }

  test("an entry that is no tool is left out with the reason, the others stay", async () => {
    const good = { name: "good", inputSchema: { type: "object" } };
    const listed = [{ inputSchema: { type: "object" } }, good, "text", { name: "bare" }] as never;
    await using client = await connect(url, { fetch: memoryFetch(paged([{ tools: listed }])) });
    const { tools, rejected } = await client.listTools();
    assertEquals(tools as unknown, [good]);
    assertEquals(rejected, [
      { name: "", reason: '"name" is missing: expected a string' },
      { name: "", reason: "it is no object" },
      { name: "bare", reason: '"inputSchema" is missing: expected an object' },
    ]);
  });

  test("fields that nobody knows come through (C-170)", async () => {
    const inputSchema = { type: "object", $defs: { a: { $anchor: "b" } }, if: {}, then: { "x-y": [1] } };
    const listed = [{ name: "odd", inputSchema, "com.example/extra": { a: 1 }, _meta: { "x/y": 2 } }];
    await using client = await connect(url, { fetch: memoryFetch(paged([{ tools: listed }])) });
    assertEquals((await client.listTools()).tools as unknown, listed);
  });

  test("a request that comes from a modern server is dropped and logged, never answered (C-007)", async () => {
    const records: LogRecord[] = [];
    const server = front(createModernServer(), (seen) => {
      if (seen.method !== "tools/call") return undefined;
      const ask = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: { message: "?" } };
      const id = seen.message?.id;
      return eventReply([ask, { jsonrpc: "2.0", id, result: { resultType: "complete", content: [] } }]);
    });
    const handlers = { elicitation: () => Promise.reject(new Error("must not be asked")) };
    const options: Options = { handlers, logger: (record) => void records.push(record) };
    await using client = await connect(url, { fetch: memoryFetch(server), ...options });
    await client.callTool("echo", { text: "hi" });
    assertEquals(server.methods, ["server/discover", "tools/call"]);
    assertEquals(records.filter(({ message }) => message.includes("dropped")).map(({ level }) => level), ["warning"]);
  });

  for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
    test(`arrays of messages are taken apart under 2025-03-26 and only there: ${revision} (C-008 C-010)`, async () => {
      const server = front(createLegacyServer({ revision }), (seen) => {
        if (seen.method !== "tools/call") return undefined;
        const notice = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "first" } };
        return Response.json([notice, { jsonrpc: "2.0", id: seen.message?.id, result: { content: [] } }]);
      });
      const logged: unknown[] = [];
      const handlers = { log: ({ data }: { data: unknown }) => void logged.push(data) };
      await using client = await connect(url, { fetch: memoryFetch(server), handlers, stream: false });
      const call = client.callTool("echo", { text: "hi" });
      if (revision === "2025-03-26") assertEquals([(await call).content, logged], [[], ["first"]]);
      else await assertRejects(() => call, ProtocolViolationError);
    });
  }

  test("an error without an id belongs to the exchange that it came back on (C-005)", async () => {
    const server = front(createModernServer(), (seen) => {
      const error = { code: -32602, message: "cannot read that" };
      return seen.method === "tools/call" ? Response.json({ jsonrpc: "2.0", id: null, error }) : undefined;
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    await assertRejects(() => client.callTool("echo", { text: "hi" }), InvalidParamsError, "cannot read that");
  });

  test("structured content of a handshake server comes as it is", () =>
    withLegacy(async (client) => {
      assertEquals((await client.callTool("add", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    }));
});

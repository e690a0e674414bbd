import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { checkOutputs, connect, inputFeature, listFeature, mirrorFeature } from "../../src/client/mod.ts";
import {
  connect as connectAll,
  createSchemaValidator,
  HeaderMismatchError,
  InvalidParamsError,
  MethodNotFoundError,
  ProtocolViolationError,
} from "../../mod.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { front, methodsOf, resultReply, textOf, url } from "./support.ts";

const servers = { modern: createModernServer, legacy: createLegacyServer };

describe("the small client of ./client", () => {
  for (const [era, create] of Object.entries(servers)) {
    test(`finds out what is spoken, lists and calls: ${era}`, async () => {
      const server = create();
      await using client = await connect(url, { fetch: memoryFetch(server), features: { lists: listFeature } });
      const { tools } = await client.listTools();
      assertEquals([client.era, tools.some(({ name }) => name === "echo")], [era, true]);
      const page = await client.listTools({ cursor: null });
      assertEquals(page.tools.length < tools.length, page.nextCursor !== undefined);
      assertEquals(textOf(await client.callTool("echo", { text: "hello" })), "hello");
      assertEquals((await client.callTool("fail")).isError, true);
      await assertRejects(() => client.request("no/such"), MethodNotFoundError);
    });

    test(`lists nothing without the part that lists, and sends nothing then: ${era}`, async () => {
      const server = create();
      await using client = await connect(url, { fetch: memoryFetch(server) });
      const sent = methodsOf(server);
      await assertRejects(() => client.listTools(), TypeError, 'Cannot use "listTools" without "features.lists"');
      assertEquals(methodsOf(server), sent);
      const { tools } = await client.request("tools/list");
      assertEquals(Array.isArray(tools), true);
      assertEquals(textOf(await client.callTool("echo", { text: "hello" })), "hello");
    });

    test(`a question of the server is answered where that part is passed: ${era}`, async () => {
      const server = create();
      await using client = await connect(url, {
        fetch: memoryFetch(server),
        features: { inputs: inputFeature },
        handlers: { elicitation: () => ({ action: "accept", content: { name: "Grace" } }) },
      });
      assertEquals(textOf(await client.callTool("ask")), '["Grace"]');
    });
  }

  for (const [era, create] of Object.entries(servers)) {
    test(`holds results against output schemas where that layer is passed, once tools were listed: ${era}`, async () => {
      const server = create();
      const middleware = [checkOutputs(createSchemaValidator())];
      const features = { lists: listFeature };
      await using client = await connect(url, { fetch: memoryFetch(server), features, middleware });
      assertEquals((await client.callTool("bad_output")).structuredContent, { sum: "not a number" });
      await client.listTools();
      // Twice: what was kept of the list before is not all that is known.
      await client.listTools();
      const error = await assertRejects(
        () => client.callTool("bad_output"),
        ProtocolViolationError,
        'Cannot use the tool "bad_output": "structuredContent/sum"',
      );
      assertEquals(error.delivery, "answered");
      assertEquals(textOf(await client.callTool("echo", { text: "hello" })), "hello");
      // Another client of the same layer knows nothing of it.
      await using other = await connect(url, { fetch: memoryFetch(create()), features, middleware });
      assertEquals((await other.callTool("bad_output")).structuredContent, { sum: "not a number" });
    });
  }

  test("a tool whose output schema cannot be used is not called", async () => {
    const outputSchema = { $ref: "https://evil.example/schema.json" };
    const server = createModernServer({
      tools: [{ name: "promising", inputSchema: { type: "object" }, outputSchema }],
    });
    const middleware = [checkOutputs(createSchemaValidator())];
    await using client = await connect(url, {
      fetch: memoryFetch(server),
      features: { lists: listFeature },
      middleware,
    });
    await client.listTools();
    const error = await assertRejects(() => client.callTool("promising"), ProtocolViolationError, "its output schema");
    assertEquals([error.delivery, methodsOf(server).at(-1)], ["not-sent", "tools/list"]);
  });

  test("handlers without the part that answers are refused at once", async () => {
    const server = createModernServer();
    const handlers = { elicitation: () => ({ action: "decline" as const }) };
    await assertRejects(
      () => connect(url, { fetch: memoryFetch(server), handlers }),
      TypeError,
      'Cannot use "handlers" without "features.inputs"',
    );
    assertEquals(server.log, []);
  });

  test("a name that has to be encoded into a header: refused unsent, and called where that part is passed", async () => {
    const server = createModernServer();
    await using plain = await connect(url, { fetch: memoryFetch(server) });
    for (const name of ["größe", " echo", "=?base64?ZWNobw==?=", "a\nb", "\ud800"]) {
      await assertRejects(() => plain.callTool(name), TypeError, `Cannot put ${JSON.stringify(name)} into a header`);
    }
    assertEquals(methodsOf(server), ["server/discover"]);
    await using client = await connect(url, { fetch: memoryFetch(server), features: { mirror: mirrorFeature } });
    await assertRejects(() => client.callTool("größe"), InvalidParamsError);
    assertEquals(methodsOf(server).at(-1), "tools/call");
  });

  test("a URL object is a target too", async () => {
    await using client = await connect(new URL(url), { fetch: memoryFetch(createModernServer()) });
    assertEquals(textOf(await client.callTool("echo", { text: "hello" })), "hello");
  });

  for (const [era, create] of Object.entries(servers)) {
    test(`a result with structured content alone has an empty list of content: ${era}`, async () => {
      const result = { resultType: "complete", structuredContent: { sum: 3 } };
      const server = front(create(), (seen) => seen.method === "tools/call" ? resultReply(seen, result) : undefined);
      for (const connectBy of [connect, connectAll]) {
        await using client = await connectBy(url, { fetch: memoryFetch(server) });
        assertEquals((await client.callTool("add")).content, []);
      }
    });
  }

  test("what is no URL is a rejection, not an exception", async () => {
    await assertRejects(() => connect("example.com"), TypeError, 'Cannot connect to "example.com": expected an http');
  });

  test("a tool whose arguments are mirrored in headers: refused, and called where that part is passed (C-097)", async () => {
    const server = createModernServer();
    await using plain = await connect(url, { fetch: memoryFetch(server) });
    await assertRejects(() => plain.callTool("header_tool", { region: "eu" }), HeaderMismatchError);
    assertEquals(methodsOf(server), ["server/discover", "tools/call"]);
    const features = { lists: listFeature, mirror: mirrorFeature };
    await using client = await connect(url, { fetch: memoryFetch(server), features });
    assertEquals(textOf(await client.callTool("header_tool", { region: "eu" })), '{"region":"eu"}');
    const { tools } = await client.listTools();
    assertEquals(tools.some(({ name }) => name === "header_tool"), true);
  });
});

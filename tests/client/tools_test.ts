import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, HeaderMismatchError, LimitExceededError, ProtocolViolationError } from "../../mod.ts";
import type { Client } from "../../mod.ts";
import type { JsonObject } from "../servers/core/wire.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import {
  errorReply,
  front,
  inEveryWay,
  methodsOf,
  type Peer,
  resultReply,
  textOf,
  url,
  type Way,
  withLegacy,
  withModern,
  withPipe,
} from "./support.ts";

/** The mirrored headers of the newest request. */
function mirrored(server: Peer): Record<string, string> {
  const { headers = {} } = server.log.at(-1) ?? {};
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));
}

describe("arguments that are mirrored in headers", () => {
  const cases: [string, JsonObject, Record<string, string>][] = [
    ["a text, a number, a flag and a nested one (C-087 C-088 C-090)", {
      region: "eu-west",
      count: 3,
      dry: true,
      tenant: { id: "t1" },
      note: "not mirrored",
    }, {
      "mcp-param-region": "eu-west",
      "mcp-param-count": "3",
      "mcp-param-dry": "true",
      "mcp-param-tenant-id": "t1",
    }],
    ["nothing, 0 and false are values (C-089)", { region: "", count: 0, dry: false }, {
      "mcp-param-region": "",
      "mcp-param-count": "0",
      "mcp-param-dry": "false",
    }],
    ["null and what is not there have no header (C-089)", { region: null, tenant: {} }, {}],
    ["what no header can say is wrapped (C-091)", { region: "Zürich ☃", tenant: { id: " edge " } }, {
      "mcp-param-region": "=?base64?WsO8cmljaCDimIM=?=",
      "mcp-param-tenant-id": "=?base64?IGVkZ2Ug?=",
    }],
    ["what looks wrapped is wrapped (C-092)", { region: "=?base64?aGk=?=" }, {
      "mcp-param-region": "=?base64?PT9iYXNlNjQ/YUdrPT89?=",
    }],
  ];
  for (const [name, args, headers] of cases) {
    test(name, () =>
      withModern(async (client, server) => {
        await client.listTools();
        // The server compares them with the body, by its own code, and refuses what differs.
        assertEquals(JSON.parse(textOf(await client.callTool("header_tool", args)) ?? ""), args);
        assertEquals(mirrored(server), headers);
      }));
  }

  test("the tool is not known yet: the server's -32020 makes the client look, and call once more with a new id (C-097 C-098)", () =>
    withModern(async (client, server) => {
      assertEquals(textOf(await client.callTool("header_tool", { region: "eu" })), '{"region":"eu"}');
      assertEquals(methodsOf(server), ["server/discover", "tools/call", "tools/list", "tools/call"]);
      const [first, , second] = server.log.slice(1).map(({ message }) => message?.id);
      assert(first !== second);
      assertEquals([server.calls("header_tool"), mirrored(server)], [1, { "mcp-param-region": "eu" }]);
    }));

  for (const name of ["Mcp-Param-Region", "mcp-param-region"]) {
    test(`a header of one's own stands beside none of these: ${name}`, async () => {
      const server = createModernServer();
      await using client = await connect(url, { fetch: memoryFetch(server), headers: { [name]: "us" } });
      await client.listTools();
      await client.callTool("header_tool", { region: "eu" });
      assertEquals(mirrored(server), { "mcp-param-region": "eu" });
      await client.callTool("header_tool", { region: "eu" }, { headers: { [name]: "eu" } });
      assertEquals(mirrored(server), { "mcp-param-region": "eu" });
    });
  }

  test("a definition that was kept and is out of date is fetched anew (C-097)", async () => {
    const tool = (header: string): JsonObject => ({
      name: "moving",
      inputSchema: { type: "object", properties: { place: { type: "string", "x-mcp-header": header } } },
    });
    let server = createModernServer({ tools: [tool("Old")], cache: { ttlMs: 3_600_000 } });
    const fetch = (address: string, init: RequestInit) => memoryFetch(server)(address, init);
    await using client = await connect(url, { fetch });
    await client.listTools();
    server = createModernServer({ tools: [tool("New")], cache: { ttlMs: 3_600_000 } });
    await client.callTool("moving", { place: "here" });
    assertEquals([server.calls("moving"), mirrored(server)], [1, { "mcp-param-new": "here" }]);
  });

  const annotated: [string, (text: string) => string][] = [
    ["a later list brings it", (text) => text],
    ["its name is written with escapes", (text) => text.replaceAll("x-mcp-header", "x-mcp-\\u0068eader")],
  ];
  for (const [name, written] of annotated) {
    test(`an annotation after a list without any: ${name}`, async () => {
      const tool = (more: JsonObject): JsonObject => ({
        name: "plain",
        inputSchema: { type: "object", properties: { place: { type: "string", ...more } } },
      });
      const mirrors = tool({ "x-mcp-header": "Place" });
      let listed = tool({});
      const behind = createModernServer({ tools: [mirrors] });
      const server = front(
        behind,
        (seen) => seen.method === "tools/list" ? resultReply(seen, { tools: [listed], ttlMs: 0 }) : undefined,
      );
      const fetch = async (address: string, init: RequestInit) => {
        const reply = await memoryFetch(server)(address, init);
        return new Response(written(await reply.text()), reply);
      };
      await using client = await connect(url, { fetch });
      await client.listTools();
      listed = mirrors;
      await client.listTools();
      await client.callTool("plain", { place: "here" });
      const lists = server.methods.filter((method) => method === "tools/list").length;
      assertEquals([lists, mirrored(behind)], [2, { "mcp-param-place": "here" }]);
    });
  }

  test("-32020 that does not go away: told after one more try", async () => {
    const server = front(
      createModernServer(),
      (seen) => seen.method === "tools/call" ? errorReply(seen, -32020, { status: 400 }) : undefined,
    );
    await using client = await connect(url, { fetch: memoryFetch(server) });
    await assertRejects(() => client.callTool("echo", { text: "hi" }), HeaderMismatchError);
    assertEquals(server.methods, ["server/discover", "tools/call", "tools/list", "tools/call"]);
  });

  const wrong: [string, JsonObject][] = [
    ["a number where a text is wanted", { region: 5 }],
    ["a text where a number is wanted", { count: "5" }],
    ["a fraction", { count: 1.5 }],
    ["a number that JavaScript cannot hold (C-100)", { count: 2 ** 53 }],
    ["an object", { region: { a: 1 } }],
    ["half a surrogate pair", { region: "\ud800" }],
  ];
  for (const [name, args] of wrong) {
    test(`${name}: TypeError before anything is sent (C-100)`, () =>
      withModern(async (client, server) => {
        await client.listTools();
        const before = server.log.length;
        await assertRejects(() => client.callTool("header_tool", args), TypeError);
        assertEquals(server.log.length, before);
      }));
  }

  test("a value that is too long for a header: LimitExceededError before anything is sent (C-081)", () =>
    withModern(async (client, server) => {
      await client.listTools();
      const call = () => client.callTool("header_tool", { region: "x".repeat(5_000) });
      const error = await assertRejects(call, LimitExceededError);
      assertEquals([error.limit, error.delivery, server.calls("header_tool")], ["limits.headerBytes", "not-sent", 0]);
    }));

  test("Mcp-Name says which tool, prompt or resource, also when it is not ASCII (C-084 C-086)", () =>
    withModern(async (client, server) => {
      await client.callTool("näme ☃");
      await client.getPrompt("plain");
      await client.readResource("test://text");
      await client.listTools();
      const names = server.log.map(({ headers }) => headers["mcp-name"]);
      assertEquals(names, [undefined, "=?base64?bsOkbWUg4piD?=", "plain", "test://text", undefined]);
    }, { server: { tools: [{ name: "näme ☃", inputSchema: { type: "object" } }] } }));
});

/** Tools whose annotations break a rule, by what is wrong. */
const broken: [string, JsonObject][] = [
  ["an empty name", { a: { type: "string", "x-mcp-header": "" } }],
  ["a name that is no token", { a: { type: "string", "x-mcp-header": "a b" } }],
  ["a control character", { a: { type: "string", "x-mcp-header": "a\r\nX-Evil: 1" } }],
  ["the same name twice", {
    a: { type: "string", "x-mcp-header": "Key" },
    b: { type: "string", "x-mcp-header": "KEY" },
  }],
  ["on a number", { a: { type: "number", "x-mcp-header": "A" } }],
  ["on an object", { a: { type: "object", "x-mcp-header": "A" } }],
  ["inside a list", { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }],
  ["inside a choice", { a: { oneOf: [{ type: "string", "x-mcp-header": "A" }] } }],
  ["no text", { a: { type: "string", "x-mcp-header": 5 } }],
];
const brokenTools = broken.map(([, properties], index): JsonObject => ({
  name: `broken_${index}`,
  inputSchema: { type: "object", properties },
}));

describe("tools whose annotations break the rules", () => {
  test("over modern HTTP they are left out, each with its reason; the others stay (C-093 C-094)", () =>
    withModern(async (client) => {
      const { tools, rejected = [] } = await client.listTools();
      assertEquals(rejected.map(({ name }) => name), brokenTools.map(({ name }) => String(name)));
      for (const { reason } of rejected) assert(reason.length > 10 && !/[\r\n]/.test(reason), reason);
      assert(tools.some(({ name }) => name === "echo") && !tools.some(({ name }) => name.startsWith("broken_")));
    }, { server: { tools: brokenTools } }));

  const elsewhere: [Way, (run: (client: Client) => Promise<void>) => Promise<void>][] = [
    ["legacy HTTP", (run) => withLegacy(run, { server: { tools: brokenTools } })],
    ["modern pipe", (run) => withPipe(run, { server: { era: "modern", tools: brokenTools } })],
    ["legacy pipe", (run) => withPipe(run, { server: { era: "legacy", tools: brokenTools } })],
  ];
  for (const [way, within] of elsewhere) {
    test(`elsewhere they are tools like any other: ${way} (C-095 C-096)`, () =>
      within(async (client) => {
        const { tools, rejected } = await client.listTools();
        assertEquals(rejected, undefined);
        assertEquals(tools.filter(({ name }) => name.startsWith("broken_")).length, broken.length);
        await client.callTool("broken_0", { a: "x" });
      }));
  }

  test("legacy HTTP gets no mirrored headers (C-096)", () =>
    withLegacy(async (client, server) => {
      await client.listTools();
      await client.callTool("header_tool", { region: "eu" });
      assertEquals([mirrored(server), server.log.at(-1)?.headers["mcp-method"]], [{}, undefined]);
    }));
});

describe("what a tool promises to give", () => {
  inEveryWay(
    "a result that does not fit its output schema: ProtocolViolationError that says where (C-157)",
    async (client, server) => {
      await client.listTools();
      const error = await assertRejects(() => client.callTool("bad_output"), ProtocolViolationError, "sum");
      assertEquals([error.delivery, server.calls("bad_output")], ["answered", 1]);
      assert(error.message.includes("bad_output"));
      assertEquals((await client.callTool("add", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    },
  );

  inEveryWay("a client that has not listed the tools takes what comes", async (client) => {
    assertEquals((await client.callTool("bad_output")).structuredContent, { sum: "not a number" });
  });

  inEveryWay("`validator: undefined` takes what comes", async (client) => {
    await client.listTools();
    assertEquals((await client.callTool("bad_output")).structuredContent, { sum: "not a number" });
  }, { client: { validator: undefined } });

  const promising = (outputSchema: JsonObject): JsonObject => ({
    name: "promising",
    inputSchema: { type: "object" },
    outputSchema,
  });

  test("a result without structured content, where some was promised", () =>
    withModern(async (client) => {
      await client.listTools();
      await assertRejects(() => client.callTool("promising"), ProtocolViolationError, "structuredContent");
    }, { server: { tools: [promising({ type: "object" })] } }));

  test("a tool that failed need not keep its promise (C-159)", async () => {
    const server = front(
      createModernServer({ tools: [promising({ type: "object", required: ["a"] })] }),
      (seen) =>
        seen.method === "tools/call"
          ? resultReply(seen, { resultType: "complete", isError: true, content: [{ type: "text", text: "sorry" }] })
          : undefined,
    );
    await using client = await connect(url, { fetch: memoryFetch(server) });
    await client.listTools();
    const result = await client.callTool("promising");
    assertEquals([result.isError, textOf(result)], [true, "sorry"]);
  });

  const unusable: [string, JsonObject][] = [
    ["a reference out into the network (C-167 C-168)", { $ref: "https://evil.example/schema.json" }],
    ["a dialect that nobody knows (C-166)", { $schema: "https://example.com/my-dialect", type: "object" }],
    ["a reference to nowhere", { $ref: "#/$defs/none" }],
  ];
  for (const [name, schema] of unusable) {
    inEveryWay(`a promise that cannot be checked: the tool is not called: ${name}`, async (client, server) => {
      await client.listTools();
      const error = await assertRejects(() => client.callTool("promising"), ProtocolViolationError, "output schema");
      assertEquals([error.delivery, server.calls("promising")], ["not-sent", 0]);
      assertEquals(textOf(await client.callTool("echo", { text: "fine" })), "fine");
    }, { server: { tools: [promising({ ...schema, type: "object" })] } });
  }

  const values: [JsonObject, unknown, boolean][] = [
    [{ type: "null" }, null, true],
    [{ type: "array", items: { type: "integer" } }, [1, 2], true],
    [{ const: 0 }, 0, true],
    [{ const: false }, false, true],
    [{ type: "array", items: { type: "integer" } }, [1, "2"], false],
    [{ type: "string" }, null, false],
  ];
  for (const [schema, value, fits] of values) {
    test(`${JSON.stringify(value)} ${fits ? "fits" : "does not fit"} ${JSON.stringify(schema)} (C-158 C-171)`, async () => {
      const structuredContent = value as JsonObject;
      const server = front(
        createModernServer({ tools: [promising(schema)] }),
        (seen) =>
          seen.method === "tools/call"
            ? resultReply(seen, { resultType: "complete", content: [], structuredContent })
            : undefined,
      );
      await using client = await connect(url, { fetch: memoryFetch(server) });
      await client.listTools();
      const call = client.callTool("promising");
      if (fits) assertEquals((await call).structuredContent as unknown, value);
      else await assertRejects(() => call, ProtocolViolationError);
    });
  }
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, connect, HttpTransport, InternalError, InvalidParamsError, MethodNotFoundError } from "../../mod.ts";
import type { JsonObject, LogMessage, RequestOptions } from "../../mod.ts";
import { objectAt } from "../servers/core/wire.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import {
  connectShared,
  createPipe,
  inEveryWay,
  methodsOf,
  type Options,
  paramsOf,
  type Peer,
  sent,
  textOf,
  url,
  withLegacy,
  withModern,
} from "./support.ts";

describe("tools", () => {
  inEveryWay("a tool's text comes back", async (client, server) => {
    assertEquals(textOf(await client.callTool("echo", { text: "héllo ☃ 𝄞\n" })), "héllo ☃ 𝄞\n");
    assertEquals(server.calls("echo"), 1);
  });

  inEveryWay("a tool without arguments gets an empty object", async (client, server) => {
    await client.callTool("content");
    assertEquals(paramsOf(server, "tools/call")[0]?.arguments, {});
  });

  inEveryWay("a tool that failed is a result, not an exception (C-159)", async (client) => {
    const result = await client.callTool("fail", { message: "no luck" });
    assertEquals([result.isError, textOf(result)], [true, "no luck"]);
  });

  inEveryWay("a server that breaks inside: InternalError with its data, and who and what", async (client) => {
    const error = await assertRejects(() => client.callTool("crash"), InternalError, "the server broke");
    assertEquals([error.rpcCode, error.data, error.delivery], [-32603, { part: "engine" }, "answered"]);
    assertEquals([error.method, error.server], ["tools/call", client.label]);
  });

  inEveryWay("an unknown tool: InvalidParamsError", async (client) => {
    await assertRejects(() => client.callTool("nothing_here"), InvalidParamsError, "nothing_here");
  });

  inEveryWay("every kind of content comes through, also unknown ones (C-163)", async (client) => {
    const { content } = await client.callTool("content");
    assertEquals(content.map(({ type }) => type), ["text", "image", "resource", "audio", "resource_link"]);
  });

  const values = [null, 0, false, "", [], [1, "two"], {}, { deep: { er: [null] } }, 1.5, "text"];
  for (const value of values) {
    inEveryWay(`structured content may be any JSON value: ${JSON.stringify(value)} (C-158)`, async (client) => {
      const result = await client.callTool("any_value", { value });
      assert("structuredContent" in result);
      assertEquals(result.structuredContent, value);
    }, { ways: ["modern HTTP", "modern pipe"] });
  }

  inEveryWay("a large text comes whole", async (client) => {
    assertEquals(textOf(await client.callTool("big", { bytes: 300_000 }))?.length, 300_000);
  });

  inEveryWay(
    "a hundred calls at once get their own answers, each under its own id (C-002 to C-004)",
    async (client, server) => {
      const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`);
      const results = await Promise.all(texts.map((text) => client.callTool("echo", { text })));
      assertEquals(results.map(textOf), texts);
      const ids = server.log.flatMap(({ message }) => message?.id === undefined ? [] : [message.id]);
      assertEquals(new Set(ids).size, ids.length);
      for (const id of ids) assert(typeof id === "string" || Number.isSafeInteger(id));
    },
  );
});

describe("resources, prompts and completion", () => {
  inEveryWay("resources: listed, templates listed, read as text, bytes and several at once (C-173)", async (client) => {
    const { resources } = await client.listResources();
    assertEquals(resources.map(({ name }) => name), ["text", "blob", "many", "ask", "watched"]);
    const { resourceTemplates } = await client.listResourceTemplates();
    assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate)[0], "test://item/{id}");
    assertEquals((await client.readResource("test://text")).contents[0]?.text, "hello world");
    assertEquals((await client.readResource("test://blob")).contents[0]?.blob, "AAECAwQ=");
    assertEquals((await client.readResource("test://many")).contents.map(({ text }) => text), ["one", "two"]);
  });

  inEveryWay(
    "a resource that is not there: InvalidParamsError, whichever code says so (C-172)",
    async (client, _, way) => {
      const error = await assertRejects(() => client.readResource("test://none"), InvalidParamsError);
      assertEquals(error.rpcCode, way.startsWith("modern") ? -32602 : -32002);
      assertEquals(error.data, { uri: "test://none" });
    },
  );

  inEveryWay("prompts: listed, and filled in with texts (C-179)", async (client) => {
    const { prompts } = await client.listPrompts();
    assertEquals(prompts.map(({ name }) => name), ["greet", "plain", "ask_prompt"]);
    const { messages, description } = await client.getPrompt("greet", { who: "Ada", tone: "loudly" });
    assertEquals(messages[0]?.content, { type: "text", text: "Greet Ada, loudly" });
    assertEquals(description, "Greets somebody");
    assertEquals((await client.getPrompt("plain")).messages.length, 1);
    await assertRejects(() => client.getPrompt("none"), InvalidParamsError);
  });

  inEveryWay("completion, with what is settled already (C-181)", async (client, server) => {
    const reference = { type: "ref/prompt" as const, name: "greet" };
    const plain = await client.complete(reference, { name: "who", value: "a" });
    assertEquals(plain.completion.values, ["Ada", "Alan"]);
    const context = { tone: "aloud" };
    const more = await client.complete(reference, { name: "who", value: "a" }, { context });
    assertEquals(more.completion.values, ["Ada", "Alan", "aloud"]);
    const params = paramsOf(server, "completion/complete");
    assertEquals(params.map(({ context }) => context), [undefined, { arguments: context }]);
    const template = { type: "ref/resource" as const, uri: "test://item/{id}" };
    assertEquals((await client.complete(template, { name: "id", value: "g" })).completion.values, ["Grace"]);
  });
});

describe("logging, ping, roots, and what has no verb", () => {
  const lines: LogMessage[] = [];
  const logging: Options = { handlers: { log: (message) => void lines.push(message) }, stream: false };

  inEveryWay(
    "log messages reach the handler, from the level on that was asked for (C-183 C-184)",
    async (client, server, way) => {
      lines.length = 0;
      await client.setLogLevel("warning");
      await client.callTool("log", { level: "info", count: 2 });
      assertEquals(lines, []);
      await client.callTool("log", { level: "error", count: 2 });
      assertEquals(lines.map(({ level, data, logger }) => [level, data, logger]), [
        ["error", "line 0", "fake"],
        ["error", "line 1", "fake"],
      ]);
      assertEquals(server.count("logging/setLevel"), way.startsWith("modern") ? 0 : 1);
    },
    { client: logging },
  );

  for (const [kind, connectBy] of [["", connect], [", a shared client", connectShared]] as const) {
    test(`modern: the level rides on every request once it was set, and never before (C-183${kind})`, () =>
      withModern(
        async (client, server) => {
          await client.callTool("log");
          await client.setLogLevel("debug");
          await client.callTool("log");
          await client.listTools();
          const key = "io.modelcontextprotocol/logLevel";
          const levels = server.log.map(({ message }) => objectAt(objectAt(message ?? {}, "params"), "_meta")[key]);
          assertEquals(levels, [undefined, undefined, "debug", "debug"]);
        },
        {},
        connectBy,
      ));
  }

  inEveryWay("the level may be given at the start", async (client) => {
    lines.length = 0;
    await client.callTool("log", { level: "error" });
    await client.callTool("log", { level: "critical" });
    assertEquals(lines.map(({ level }) => level), ["critical"]);
  }, { client: { ...logging, logLevel: "critical" } });

  test("a level from the options is not set where the server has no logs (C-037 C-184)", () =>
    withLegacy((_, server) => {
      assertEquals(server.count("logging/setLevel"), 0);
      return Promise.resolve();
    }, { client: { logLevel: "critical" }, server: { capabilities: { tools: {} } } }));

  inEveryWay("ping: the modern era has none, so the server is asked who it is (C-145)", async (client, server, way) => {
    const before = server.count("server/discover");
    await client.ping();
    assertEquals(server.count("ping"), way.startsWith("modern") ? 0 : 1);
    assertEquals(server.count("server/discover") - before, way.startsWith("modern") ? 1 : 0);
  });

  inEveryWay("changed roots are told to handshake servers only (C-240 C-242)", async (client, server, way) => {
    await client.rootsChanged();
    await client.ping();
    assertEquals(server.count("notifications/roots/list_changed"), way.startsWith("modern") ? 0 : 1);
  }, { client: { handlers: { roots: [{ uri: "file:///work" }] }, stream: false } });

  inEveryWay("any request and any notification can be sent", async (client, server) => {
    const { tools } = await client.request("tools/list", {});
    assert(Array.isArray(tools) && tools.length > 10);
    await assertRejects(() => client.request("com.example/none", { a: 1 }), MethodNotFoundError);
    await client.notify("notifications/com.example", { b: 2, _meta: { "com.example/key": "c" } });
    await client.ping();
    assertEquals(paramsOf(server, "com.example/none")[0]?.a, 1);
    const [notice] = sent(server, "notifications/com.example");
    const { b, _meta } = objectAt(notice ?? {}, "params");
    assertEquals([b, (_meta as JsonObject)["com.example/key"], notice?.id], [2, "c", undefined]);
  });

  inEveryWay(
    "what a caller adds to _meta goes along, and cannot change what the client says of itself (C-052)",
    async (client, server, way) => {
      const meta = {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "com.example/key": { a: [1] },
        "io.modelcontextprotocol/protocolVersion": "1999-01-01",
      };
      await client.callTool("echo", { text: "hi" }, { meta });
      const got = objectAt(paramsOf(server, "tools/call")[0] ?? {}, "_meta");
      assertEquals([got.traceparent, got["com.example/key"]], [meta.traceparent, { a: [1] }]);
      if (way.startsWith("modern")) assertEquals(got["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    },
  );

  const verbs: Record<string, (client: Client, options: RequestOptions) => Promise<unknown>> = {
    "tools/call": (client, options) => client.callTool("echo", { text: "hi" }, options),
    "tools/list": (client, options) => client.listTools(options),
    "resources/list": (client, options) => client.listResources(options),
    "resources/templates/list": (client, options) => client.listResourceTemplates(options),
    "resources/read": (client, options) => client.readResource("test://text", options),
    "prompts/list": (client, options) => client.listPrompts(options),
    "prompts/get": (client, options) => client.getPrompt("plain", {}, options),
    "completion/complete": (client, options) =>
      client.complete({ type: "ref/prompt", name: "greet" }, { name: "who", value: "a" }, options),
    "logging/setLevel": (client, options) => client.setLogLevel("error", options),
    ping: (client, options) => client.ping(options),
  };
  inEveryWay(
    "what a caller gives to any verb goes with its request: `_meta`, a signal",
    async (client, server, way) => {
      const isModern = way.startsWith("modern");
      for (const [name, verb] of Object.entries(verbs)) {
        const method = isModern && name === "ping" ? "server/discover" : name;
        await verb(client, { meta: { "com.example/verb": name } });
        // The modern era has no request for a level.
        if (!isModern || name !== "logging/setLevel") {
          assertEquals(objectAt(paramsOf(server, method).at(-1) ?? {}, "_meta")["com.example/verb"], name);
        }
        const ended = verb(client, { signal: AbortSignal.abort("enough") });
        assertEquals(await ended.catch((reason) => reason), "enough", name);
      }
      const watching = client.subscribeResource("test://watched", { signal: AbortSignal.abort("enough") });
      assertEquals(await watching.acknowledged.catch((reason) => reason), "enough");
    },
  );

  test("headers of one request, and headers of all, go out", () =>
    withModern(async (client, server) => {
      await client.callTool("echo", { text: "a" }, { headers: { "X-Once": "1" } });
      await client.callTool("echo", { text: "b" });
      const seen = server.log.map(({ headers }) => [headers["x-all"], headers["x-once"]]);
      assertEquals(seen, [["yes", undefined], ["yes", "1"], ["yes", undefined]]);
    }, { client: { headers: { "X-All": "yes" } } }));
});

describe("before the connection, and after its end (C1)", () => {
  const verbs: Record<string, (client: Client) => Promise<unknown>> = {
    connect: (client) => client.connect(),
    listTools: (client) => client.listTools(),
    callTool: (client) => client.callTool("echo", { text: "hi" }),
    readResource: (client) => client.readResource("test://text"),
    getPrompt: (client) => client.getPrompt("plain"),
    ping: (client) => client.ping(),
    request: (client) => client.request("tools/list"),
    notify: (client) => client.notify("notifications/x"),
    setLogLevel: (client) => client.setLogLevel("info"),
    rootsChanged: (client) => client.rootsChanged(),
  };
  for (const [name, verb] of Object.entries(verbs)) {
    test(`${name} connects by itself; info is null before`, async () => {
      for (const era of ["modern", "legacy"] as const) {
        const { transport, server } = createPipe({ era });
        await using client = new Client(transport);
        assertEquals([client.info, client.era, client.revision, server.log.length], [null, undefined, undefined, 0]);
        await verb(client);
        assertEquals([client.era, client.info?.server?.name], [era, "fake"]);
      }
    });
  }

  inEveryWay("a closed client refuses everything, and sends nothing more", async (client, server) => {
    await client.close();
    await client.close();
    const before = server.log.length;
    await assertRejects(() => client.callTool("echo", { text: "hi" }), Error);
    await assertRejects(() => client.listTools(), Error);
    assertEquals(server.log.length, before);
  });

  inEveryWay("a call in flight ends at once when the client is closed", async (client: Client, server: Peer) => {
    const call = assertRejects(() => client.callTool("slow"), Error);
    while (server.calls("slow") === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    await client.close();
    await call;
  });

  test("what is no target is a TypeError before anything is sent", async () => {
    for (const target of ["ftp://x/", "hello", "javascript:alert(1)", "http://user:pass@host/mcp"]) {
      await assertRejects(() => connect(target), TypeError);
    }
    await assertRejects(() => connect({ command: "node" }), TypeError, "local");
  });

  test("a message of a wrong address does not tell its password", async () => {
    const error = await assertRejects(() => connect("http://user:hunter2@host/mcp?key=hunter3"), TypeError);
    assert(!/hunter/.test(String(error)), String(error));
  });
});

describe("how replies may look", () => {
  for (const reply of ["json", "sse", "auto"] as const) {
    test(`a modern server that answers by ${reply} (C-073)`, () =>
      withModern(async (client) => {
        assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
        assert((await client.listTools()).tools.length > 10);
        assertEquals(textOf(await client.callTool("progress", { count: 3 })), "progressed 3");
        await assertRejects(() => client.callTool("crash"), InternalError);
      }, { server: { reply } }));
    test(`a handshake server that answers by ${reply} (C-101)`, () =>
      withLegacy(async (client) => {
        assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
        assert((await client.listTools()).tools.length > 10);
        await assertRejects(() => client.callTool("crash"), InternalError);
      }, { server: { reply } }));
  }

  test("modern: no session, no GET, no DELETE (C-075)", async () => {
    const server = createModernServer();
    const client = await connect(url, { fetch: memoryFetch(server) });
    await client.callTool("echo", { text: "hi" });
    await client.close();
    assertEquals(methodsOf(server), ["server/discover", "tools/call"]);
    for (const { headers } of server.log) assertEquals(headers["mcp-session-id"], undefined);
    assertEquals(server.violations, []);
  });

  test("a client can live without a transport of ours: HttpTransport is public", async () => {
    await using client = new Client(new HttpTransport(url, { fetch: memoryFetch(createModernServer()) }));
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
  });
});

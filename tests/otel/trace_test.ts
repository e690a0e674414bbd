/** Spans of our own client and our own server, joined in memory: one trace through both. */
import { describe, test } from "node:test";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, InternalError, InvalidParamsError, taskSupport } from "../../mod.ts";
import { openTelemetry, traceServer } from "../../src/otel/mod.ts";
import { createHandler, createTasks, McpServer, ToolServer, withSkills } from "../../src/server/mod.ts";
import { until } from "../support/clients.ts";
import { heldRequest } from "../support/held_request.ts";
import { joined, Sdk } from "./support.ts";

const clientPlace = {
  "network.transport": "tcp",
  "network.protocol.name": "http",
  "server.address": "server.test",
  "server.port": 443,
};

/** The client's span and the server's, of one request. */
function pair(sdk: Sdk, name: string): [client: ReadableSpan, server: ReadableSpan] {
  const spans = sdk.named(name);
  const client = spans.find(({ kind }) => kind === SpanKind.CLIENT);
  const server = spans.find(({ kind }) => kind === SpanKind.SERVER);
  if (!client || !server || spans.length !== 2) throw new Error(`There are ${spans.length} spans "${name}"`);
  return [client, server];
}

for (const era of ["modern", "legacy"] as const) {
  for (const way of ["http", "pipe"] as const) {
    const revision = era === "modern" ? "2026-07-28" : "2025-11-25";
    const place = way === "http" ? clientPlace : { "network.transport": "pipe" };
    describe(`spans, ${era} over ${way}`, () => {
      test("a tool's call is one trace: the server's span below the client's", async () => {
        const sdk = await joined({ era, way }, async (client) => {
          assertEquals((await client.callTool("echo", { text: "hunter2" })).isError, undefined);
        });
        const [client, server] = pair(sdk, "tools/call echo");
        assertEquals(server.spanContext().traceId, client.spanContext().traceId);
        assertEquals(server.parentSpanContext?.spanId, client.spanContext().spanId);
        assertEquals([server.parentSpanContext?.isRemote, client.parentSpanContext], [true, undefined]);
        const attributes = {
          "mcp.method.name": "tools/call",
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "echo",
          "mcp.protocol.version": revision,
        };
        assertEquals(client.attributes, { ...place, ...attributes });
        assertEquals(server.attributes, attributes);
        assertEquals([client.status.code, server.status.code], [SpanStatusCode.UNSET, SpanStatusCode.UNSET]);
        assertEquals([client.instrumentationScope.name, server.events, client.events], ["@causeway/mcp", [], []]);
      });

      test("resources have their URI, prompts their name, lists neither", async () => {
        const sdk = await joined({ era, way }, async (client) => {
          await client.readResource("memo://one?token=hunter2");
          await client.getPrompt("greet", { name: "Ada" });
          await client.listTools();
        });
        for (const { attributes } of pair(sdk, "resources/read")) {
          assertEquals(attributes["mcp.resource.uri"], "memo://one");
        }
        for (const { attributes } of pair(sdk, "prompts/get greet")) {
          assertEquals(attributes["gen_ai.prompt.name"], "greet");
        }
        for (const { attributes } of pair(sdk, "tools/list")) {
          assert(!Object.keys(attributes).some((key) => key.startsWith("gen_ai.")));
        }
        assert(
          !JSON.stringify(sdk.spans.map(({ attributes, status, name }) => [attributes, status, name])).includes(
            "hunter2",
          ),
        );
      });

      test("a tool that fails, and an error of the protocol, are errors on both sides", async () => {
        const sdk = await joined({ era, way }, async (client) => {
          assertEquals((await client.callTool("fail")).isError, true);
          await assertRejects(() => client.callTool("hunter2-made-up"), InvalidParamsError);
          await assertRejects(() => client.readResource("memo://broken"));
        });
        for (const { attributes, status } of pair(sdk, "tools/call fail")) {
          assertEquals([attributes["error.type"], attributes["rpc.response.status_code"]], ["tool_error", undefined]);
          assertEquals(status, { code: SpanStatusCode.ERROR });
        }
        const [unknown] = sdk.named("tools/call");
        assertEquals([unknown?.kind, unknown?.attributes["gen_ai.tool.name"]], [SpanKind.SERVER, undefined]);
        const [asked] = sdk.named("tools/call hunter2-made-up");
        for (const span of [unknown, asked]) {
          assertEquals([span?.attributes["error.type"], span?.attributes["rpc.response.status_code"]], [
            "-32602",
            "-32602",
          ]);
          assertEquals(span?.status, { code: SpanStatusCode.ERROR });
        }
        for (const { attributes } of pair(sdk, "resources/read")) assertEquals(attributes["error.type"], "-32603");
      });

      test("a call that is called off ends on both sides, also where its handler goes on", async () => {
        const sdk = await joined({ era, way }, async (client, sdk) => {
          const controller = new AbortController();
          const call = client.callTool("forever", {}, { signal: controller.signal });
          await until(() => sdk.open === 2);
          controller.abort(new RangeError("enough"));
          await assertRejects(() => call, RangeError);
          await until(() => sdk.open === 0);
        });
        for (const { attributes, status } of pair(sdk, "tools/call forever")) {
          assertEquals([attributes["error.type"], status], ["cancelled", { code: SpanStatusCode.ERROR }]);
        }
      });

      test("a question to the user is no error; its rounds belong to one span of the client", async () => {
        const handlers = { elicitation: () => ({ action: "accept" as const, content: { name: "Ada" } }) };
        const sdk = await joined({ era, way, options: { handlers } }, async (client) => {
          assertEquals((await client.callTool("ask")).content, [{ type: "text", text: "Ada" }]);
        });
        const spans = sdk.named("tools/call ask");
        const [client] = spans.filter(({ kind }) => kind === SpanKind.CLIENT);
        const served = spans.filter(({ kind }) => kind === SpanKind.SERVER);
        assertEquals([spans.length, served.length], era === "modern" ? [3, 2] : [2, 1]);
        for (const { parentSpanContext, status } of served) {
          assertEquals([parentSpanContext?.spanId, status.code], [client?.spanContext().spanId, SpanStatusCode.UNSET]);
        }
      });
    });
  }
}

describe("what is served", () => {
  const allowedHosts = ["server.test"];

  test("a task's work is a span below the call that began it", async () => {
    const sdk = new Sdk();
    const server = new McpServer({ name: "tasks", version: "1.0.0" });
    server.tool("build", { task: "required" }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return "built";
    });
    const tasks = createTasks();
    const handler = createHandler(traceServer(server, sdk.providers), { allowedHosts, tasks });
    await using client = await connect("https://server.test/mcp", {
      fetch: (url, init) => handler(heldRequest(url, init)),
      middleware: [openTelemetry(sdk.providers)],
      tasks: taskSupport,
    });
    assertEquals((await client.callTool("build")).content, [{ type: "text", text: "built" }]);
    const [client_, server_] = pair(sdk, "tools/call build");
    assertEquals(server_.parentSpanContext?.spanId, client_.spanContext().spanId);
    assertEquals(sdk.open, 0);
    await tasks.close();
  });

  test("is all that was served before: descriptions, skills, changes", async () => {
    const sdk = new Sdk();
    const inner = new McpServer({ name: "shop", version: "1.0.0" }, {
      instructions: "be kind",
      cache: { ttlMs: 7, cacheScope: "public" },
    });
    const skilled = withSkills(inner, [{
      markdown: "---\nname: refunds\ndescription: Refund a customer\n---\n\nNo.\n",
    }]);
    const { methods } = traceServer(skilled, sdk.providers);
    assertEquals([methods.info, methods.instructions, methods.cache], [
      skilled.methods.info,
      "be kind",
      { ttlMs: 7, cacheScope: "public" },
    ]);
    assertEquals(methods.capabilities(), skilled.methods.capabilities());
    let changes = 0;
    const stop = methods.watch(() => void changes++);
    const remove = inner.tool("new", { task: "optional" }, () => "new");
    assertEquals([methods.tool("new")?.name, methods.task?.("new")?.support], ["new", "optional"]);
    stop();
    remove();
    assertEquals([changes > 0, methods.tool("new")], [true, undefined]);
    const handler = createHandler({ methods }, { allowedHosts });
    await using client = await connect("https://server.test/mcp", {
      fetch: (url, init) => handler(heldRequest(url, init)),
    });
    assertEquals((await client.request("skills/list")).skills instanceof Array, true);
    assertEquals(sdk.spans.map(({ name, parentSpanContext }) => [name, parentSpanContext]), [[
      "skills/list",
      undefined,
    ]]);
  });

  test("what another server said to a handler is an error inside, as it is to the client", async () => {
    const server = new McpServer({ name: "front", version: "1.0.0" });
    const details = { rpcCode: -32602, method: "resources/read", server: "https://back.test/mcp" };
    server.resource("memo://one", {}, () => {
      throw new InvalidParamsError("There is none", details);
    });
    const sdk = await joined({ server }, async (client) => {
      await assertRejects(() => client.readResource("memo://one"), InternalError);
    });
    for (const { attributes } of pair(sdk, "resources/read")) assertEquals(attributes["error.type"], "-32603");
  });

  test("a handler that goes on after its request is counted once; one that ends lets go of its signal", async () => {
    const server = new McpServer({ name: "slow", version: "1.0.0" });
    let release = (_text: string) => {};
    let removed = 0;
    server.tool("slow", {}, () => new Promise<string>((resolve) => release = resolve));
    server.tool("quick", {}, (_args, { signal }) => {
      const remove = signal.removeEventListener.bind(signal);
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        if (args[0] === "abort") removed++;
        remove(...args);
      };
      return "quick";
    });
    const sdk = await joined({ server, way: "pipe" }, async (client, sdk) => {
      const controller = new AbortController();
      const call = client.callTool("slow", {}, { signal: controller.signal });
      await until(() => sdk.open === 2);
      controller.abort();
      await assertRejects(() => call);
      await until(() => sdk.open === 0);
      release("late");
      await client.callTool("quick");
    });
    assert(removed > 0);
    const measured = await sdk.measured("mcp.server.operation.duration");
    assertEquals(
      measured.map(({ attributes, count }) => [attributes["gen_ai.tool.name"], attributes["error.type"], count]),
      [
        ["slow", "cancelled", 1],
        ["quick", undefined, 1],
      ],
    );
  });

  test("what a server has nothing of is an error, and no span stays open", async () => {
    const sdk = new Sdk();
    const server = new ToolServer({ name: "small", version: "1.0.0" });
    server.tool("one", {}, () => "one");
    const handler = createHandler(traceServer(server, sdk.providers), { allowedHosts });
    await using client = await connect("https://server.test/mcp", {
      fetch: (url, init) => handler(heldRequest(url, init)),
    });
    await assertRejects(() => client.request("prompts/list"));
    await assertRejects(() => client.request("made/up"));
    assertEquals(sdk.spans.map(({ name, attributes }) => [name, attributes["error.type"]]), [[
      "prompts/list",
      "-32601",
    ]]);
    assertEquals(sdk.open, 0);
  });
});

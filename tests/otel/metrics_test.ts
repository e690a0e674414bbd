/** Durations of requests and sessions, content only when it is asked for, and an SDK that breaks. */
import { after, describe, test } from "node:test";
import { metrics, SpanStatusCode, trace } from "@opentelemetry/api";
import type { MeterProvider, Span, TracerProvider } from "@opentelemetry/api";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, HttpStatusError, TimeoutError } from "../../mod.ts";
import { openTelemetry } from "../../src/otel/mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { front, until } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { joined, Sdk, url } from "./support.ts";

const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

describe("durations", () => {
  test("of requests, in seconds, with the conventions' buckets", async () => {
    const clock = new VirtualClock();
    const sdk = new Sdk();
    const watch = openTelemetry({
      ...sdk.providers,
      clock,
      server: url,
      attributes: { "causeway.server.name": "slow" },
    });
    const fetch = memoryFetch(createModernServer({ clock }));
    const client = watch.watch(await connect("http://server.test/mcp", { fetch, clock, middleware: [watch] }));
    await clock.until(Promise.all([1, 2].map(() => client.callTool("slow", { milliseconds: 1500 }))));
    await client.callTool("fail", { message: "no" });
    const attributes = {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "mcp.protocol.version": "2026-07-28",
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "server.address": "server.test",
      "server.port": 443,
      "causeway.server.name": "slow",
    };
    const name = "mcp.client.operation.duration";
    assertEquals(await sdk.measured(name), [
      { name, unit: "s", attributes: { ...attributes, "gen_ai.tool.name": "slow" }, count: 2, sum: 3, boundaries },
      {
        name,
        unit: "s",
        attributes: { ...attributes, "gen_ai.tool.name": "fail", "error.type": "tool_error" },
        count: 1,
        sum: 0,
        boundaries,
      },
    ]);
    await client.close();
  });

  test("of requests that are served, never by what a stranger makes up", async () => {
    const sdk = await joined({ serving: { transport: "http" } }, async (client) => {
      await client.callTool("echo", { text: "a" });
      for (const name of ["made", "up"]) {
        await client.callTool(name).catch(() => {});
        await client.getPrompt(name).catch(() => {});
        await client.request(`made/${name}`).catch(() => {});
        await client.readResource(`memo://${name}`);
      }
    });
    const all = await sdk.measured("mcp.server.operation.duration");
    const place = { "network.transport": "tcp", "network.protocol.name": "http", "mcp.protocol.version": "2026-07-28" };
    const error = { "error.type": "-32602", "rpc.response.status_code": "-32602" };
    const tool = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" };
    assertEquals(all.map(({ attributes, count }) => [attributes, count]), [
      [{ ...place, ...tool, "gen_ai.tool.name": "echo" }, 1],
      [{ ...place, ...tool, ...error }, 2],
      [{ ...place, "mcp.method.name": "prompts/get", ...error }, 2],
      [{ ...place, "mcp.method.name": "resources/read" }, 2],
    ]);
    assertEquals(all[0]?.boundaries, boundaries);
  });

  test("of a session, once, when its client is closed", async () => {
    const clock = new VirtualClock();
    const sdk = new Sdk();
    const watch = openTelemetry({ ...sdk.providers, clock, server: url });
    const fetch = memoryFetch(createModernServer({ clock }));
    const client = watch.watch(await connect("http://server.test/mcp", { fetch, clock, middleware: [watch] }));
    await clock.advance(90_000);
    assertEquals(await sdk.measured("mcp.client.session.duration"), []);
    await Promise.all([client.close(), client.close()]);
    await client[Symbol.asyncDispose]();
    const [session, ...more] = await sdk.measured("mcp.client.session.duration");
    assertEquals([session?.count, session?.sum, session?.boundaries, more.length], [1, 90, boundaries, 0]);
    assertEquals(session?.attributes, {
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "server.address": "server.test",
      "server.port": 443,
      "mcp.protocol.version": "2026-07-28",
    });
  });

  test("of a session that ends with an error, and none of one that never was", async () => {
    const sdk = new Sdk();
    const fail = () => Promise.reject(new RangeError("stuck"));
    const broken = openTelemetry(sdk.providers).watch({ revision: "2026-07-28", close: fail });
    await assertRejects(() => broken.close(), RangeError, "stuck");
    await openTelemetry(sdk.providers).watch({ revision: undefined, close: () => Promise.resolve() }).close();
    const sessions = await sdk.measured("mcp.client.session.duration");
    assertEquals(sessions.map(({ attributes, count }) => [attributes, count]), [
      [{ "mcp.protocol.version": "2026-07-28", "error.type": "RangeError" }, 1],
    ]);
  });
});

describe("global providers", () => {
  after(() => {
    trace.disable();
    metrics.disable();
  });

  test("are used from when they are registered", async () => {
    const watch = openTelemetry();
    const middleware = [watch];
    const client = await connect("http://server.test/mcp", { fetch: memoryFetch(createModernServer()), middleware });
    await client.callTool("echo", { text: "unheard" });
    const first = new Sdk();
    trace.setGlobalTracerProvider(first.tracerProvider);
    metrics.setGlobalMeterProvider(first.meterProvider);
    await client.callTool("echo", { text: "heard" });
    assertEquals(first.spans.map(({ name }) => name), ["tools/call echo"]);
    const second = new Sdk();
    metrics.disable();
    metrics.setGlobalMeterProvider(second.meterProvider);
    await client.callTool("echo", { text: "heard elsewhere" });
    for (const sdk of [first, second]) {
      assertEquals((await sdk.measured("mcp.client.operation.duration")).map(({ count }) => count), [1]);
    }
    await client.close();
  });
});

describe("one request", () => {
  test("that is sent again is one span", async () => {
    const sdk = new Sdk();
    const clock = new VirtualClock();
    const peer = front(
      createModernServer({ clock }),
      ({ method }, count) => method === "tools/list" && count < 3 ? new Response("busy", { status: 503 }) : undefined,
    );
    const middleware = [openTelemetry(sdk.providers)];
    const client = await connect("http://server.test/mcp", { fetch: memoryFetch(peer), clock, middleware });
    await clock.until(client.listTools());
    assertEquals(peer.methods.filter((method) => method === "tools/list").length, 3);
    assertEquals(sdk.spans.map(({ name, status }) => [name, status.code]), [["tools/list", SpanStatusCode.UNSET]]);
    const sent = peer.seen.filter(({ method }) => method === "tools/list").map(({ message }) =>
      JSON.stringify(message?.params)
    );
    assert(sent.every((params) => params?.includes(sdk.spans[0]?.spanContext().spanId ?? "none")));
    await client.close();
  });

  test("says what it failed of: its time, a status, the caller's deadline", async () => {
    const sdk = new Sdk();
    const clock = new VirtualClock();
    const peer = front(
      createModernServer({ clock }),
      ({ method }) => method === "tools/list" ? new Response("no", { status: 500 }) : undefined,
    );
    const middleware = [openTelemetry(sdk.providers)];
    const options = { fetch: memoryFetch(peer), clock, middleware, retry: { attempts: 1 } };
    const client = await connect("http://server.test/mcp", options);
    await assertRejects(
      () => clock.until(client.callTool("slow", { milliseconds: 9000 }, { timeout: 50 })),
      TimeoutError,
    );
    await assertRejects(() => client.listTools(), HttpStatusError);
    const signal = AbortSignal.timeout(1);
    await assertRejects(() => client.callTool("slow", { milliseconds: 9000 }, { signal }), DOMException);
    await until(() => sdk.spans.length === 3);
    assertEquals(sdk.spans.map(({ attributes, status }) => [attributes["error.type"], status]), [
      ["timeout", { code: SpanStatusCode.ERROR }],
      ["http_status", { code: SpanStatusCode.ERROR }],
      ["timeout", { code: SpanStatusCode.ERROR }],
    ]);
    await client.close();
  });
});

describe("content", () => {
  test("is recorded as far as it was sanitized", async () => {
    const asked: unknown[] = [];
    const sanitize = (content: object, about: { method: string; name?: string | undefined; what: string }) => {
      asked.push([about.method, about.name, about.what]);
      return about.what === "error" ? "hidden" : { keys: Object.keys(content).sort()[0] };
    };
    const sdk = await joined({ client: { sanitize } }, async (client) => {
      await client.callTool("echo", { text: "hunter2" });
      await client.callTool("fail");
      await client.callTool("nothing").catch(() => {});
      await client.readResource("memo://one");
    });
    assertEquals(asked, [
      ["tools/call", "echo", "arguments"],
      ["tools/call", "echo", "result"],
      ["tools/call", "fail", "arguments"],
      ["tools/call", "fail", "error"],
      ["tools/call", "nothing", "arguments"],
      ["tools/call", "nothing", "error"],
    ]);
    const [served, echo] = sdk.named("tools/call echo");
    assertEquals(echo?.attributes["gen_ai.tool.call.arguments"], '{"keys":"text"}');
    assertEquals(echo?.attributes["gen_ai.tool.call.result"], '{"keys":"_meta"}');
    assertEquals(served?.attributes["gen_ai.tool.call.arguments"], undefined);
    assertEquals(sdk.named("tools/call fail")[1]?.status, { code: SpanStatusCode.ERROR, message: "hidden" });
    assertEquals(sdk.named("tools/call nothing")[0]?.status, { code: SpanStatusCode.ERROR, message: "hidden" });
    const measured = JSON.stringify(await sdk.measured("mcp.client.operation.duration"));
    assert(!measured.includes("keys") && !measured.includes("hidden") && !measured.includes("memo"));
  });

  test("of what a server gave, where its tool did not fail; what failed is told as that alone", async () => {
    const asked: string[] = [];
    const sanitize = (content: object, { what }: { what: string }) => {
      asked.push(what);
      return what === "error" ? "hidden" : { keys: Object.keys(content).sort() };
    };
    const sdk = await joined({ serving: { sanitize } }, async (client) => {
      await client.callTool("echo", { text: "hunter2" });
      await client.callTool("fail");
    });
    assertEquals(asked, ["arguments", "result", "arguments", "error"]);
    const [echo] = sdk.named("tools/call echo");
    const [fail] = sdk.named("tools/call fail");
    assertEquals(echo?.attributes["gen_ai.tool.call.result"], '{"keys":["content"]}');
    assertEquals(fail?.attributes["gen_ai.tool.call.result"], undefined);
    assertEquals(fail?.status, { code: SpanStatusCode.ERROR, message: "hidden" });
  });

  test("of a server's handler too, and never where that breaks", async () => {
    const sanitize = (_content: object, { what }: { what: string }) => {
      if (what === "result") throw new Error("broken");
      return what;
    };
    const sdk = await joined({ serving: { sanitize } }, async (client) => {
      assertEquals((await client.callTool("echo", { text: "a" })).isError, undefined);
      await client.readResource("memo://broken").catch(() => {});
    });
    const [served] = sdk.named("tools/call echo");
    assertEquals(served?.attributes["gen_ai.tool.call.arguments"], "arguments");
    assertEquals("gen_ai.tool.call.result" in (served?.attributes ?? {}), false);
    assertEquals(sdk.named("resources/read")[0]?.status.message, "error");
  });
});

describe("an SDK that breaks", () => {
  const broken = (): never => {
    throw new Error("broken");
  };
  /** Every method of it throws, and every property. */
  const nothingWorks = new Proxy({}, { get: broken });
  const providers: { name: string; tracerProvider: TracerProvider; meterProvider: MeterProvider }[] = [
    {
      name: "at once",
      tracerProvider: { getTracer: broken },
      meterProvider: { getMeter: broken },
    },
    {
      name: "when it is used",
      tracerProvider: { getTracer: () => ({ startSpan: broken, startActiveSpan: broken }) },
      meterProvider: nothingWorks as MeterProvider,
    },
    {
      name: "in its spans",
      tracerProvider: { getTracer: () => ({ startSpan: () => nothingWorks as Span, startActiveSpan: broken }) },
      meterProvider: nothingWorks as MeterProvider,
    },
  ];
  for (const { name, ...given } of providers) {
    test(`disturbs no call: ${name}`, async () => {
      const propagator = { inject: broken, extract: broken };
      const both = { ...given, propagator, sanitize: broken };
      await joined({ client: { ...both, context: broken }, serving: both }, async (client) => {
        assertEquals((await client.callTool("echo", { text: "fine" })).content, [{ type: "text", text: "fine" }]);
        assertEquals((await client.callTool("fail")).isError, true);
        assertEquals((await client.getPrompt("greet", { name: "Ada" })).messages.length, 1);
        await assertRejects(() => client.callTool("nothing"), Error, "Unknown tool: nothing");
      });
    });
  }
});

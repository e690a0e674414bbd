/** How a trace travels: in `_meta`, from whichever context, as W3C's formats or another propagator's. */
import { after, before, describe, test } from "node:test";
import { context, createTraceState, propagation, ROOT_CONTEXT, SpanKind, trace } from "@opentelemetry/api";
import type { Context, ContextManager, TextMapPropagator } from "@opentelemetry/api";
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { connect } from "../../mod.ts";
import type { JsonObject } from "../../mod.ts";
import {
  type ClientTelemetryOptions,
  openTelemetry,
  type ServerTelemetryOptions,
  traceServer,
} from "../../src/otel/mod.ts";
import { createHandler, McpServer } from "../../src/server/mod.ts";
import { heldRequest } from "../support/held_request.ts";
import { createContextManager, createServer, joined, Sdk } from "./support.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;

/** A context with a span of somebody else. */
function remote(more: { state?: string; baggage?: Record<string, string>; flags?: number } = {}): Context {
  const { state, baggage = {}, flags = 1 } = more;
  const traceState = state === undefined ? {} : { traceState: createTraceState(state) };
  const entries = Object.entries(baggage).map(([key, value]) => [key, { value }]);
  const within = trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...traceState,
  });
  return propagation.setBaggage(within, propagation.createBaggage(Object.fromEntries(entries)));
}

/** What a client sends for one call. */
async function sent(
  options: ClientTelemetryOptions,
  meta?: JsonObject,
): Promise<{ meta: JsonObject; headers: Headers; sdk: Sdk }> {
  const sdk = new Sdk();
  let seen: JsonObject = {};
  let headers = new Headers();
  const server = new McpServer({ name: "sample", version: "1.0.0" });
  server.tool("look", {}, (_args, { meta }) => void (seen = meta));
  const handler = createHandler(server, { allowedHosts: ["server.test"] });
  await using client = await connect("https://server.test/mcp", {
    fetch: (url, init) => {
      headers = new Headers(init.headers);
      return handler(heldRequest(url, init));
    },
    middleware: [openTelemetry({ ...sdk.providers, ...options })],
  });
  await client.callTool("look", {}, { ...(meta && { meta }) });
  return { meta: seen, headers, sdk };
}

/** The server's span of a call with this `_meta`. */
async function served(meta: JsonObject, options: ServerTelemetryOptions = {}) {
  const sdk = await joined({ client: { propagate: false }, serving: options }, async (client) => {
    await client.callTool("echo", { text: "a" }, { meta });
  });
  const [span] = sdk.spans.filter(({ kind }) => kind === SpanKind.SERVER);
  if (!span) throw new Error("There is no span of the server");
  return span;
}

describe("what a client sends", () => {
  test("its span, below the caller's, with state and baggage", async () => {
    const baggage = { user: "Ada Ü", plan: "a=b,c;d" };
    const { meta, sdk } = await sent({ context: () => remote({ state: "vendor=1", baggage }) });
    const [span] = sdk.spans;
    assertEquals(span?.parentSpanContext?.spanId, spanId);
    assertEquals(meta.traceparent, `00-${traceId}-${span?.spanContext().spanId}-01`);
    assertEquals([meta.tracestate, meta.baggage], ["vendor=1", "user=Ada%20%C3%9C,plan=a%3Db%2Cc%3Bd"]);
  });

  test("a trace of its own where nobody has one", async () => {
    const { meta, sdk } = await sent({});
    assertEquals(
      meta.traceparent,
      `00-${sdk.spans[0]?.spanContext().traceId}-${sdk.spans[0]?.spanContext().spanId}-01`,
    );
    assertEquals([meta.tracestate, meta.baggage, sdk.spans[0]?.parentSpanContext], [undefined, undefined, undefined]);
  });

  test("what the caller says of the request goes first, with its state and without the other's", async () => {
    const other = "4bf92f3577b34da6a3ce929d0e0e4736";
    const given = { traceparent: `00-${other}-00f067aa0ba902b7-01`, "com.example/mine": 1 };
    const { meta, sdk } = await sent({}, { ...given, tracestate: "mine=1", baggage: "a=b" });
    assertEquals(sdk.spans[0]?.spanContext().traceId, other);
    assertEquals(sdk.spans[0]?.parentSpanContext?.spanId, "00f067aa0ba902b7");
    assertEquals([meta.tracestate, meta.baggage, meta["com.example/mine"]], ["mine=1", "a=b", 1]);
    assertMatch(String(meta.traceparent), new RegExp(`^00-${other}-(?!00f067aa0ba902b7)`));
    const without = await sent({ context: () => remote({ state: "vendor=1" }) }, given);
    assertEquals([without.meta.tracestate, without.sdk.spans[0]?.spanContext().traceId], [undefined, other]);
    const wrong = await sent({}, { traceparent: "nonsense", tracestate: "mine=1", baggage: "=" });
    assertEquals([wrong.meta.tracestate, wrong.meta.baggage], [undefined, undefined]);
  });

  test("of two spans in one trace the program's own is nearer", async () => {
    const { sdk } = await sent({ context: () => remote() }, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    assertEquals(sdk.spans[0]?.parentSpanContext?.spanId, spanId);
  });

  test("nothing, where that is wanted; headers, where that is wanted", async () => {
    const quiet = await sent({ propagate: false, context: () => remote() });
    assertEquals([quiet.meta.traceparent, quiet.headers.get("traceparent"), quiet.sdk.spans.length], [
      undefined,
      null,
      1,
    ]);
    const plain = await sent({ context: () => remote() });
    assertEquals(plain.headers.get("traceparent"), null);
    const loud = await sent({ headers: true, context: () => remote({ state: "vendor=1" }) });
    assertEquals([loud.headers.get("traceparent"), loud.headers.get("tracestate")], [
      loud.meta.traceparent,
      "vendor=1",
    ]);
  });

  test("no more baggage than others can be asked to carry", async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, "x"]));
    const { meta } = await sent({ context: () => remote({ baggage: { ...many, "no token": "x" } }) });
    assertEquals(String(meta.baggage).split(",").length, 64);
    const big = await sent({ context: () => remote({ baggage: { big: "x".repeat(9000) } }) });
    assertEquals([big.meta.baggage, typeof big.meta.traceparent], [undefined, "string"]);
    const given = await sent({}, { baggage: `a=${"x".repeat(9000)}` });
    assertEquals(given.meta.baggage, undefined);
  });

  test("the caller's decision not to sample", async () => {
    const { meta, sdk } = await sent({ context: () => remote({ flags: 0 }) });
    assertMatch(String(meta.traceparent), new RegExp(`^00-${traceId}-(?!${spanId})[0-9a-f]{16}-00$`));
    assertEquals(sdk.spans, []);
    const [measured] = await sdk.measured("mcp.client.operation.duration");
    assertEquals(measured?.count, 1);
  });

  test("without an SDK nothing of its own: what the caller sends goes through", async () => {
    const nothing = { tracerProvider: undefined, meterProvider: undefined };
    assertEquals("traceparent" in (await sent(nothing)).meta, false);
    const { meta } = await sent(nothing, { traceparent, tracestate: "vendor=1" });
    assertEquals([meta.traceparent, meta.tracestate], [traceparent, "vendor=1"]);
  });

  test("the words of another propagator", async () => {
    const propagator: Pick<TextMapPropagator, "inject" | "extract"> = {
      inject: (from, carrier, setter) => setter.set(carrier, "b3", trace.getSpanContext(from)?.traceId ?? ""),
      extract: (base, carrier, getter) =>
        trace.setSpanContext(base, { traceId: String(getter.get(carrier, "b3")), spanId, traceFlags: 1 }),
    };
    const { meta, sdk } = await sent({ propagator, context: () => undefined }, { b3: traceId });
    assertEquals([meta.b3, meta.traceparent], [traceId, undefined]);
    assertEquals(sdk.spans[0]?.spanContext().traceId, traceId);
    assertEquals((await served({ b3: traceId }, { propagator })).parentSpanContext?.spanId, spanId);
  });
});

describe("what a server takes", () => {
  test("the client's span as the parent, with its state and its decision", async () => {
    const span = await served({ traceparent, tracestate: "vendor=1" });
    assertEquals([span.spanContext().traceId, span.parentSpanContext?.spanId], [traceId, spanId]);
    assertEquals([span.parentSpanContext?.isRemote, span.spanContext().traceState?.serialize()], [true, "vendor=1"]);
    assertEquals((await served({ traceparent: `cc-${traceId}-${spanId}-01-more` })).spanContext().traceId, traceId);
    const endless = await served({ traceparent: `cc-${traceId}-${spanId}-01-${"x".repeat(9000)}` });
    assertEquals(endless.parentSpanContext, undefined);
  });

  test("a link or nothing, where strangers must not choose the trace", async () => {
    const linked = await served({ traceparent }, { incoming: "link" });
    assertNotEquals(linked.spanContext().traceId, traceId);
    assertEquals(linked.links.map(({ context: { traceId, spanId } }) => [traceId, spanId]), [[traceId, spanId]]);
    const ignored = await served({ traceparent }, { incoming: "ignore" });
    assertEquals([ignored.spanContext().traceId === traceId, ignored.links, ignored.parentSpanContext], [
      false,
      [],
      undefined,
    ]);
  });

  for (
    const wrong of [
      "",
      "nonsense",
      `ff-${traceId}-${spanId}-01`,
      `00-${"0".repeat(32)}-${spanId}-01`,
      `00-${traceId}-${"0".repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      `00-${traceId}-${spanId}-01-more`,
      `01-${traceId}-${spanId}-01x`,
      `${traceparent}\n`,
      17,
      null,
      [traceparent],
    ] as const
  ) {
    test(`${JSON.stringify(wrong)} is no parent`, async () => {
      const span = await served({ traceparent: wrong as JsonObject[string], tracestate: "vendor=1" });
      assertNotEquals(span.spanContext().traceId, traceId);
      assertEquals([span.parentSpanContext, span.spanContext().traceState], [undefined, undefined]);
    });
  }
});

describe("with a context manager that breaks", () => {
  before(() => {
    const fail = () => {
      throw new Error("broken");
    };
    const broken: ContextManager = { ...createContextManager(), active: fail, with: fail };
    context.setGlobalContextManager(broken);
  });
  after(() => context.disable());

  test("each call is made once all the same", async () => {
    const server = createServer();
    let runs = 0;
    server.tool("count", {}, () => String(++runs));
    await joined({ server }, async (client) => {
      assertEquals((await client.callTool("count")).content, [{ type: "text", text: "1" }]);
      assertEquals((await client.callTool("fail")).isError, true);
      await assertRejects(() => client.callTool("nothing"), Error, "Unknown tool: nothing");
    });
    assertEquals(runs, 1);
  });
});

describe("with a context manager", () => {
  before(() => void context.setGlobalContextManager(createContextManager()));
  after(() => context.disable());

  test("a handler runs inside of its span, with the client's baggage", async () => {
    const server = createServer();
    const seen: unknown[] = [];
    server.tool("look", {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 0));
      seen.push(trace.getActiveSpan()?.spanContext().spanId, propagation.getActiveBaggage()?.getAllEntries());
    });
    const baggage = "user=Ada%20L,=bad,also bad=1,broken=%zz,plan=pro;until=monday";
    const sdk = await joined({ server, client: { propagate: false } }, async (client) => {
      await client.callTool("look", {}, { meta: { traceparent, baggage } });
    });
    const [span] = sdk.named("tools/call look");
    const [spanId, entries] = seen;
    assertEquals(spanId, span?.spanContext().spanId);
    assert(Array.isArray(entries));
    assertEquals(entries.map(([key, { value, metadata }]) => [key, value, metadata?.toString()]), [
      ["user", "Ada L", undefined],
      ["plan", "pro", "until=monday"],
    ]);
  });

  test("a server that asks another one: all of it is one trace", async () => {
    const sdk = new Sdk();
    const front = new McpServer({ name: "front", version: "1.0.0" });
    const back = createHandler(traceServer(createServer(), sdk.providers), { allowedHosts: ["back.test"] });
    await using inner = await connect("https://back.test/mcp", {
      fetch: (url, init) => back(heldRequest(url, init)),
      middleware: [openTelemetry({ ...sdk.providers, server: "https://back.test/mcp" })],
    });
    front.tool("ask", {}, async () => (await inner.callTool("later", { text: "deep" })).content.length);
    const tracer = sdk.tracerProvider.getTracer("test");
    await joined({ sdk, server: front }, async (client) => {
      await tracer.startActiveSpan("outermost", async (span) => {
        await client.callTool("ask");
        span.end();
      });
    });
    const chain = ["tools/call later", "tools/call ask", "outermost"].flatMap((name) => sdk.named(name));
    assertEquals(chain.map(({ kind }) => kind), [
      SpanKind.SERVER,
      SpanKind.CLIENT,
      SpanKind.SERVER,
      SpanKind.CLIENT,
      SpanKind.INTERNAL,
    ]);
    assertEquals(new Set(chain.map((span) => span.spanContext().traceId)).size, 1);
    assertEquals(
      chain.slice(0, -1).map(({ parentSpanContext }) => parentSpanContext?.spanId),
      chain.slice(1).map((span) => span.spanContext().spanId),
    );
  });

  test("what the client does for a request runs inside of its span", async () => {
    const sdk = new Sdk();
    const seen: unknown[] = [];
    const handler = createHandler(createServer(), { allowedHosts: ["server.test"] });
    await using client = await connect("https://server.test/mcp", {
      fetch: (url, init) => {
        seen.push(trace.getActiveSpan()?.spanContext().spanId);
        return handler(heldRequest(url, init));
      },
      middleware: [openTelemetry(sdk.providers)],
    });
    await client.callTool("echo", { text: "a" });
    assertEquals(seen.at(-1), sdk.spans[0]?.spanContext().spanId);
    assertEquals(trace.getActiveSpan(), undefined);
  });

  test("the span around the request of HTTP is linked", async () => {
    const sdk = new Sdk();
    const tracer = sdk.tracerProvider.getTracer("test");
    const handler = createHandler(traceServer(createServer(), sdk.providers), { allowedHosts: ["server.test"] });
    await using client = await connect("https://server.test/mcp", {
      fetch: (url, init) =>
        tracer.startActiveSpan(
          "POST",
          { root: true },
          (span) => handler(heldRequest(url, init)).finally(() => span.end()),
        ),
      middleware: [openTelemetry({ ...sdk.providers })],
    });
    await client.callTool("echo", { text: "a" });
    const [post] = sdk.named("POST").slice(-1);
    const [served, asked] = sdk.named("tools/call echo");
    assertEquals(served?.parentSpanContext?.spanId, asked?.spanContext().spanId);
    assertEquals(served?.links.map(({ context }) => context.spanId), [post?.spanContext().spanId]);
  });

  test("1,000 calls at a time, each with its own context", async () => {
    const sdk = new Sdk();
    const tracer = sdk.tracerProvider.getTracer("test");
    await joined({ sdk }, async (client) => {
      await Promise.all(
        Array.from({ length: 1000 }, (_, index) =>
          tracer.startActiveSpan(`caller ${index}`, async (span) => {
            const { content } = await client.callTool("later", { text: String(index) });
            assertEquals(content, [{ type: "text", text: String(index) }]);
            assertEquals(trace.getActiveSpan(), span);
            span.end();
          })),
      );
    });
    const spans = sdk.named("tools/call later");
    assertEquals([spans.length, sdk.open], [2000, 0]);
    const byId = new Map(sdk.spans.map((span) => [span.spanContext().spanId, span]));
    const parents = spans.map(({ kind, parentSpanContext }) => {
      const parent = byId.get(parentSpanContext?.spanId ?? "");
      assertEquals(parent?.kind, kind === SpanKind.SERVER ? SpanKind.CLIENT : SpanKind.INTERNAL);
      return parent;
    });
    assertEquals(new Set(parents).size, 2000);
    assertEquals(new Set(spans.map((span) => span.spanContext().traceId)).size, 1000);
    const [measured] = await sdk.measured("mcp.server.operation.duration");
    assertEquals(measured?.count, 1000);
  });
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import {
  AuthorizationError,
  Client,
  connect,
  ConnectError,
  ConnectionClosedError,
  EgressDeniedError,
  HttpStatusError,
  HttpTransport,
  InputRequiredError,
  InvalidParamsError,
  LimitExceededError,
  OutcomeUnknownError,
  OverloadedError,
  phaseOf,
  ProtocolViolationError,
  SessionLostError,
  SpawnError,
  telemetry,
  TimeoutError,
  UnauthorizedError,
} from "../../mod.ts";
import type { Fetch, JsonObject, TelemetryEvent, TelemetryOptions, TraceContext } from "../../mod.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { turns } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

const url = "http://server.test/mcp";
const wire = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;
const traceId = "0af7651916cd43dd8448eb211c80319c";
const parent = `00-${traceId}-b7ad6b7169203331-00`;

async function watched(
  options: Partial<TelemetryOptions> = {},
  make: () => ReturnType<typeof createModernServer> = createModernServer,
) {
  const server = make();
  const events: TelemetryEvent[] = [];
  const watch = telemetry({ onEvent: (event) => events.push(event), ...options });
  const client = await connect(url, { fetch: memoryFetch(server), middleware: [watch], retry: { attempts: 1 } });
  const metas = (method: string) =>
    server.log.filter(({ message }) => message?.method === method)
      .map(({ message }) => (message?.params as JsonObject)._meta as JsonObject);
  return { server, client, events, metas };
}

describe("events", () => {
  test("a call is told at its beginning and its end, with the time it took", async () => {
    const clock = new VirtualClock();
    const { client, events } = await watched(
      { clock, attributes: { "server.address": "server.test" } },
      () => createModernServer({ clock }),
    );
    const call = client.callTool("slow", { milliseconds: 40 });
    await clock.until(call);
    assertEquals(
      events.map(({ type, method, tool, milliseconds, isError }) => [type, method, tool, milliseconds, isError]),
      [
        ["request", "tools/call", "slow", 0, false],
        ["response", "tools/call", "slow", 40, false],
      ],
    );
    assertEquals(events[0]?.trace, events[1]?.trace);
    assertEquals(events[1]?.attributes, {
      "mcp.method.name": "tools/call",
      "rpc.system": "jsonrpc",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "slow",
      "server.address": "server.test",
    });
    assertEquals(JSON.parse(JSON.stringify(events)), events);
    await client.close();
  });

  test("a tool that failed is a response that says so", async () => {
    const { client, events } = await watched();
    await client.callTool("fail", { message: "secret" });
    assertEquals(events.map(({ type, isError, phase }) => [type, isError, phase]), [
      ["request", false, undefined],
      ["response", true, undefined],
    ]);
    assertEquals(events[1]?.attributes["error.type"], "tool_error");
    await client.close();
  });

  test("an error has its class, its code and its phase, and reaches the caller untouched", async () => {
    const { client, events } = await watched();
    const error = await assertRejects(() => client.callTool("nothing"), InvalidParamsError);
    const [, told] = events;
    assertEquals([told?.type, told?.isError, told?.phase], ["error", true, "answer"]);
    assertEquals(told?.error, { name: "InvalidParamsError", code: "invalid_params", rpcCode: -32602 });
    assertEquals([told?.attributes["error.type"], told?.attributes["rpc.response.status_code"]], ["-32602", "-32602"]);
    assertEquals(error.method, "tools/call");
    await client.close();
  });

  test("who gives up is told of as such", async () => {
    const { client, events, server } = await watched();
    const controller = new AbortController();
    const call = client.callTool("slow", {}, { signal: controller.signal });
    while (server.calls("slow") === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    controller.abort(new RangeError("enough"));
    await assertRejects(() => call, RangeError);
    assertEquals([events[1]?.phase, events[1]?.error], ["abort", { name: "RangeError" }]);
    await client.close();
  });

  test("prompts have their name, other methods none", async () => {
    const { client, events } = await watched();
    await client.getPrompt("greet", { who: "Ada" });
    await client.readResource("test://text");
    assertEquals(events[1]?.attributes, {
      "mcp.method.name": "prompts/get",
      "rpc.system": "jsonrpc",
      "gen_ai.prompt.name": "greet",
    });
    assertEquals(events[3]?.attributes, { "mcp.method.name": "resources/read", "rpc.system": "jsonrpc" });
    await client.close();
  });

  test("nothing of arguments, results and messages is told, unless it was sanitized", async () => {
    const quiet = await watched();
    await quiet.client.callTool("echo", { text: "hunter2" });
    await quiet.client.callTool("hunter2").catch(() => {});
    await quiet.client.readResource("test://hunter2").catch(() => {});
    const told = JSON.stringify(quiet.events.filter(({ tool }) => tool !== "hunter2"));
    assert(quiet.events.length === 6 && !told.includes("hunter2"));
    assert(quiet.events.every((event) => !("content" in event)));
    await quiet.client.close();

    const loud = await watched({
      sanitize: (content, { type, method }) => [type, method, Object.keys(content).sort()[0]],
    });
    await loud.client.callTool("echo", { text: "hunter2" });
    await loud.client.callTool("nothing").catch(() => {});
    assertEquals(loud.events.map(({ content }) => content), [
      ["request", "tools/call", "arguments"],
      ["response", "tools/call", "_meta"],
      ["request", "tools/call", "arguments"],
      ["error", "tools/call", "message"],
    ]);
    await loud.client.close();
  });

  test("a watcher that throws breaks nothing", async () => {
    let events = 0;
    const fail = () => {
      throw new Error("broken");
    };
    const { client } = await watched({
      onEvent: () => {
        events++;
        fail();
      },
      sanitize: fail,
      trace: fail,
    });
    assertEquals((await client.callTool("echo", { text: "fine" })).isError, undefined);
    assertEquals(events, 2);
    await client.close();
  });

  test("a watcher that fails later breaks nothing either", async () => {
    let events = 0;
    const onEvent = async () => {
      events++;
      await Promise.resolve();
      throw new Error("the collector is down");
    };
    const { client } = await watched({ onEvent });
    assertEquals((await client.callTool("echo", { text: "fine" })).isError, undefined);
    assertEquals(events, 2);
    // A rejection that nobody takes fails the run.
    await turns();
    await client.close();
  });
});

describe("the trace", () => {
  test("every request carries one of its own, where the caller has none", async () => {
    const { client, events, metas, server } = await watched();
    await client.callTool("echo", { text: "a" });
    await client.callTool("echo", { text: "b" });
    await client.listTools();
    const [first, second] = metas("tools/call");
    const [, firstTrace, firstSpan, flags] = wire.exec(String(first?.traceparent)) ?? [];
    const [, secondTrace, secondSpan] = wire.exec(String(second?.traceparent)) ?? [];
    assertEquals([firstTrace, firstSpan, flags], [events[0]?.trace.traceId, events[0]?.trace.spanId, "01"]);
    assertNotEquals(firstTrace, secondTrace);
    assertNotEquals(firstSpan, secondSpan);
    assertMatch(String(metas("tools/list")[0]?.traceparent), wire);
    assert(!("tracestate" in (first ?? {})) && !("baggage" in (first ?? {})));
    assertEquals("parentSpanId" in (events[0]?.trace ?? {}), false);
    assertEquals(server.violations, []);
    await client.close();
  });

  test("the caller's trace goes on, with a span for each request", async () => {
    let run = 0;
    const trace = (): TraceContext => ({ traceparent: parent, tracestate: `vendor=${++run}`, baggage: "user=ada" });
    const { client, events, metas } = await watched({ trace });
    await client.callTool("echo", { text: "a" });
    await client.callTool("echo", { text: "b" });
    const seen = metas("tools/call");
    assertEquals(seen.map(({ tracestate, baggage }) => [tracestate, baggage]), [["vendor=1", "user=ada"], [
      "vendor=2",
      "user=ada",
    ]]);
    const spans = seen.map(({ traceparent }) => wire.exec(String(traceparent)) ?? []);
    assertEquals(spans.map(([, id, , flags]) => [id, flags]), [[traceId, "00"], [traceId, "00"]]);
    assertEquals(spans.map(([, , span]) => span), [events[0]?.trace.spanId, events[2]?.trace.spanId]);
    assertEquals(new Set(spans.map(([, , span]) => span)).size, 2);
    assertEquals(events[0]?.trace.parentSpanId, "b7ad6b7169203331");
    await client.close();
  });

  test("what one request says of its trace goes first", async () => {
    const other = "4bf92f3577b34da6a3ce929d0e0e4736";
    const meta = { traceparent: `00-${other}-00f067aa0ba902b7-01`, "com.example/mine": 1 };
    const { client, events, metas } = await watched({ trace: () => ({ traceparent: parent, baggage: "user=ada" }) });
    await client.callTool("echo", { text: "a" }, { meta });
    const [seen] = metas("tools/call");
    assertEquals([events[0]?.trace.traceId, events[0]?.trace.parentSpanId], [other, "00f067aa0ba902b7"]);
    assertEquals([seen?.traceparent, seen?.["com.example/mine"], seen?.baggage], [
      events[0]?.trace.context.traceparent,
      1,
      undefined,
    ]);
    assertEquals(meta.traceparent, `00-${other}-00f067aa0ba902b7-01`);
    await client.close();
  });

  for (
    const traceparent of [
      "",
      "nonsense",
      `ff-${traceId}-b7ad6b7169203331-01`,
      `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
      `00-${traceId}-${"0".repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
      `00-${traceId}-b7ad6b7169203331-01x`,
    ]
  ) {
    test(`"${traceparent}" is no parent: a new trace begins, without its state`, async () => {
      const { client, events, metas } = await watched();
      await client.callTool("echo", { text: "a" }, {
        meta: { traceparent, tracestate: "vendor=1", baggage: "user=ada" },
      });
      const [seen] = metas("tools/call");
      const [, id] = wire.exec(String(seen?.traceparent)) ?? [];
      assertEquals(id, events[0]?.trace.traceId);
      assertNotEquals(id, traceId);
      assertEquals([seen?.tracestate, seen?.baggage], [undefined, "user=ada"]);
      await client.close();
    });
  }

  test("a parent of a later version is understood", async () => {
    const { client, events } = await watched({
      trace: () => ({ traceparent: `01-${traceId}-b7ad6b7169203331-01-more` }),
    });
    await client.callTool("echo", { text: "a" });
    assertEquals(events[0]?.trace.traceId, traceId);
    assertMatch(events[0]?.trace.context.traceparent ?? "", wire);
    await client.close();
  });

  test("ids come from the port for chance, and are never all zero", async () => {
    const { client, events } = await watched({
      random: { fraction: () => 0, bytes: (count) => new Uint8Array(count) },
    });
    await client.callTool("echo", { text: "a" });
    assertEquals(events[0]?.trace.context.traceparent, `00-${"0".repeat(31)}1-${"0".repeat(15)}1-01`);
    await client.close();
  });

  test("it goes into headers where that is wanted, and only there", async () => {
    const headersOf = ({ server }: Awaited<ReturnType<typeof watched>>) =>
      server.log.find(({ message }) => message?.method === "tools/call")?.headers ?? {};
    const trace = () => ({ traceparent: parent, tracestate: "vendor=1" });
    const plain = await watched({ trace });
    await plain.client.callTool("echo", { text: "a" });
    assertEquals(headersOf(plain).traceparent, undefined);
    await plain.client.close();
    const wanted = await watched({ trace, headers: true });
    await wanted.client.callTool("echo", { text: "a" }, { headers: { "x-mine": "1" } });
    const { traceparent, tracestate, "x-mine": mine } = headersOf(wanted);
    assertEquals([traceparent, tracestate, mine], [wanted.events[0]?.trace.context.traceparent, "vendor=1", "1"]);
    await wanted.client.close();
  });

  test("all rounds of one call share its span, in both eras", async () => {
    const handlers = { elicitation: () => ({ action: "accept" as const, content: { name: "Ada" } }) };
    for (const server of [createModernServer(), createLegacyServer()]) {
      const events: TelemetryEvent[] = [];
      const middleware = [telemetry({ onEvent: (event) => events.push(event) })];
      const client = await connect(url, { fetch: memoryFetch(server), middleware, handlers });
      await client.callTool("ask", { rounds: 2 });
      const calls = server.log.filter(({ message }) => message?.method === "tools/call")
        .map(({ message }) => ((message?.params as JsonObject)._meta as JsonObject).traceparent);
      assertEquals(calls.length, client.era === "modern" ? 3 : 1);
      assertEquals([...new Set(calls)], [events[0]?.trace.context.traceparent]);
      assertEquals(events.length, 2);
      await client.close();
    }
  });
});

describe("the phase of an error", () => {
  test("a connection that cannot be made is told of by the request that wanted it", async () => {
    const events: TelemetryEvent[] = [];
    const middleware = [telemetry({ onEvent: (event) => events.push(event) })];
    const refused: Fetch = () => Promise.resolve(new Response("no", { status: 500 }));
    const client = new Client(new HttpTransport(url, { fetch: refused }), { middleware, retry: { attempts: 1 } });
    await assertRejects(() => client.callTool("echo"));
    assertEquals(events.map(({ type, phase }) => [type, phase]), [["request", undefined], ["error", "connect"]]);
    await client.close();
  });

  const answered = { method: "tools/call" };
  const cases = [
    ["connect", new ConnectError("x", answered)],
    ["connect", new SpawnError("x")],
    ["connect", new SessionLostError("x", answered)],
    ["connect", new TimeoutError("start", 1)],
    ["connect", new HttpStatusError("x", { status: 503, method: "initialize" })],
    ["authorize", new UnauthorizedError("x", { status: 401, challenge: "" })],
    ["authorize", new AuthorizationError("x", answered)],
    ["send", new EgressDeniedError("x")],
    ["send", new OverloadedError("x")],
    ["send", new LimitExceededError("limits.outboxBytes", 1, 2, { delivery: "not-sent" })],
    ["wait", new TimeoutError("total", 1, answered)],
    ["wait", new ConnectionClosedError("x", answered)],
    ["wait", new OutcomeUnknownError("x", answered)],
    ["answer", new InvalidParamsError("x", { rpcCode: -32602, ...answered })],
    ["answer", new HttpStatusError("x", { status: 503, ...answered })],
    ["answer", new ProtocolViolationError("x", answered)],
    ["answer", new LimitExceededError("limits.pages", 1, 2, { delivery: "answered" })],
    ["input", new InputRequiredError("x", answered)],
    ["abort", new Error("x")],
    ["abort", undefined],
  ] as const;
  for (const [phase, error] of cases) {
    const name = error instanceof Error
      ? `${error.name} (${"method" in error ? error.method : "no method"})`
      : "no error";
    test(`${name} belongs to "${phase}"`, () => {
      assertEquals(phaseOf(error, "tools/call"), phase);
    });
  }
});

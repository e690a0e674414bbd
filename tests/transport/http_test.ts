import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { connect, HttpTransport, McpError, RedirectRefusedError } from "../../mod.ts";
import type { Fetch, HttpTransportOptions, LimitExceededError } from "../../mod.ts";
import { createLegacyServer, type LegacyOptions } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer, type ModernOptions } from "../servers/modern.ts";
import { eventReply, front, nobody, textOf, until, url } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { serverUrl } from "../support/server_url.ts";
import { transportSuite } from "../suites/transport.ts";
import { fresh, remoteState, subjectOf } from "./support.ts";

const secret = `${url}?key=hunter2`;

const modern: [string, ModernOptions][] = [["events", { reply: "sse" }], ["as it comes", { reply: "auto" }]];
for (const [name, options] of modern) {
  transportSuite(`modern HTTP in memory, ${name}`, () => {
    const server = createModernServer(options);
    return subjectOf(new HttpTransport(secret, { fetch: memoryFetch(server) }), "modern", () => server);
  });
}

const legacy: [string, LegacyOptions][] = [["events", { reply: "sse" }], ["as it comes", { reply: "auto" }]];
for (const [name, options] of legacy) {
  transportSuite(`legacy HTTP in memory, ${name}`, () => {
    const server = createLegacyServer(options);
    return subjectOf(new HttpTransport(secret, { fetch: memoryFetch(server) }), "legacy", () => server);
  });
}

const base = serverUrl() ?? "";
const skip = base === "" ? "the test server does not run: start the tests with tools/run.ts" : false;
const real: ["modern" | "legacy", string][] = [["modern", "?reply=sse"], ["modern", ""], ["legacy", ""]];
for (const [era, query] of real) {
  transportSuite(`${era} HTTP over a socket${query}`, () => {
    const path = `/${era}@${fresh()}/mcp`;
    const transport = new HttpTransport(`${base}${path}${query}`);
    return { transport, era, state: () => remoteState(base, path + query) };
  }, { skip });
}

describe("the HTTP binding", () => {
  test("an address that is none, or carries a password, is a TypeError that does not tell it", () => {
    for (
      const wrong of ["", "fake.test/mcp", "ftp://fake.test/", "ws://fake.test/", "http://user:hunter2@fake.test/"]
    ) {
      const error = assertThrows(() => new HttpTransport(wrong), TypeError);
      assert(!error.message.includes("hunter2"), error.message);
    }
  });

  test("the label has no query, the address has; a fragment goes nowhere", () => {
    const transport = new HttpTransport(`${secret}#part`);
    assertEquals([transport.label, transport.address], [url, secret]);
    assertEquals(new HttpTransport(new URL(secret)).address, secret);
  });

  test("a `fetch` that calls requests off by other means gets no signal, and what is called off ends all the same", async () => {
    const signals: unknown[] = [];
    const inner = memoryFetch(createModernServer());
    const fetch: Fetch = Object.assign((target: string, init: RequestInit) => {
      signals.push(init.signal);
      return signals.length > 1 ? new Promise<Response>(() => {}) : inner(target, init);
    }, { signal: false as const });
    await using client = await connect(url, { fetch });
    const controller = new AbortController();
    const call = client.callTool("echo", { text: "hi" }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await assertRejects(() => call, Error, "enough");
    const other = client.callTool("echo", { text: "hi" });
    await client.close();
    await assertRejects(() => other, McpError, "closed");
    assertEquals(signals, [undefined, undefined, undefined]);
  });

  test("`fetch` is called as a plain function, once for each message, never with credentials of its own", async () => {
    const calls: unknown[] = [];
    const inner = memoryFetch(createModernServer());
    const fetch: Fetch = function (this: unknown, target, init) {
      calls.push(this, init.redirect, init.credentials);
      return inner(target, init);
    };
    await using client = await connect(url, { fetch });
    assertEquals(calls.slice(0, 3), [undefined, "manual", undefined]);
    await client.callTool("echo", { text: "hi" });
    assertEquals(calls.length, 6);
  });

  test("of own headers nothing stays in an error, also where one value begins like another", async () => {
    const server = front(nobody, () => new Response("known: token-12 and token-12-long", { status: 400 }));
    const headers = { "X-Short": "token-12", "X-Long": "token-12-long" };
    const error = await assertRejects(() => connect(url, { fetch: memoryFetch(server), headers }), McpError);
    assert(error.message.endsWith("known: [redacted] and [redacted]"), error.message);
  });

  const named = {
    "as the protocol writes them": ["Content-Type", "Accept", "MCP-Protocol-Version"],
    "in small letters": ["content-type", "accept", "mcp-protocol-version"],
  };
  for (const [way, names] of Object.entries(named)) {
    test(`own headers go along, and cannot replace those of the protocol: ${way}`, async () => {
      const server = createModernServer();
      const own = {
        Authorization: "Bearer x",
        "X-Own": "1",
        ...Object.fromEntries(names.map((name) => [name, "*/*"])),
      };
      await using client = await connect(url, { fetch: memoryFetch(server), headers: own });
      await client.listTools();
      for (const { headers } of server.log) {
        assertEquals([headers.authorization, headers["x-own"]], ["Bearer x", "1"]);
        assertEquals(names.map((name) => headers[name.toLowerCase()]), [
          "application/json",
          "application/json, text/event-stream",
          "2026-07-28",
        ]);
      }
      assertEquals(server.violations, []);
    });
  }

  const noHeaders: [string, unknown][] = [
    ["is missing", undefined],
    ["is null", null],
    ["has several lines", "Bearer hunter2\nx: y"],
    ["is folded", "Bearer hunter2\r\n y"],
    ["has a zero", "Bearer hunter2\0y"],
    ["ends with a zero", "Bearer hunter2\0"],
    ["was cut where it was shown", "Bearer hunter2…"],
    ["ends with a space of another script", "Bearer hunter2\u3000"],
    ["ends with a mark of the order of bytes", "Bearer hunter2\ufeff"],
  ];
  for (const [what, value] of noHeaders) {
    test(`a header that ${what} is a TypeError that names it and does not tell it`, async () => {
      const fetch = memoryFetch(createModernServer());
      const headers = { Authorization: value as string };
      await using client = await connect(url, { fetch });
      for (const use of [() => connect(url, { fetch, headers }), () => client.callTool("echo", {}, { headers })]) {
        const error = await assertRejects(use, TypeError, '"Authorization"');
        assert(!`${error.stack} ${error.cause}`.includes("hunter2"), error.stack);
      }
    });
  }

  test("a header that ends with its line, as what is read from a file does, is sent", async () => {
    const server = createModernServer();
    await using client = await connect(url, { fetch: memoryFetch(server), headers: { authorization: "Bearer a\r\n" } });
    await client.callTool("echo", { text: "hi" }, { headers: { "x-other": "b\n" } });
    const { headers } = server.log.at(-1)!;
    assertEquals([headers.authorization, headers["x-other"]], ["Bearer a", "b"]);
  });

  test("and what of it comes back in an error is taken out", async () => {
    const server = front(nobody, () => new Response("unknown: hunter2", { status: 400 }));
    const headers = { authorization: "Bearer hunter2\n" };
    const error = await assertRejects(() => connect(url, { fetch: memoryFetch(server), headers }), McpError);
    assert(error.message.endsWith("unknown: [redacted]"), error.message);
  });

  test("of own headers no request that goes without has a type or a revision: initialize, GET and DELETE", async () => {
    const server = createLegacyServer();
    const headers = { "Content-Type": "text/plain", "MCP-Protocol-Version": "1999-01-01", "Accept": "*/*" };
    const client = await connect(url, { fetch: memoryFetch(server), headers, handlers: { log() {} } });
    await client.close();
    const sent = server.log.map(({ headers }) => [headers["content-type"], headers["mcp-protocol-version"]]);
    const json = "application/json";
    const agreed = "2025-11-25";
    assertEquals(sent, [[json, "2026-07-28"], [json, undefined], [json, agreed], [undefined, agreed], [
      undefined,
      agreed,
    ]]);
  });

  test("a header of one request stands in the place of one of all requests, in whatever letters they are", async () => {
    const server = createModernServer();
    const all = { Authorization: "Bearer x", "x-own": "1" };
    await using client = await connect(url, { fetch: memoryFetch(server), headers: all });
    await client.callTool("echo", { text: "hi" }, { headers: { authorization: "Bearer y", "X-Own": "2" } });
    const { headers } = server.log.at(-1)!;
    assertEquals([headers.authorization, headers["x-own"]], ["Bearer y", "2"]);
  });

  for (const status of [307, 308]) {
    test(`${status} to the same origin is followed, with method, body and headers`, async () => {
      const server = createModernServer();
      const hops = front(server, ({ url }) => {
        return url.endsWith("/mcp") ? new Response(null, { status, headers: { location: "/elsewhere" } }) : undefined;
      });
      await using client = await connect(url, { fetch: memoryFetch(hops), headers: { Authorization: "Bearer x" } });
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals(server.log.map(({ url }) => new URL(url).pathname), ["/elsewhere", "/elsewhere"]);
      assertEquals(server.log[1]?.headers.authorization, "Bearer x");
    });
  }

  test("a redirect to the same host without TLS is followed with it: servers behind a proxy that ends TLS know of none", async () => {
    const server = createModernServer();
    const hops = front(server, ({ url }) => {
      const location = "http://fake.test/mcp/";
      return url.endsWith("/mcp") ? new Response(null, { status: 307, headers: { location } }) : undefined;
    });
    const headers = { Authorization: "Bearer x" };
    await using client = await connect("https://fake.test/mcp", { fetch: memoryFetch(hops), headers });
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    assertEquals(server.log.map(({ url }) => url), ["https://fake.test/mcp/", "https://fake.test/mcp/"]);
  });

  for (const location of ["http://fake.test:8080/mcp/", "http://other.test/mcp/"]) {
    test(`and none elsewhere: ${location}`, async () => {
      const server = front(nobody, () => new Response(null, { status: 307, headers: { location } }));
      await assertRejects(
        () => connect("https://fake.test/mcp", { fetch: memoryFetch(server), retry: { attempts: 1 } }),
        RedirectRefusedError,
        `Cannot follow 307 to "${location}"`,
      );
      assertEquals(server.seen.map(({ url }) => url), ["https://fake.test/mcp"]);
    });
  }

  const refused: [string, number, string][] = [
    ["to another origin", 307, "http://other.test/mcp"],
    ["to another port", 308, "http://fake.test:8080/mcp"],
    ["to another scheme", 307, "https://fake.test/mcp"],
    ["that makes a GET of it", 302, "/mcp2"],
    ["of the kind See Other", 303, "/mcp2"],
    ["to nowhere", 307, "http://"],
    ["in a circle", 307, "/mcp"],
  ];
  for (const [name, status, location] of refused) {
    test(`a redirect ${name} is refused: nothing goes there`, async () => {
      const server = front(nobody, () => new Response(null, { status, headers: { location } }));
      const headers = { Authorization: "Bearer hunter2" };
      const connecting = () => connect(url, { fetch: memoryFetch(server), headers, retry: { attempts: 1 } });
      const error = await assertRejects(connecting, RedirectRefusedError);
      assert(!error.message.includes("hunter2"));
      for (const seen of server.seen) assertEquals(new URL(seen.url).origin, "http://fake.test");
      assert(server.seen.length <= 4);
    });
  }

  test("the body of a redirect is given up: its connection is free", async () => {
    let cancelled = 0;
    const body = () =>
      new ReadableStream({
        cancel() {
          cancelled++;
        },
      });
    const fetch: Fetch = (target) =>
      Promise.resolve(new Response(body(), { status: 307, headers: { location: `${target}/on` } }));
    await assertRejects(() => connect(url, { fetch, retry: { attempts: 1 } }), RedirectRefusedError);
    assertEquals(cancelled, 4);
  });

  test("what a server's error says is shown, without what `redact` takes out", async () => {
    const server = front(
      createModernServer(),
      ({ method }) => method === "tools/call" ? new Response("token abc123 is bad", { status: 400 }) : undefined,
    );
    const redact = (text: string) => text.replaceAll("abc123", "***");
    await using client = await connect(url, { fetch: memoryFetch(server), redact });
    const error = await assertRejects(() => client.callTool("echo", { text: "x" }), McpError, "token *** is bad");
    assert(!JSON.stringify(error).includes("abc123"));
  });

  test("a limit that is given as undefined is not given: it switches nothing off", async () => {
    const limits = { messageBytes: undefined, jsonDepth: undefined } as unknown as HttpTransportOptions["limits"];
    const text = `{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`;
    const fetch: Fetch = () => Promise.resolve(new Response(text, { headers: { "content-type": "application/json" } }));
    const error = await new Promise((end) => {
      new HttpTransport(url, { fetch, limits }).send({ jsonrpc: "2.0", id: 1, method: "ping" }, { message: end, end });
    });
    assertEquals((error as LimitExceededError).limit, "limits.jsonDepth");
  });

  test("many transports of one process do not know each other", async () => {
    const servers = [createModernServer(), createModernServer()];
    const clients = await Promise.all(servers.map((server) => connect(url, { fetch: memoryFetch(server) })));
    await clients[0]?.close();
    assertEquals(textOf(await (clients[1] as (typeof clients)[0]).callTool("echo", { text: "on" })), "on");
    await clients[1]?.close();
    assertEquals(servers.map(({ log }) => log.length), [1, 2]);
  });

  test("a notification with `params: null` has none: its call goes on", async () => {
    const server = front(createModernServer(), ({ method, message }) => {
      if (method !== "tools/call") return undefined;
      const answer = { jsonrpc: "2.0", id: message?.id, result: { resultType: "complete", content: [] } };
      return eventReply([{ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: null }, answer]);
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    assertEquals((await client.callTool("echo")).content, []);
  });

  test("a reply that goes on after its answer is left a second later", async () => {
    const clock = new VirtualClock();
    let cancelled = 0;
    const server = front(createModernServer(), ({ method, message }) => {
      if (method !== "tools/call") return undefined;
      const answer = { jsonrpc: "2.0", id: message?.id, result: { resultType: "complete", content: [] } };
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(answer)}\n\n`));
        },
        cancel() {
          cancelled++;
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    assertEquals((await clock.until(client.callTool("echo"))).content, []);
    await clock.advance(900);
    assertEquals(cancelled, 0);
    await clock.advance(1_000);
    assertEquals([cancelled, clock.waiting], [1, 0]);
    await client.close();
  });

  test("a reply that is not wanted any more is not read on: the server's stream is cancelled", async () => {
    const server = createModernServer({ reply: "sse" });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const controller = new AbortController();
    const call = client.callTool("progress", { count: 1_000_000, milliseconds: 1 }, { signal: controller.signal });
    const failed = assertRejects(() => call);
    await until(() => server.calls("progress") === 1);
    controller.abort(new Error("enough"));
    await failed;
    await until(() => server.cancellations.length === 1);
  });

  test("of answers to what an older server asks, 500 are on their way at once", async () => {
    const held: (() => void)[] = [];
    const fetch: Fetch = () => new Promise((resolve) => held.push(() => resolve(new Response(null, { status: 202 }))));
    const transport = new HttpTransport(url, { fetch });
    const options = { legacy: true, headers: {} };
    const answer = (id: number) => transport.send({ jsonrpc: "2.0", id, result: {} }, undefined, options);
    for (let id = 0; id < 3_000; id++) answer(id);
    assertEquals(held.length, 500);
    // What is no answer goes out all the same.
    for (const id of [{}, { id: 1 }]) transport.send({ jsonrpc: "2.0", method: "ping", ...id }, undefined, options);
    assertEquals(held.length, 502);
    for (const release of held.splice(0)) release();
    await until(() => {
      answer(3_000);
      return held.length > 0;
    });
    for (let id = 0; id < 3_000; id++) answer(id);
    assertEquals(held.length, 500);
    await transport.close();
  });
});

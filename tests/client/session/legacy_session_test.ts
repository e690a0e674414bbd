import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, McpError, ProtocolViolationError, SessionLostError, UnauthorizedError } from "../../../mod.ts";
import type { Change, LogRecord } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { front, methodsOf, nobody, textOf, until, url, withLegacy } from "../support.ts";
import { heldRequest } from "../../support/held_request.ts";

describe("the session of a handshake server", () => {
  test("its id goes on every request after initialize, GET and DELETE too (C-103 C-104 C-107)", async () => {
    const server = createLegacyServer();
    const client = await connect(url, { fetch: memoryFetch(server), handlers: { log() {} } });
    const [id = "none"] = server.sessionIds();
    await client.callTool("echo", { text: "hi" });
    await client.close();
    const later = server.log.filter(({ message }) => !/discover|initialize$/.test(String(message?.method)));
    assertEquals(new Set(later.map(({ httpMethod }) => httpMethod)), new Set(["POST", "GET", "DELETE"]));
    for (const { headers, httpMethod } of later) {
      assertEquals([headers["mcp-session-id"], headers["mcp-protocol-version"]], [id, "2025-11-25"], httpMethod);
    }
    assertEquals(methodsOf(server).at(-1), "DELETE");
    assertEquals([server.sessionIds(), server.violations], [[], []]);
  });

  for (const options of [{ deletable: false }, { sessions: false }, { sessions: false, reply: "json" as const }]) {
    test(`a server with ${JSON.stringify(options)} works, and can be left (C-107)`, () =>
      withLegacy(async (client) => {
        assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
        await client.close();
      }, { server: options }));
  }

  test("forgotten (404): ten calls at once open one new session, and each runs once (C-105)", () =>
    withLegacy(async (client, server) => {
      const [old] = server.sessionIds();
      server.forgetSessions();
      const texts = Array.from({ length: 10 }, (_, index) => `text ${index}`);
      const results = await Promise.all(texts.map((text) => client.callTool("echo", { text })));
      assertEquals(results.map(textOf), texts);
      assertEquals([server.count("initialize"), server.calls("echo")], [2, 10]);
      assert(!server.sessionIds().includes(old ?? ""));
      assertEquals(server.count("notifications/initialized"), 2);
    }));

  test("an old request that is told late does not cost the new session (C-105)", async () => {
    const legacy = createLegacyServer();
    let tell = () => {};
    const late = new Promise<void>((resolve) => tell = resolve);
    const server = front(legacy, async ({ method }, count) => {
      if (method !== "tools/call" || count !== 1) return undefined;
      await late;
      return new Response("Session not found", { status: 404 });
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const slow = client.callTool("echo", { text: "late" });
    await until(() => server.methods.includes("tools/call"));
    legacy.forgetSessions();
    assertEquals(textOf(await client.callTool("echo", { text: "first" })), "first");
    tell();
    assertEquals(textOf(await slow), "late");
    assertEquals([legacy.count("initialize"), legacy.calls("echo"), legacy.violations], [2, 2, []]);
  });

  test("forgotten again and again: opened anew each time", () =>
    withLegacy(async (client, server) => {
      for (let round = 1; round <= 5; round++) {
        server.forgetSessions();
        assertEquals(textOf(await client.callTool("echo", { text: `round ${round}` })), `round ${round}`);
        assertEquals([server.count("initialize"), server.calls("echo")], [round + 1, round]);
      }
    }));

  test("after that the log level and the subscriptions are made again (C-106)", () =>
    withLegacy(async (client, server) => {
      await client.setLogLevel("warning");
      const stream = client.listen({ tools: true, resourceUris: ["test://text", "test://blob"] });
      await stream.acknowledged;
      await until(() => server.session()?.watched.size === 2);
      server.forgetSessions();
      await client.callTool("echo", { text: "hi" });
      await until(() => server.session()?.watched.size === 2 && server.getStreams() === 1);
      assertEquals(server.session()?.logLevel, "warning");
      assertEquals([...server.session()?.watched ?? []].sort(), ["test://blob", "test://text"]);
      server.emit({ type: "tools" });
      const seen: Change[] = [];
      for await (const change of stream) {
        seen.push(change);
        if (change.type === "tools" && !("missed" in change)) break;
      }
      assert(seen.length >= 1);
    }));

  test("after that lists are fetched anew: they may belong to the session (C-165)", async () => {
    const legacy = createLegacyServer();
    await using client = await connect(url, { fetch: memoryFetch(legacy) });
    await client.listTools();
    legacy.forgetSessions();
    await client.listTools();
    assertEquals([legacy.count("tools/list") >= 2, legacy.violations], [true, []]);
  });

  test("a new session that is forgotten at once: SessionLostError, nothing was run", async () => {
    const legacy = createLegacyServer();
    let lost = false;
    const server = front(legacy, ({ headers, method }) => {
      return lost && headers["mcp-session-id"] !== undefined && method === "tools/call"
        ? new Response("Session not found", { status: 404 })
        : undefined;
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    lost = true;
    const error = await assertRejects(() => client.callTool("echo", { text: "hi" }), SessionLostError);
    assertEquals([error.delivery, legacy.calls("echo"), legacy.count("initialize")], ["not-sent", 0, 2]);
    lost = false;
    assertEquals(textOf(await client.callTool("echo", { text: "back" })), "back");
  });

  test("a server that is gone when the session has to be opened anew: SessionLostError with its cause", async () => {
    const legacy = createLegacyServer();
    let gone = false;
    const server = front(legacy, ({ method }) => {
      if (!gone) return undefined;
      return method === "initialize" ? new Response("", { status: 503 }) : new Response("", { status: 404 });
    });
    const clock = new VirtualClock();
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    gone = true;
    const error = await assertRejects(() => clock.until(client.callTool("echo", { text: "hi" })), SessionLostError);
    assert(error.cause instanceof McpError);
    assertEquals(legacy.calls("echo"), 0);
    gone = false;
    await client.close();
  });

  for (const how of ["at once", "after the session was lost"]) {
    test(`an answer to "initialize" that breaks off, ${how}: the next one belongs to no session (C-104)`, async () => {
      const clock = new VirtualClock();
      const legacy = createLegacyServer({ priming: false });
      const broken = how === "at once" ? 1 : 2;
      const server = front(legacy, async ({ method, headers, message }, count) => {
        if (method !== "initialize" || count !== broken) return undefined;
        const body = JSON.stringify(message);
        const reply = await legacy.fetch(new Request(url, { method: "POST", headers, body }));
        return new Response("", { headers: reply.headers });
      });
      const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
      if (broken === 2) legacy.forgetSessions();
      assertEquals(textOf(await clock.until(client.callTool("echo", { text: "hi" }))), "hi");
      assertEquals([legacy.count("initialize"), legacy.calls("echo")], [broken + 1, 1]);
      assertEquals(legacy.violations, []);
      await client.close();
    });
  }

  const ways = { "broke off": 2, "was answered 503": 2, "was answered 400": 1 };
  for (const [way, times] of Object.entries(ways)) {
    test(`"notifications/initialized" that ${way} is sent ${times} times: strict servers refuse all that comes before it`, async () => {
      const legacy = createLegacyServer();
      const server = front(legacy, ({ method }, count) => {
        if (method !== "notifications/initialized" || count > 1) return undefined;
        if (way === "broke off") throw new TypeError("fetch failed");
        return new Response("no", { status: Number(way.slice(-3)) });
      });
      await using client = await connect(url, { fetch: memoryFetch(server) });
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      const methods = server.methods.slice(2);
      assertEquals(methods, [...Array(times).fill("notifications/initialized"), "tools/call"]);
      if (times > 1) assertEquals(legacy.violations, []);
    });
  }

  test("an answer to initialize that comes when nobody waits for it any more: its session is not gone on with", async () => {
    const clock = new VirtualClock();
    const legacy = createLegacyServer();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => release = resolve);
    let opened = 0;
    // It takes no notice of the signal, as wrappers around fetch do that do not hand it on.
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      const reply = await legacy.fetch(heldRequest(url, { ...init, signal: null }));
      if (String(init.body).includes('"initialize"') && ++opened === 2) await held;
      return reply;
    };
    const client = await clock.until(connect(url, { fetch, clock }));
    legacy.forgetSessions();
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "one" }))), "one");
    const id = client.snapshot().sessionId;
    release();
    await clock.settle();
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "two" }))), "two");
    assertEquals(client.snapshot().sessionId, id);
    assertEquals([opened, legacy.violations], [3, []]);
    await clock.until(client.close());
  });

  const json = (message: string): string =>
    JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, undefined, 2);

  for (
    const [who, status, body] of [
      ["examples of the TypeScript SDK", 400, json("Bad Request: No valid session ID provided")],
      ["a transport of that SDK that was made anew", 400, json("Bad Request: Server not initialized")],
      ["older Python SDKs", 400, "Bad Request: No valid session ID provided"],
      ["gateways", 400, json("Invalid Request: Session not found")],
      ["Elixir", 400, json("No active session")],
      ["many by hand", 400, json("Session expired, please reinitialize")],
      ["others by hand", 400, json("Session not initialized")],
      ["mcp-go", 400, "Invalid session ID\n"],
      ["streams of the TypeScript SDK's examples", 400, "Invalid or missing session ID"],
      ["older Rust SDKs", 401, "Unauthorized: Session not found"],
    ] as const
  ) {
    test(`forgotten, and told with ${status} (${who}): opened anew, and the call runs once`, async () => {
      const legacy = createLegacyServer();
      const server = front(legacy, ({ headers }) => {
        const id = headers["mcp-session-id"];
        return id === undefined || legacy.sessionIds().includes(id) ? undefined : new Response(body, { status });
      });
      await using client = await connect(url, { fetch: memoryFetch(server) });
      legacy.forgetSessions();
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals([legacy.count("initialize"), legacy.calls("echo"), legacy.violations], [2, 1, []]);
    });
  }

  test("any other 401 is one: a session that a person signed in to and that is over says nothing of this one", async () => {
    const legacy = createLegacyServer();
    const server = front(
      legacy,
      ({ method }) => method === "tools/call" ? new Response("No valid session", { status: 401 }) : undefined,
    );
    await using client = await connect(url, { fetch: memoryFetch(server) });
    await assertRejects(() => client.callTool("echo", { text: "hi" }), UnauthorizedError);
    assertEquals(legacy.count("initialize"), 1);
  });

  for (const words of ["the session of the shop is over", "database not initialized, call open first"]) {
    test(`any other 400 is an answer (${words}): nothing is opened anew, nothing is sent twice`, async () => {
      const legacy = createLegacyServer();
      const server = front(
        legacy,
        ({ method }) =>
          method === "tools/call" ? new Response(json(`Bad Request: ${words}`), { status: 400 }) : undefined,
      );
      await using client = await connect(url, { fetch: memoryFetch(server) });
      const error = await assertRejects(() => client.callTool("echo", { text: "hi" }), McpError, words);
      assertEquals([error.delivery, legacy.count("initialize")], ["answered", 1]);
      assertEquals(server.methods.filter((method) => method === "tools/call").length, 1);
    });
  }

  test("404 without a session is an ordinary 404", async () => {
    const legacy = createLegacyServer({ sessions: false });
    const server = front(
      legacy,
      ({ method }) => method === "tools/call" ? new Response("Not Found", { status: 404 }) : undefined,
    );
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const error = await assertRejects(() => client.callTool("echo", { text: "hi" }), McpError);
    assert(!(error instanceof SessionLostError), String(error));
    assertEquals(legacy.count("initialize"), 1);
  });
});

describe("the session id is a secret (C-108)", () => {
  test("it is in no error, no log line, no verdict and no label; only a snapshot has it", async () => {
    const records: LogRecord[] = [];
    const legacy = createLegacyServer();
    let status = 400;
    const server = front(
      legacy,
      ({ method }) => method === "tools/call" ? new Response("no such session", { status }) : undefined,
    );
    const fetch = memoryFetch(server);
    await using client = await connect(url, { fetch, logger: (record) => void records.push(record), cache: false });
    const [id = "none"] = legacy.sessionIds();
    const errors: unknown[] = [];
    for (status of [400, 401, 403, 404, 500, 503]) {
      errors.push(await assertRejects(() => client.callTool("echo", { text: "hi" })));
    }
    const told = [...errors.map(describeAll), ...records.map((record) => JSON.stringify(record)), client.label];
    told.push(JSON.stringify(client.verdict), JSON.stringify(client.info), JSON.stringify(client));
    for (const text of told) {
      for (const secret of [id, ...legacy.sessionIds()]) assert(!text.includes(secret), text);
    }
    assert(JSON.stringify(client.snapshot()).includes(legacy.sessionIds().at(-1) ?? "none"));
  });

  const bad = ["with space", "tab\tinside", "né", "x".repeat(4097)];
  for (const id of bad) {
    test(`an id that is none is refused: ${JSON.stringify(id.slice(0, 12))} (C-104)`, async () => {
      const legacy = createLegacyServer();
      const server = front(nobody, async (seen) => {
        const headers = seen.headers;
        const init = { method: seen.httpMethod, headers, body: JSON.stringify(seen.message ?? {}) };
        const response = await legacy.fetch(heldRequest(seen.url, init));
        if (seen.method !== "initialize") return response;
        const body = new Response(response.body, response);
        body.headers.set("mcp-session-id", id);
        return body;
      });
      const error = await assertRejects(() => connect(url, { fetch: memoryFetch(server) }), ProtocolViolationError);
      assert(!error.message.includes(id));
      assert(!server.methods.includes("notifications/initialized"));
    });
  }

  for (
    const [what, id, sent] of [
      [
        "the longest legal id, as of gateways that hold one for each server behind them, is taken",
        "!~".repeat(2048),
        "!~".repeat(2048),
      ],
      ["an empty one is none", "", undefined],
    ] as const
  ) {
    test(what, async () => {
      const legacy = createLegacyServer({ sessions: false });
      const server = front(nobody, async (seen) => {
        const init = { method: seen.httpMethod, headers: seen.headers };
        const response = await legacy.fetch(
          new Request(seen.url, seen.httpMethod === "POST" ? { ...init, body: JSON.stringify(seen.message) } : init),
        );
        if (seen.method !== "initialize") return response;
        const copy = new Response(response.body, response);
        copy.headers.set("mcp-session-id", id);
        return copy;
      });
      await using client = await connect(url, { fetch: memoryFetch(server) });
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals(server.seen.at(-1)?.headers["mcp-session-id"], sent);
    });
  }
});

/** All that an error tells, also in its causes. */
function describeAll(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = Object.entries(error).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(" ");
  return `${error.stack} ${error.message} ${own} ${error.cause === undefined ? "" : describeAll(error.cause)}`;
}

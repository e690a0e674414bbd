import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { defaultLimits, type Limits } from "../../../src/protocol/limits.ts";
import { modernMeta, modernPost, post, refusal, rpc, send, world } from "./support.ts";
import type { WorldOptions } from "./support.ts";

describe("bodies that cannot be used", () => {
  const both = world({ limits: { messageBytes: 2_000, jsonDepth: 20 } });
  const send1 = (body: unknown, headers: Record<string, string | undefined> = {}) =>
    both.handler(post(body, headers)).then(refusal);

  test("no JSON by its type is 415, and no reader of both answers is 406", async () => {
    assertEquals(await send1("{}", { "content-type": "text/plain" }), [415, -32600]);
    assertEquals(await send1("{}", { "content-type": undefined }), [415, -32600]);
    assertEquals(await send1("{}", { accept: "application/json" }), [406, -32600]);
    assertEquals(await send1("{}", { accept: "text/event-stream" }), [406, -32600]);
    assertEquals(await send1("{}", { accept: "application/json, text/event-stream;q=0" }), [406, -32600]);
  });

  test("parameters of the types are nothing to stumble over", async () => {
    for (const accept of ["*/*", "application/*, text/*;q=0.5", "Application/JSON;charset=utf-8, TEXT/event-stream"]) {
      const request = modernPost("tools/list", {}, { accept, "content-type": "Application/JSON; charset=utf-8" });
      assertEquals((await both.handler(request)).status, 200, accept);
    }
  });

  test("what is no JSON is 400 with -32700, also damaged UTF-8 (S-028)", async () => {
    for (const body of ["", "{", "undefined", "{'a':1}", "[1,]"]) assertEquals(await send1(body), [400, -32700], body);
    const damaged = post("", {}, { body: new Uint8Array([0x22, 0xff, 0x22]) });
    assertEquals(await refusal(await both.handler(damaged)), [400, -32700]);
    const empty = send("POST", { "content-type": "application/json" });
    assertEquals(await refusal(await both.handler(empty)), [400, -32700]);
  });

  test("what is too long is 413, whether its length is told, or not, or wrong", async () => {
    const long = JSON.stringify(rpc("tools/list", 1, { text: "x".repeat(2_000) }));
    assertEquals(await send1(long), [413, -32600]);
    assertEquals(await send1(long, { "content-length": String(long.length) }), [413, -32600]);
    assertEquals(await send1(long, { "content-length": "10" }), [413, -32600]);
  });

  test("one that is said to be long is taken as it comes: Deno would take memory for all that was said", async () => {
    const { handler } = world();
    const long = JSON.stringify(rpc("tools/list", 1, { text: "x".repeat(100_000) }));
    const request = post(long, { "content-length": String(long.length) });
    Object.defineProperty(request, "arrayBuffer", { value: () => Promise.reject(new Error("as a whole")) });
    // It was read, and has no session.
    assertEquals(await refusal(await handler(request)), await refusal(await handler(post(rpc("tools/list", 1)))));
  });

  test("what is not there within a minute is 408; no clock runs on", async () => {
    const { handler, clock } = world();
    let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (feed = controller) });
    let reply: Response | undefined;
    const replied = handler(post("", {}, { body, duplex: "half" } as RequestInit)).then((response) => reply = response);
    for (let second = 0; second < 59; second++) {
      feed?.enqueue(new Uint8Array([0x20]));
      await clock.advance(1_000);
    }
    assertEquals([reply, clock.waiting], [undefined, 1]);
    await clock.advance(1_000);
    assertEquals(await refusal(await replied), [408, -32600]);
    assertEquals((await handler(modernPost("tools/list"))).status, 200);
    assertEquals(clock.waiting, 0);
    feed?.close();
  });

  test("what comes after that is not done any more", async () => {
    const { handler, clock, seen, sessions } = world();
    let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (feed = controller) });
    const replied = handler(post("", {}, { body, duplex: "half" } as RequestInit));
    await clock.advance(60_000);
    assertEquals((await replied).status, 408);
    feed?.enqueue(new TextEncoder().encode(JSON.stringify(rpc("initialize", 1, { protocolVersion: "2025-11-25" }))));
    feed?.close();
    await clock.settle();
    assertEquals([seen.length, sessions.length, clock.waiting], [0, 0, 0]);
  });

  test("a limit that is given as undefined is the usual one", async () => {
    const { handler, logs } = world({
      limits: { messageBytes: undefined, outboxBytes: undefined } as unknown as Partial<Limits>,
    });
    const long = JSON.stringify(rpc("tools/list", 1, { text: "x".repeat(defaultLimits.messageBytes) }));
    assertEquals(await refusal(await handler(post(long))), [413, -32600]);
    assertEquals([(await handler(modernPost("tools/list"))).status, logs], [200, []]);
  });

  test("what nests too deep is 400", async () => {
    assertEquals(await send1("[".repeat(500) + "]".repeat(500)), [400, -32600]);
  });

  test("what is no message is 400 with -32600, and names the request where that can be read", async () => {
    const bad = [
      1,
      null,
      "text",
      {},
      { jsonrpc: "1.0", id: 1, method: "ping" },
      { id: 1, method: "ping" },
      { jsonrpc: "2.0", id: null, method: "ping" },
      { jsonrpc: "2.0", id: 1.5, method: "ping" },
      { jsonrpc: "2.0", id: 1, method: 7 },
      { jsonrpc: "2.0", id: 1, method: "ping", params: [] },
      { jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: modernMeta() }, result: {} },
      { jsonrpc: "2.0", id: 1 },
    ];
    for (const body of bad) assertEquals(await send1(JSON.stringify(body)), [400, -32600], JSON.stringify(body));
    const response = await both.handler(post({ jsonrpc: "2.0", id: 7, method: 1 }));
    assertEquals((await response.json() as { id: number }).id, 7);
  });

  test("arrays and answers have no place in the modern era", async () => {
    const { handler } = world({ eras: "modern" });
    assertEquals(await refusal(await handler(post([rpc("ping")]))), [400, -32600]);
    assertEquals(await refusal(await handler(post({ jsonrpc: "2.0", id: 1, result: {} }))), [400, -32600]);
  });
});

describe("which era a request belongs to", () => {
  test("the body decides, not the header (S-012, S-014)", async () => {
    const all = world();
    assertEquals((await all.handler(modernPost("tools/list"))).status, 200);
    assertEquals(all.seen.length, 1);
    // A legacy header beside a modern body is a mismatch of a modern request.
    const mixed = modernPost("tools/list", {}, { "mcp-protocol-version": "2025-11-25" });
    assertEquals(await refusal(await all.handler(mixed)), [400, -32020]);
    // Without a claim and without a header it is legacy.
    const first = await all.handler(post(rpc("initialize")));
    assertEquals([first.status, all.sessions.length], [200, 1]);
  });

  test("a modern header without a claim reaches the modern checks", async () => {
    const all = world();
    await all.handler(post(rpc("tools/list"), { "mcp-protocol-version": "2026-07-28" }));
    await all.handler(post(rpc("tools/list", 2, { _meta: {} }), { "mcp-protocol-version": "2027-01-01" }));
    assertEquals([all.seen.length, all.sessions.length], [2, 0]);
  });

  test("an unknown revision is told as that, whatever the other headers say; beside another one it is a mismatch", async () => {
    const all = world();
    const mixed = post(rpc("tools/list", 1, { _meta: modernMeta("v999") }), { "mcp-protocol-version": "2026-07-28" });
    assertEquals(await refusal(await all.handler(mixed)), [400, -32020]);
    const request = post(rpc("tools/list", 1, { _meta: modernMeta("1900-01-01") }), { "mcp-method": "tools/call" });
    assertEquals((await all.handler(request)).status, 200);
    assertEquals(all.seen.length, 1);
  });

  test("a server of the modern era alone has no GET and no DELETE, and mints no session (S-034)", async () => {
    const all = world({ eras: "modern" });
    for (const method of ["GET", "DELETE", "PUT"]) {
      const response = await all.handler(send(method));
      assertEquals(response.headers.get("allow"), "POST");
      assertEquals(await refusal(response), [405, -32600]);
    }
    const response = await all.handler(
      modernPost("tools/list", {}, { "mcp-session-id": "old", "last-event-id": "1-1" }),
    );
    assertEquals([response.status, response.headers.get("mcp-session-id")], [200, null]);
  });

  test("a handshake there is told which revisions are spoken (S-013)", async () => {
    const all = world({ eras: "modern" });
    const response = await all.handler(post(rpc("initialize", 1, { protocolVersion: "2025-11-25" })));
    const { error } = await response.json() as { error: { code: number; data: unknown } };
    assertEquals([response.status, error.code], [400, -32022]);
    assertEquals(error.data, { supported: ["2026-07-28"], requested: "2025-11-25" });
  });

  test("a server of the legacy era alone takes no modern request", async () => {
    const all = world({ eras: "legacy" });
    const response = await all.handler(modernPost("server/discover"));
    assertEquals(response.status, 400);
    const { error } = await response.json() as { error: { code: number; message: string } };
    assertEquals(error.code, -32600);
    assertStringIncludes(error.message, "MCP-Protocol-Version");
  });

  test("other methods are 405", async () => {
    assertEquals((await world().handler(send("PUT"))).headers.get("allow"), "POST, GET, DELETE");
  });
});

describe("the body of a request that is refused", () => {
  /** A body that comes in parts as it is read, and says what became of it. */
  function watched(parts: number, size: number, ends = true) {
    const seen = { given: 0, cancelled: false };
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (seen.given < parts) {
          seen.given++;
          controller.enqueue(new Uint8Array(size).fill(32));
        } else if (ends) controller.close();
        else return new Promise(() => {});
      },
      cancel: () => void (seen.cancelled = true),
    }, { highWaterMark: 0 });
    return { seen, init: { body: stream, duplex: "half" } as RequestInit };
  }
  const refusals: [string, number, WorldOptions, (init: RequestInit) => Request][] = [
    ["of a foreign host", 403, {}, (init) => send("POST", {}, init, "http://evil.example/mcp")],
    ["of a foreign page", 403, {}, (init) => send("POST", { origin: "https://evil.example" }, init)],
    ["of another type", 415, {}, (init) => send("POST", { "content-type": "text/plain" }, init)],
    ["of another method", 405, {}, (init) => send("PUT", {}, init)],
    ["of nobody", 401, { auth: () => new Response(null, { status: 401 }) }, (init) => send("POST", {}, init)],
    ["to a guard that failed", 500, {
      auth: () => {
        throw new Error("out of order");
      },
    }, (init) => send("POST", {}, init)],
  ];

  for (const [name, status, options, ask] of refusals) {
    test(`${name} is read to its end before the reply, so that no host breaks off the connection`, async () => {
      const { seen, init } = watched(3, 1_000);
      const response = await world(options).handler(ask(init));
      assertEquals([response.status, seen], [status, { given: 3, cancelled: false }]);
    });
  }

  test("is given up after 64 KiB", async () => {
    const { seen, init } = watched(1_000, 8_192);
    const response = await world().handler(send("POST", {}, init, "http://evil.example/mcp"));
    assertEquals([response.status, seen], [403, { given: 9, cancelled: true }]);
  });

  test("that is said to be longer is not waited for", async () => {
    const { seen, init } = watched(1, 10, false);
    const headers = { "content-length": "65537" };
    const response = await world().handler(send("POST", headers, init, "http://evil.example/mcp"));
    assertEquals([response.status, seen], [403, { given: 0, cancelled: false }]);
  });

  test("is waited for no longer than a second", async () => {
    const { handler, clock } = world();
    const { seen, init } = watched(1, 10, false);
    let status = 0;
    const answered = handler(send("POST", {}, init, "http://evil.example/mcp")).then((reply) => status = reply.status);
    await clock.advance(999);
    assertEquals(status, 0);
    await clock.advance(1);
    await answered;
    assertEquals([status, seen], [403, { given: 1, cancelled: true }]);
  });

  test("that is damaged is refused all the same", async () => {
    const body = new ReadableStream({ pull: () => Promise.reject(new Error("the connection broke")) });
    const init = { body, duplex: "half" } as RequestInit;
    assertEquals((await world().handler(send("POST", {}, init, "http://evil.example/mcp"))).status, 403);
  });
});

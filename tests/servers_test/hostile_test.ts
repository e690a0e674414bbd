import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { describe, test } from "node:test";
import { brotliBomb, endlessDeflate, gzipHeader, zlibHeader } from "../servers/faults/deflate.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { isJsonObject, objectAt } from "../servers/core/wire.ts";
import { createHostileServer, type FaultName, faultNames, type HostileOptions } from "../servers/hostile.ts";
import {
  callModern,
  codeOf,
  getLegacy,
  handshake,
  modernRequest,
  postLegacy,
  readReply,
  type Reply,
  resultOf,
  textOf,
  until,
} from "./support.ts";

const echo = { name: "echo", arguments: { text: "hi" } };
/** Faults that never end, or only by an abort. */
const unending = new Set<FaultName>(["headers-never", "stalls", "drip"]);

function spoiltCall(name: FaultName, options: HostileOptions = {}): Promise<Reply> {
  return callModern(createHostileServer(name, { size: 1_000, ...options }), "tools/call", echo, { id: 4 });
}

describe("hostile servers", () => {
  test("are healthy but for their fault, and healthy after it, in both eras", async () => {
    for (const name of faultNames()) {
      const modern = createHostileServer(name, { size: 100, times: 0 });
      assertEquals(textOf(resultOf(await callModern(modern, "tools/call", echo))), "hi", name);
      assertEquals(modern.hits(), 0);
      const legacy = createHostileServer(name, { era: "legacy", size: 100, times: 0 });
      const { headers } = await handshake(legacy);
      const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: echo };
      assertEquals(textOf(resultOf(await readReply(await postLegacy(legacy, body, headers)))), "hi", name);
    }
    assertGreater(faultNames().length, 120);
  });

  test("faults on tools/call leave server/discover and tools/list alone", async () => {
    for (const name of faultNames().filter((name) => !unending.has(name))) {
      const server = createHostileServer(name, { size: 100, on: "tools/call" });
      assertEquals((await callModern(server, "server/discover")).status, 200, name);
      assertEquals((await callModern(server, "tools/list")).status, 200, name);
      assertEquals(server.hits(), 0);
    }
  });

  test("no fault gives a reply that a healthy server could have given; every quirk gives just that", async () => {
    const harmless = new Set(["duplicate-answer", "second-answer-differs", "unknown-notification", "progress-flood"]); // right messages, too many
    for (const name of faultNames().filter((name) => !unending.has(name))) {
      const server = createHostileServer(name, { size: 100 });
      if (server.on !== "tools/call") continue;
      const call = async () => {
        const response = await server.fetch(modernRequest("tools/call", echo, { id: 4 }));
        const type = response.headers.get("content-type") ?? "";
        return { type, reply: await readReply(response) };
      };
      const outcome = await call().catch(() => undefined);
      assertEquals(server.hits(), 1, name);
      if (name.startsWith("quirk-")) {
        assertEquals(outcome?.reply.status, 200);
        assert(outcome?.reply.text.includes('"hi"') || /"text":\s*"hi"/.test(outcome?.reply.text ?? ""), name);
        assertEquals(server.calls("echo"), 1);
      } else if (!harmless.has(name) && outcome !== undefined) {
        const { type, reply } = outcome;
        const only = reply.messages.length === 1 ? reply.messages[0] : undefined;
        const right = only?.id === 4 && only.jsonrpc === "2.0" && only.error === undefined &&
          objectAt(only, "result").resultType === "complete" && Array.isArray(objectAt(only, "result").content);
        const typed = /^(application\/json|text\/event-stream)/.test(type);
        const plain = !reply.headers.has("content-length") && !/\ufffd|data: \[/.test(reply.text);
        const whole = type.startsWith("application/json") || reply.text.endsWith("\n\n");
        assert(!(right && typed && plain && whole && reply.status === 200), `${name}: ${reply.text.slice(0, 200)}`);
      }
    }
  });

  test("the ledger tells faults before from faults after the execution", async () => {
    const count = async (name: FaultName) => {
      const server = createHostileServer(name);
      await callModern(server, "tools/call", echo).catch(() => undefined);
      return server.calls("echo");
    };
    for (const name of ["http-500", "http-429-1", "http-401", "network-error", "redirect-307-other"] as const) {
      assertEquals(await count(name), 0, name);
    }
    for (const name of ["ends-without-answer", "breaks-at-once", "wrong-id", "truncated-event"] as const) {
      assertEquals(await count(name), 1, name);
    }
  });

  test("happen as often as asked", async () => {
    const server = createHostileServer("http-503-1", { times: 2 });
    const seen = [];
    for (let index = 0; index < 3; index++) seen.push((await callModern(server, "tools/call", echo)).status);
    assertEquals([seen, server.hits(), server.calls("echo")], [[503, 503, 200], 2, 1]);
  });
});

describe("hostile messages", () => {
  const ids = async (name: FaultName) => (await spoiltCall(name)).messages.map((message) => message.id);

  test("ids", async () => {
    assertEquals(await ids("wrong-id"), ["nobody asked this"]);
    assertEquals(await ids("string-id"), ["4"]);
    assertEquals(await ids("null-id"), [null]);
    assertEquals(await ids("no-id"), [undefined]);
    assertEquals(await ids("duplicate-answer"), [4, 4]);
    assertEquals(await ids("answer-of-another"), ["of another call", 4]);
    assertEquals(await ids("server-request"), [1, 4]);
  });

  test("floods and backward progress", async () => {
    assertEquals((await spoiltCall("progress-flood", { size: 5_000 })).messages.length, 5_001);
    const values = (await spoiltCall("progress-backwards")).messages.map((item) => objectAt(item, "params").progress);
    assertEquals(values.slice(0, -1), [5, 4, 5, 6, 1, 7]);
  });

  test("lists without an end, with an empty cursor, and too long", async () => {
    const pages = async (name: FaultName, turns: number) => {
      const server = createHostileServer(name, { size: 50 });
      const seen: unknown[] = [];
      let params = {};
      for (let turn = 0; turn < turns; turn++) {
        const { nextCursor, tools } = resultOf(await callModern(server, "tools/list", params));
        seen.push(...(Array.isArray(tools) ? tools : []).filter(isJsonObject).map((tool) => tool.name));
        if (nextCursor === undefined) return seen;
        params = { cursor: nextCursor };
      }
      return `${seen.length} and more`;
    };
    assertEquals(await pages("infinite-pages", 20), "20 and more");
    assertEquals(await pages("repeated-cursor", 20), "20 and more");
    assertEquals(await pages("empty-cursor", 20), ["page_1", "page_2"]);
    assertEquals((await pages("many-tools", 1)).length, 50);
  });

  test("input without an end: each round is new", async () => {
    const server = createHostileServer("input-loop");
    const states = [];
    for (let id = 1; id <= 12; id++) {
      states.push(resultOf(await callModern(server, "tools/call", echo, { id })).requestState);
    }
    assertEquals(new Set(states).size, 12);
    assertEquals(server.calls("echo"), 0);
  });
});

describe("hostile bytes", () => {
  test("are made while they are read, up to the cap, and a reader that leaves is counted", async () => {
    for (const name of ["endless-line", "endless-event", "endless-json", "endless-messages", "gzip-bomb"] as const) {
      const server = createHostileServer(name);
      const response = await memoryFetch(server)(
        "http://fake.test/mcp",
        await initOf(modernRequest("tools/call", echo)),
      );
      const reader = response.body?.getReader();
      for (let index = 0; index < 20; index++) assertEquals((await reader?.read())?.done, false);
      await reader?.cancel();
      assertEquals(server.cancelled(), 1, name);
      assertGreater(server.produced(), 1_000_000);
      assertLess(server.produced(), 3_000_000);
    }
    assertGreater((await spoiltCall("error-body-huge", { size: 300_000 })).text.length, 300_000);
  });

  test("compressed bodies swell as they should", async () => {
    const { head, unit } = endlessDeflate('{"id":1,"text":"');
    for (const [format, header] of [["gzip", gzipHeader], ["deflate", zlibHeader], ["deflate-raw", []]] as const) {
      const stream = new DecompressionStream(format);
      const writer = stream.writable.getWriter();
      const reader = stream.readable.getReader();
      const packed = [...header, ...head];
      for (let index = 0; index < 1_000; index++) packed.push(...unit);
      void writer.write(new Uint8Array(packed)).catch(() => {});
      let size = 0;
      let start = "";
      while (size < 1_900_000) {
        const { value } = await reader.read();
        if (value === undefined) break;
        if (start === "") start = new TextDecoder().decode(value.subarray(0, 18));
        if (size > 100) assertEquals(value.every((byte) => byte === 32), true);
        size += value.length;
      }
      await reader.cancel().catch(() => {}); // it is in the middle of the stream
      assertEquals(start, '{"id":1,"text":"  ', format);
      assertGreater(size, 1_899_999);
    }
    assertLess(brotliBomb().length, 250);
  });

  test("depth and nodes are exact", async () => {
    const reply = await spoiltCall("depth-bomb", { size: 129 });
    assertEquals(reply.text.split("[").length - 1, 130);
    const nodes = resultOf(await spoiltCall("node-bomb", { size: 300 })).structuredContent;
    assertEquals(Array.isArray(nodes) ? nodes.length : 0, 101);
  });
});

describe("hostile time and heads", () => {
  test("headers that never come and streams that stall end by an abort alone", async () => {
    for (const name of ["headers-never", "stalls", "drip"] as const) {
      const server = createHostileServer(name);
      const controller = new AbortController();
      const init = await initOf(modernRequest("tools/call", echo));
      const call = memoryFetch(server)("http://fake.test/mcp", { ...init, signal: controller.signal })
        .then((response) => response.text());
      const outcome = call.then(() => "ended", (error: Error) => error.message);
      await until(() => server.hits() === 1);
      const early = await Promise.race([outcome, new Promise((resolve) => setTimeout(() => resolve("waits"), 20))]);
      assertEquals(early, "waits", name);
      controller.abort(new Error("enough"));
      assertEquals(await outcome, "enough", name);
      if (name !== "headers-never") await until(() => server.cancelled() === 1);
    }
  });

  test("statuses, types and waiting times", async () => {
    const head = async (name: FaultName) => {
      const { status, headers } = await spoiltCall(name);
      return [status, headers.get("retry-after"), headers.get("location")];
    };
    assertEquals(await head("empty-202"), [202, null, null]);
    assertEquals(await head("http-429-huge"), [429, "1000000000", null]);
    assertEquals(await head("http-503-negative"), [503, "-1", null]);
    assertEquals(await head("redirect-301-same"), [301, null, "/mcp?moved=1"]);
    assertEquals(await head("redirect-308-other"), [308, null, "http://other.invalid/mcp"]);
    assertEquals((await spoiltCall("html-200")).headers.get("content-type"), "text/html");
    assertEquals(codeOf(await spoiltCall("http-400-header-mismatch")), -32020);
    assertEquals(codeOf(await spoiltCall("http-404-method-not-found")), -32601);
  });

  test("what follows a redirect is answered, and seen at the other origin with all it carries", async () => {
    const server = createHostileServer("redirect-307-other");
    await server.fetch(modernRequest("tools/call", echo));
    const init = await initOf(modernRequest("tools/call", echo, { headers: { authorization: "Bearer secret" } }));
    const leaked = await server.fetch(new Request("http://other.invalid/mcp", init));
    assertEquals([leaked.status, server.foreign.length], [200, 1]);
    assertEquals(server.foreign[0]?.headers.authorization, "Bearer secret");
    const same = createHostileServer("redirect-307-same");
    await same.fetch(modernRequest("tools/call", echo));
    assertEquals((await same.fetch(new Request("http://fake.test/mcp?moved=1", init))).status, 200);
    assertEquals(same.foreign.length, 0);
  });

  test("a lost session is lost, and a new one is healthy", async () => {
    const server = createHostileServer("http-404-session", { era: "legacy", times: 1 });
    const { headers } = await handshake(server);
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: echo };
    assertEquals((await postLegacy(server, body, headers)).status, 404);
    assertEquals((await postLegacy(server, body, headers)).status, 404);
    const again = await handshake(server);
    assertEquals((await postLegacy(server, body, again.headers)).status, 200);
    assertEquals(server.calls("echo"), 1);
  });

  test("a stream that breaks after an event id breaks on each resumption too; a bad session id is handed out", async () => {
    const server = createHostileServer("breaks-after-event-id", { era: "legacy" });
    const { headers } = await handshake(server);
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: echo };
    const broken = (response: Response) => response.text().then(() => "ended", () => "broke");
    assertEquals(await broken(await postLegacy(server, body, headers)), "broke");
    assertEquals(await broken(await getLegacy(server, { ...headers, "last-event-id": "s1_1" })), "broke");
    assertEquals(server.calls("echo"), 1);
    const bad = await handshake(createHostileServer("bad-session-id", { era: "legacy" }));
    assertEquals(bad.headers["mcp-session-id"], "two words é");
  });
});

async function initOf(request: Request): Promise<RequestInit> {
  return { method: request.method, headers: request.headers, body: await request.text() };
}

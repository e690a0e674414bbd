/** Requests that no honest client sends. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { initialize, modernMeta, modernPost, post, refusal, rpc, send, url } from "../http/support.ts";
import { answerOf, call, openSession, stage, textOf } from "./support.ts";

const evil = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

describe("foreign origins and hosts (S-020)", () => {
  test("get 403 on every method and route, before anything else is looked at", async () => {
    let looked = 0;
    const { handler } = stage({}, { auth: () => void looked++ });
    const bad = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "" },
      { origin: "http://localhost.evil.example" },
      { origin: "http://evil.example/localhost" },
      { origin: "http://localhost@evil.example" },
      { origin: "http://localhost, https://evil.example" },
      { origin: "file://localhost" },
      { host: "evil.example" },
      { host: "localhost.evil.example" },
      { host: "127.0.0.1.evil.example" },
      { host: "localhost@evil.example" },
      { host: "localhost:80@evil.example" },
      { host: "evil.example:80" },
      { host: "localhost, evil.example" },
    ];
    for (const method of ["POST", "GET", "DELETE", "OPTIONS", "PUT", "PATCH", "HEAD"]) {
      for (const headers of bad) {
        const body = method === "POST" ? JSON.stringify(rpc("ping")) : null;
        const request = send(method, { "content-type": "application/json", ...headers }, { body });
        if ("host" in headers && request.headers.get("host") === null) continue;
        const response = await handler(request);
        assertEquals(response.status, 403, `${method} ${JSON.stringify(headers)}`);
        assertEquals(response.headers.get("access-control-allow-origin"), null);
      }
    }
    assertEquals((await handler(send("GET", {}, {}, "http://evil.example/mcp"))).status, 403);
    assertEquals(looked, 0);
  });

  test("a list that is written as one text is not a wildcard", async () => {
    const allowedHosts = "app.example.com" as never;
    const { handler } = stage({}, { allowedHosts, allowedOrigins: "https://a.example" as never });
    assertEquals((await handler(send("OPTIONS", {}, {}, "http://evil.test/"))).status, 403);
    const origin = { origin: "https://evil.a.example" };
    assertEquals((await handler(send("OPTIONS", origin, {}, "http://app.example.com/"))).status, 403);
    assertThrows(() => stage({}, { allowedHosts: "*.example.com" as never }), TypeError, 'the host "*.example.com"');
    const some = { allowedOrigins: "https://*.a.example" as never };
    assertThrows(() => stage({}, some), TypeError, 'the origin "https://*.a.example"');
  });
});

describe("bodies", () => {
  test("that never end are given up at the limit, also when their length is no number", async () => {
    for (const length of [undefined, "abc", "1, 1", "-1", "1e9"]) {
      let cancelled = false;
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          sent += 65_536;
          if (sent > 64 * 2 ** 20) throw new Error("It was read on and on");
          controller.enqueue(new Uint8Array(65_536).fill(32));
        },
        cancel: () => void (cancelled = true),
      });
      const { handler } = stage({}, { limits: { messageBytes: 1_000_000 } });
      const response = await handler(post("", { "content-length": length }, { body, duplex: "half" } as RequestInit));
      assertEquals(await refusal(response), [413, -32600], `length ${length}`);
      assert(cancelled || length !== undefined);
    }
  });

  test("that come too slowly are given up (slow loris)", async () => {
    for (const length of [undefined, "500"]) {
      const open = stage();
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"jsonrpc":')),
      });
      const replying = open.handler(post("", { "content-length": length }, { body, duplex: "half" } as RequestInit));
      const response = await open.clock.until(replying, 120_000);
      assertEquals(await refusal(response), [408, -32600]);
      await open.clock.settle();
      assertEquals(open.clock.waiting, 0);
    }
  });

  test("that are compressed, not UTF-8, cut off or torn are no JSON", async () => {
    const { handler } = stage();
    const gzip = new Response(
      new Blob([JSON.stringify(rpc("ping"))]).stream().pipeThrough(new CompressionStream("gzip")),
    );
    const bodies: [BodyInit, Record<string, string>][] = [
      [await gzip.arrayBuffer(), { "content-encoding": "gzip" }],
      [new Uint8Array([0x22, 0xff, 0xfe, 0x22]), {}],
      ['{"jsonrpc":"2.0","id":1', {}],
      ["", {}],
      ["\ufeff\ufeff{}", {}],
    ];
    for (const [body, headers] of bodies) {
      assertEquals(await refusal(await handler(post("", headers, { body }))), [400, -32700]);
    }
    const torn = new ReadableStream({ pull: (controller) => controller.error(new Error("reset by peer")) });
    assertEquals(await refusal(await handler(post("", {}, { body: torn, duplex: "half" } as RequestInit))), [
      400,
      -32700,
    ]);
  });

  test("of a batch are bounded, and a batch is for those who know it", async () => {
    const { handler } = stage();
    const headers = await initialize({ handler } as never);
    const many = Array.from({ length: 20_000 }, (_, id) => rpc("ping", id));
    assertEquals((await handler(post(many, headers))).status, 400);
    const opened = await handler(post(rpc("initialize", 0, { protocolVersion: "2025-03-26", capabilities: {} })));
    await opened.text();
    const old = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    assertEquals((await handler(post(many, old))).status, 400);
    const few = await handler(post(many.slice(0, 50), old));
    assertEquals([few.status, (await few.json()).length], [200, 50]);
  });
});

describe("headers", () => {
  test("that are long, doubled or odd get an answer, and nothing of them comes back", async () => {
    const open = stage({ ping: () => "pong" });
    const { id } = await openSession(open);
    const marks = [
      "x".repeat(60_000),
      "0-1, 0-2",
      "0-99999999999999999999",
      "-1",
      "0x0-1",
      "0-1\tinjected: 1",
      "../../etc",
    ];
    for (const mark of marks) {
      for (const name of ["mcp-session-id", "last-event-id", "mcp-protocol-version"]) {
        const headers = { accept: "text/event-stream", "mcp-session-id": id, [name]: mark };
        const response = await open.handler(send("GET", headers));
        assert([400, 404].includes(response.status), `${name} ${response.status}`);
        const text = await response.text();
        assert(!text.includes("injected") && text.length < 1_000);
      }
    }
  });
});

describe("names of the prototype", () => {
  test("as tools, prompts, resources, arguments and cursors are names like others", async () => {
    const seen: JsonObject[] = [];
    const open = stage({ echo: (args) => (seen.push(args), "ok") });
    open.server.prompt("p", { arguments: { a: {} } }, (args) => JSON.stringify(args));
    open.server.template("memo://{id}", {}, (_uri, variables) => JSON.stringify(variables));
    open.server.tool("strict", { input: { type: "object", properties: {}, additionalProperties: false } }, () => "ok");
    const session = await openSession(open);
    for (const name of evil) {
      assertEquals((await call(open, name)).error?.code, -32602);
      assertEquals((await session.call(name)).error?.code, -32602);
      const args = JSON.parse(`{"${name}":{"polluted":true}}`);
      assertEquals(textOf(await call(open, "echo", args)), ["ok", false]);
      assertEquals(Object.hasOwn(seen.at(-1)!, name), true);
      assertEquals(textOf(await call(open, "strict", args))[1], true, name);
      for (
        const [method, params] of [
          ["prompts/get", { name }],
          ["resources/read", { uri: name }],
          ["tools/list", { cursor: name }],
          ["completion/complete", { ref: { type: "ref/prompt", name }, argument: { name, value: "" } }],
        ] as [string, JsonObject][]
      ) {
        const { error } = await answerOf(await open.handler(modernPost(method, params)));
        assert(error && [-32602, -32601].includes(error.code), `${method} ${name}`);
      }
      const filled = await answerOf(
        await open.handler(
          modernPost("prompts/get", { name: "p", arguments: JSON.parse(`{"${name}":"x","a":"y"}`) }),
        ),
      );
      assertEquals(JSON.stringify(filled.result?.messages).includes(`{\\"a\\":\\"y\\"}`), true);
      const unknown = await open.handler(modernPost(name));
      assertEquals(await refusal(unknown), [404, -32601]);
      assertEquals((await session.send(rpc(name, `id-${name}`)).then(answerOf)).error?.code, -32601);
      const meta = JSON.parse(`{"${name}":{"polluted":true}}`);
      assertEquals(textOf(await call(open, "echo", {}, meta)), ["ok", false]);
    }
    assertEquals(({} as Record<string, unknown>).polluted, undefined);
  });
});

describe("who verifies", () => {
  test("may give any reply, throw or hang up, and a JSON-RPC error comes of what is broken", async () => {
    const server = new McpServer({ name: "s", version: "1" });
    const used = new Response("used");
    await used.text();
    for (
      const auth of [
        () => Response.error(),
        () => used,
        () => {
          throw new Error("secret of the verifier");
        },
        () => Promise.reject({ secret: 1 }),
      ]
    ) {
      const handler = createHandler(server, { auth });
      for (const origin of [undefined, "http://localhost"]) {
        const response = await handler(post(rpc("ping"), { origin }));
        assert(response instanceof Response);
        assert(!response.bodyUsed || auth === auth);
      }
    }
    const handler = createHandler(server, { auth: () => Response.redirect("http://localhost/login", 302) });
    assertEquals((await handler(post(rpc("ping"), { origin: "http://localhost" }))).status, 302);
  });
});

describe("streams of changes", () => {
  test("with more resources than anybody watches are refused", async () => {
    const open = stage();
    open.server.resource("memo://one", {}, () => "1");
    const uris = Array.from({ length: 200_000 }, (_, at) => `memo://${at}`);
    const params = { notifications: { resourceSubscriptions: uris } };
    assertEquals((await refusal(await open.handler(modernPost("subscriptions/listen", params))))[1], -32602);
  });

  test("by the thousand end with their clients", async () => {
    const open = stage({ a: () => "" });
    const gone = new AbortController();
    const params = { notifications: { toolsListChanged: true }, _meta: modernMeta() };
    const responses = await Promise.all(
      Array.from(
        { length: 1_000 },
        () => open.handler(modernPost("subscriptions/listen", params, {}, { signal: gone.signal })),
      ),
    );
    assertEquals(responses.every(({ status }) => status === 200), true);
    await open.clock.settle();
    assertEquals(open.clock.waiting, 1_000);
    gone.abort();
    await open.clock.settle();
    assertEquals(open.clock.waiting, 0);
    assertEquals(url.startsWith("http://localhost"), true);
  });
});

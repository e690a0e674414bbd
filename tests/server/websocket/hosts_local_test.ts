/** What clients of all manners meet at the WebSockets of the one-line hosts: the same on Bun, Deno and Node. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import type { HttpHost } from "../../../src/entry/local.ts";
import { createHandler, createSocketEndpoint, McpServer } from "../../../src/server/mod.ts";
import type { SocketEndpointOptions } from "../../../src/server/mod.ts";
import { until } from "../../support/clients.ts";
import { handshake, RawSocket } from "./raw_socket.ts";

const inDeno = "Deno" in globalThis;
const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

async function withHost(
  run: (host: HttpHost, open: (headers?: Record<string, string | undefined>) => RawSocket) => Promise<void>,
  { grace, ...options }: SocketEndpointOptions & { grace?: number } = {},
): Promise<void> {
  const server = new McpServer({ name: "socketed", version: "1.0.0" });
  const webSocket = createSocketEndpoint(server, { path: "/mcp", ...options });
  await using host = await serveHttp(createHandler(server), { port: 0, webSocket, grace });
  const opened: RawSocket[] = [];
  const open = (headers?: Record<string, string | undefined>): RawSocket => {
    const socket = new RawSocket(host.port, handshake(host.port, headers));
    opened.push(socket);
    return socket;
  };
  try {
    await run(host, open);
  } finally {
    for (const { socket } of opened) socket.destroy();
  }
}

/** Proves that a socket is served. */
async function assertServed(socket: RawSocket): Promise<void> {
  assertStringIncludes(await socket.head, " 101 ");
  socket.send(ping);
  await until(() => socket.texts.length > 0, 2_000);
  assertStringIncludes(socket.texts[0]!, '"id":1');
}

describe("a handshake at a one-line host", () => {
  test("gets the subprotocol, and no compression even when it is offered", () =>
    withHost(async (_host, open) => {
      const socket = open({ "sec-websocket-extensions": "permessage-deflate", "sec-websocket-protocol": "other, mcp" });
      const head = await socket.head;
      assertMatch(head, /^sec-websocket-protocol: mcp$/im);
      assertMatch(head, /^sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=$/im);
      assert(!/permessage-deflate/i.test(head), head);
      await assertServed(socket);
    }));

  test("may offer several subprotocols, however they are listed: npm's ws sets no spaces between them", () =>
    withHost(async (_host, open) => {
      for (const offered of ["mcp,other", "other,mcp", "other , mcp ,\tthird"]) {
        const socket = open({ "sec-websocket-protocol": offered });
        assertMatch(await socket.head, /^sec-websocket-protocol: mcp$/im, offered);
        await assertServed(socket);
      }
    }));

  test("that is refused gets the status, the headers and the words of the endpoint", () =>
    withHost(async (_host, open) => {
      const stranger = open({ "x-who": "nobody" });
      assertMatch(await stranger.head, /^HTTP\/1\.1 401 [^]*www-authenticate: Bearer/i);
      await until(() => stranger.rest.includes("who are you"), 2_000);
      const silent = open({ "sec-websocket-protocol": undefined });
      assertStringIncludes(await silent.head, " 400 ");
      await until(() => silent.rest.includes('"jsonrpc"'), 2_000);
      assertStringIncludes(await open({ origin: "https://evil.example" }).head, " 403 ");
      const known = open();
      await assertServed(known);
      assertMatch(await open().head, /^HTTP\/1\.1 503 [^]*retry-after: 60/i);
    }, {
      maxSockets: 1,
      auth: (request) =>
        request.headers.has("x-who")
          ? new Response("who are you", { status: 401, headers: { "www-authenticate": "Bearer" } })
          : { principal: "known" },
    }));

  test("that is refused by a reply which cannot be sent is not served, and harms nobody: Deno would end the process", () =>
    withHost(async (_host, open) => {
      const head = await open({ "x-who": "nobody" }).head;
      assert(!head.includes(" 101 "), head);
      await assertServed(open());
    }, {
      auth: ({ headers }) =>
        headers.has("x-who") ? new Response("no", { status: 401, headers: { "x-why": "a\u0001b" } }) : undefined,
    }));

  test("that is malformed is refused, and harms nobody", () =>
    withHost(async (_host, open) => {
      // Deno takes any key for good.
      for (const key of inDeno ? [undefined] : [undefined, "short"]) {
        assertMatch(await open({ "sec-websocket-key": key }).head, /^HTTP\/1\.1 4\d\d /);
      }
      await assertServed(open());
    }));

  test("whose client leaves while it is judged is forgotten", async () => {
    let judged = 0;
    let answer = (): void => {};
    await withHost(async (_host, open) => {
      const hasty = open();
      await until(() => judged === 1, 2_000);
      hasty.socket.destroy();
      await hasty.gone;
      answer();
      await assertServed(open({ "x-fast": "1" }));
    }, {
      auth: async (request) => {
        judged++;
        if (!request.headers.has("x-fast")) await new Promise<void>((resolve) => answer = resolve);
        return { principal: "one" };
      },
    });
  });

  const skip = inDeno && "Deno.serve refuses it by itself";
  test(
    "to another protocol is left aside: what follows on the connection is answered",
    { skip },
    () =>
      withHost(async (host) => {
        const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "initialize", params });
        const post = (more: string): string =>
          `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\ncontent-type: application/json\r\n${more}` +
          `accept: application/json, text/event-stream\r\ncontent-length: ${body.length}\r\n\r\n`;
        const upgrade = "connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n";
        const socket = new RawSocket(host.port, post(upgrade) + body.slice(0, 10));
        setTimeout(() => void socket.socket.write(body.slice(10)), 20);
        assertStringIncludes(await socket.head, " 200 ");
        await until(() => socket.rest.includes('"id":7'), 2_000);
        socket.socket.write(post("") + body);
        await until(() => socket.rest.split('"id":7').length === 3, 2_000);
        socket.socket.destroy();
      }),
  );
});

describe("a socket at a one-line host", () => {
  test("that sends too much is ended, and the others go on", () =>
    withHost(async (_host, open) => {
      const [greedy, other] = [open(), open()];
      await greedy.head;
      greedy.send(ping.padEnd(5_000));
      await until(() => greedy.socket.destroyed || greedy.closeCode === 1009, 2_000);
      await assertServed(other);
    }, { limits: { messageBytes: 1_000 } }));

  test("that sends too much in pieces is ended", () =>
    withHost(async (_host, open) => {
      const greedy = open();
      await greedy.head;
      for (let piece = 0; piece < 10; piece++) {
        greedy.send(" ".repeat(500), { opcode: piece === 0 ? 1 : 0, last: piece === 9 });
      }
      await until(() => greedy.socket.destroyed || greedy.closeCode === 1009, 2_000);
    }, { limits: { messageBytes: 1_000 } }));

  test("that sends what is no text is ended with 1003", () =>
    withHost(async (_host, open) => {
      const socket = open();
      await socket.head;
      socket.send(new Uint8Array([1, 2, 3]), { opcode: 2 });
      await until(() => socket.closeCode !== undefined, 2_000);
      assertEquals(socket.closeCode, 1003);
    }));

  test("hears a goodbye when its host closes; when it does not answer, it is cut off", () =>
    withHost(async (host, open) => {
      const socket = open();
      await assertServed(socket);
      await host.close();
      await socket.gone;
      assertEquals(socket.closeCode, 1000);
    }, { grace: 100 }));
});

test(
  "withWebSocket on Deno answers a malformed handshake with 400",
  { skip: !inDeno && "it is Deno's own" },
  async () => {
    const { withWebSocket } = await import("../../../src/entry/deno.ts");
    const server = new McpServer({ name: "socketed", version: "1.0.0" });
    const handler = withWebSocket(createHandler(server), createSocketEndpoint(server));
    const headers = { host: "127.0.0.1", upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
    assertEquals((await handler(new Request("http://127.0.0.1/mcp", { headers }))).status, 400);
    handler.close();
  },
);

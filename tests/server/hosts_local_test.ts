/** The one-line hosts on loopback: our own client over real sockets, in both eras, over HTTP and WebSocket. */
import { connect as connectSocket } from "node:net";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { connect, serveHttp } from "../../src/entry/local.ts";
import type { Client, HttpHost, RequestHandler, ServeHttpOptions } from "../../src/entry/local.ts";
import { createMcpApp } from "../../src/runner/mcp_app.ts";
import { createHandler, createSocketEndpoint, McpServer } from "../../src/server/mod.ts";
import { until } from "../support/clients.ts";

/** Deno.serve (2.9.5) does not tell of each client that is gone before a reply has begun: the first comment finds it out. */
const keepAlive = "Deno" in globalThis ? 200 : 15_000;

type Era = "modern" | "legacy";

interface Bench {
  readonly server: McpServer;
  /** The calls that wait. */
  readonly begun: string[];
  readonly stopped: string[];
}

function createServer(): Bench {
  const begun: string[] = [];
  const stopped: string[] = [];
  const server = new McpServer({ name: "hosted", version: "1.0.0" });
  const input = { type: "object", properties: { text: { type: "string" } } };
  server.tool("echo", { input }, (args) => String(args.text));
  server.tool("roots", {}, async (_args, { roots }) => (await roots()).map(({ uri }) => uri).join());
  server.tool("steps", {}, (_args, { progress }) => {
    for (const step of [1, 2, 3]) progress({ progress: step, total: 3 });
    return "done";
  });
  server.tool(
    "wait",
    {},
    (_args, { signal }) => {
      begun.push("wait");
      return new Promise<string>((resolve) =>
        signal.addEventListener("abort", () => {
          stopped.push("wait");
          resolve("stopped");
        })
      );
    },
  );
  return { server, begun, stopped };
}

async function withHost(
  run: (host: HttpHost, bench: Bench) => Promise<void>,
  { app = false, era, ...options }: ServeHttpOptions & { app?: boolean; era?: Era } = {},
): Promise<void> {
  const eras = era && [era];
  const bench = createServer();
  const endpoint = createHandler(bench.server, { eras, keepAlive });
  const handler: RequestHandler = app ? createMcpApp(endpoint).fetch : endpoint;
  const webSocket = createSocketEndpoint(bench.server, { eras, path: "/mcp" });
  await using host = await serveHttp(handler, { port: 0, webSocket, ...options });
  await run(host, bench);
}

function open(host: HttpHost, way: "http" | "ws"): Promise<Client> {
  return connect(`${way}://127.0.0.1:${host.port}/mcp`, {
    handlers: { roots: () => [{ uri: "file:///here" }] },
  });
}

const textOf = ({ content: [first] }: Awaited<ReturnType<Client["callTool"]>>): string =>
  first?.type === "text" ? first.text : "";

for (const way of ["http", "ws"] as const) {
  for (const era of ["modern", "legacy"] as const) {
    describe(`a one-line host, ${era} over ${way}`, () => {
      test("calls, questions, progress, changes", () =>
        withHost(async (host, { server }) => {
          await using client = await open(host, way);
          assertEquals([client.era, textOf(await client.callTool("echo", { text: "grüße" }))], [era, "grüße"]);
          const long = "long ".repeat(200_000);
          assertEquals(textOf(await client.callTool("echo", { text: long })), long);
          assertEquals(textOf(await client.callTool("roots")), "file:///here");
          const seen: number[] = [];
          await client.callTool("steps", {}, { onProgress: ({ progress }) => void seen.push(progress) });
          assertEquals(seen.at(-1), 3);
          await using changes = client.listen({ tools: true });
          await changes.acknowledged;
          server.tool("late", {}, () => "here");
          assertEquals((await changes.next()).value, { type: "tools" });
        }, { era }));

      test("a call that is given up stops the tool", () =>
        withHost(async (host, { begun, stopped }) => {
          await using client = await open(host, way);
          const controller = new AbortController();
          const call = client.callTool("wait", {}, { signal: controller.signal });
          await client.callTool("steps");
          await until(() => begun.length === 1, 1_000);
          controller.abort(new Error("enough"));
          await assertRejects(() => call, Error, "enough");
          await until(() => stopped.length === 1, 1_000);
        }, { era }));

      test(
        "closing the host ends what runs, and lets go of the port",
        () =>
          withHost(async (host, { begun, stopped }) => {
            await using client = await open(host, way);
            const call = assertRejects(() => client.callTool("wait"));
            await client.callTool("steps");
            await until(() => begun.length === 1, 1_000);
            await host.close();
            await call;
            await until(() => stopped.length === 1, 1_000);
            await assertRejects(() => fetch(`${host.url}/mcp`));
            await using again = await serveHttp(() => new Response("other"), { port: host.port });
            assertEquals(await (await fetch(again.url)).text(), "other");
          }, { era, grace: 100 }),
      );
    });
  }
}

describe("a one-line host", () => {
  test("serves a Hono application, HTTP and WebSocket on one path", () =>
    withHost(async (host) => {
      await using client = await open(host, "http");
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals((await fetch(`${host.url}/other`)).status, 404);
      await using other = await open(host, "ws");
      assertEquals(textOf(await other.callTool("echo", { text: "hi" })), "hi");
    }, { app: true }));

  test("foreign pages and names are sent away, also before an upgrade", () =>
    withHost(async (host) => {
      const socket = { upgrade: "websocket", connection: "upgrade", "sec-websocket-key": "x".repeat(22) + "==" };
      const handshake = { ...socket, "sec-websocket-version": "13", "sec-websocket-protocol": "mcp" };
      for (const extra of [{}, handshake]) {
        assertStringIncludes(await raw(host, { host: "evil.example", ...extra }), " 403 ");
        const own = { host: `127.0.0.1:${host.port}` };
        assertStringIncludes(await raw(host, { ...own, origin: "https://evil.example", ...extra }), " 403 ");
      }
    }));

  test("a handler that throws is a 500 without a word, and the host goes on", async () => {
    let calls = 0;
    await using host = await serveHttp(() => {
      if (++calls === 1) throw new Error("secret");
      return new Response("fine", { headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] });
    }, { port: 0 });
    const broken = await fetch(host.url);
    assertEquals([broken.status, await broken.text()], [500, ""]);
    const fine = await fetch(host.url);
    assertEquals([await fine.text(), fine.headers.getSetCookie()], ["fine", ["a=1", "b=2"]]);
  });

  test("a stream goes out piece by piece, and is cancelled when its reader leaves", async () => {
    let cancelled = false;
    let aborted = false;
    await using host = await serveHttp((request) => {
      request.signal.addEventListener("abort", () => aborted = true);
      const body = new ReadableStream({
        pull: (controller) => controller.enqueue(new TextEncoder().encode("x".repeat(1_000))),
        cancel: () => void (cancelled = true),
      });
      return new Response(body);
    }, { port: 0 });
    const controller = new AbortController();
    const response = await fetch(host.url, { signal: controller.signal });
    const reader = response.body!.getReader();
    assert(((await reader.read()).value?.length ?? 0) > 0);
    controller.abort();
    await assertRejects(async () => {
      while (!(await reader.read()).done) { /* to its end */ }
    });
    await until(() => cancelled || aborted, 1_000);
  });

  test("a port in use is told", async () => {
    await using host = await serveHttp(() => new Response(), { port: 0 });
    await assertRejects(() => serveHttp(() => new Response(), { port: host.port }));
  });
});

/** The first line of the reply to a request with headers that `fetch` would not send. */
function raw(host: HttpHost, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const socket = connectSocket(host.port, "127.0.0.1", () => socket.write(`GET /mcp HTTP/1.1\r\n${lines}\r\n`));
    socket.once("data", (chunk) => {
      resolve(String(chunk).split("\r\n", 1)[0] ?? "");
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

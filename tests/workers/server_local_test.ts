/** The Worker of `workers/server.ts` in real workerd: our own client in both eras, over HTTP and WebSocket. */
import { assert, assertEquals } from "@std/assert";
import type { Miniflare, MiniflareOptions } from "miniflare";
import { connect as connectSocket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "../../src/entry/local.ts";
import type { Client, JsonObject } from "../../src/entry/local.ts";
import { packagesInstalled } from "../../tools/programs.ts";
import { initialize, posting } from "./messages.ts";

const skip = packagesInstalled() ? false : "miniflare and esbuild are not installed";

let miniflare: Miniflare;
let options: MiniflareOptions;
let base = "";
let folder = "";

before(async () => {
  if (skip) return;
  const { build } = await import("esbuild");
  const { Miniflare } = await import("miniflare");
  const entryPoints = [fileURLToPath(new URL("../../workers/server.ts", import.meta.url))];
  const built = await build({ entryPoints, bundle: true, format: "esm", target: "es2022", write: false });
  const contents = built.outputFiles[0]?.text ?? "";
  assert(!/["'](?:node|bun|cloudflare):/.test(contents));
  folder = mkdtempSync(join(tmpdir(), "causeway-sessions-"));
  options = {
    modules: [{ type: "ESModule", path: "server.js", contents }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["enable_request_signal"],
    durableObjects: {
      SESSIONS: { className: "SessionObject", useSQLite: true },
      SOCKETS: { className: "SocketObject", useSQLite: true },
    },
    durableObjectsPersist: folder,
    bindings: { ALLOWED_HOSTS: "127.0.0.1, mcp.example.com", STATE_SECRET: "a secret for tests alone" },
  };
  miniflare = new Miniflare(options);
  base = (await miniflare.ready).href.replace(/\/$/, "");
});
after(async () => {
  await miniflare?.dispose();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const textOf = ({ content: [first] }: Awaited<ReturnType<Client["callTool"]>>): string =>
  first?.type === "text" ? first.text : "";

async function converse(client: Client): Promise<void> {
  assertEquals(client.info?.server?.name, "causeway-sample");
  assertEquals((await client.callTool("add", { a: 2, b: 3 })).structuredContent, { sum: 5 });
  assertEquals(textOf(await client.callTool("greet")), "Hello, Ada");
  assertEquals((await client.readResource("about://sample")).contents[0]?.text, "A server on Cloudflare Workers");
}

const handlers = { elicitation: () => ({ action: "accept" as const, content: { name: "Ada" } }) };

/** A POST of one message as a legacy client sends it. */
function post(message: JsonObject, headers: Record<string, string> = {}) {
  return miniflare.dispatchFetch(`${base}/mcp`, posting(message, headers));
}

async function openSession(): Promise<Record<string, string>> {
  const response = await post(initialize);
  const id = response.headers.get("mcp-session-id");
  assertEquals(response.status, 200, await response.text());
  assert(id);
  const headers = { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
  assertEquals((await post({ method: "notifications/initialized" }, headers)).status, 202);
  return headers;
}

describe("the Worker that serves", { concurrency: false }, () => {
  test("modern clients, over HTTP", { skip }, async () => {
    await using client = await connect(`${base}/mcp`, { handlers });
    assertEquals(client.era, "modern");
    await converse(client);
  });

  test("legacy clients, over HTTP", { skip }, async () => {
    await using client = await connect(`${base}/mcp`, { handlers, verdict: { era: "legacy", revision: "2025-11-25" } });
    assertEquals(client.era, "legacy");
    await converse(client);
  });

  test("clients over WebSocket, on the same path", { skip }, async () => {
    await using client = await connect(`${base.replace(/^http/, "ws")}/mcp`, { handlers });
    await converse(client);
    const old = { handlers, verdict: { era: "legacy", revision: "2025-11-25" } } as const;
    await using legacy = await connect(`${base.replace(/^http/, "ws")}/mcp`, old);
    assertEquals(legacy.era, "legacy");
    await converse(legacy);
  });

  test("many legacy clients at once: each has its own session", { skip }, async () => {
    const sessions = await Promise.all(Array.from({ length: 10 }, openSession));
    assertEquals(new Set(sessions.map((headers) => headers["mcp-session-id"])).size, 10);
    const sums = await Promise.all(sessions.map(async (headers, a) => {
      const params = { name: "add", arguments: { a, b: 1 } };
      const response = await post({ id: 2, method: "tools/call", params }, headers);
      return JSON.parse(await response.text()).result.structuredContent.sum;
    }));
    assertEquals(sums, sessions.map((_, a) => a + 1));
  });

  test("an ended session is gone, and so is one that never was", { skip }, async () => {
    const headers = await openSession();
    const ended = await miniflare.dispatchFetch(`${base}/mcp`, { method: "DELETE", headers });
    assertEquals(ended.status, 200);
    const list = { id: 2, method: "tools/list" };
    assertEquals((await post(list, headers)).status, 404);
    const [object] = headers["mcp-session-id"]!.split(".");
    for (const id of ["nonsense", "0".repeat(64), object!, `${object}.${"0".repeat(32)}`]) {
      assertEquals((await post(list, { ...headers, "mcp-session-id": id })).status, 404, id);
    }
    const other = (await openSession())["mcp-session-id"]!;
    assertEquals(
      (await post(list, { ...headers, "mcp-session-id": `${other.split(".")[0]}.${"0".repeat(32)}` })).status,
      404,
    );
  });

  test("a session outlives the memory of its object", { skip }, async () => {
    const headers = await openSession();
    assertEquals((await post({ id: 2, method: "logging/setLevel", params: { level: "error" } }, headers)).status, 200);
    const { Miniflare } = await import("miniflare");
    await miniflare.dispose();
    miniflare = new Miniflare(options);
    base = (await miniflare.ready).href.replace(/\/$/, "");
    const response = await post(
      { id: 3, method: "tools/call", params: { name: "add", arguments: { a: 1, b: 1 } } },
      headers,
    );
    assertEquals(response.status, 200);
    assertEquals(JSON.parse(await response.text()).result.structuredContent, { sum: 2 });
  });

  test(
    "only the names of the environment are served, on HTTP and WebSocket; other paths are not there",
    { skip },
    async () => {
      const upgrade = {
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
        "sec-websocket-protocol": "mcp",
      };
      const { host } = new URL(base);
      for (
        const [path, headers, status] of [
          ["/mcp", { host: "evil.example" }, 403],
          ["/mcp", { host: "evil.example", ...upgrade }, 403],
          ["/mcp", { host, origin: "https://evil.example" }, 403],
          ["/mcp", { host, origin: "https://evil.example", ...upgrade }, 403],
          ["/mcp", { host, ...upgrade, "sec-websocket-protocol": "other" }, 405],
          ["/mcp", { host }, 405],
          ["/other", { host }, 404],
        ] as const
      ) {
        assertEquals(await statusOf(path, headers), status, `${path} ${JSON.stringify(headers)}`);
      }
      for (const message of [initialize, { id: 1, method: "tools/list" }]) {
        assertEquals((await post(message, { origin: "https://evil.example" })).status, 403);
      }
    },
  );

  test("a POST that is refused leaves its connection in order, although nobody wanted its body", { skip }, async () => {
    const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const { host } = new URL(base);
    const refused: [Record<string, string>, number][] = [
      [{ ...json, host: "evil.example" }, 403],
      [{ ...json, host, origin: "https://evil.example" }, 403],
      [{ ...json, host, "content-type": "text/plain" }, 415],
      [{ ...json, host, "mcp-session-id": "nonsense" }, 404],
    ];
    for (const [headers, status] of refused) {
      assertEquals(await statusesOf(headers, 50), Array(50).fill(status), JSON.stringify(headers));
    }
  });
});

/** The status of the reply to a GET with headers that `fetch` would not send. */
function statusOf(path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const { hostname, port } = new URL(base);
    const socket = connectSocket(Number(port), hostname, () => socket.write(`GET ${path} HTTP/1.1\r\n${lines}\r\n`));
    socket.once("data", (chunk) => {
      resolve(Number(String(chunk).split(" ")[1]));
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

/** The statuses of the replies to POSTs one after the other on one connection, until it is broken off. */
function statusesOf(headers: Record<string, string>, count: number): Promise<number[]> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...initialize });
  const lines = Object.entries({ ...headers, "content-length": String(body.length) });
  const post = `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
  const statuses: number[] = [];
  return new Promise((resolve) => {
    let seen = "";
    const { hostname, port } = new URL(base);
    const socket = connectSocket(Number(port), hostname, () => socket.write(post));
    socket.on("data", (chunk) => {
      seen += String(chunk);
      const [head = "", rest] = seen.split("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
      if (rest === undefined || rest.length < length) return;
      seen = rest.slice(length);
      statuses.push(Number(head.split(" ")[1]));
      if (statuses.length < count) socket.write(post);
      else socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(statuses));
  });
}

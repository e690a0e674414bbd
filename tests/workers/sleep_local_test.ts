/** WebSockets of the Worker while their object sleeps: real hibernation of workerd, which takes ten seconds of silence. */
import { assert, assertEquals } from "@std/assert";
import { Miniflare } from "miniflare";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/entry/local.ts";

const skip = "Bun" in globalThis ? false : "it is the same workerd from each runtime: once is enough, on Bun";
/** Longer than workerd waits before it forgets a silent object, in milliseconds. */
const silence = 13_000;

/** The Worker, with objects that are counted and an event that can be made from outside. */
const program = `
import worker, { SessionObject, SocketObject } from "./workers/server.ts";
let made = 0;
export { SessionObject };
export class Counted extends SocketObject {
  constructor(state, env) {
    super(state, env);
    made++;
  }
}
export default {
  fetch(request, env) {
    if (new URL(request.url).pathname === "/made") return new Response(String(made));
    return worker.fetch(request, env);
  },
};`;

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function startWorker(): Promise<Miniflare> {
  const { build } = await import("esbuild");
  const resolveDir = fileURLToPath(new URL("../..", import.meta.url));
  const built = await build({ stdin: { contents: program, resolveDir }, bundle: true, format: "esm", write: false });
  return new Miniflare({
    modules: [{ type: "ESModule", path: "server.js", contents: built.outputFiles[0]?.text ?? "" }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["enable_request_signal"],
    durableObjects: {
      SESSIONS: { className: "SessionObject", useSQLite: true },
      SOCKETS: { className: "Counted", useSQLite: true },
    },
  });
}

interface Peer {
  readonly came: JsonObject[];
  send(message: JsonObject): void;
  /** Sends a request and gives its answer. */
  ask(message: JsonObject): Promise<JsonObject>;
}

async function openSocket(flare: Miniflare): Promise<Peer> {
  const headers = { upgrade: "websocket", "sec-websocket-protocol": "mcp" };
  const { webSocket: socket, status } = await flare.dispatchFetch("http://localhost/mcp", { headers });
  assertEquals(status, 101);
  assert(socket);
  const came: JsonObject[] = [];
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data));
    came.push(message);
    waiting.get(message.id)?.(message);
  });
  socket.accept();
  const send = (message: JsonObject) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return {
    came,
    send,
    ask: (message) =>
      new Promise((resolve) => {
        waiting.set(message.id, resolve);
        send(message);
      }),
  };
}

const add = (id: number, _meta: JsonObject = {}): JsonObject => {
  return { id, method: "tools/call", params: { name: "add", arguments: { a: id, b: 1 }, _meta } };
};
const sumOf = (answer: JsonObject) => (answer.result as JsonObject | undefined)?.structuredContent;

describe("a WebSocket whose object sleeps", () => {
  test("goes on where it was, in both eras, and says nothing twice", { skip, timeout: 60_000 }, async () => {
    const flare = await startWorker();
    try {
      const made = async () => Number(await (await flare.dispatchFetch("http://localhost/made")).text());
      const [modern, legacy] = [await openSocket(flare), await openSocket(flare)];
      const params = { _meta: envelope, notifications: { toolsListChanged: true } };
      modern.send({ id: 1, method: "subscriptions/listen", params });
      assertEquals(sumOf(await modern.ask(add(2, envelope))), { sum: 3 });
      const clientInfo = { name: "test", version: "1" };
      const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
      await legacy.ask({ id: 1, method: "initialize", params: opening });
      legacy.send({ method: "notifications/initialized" });
      assertEquals(sumOf(await legacy.ask(add(2))), { sum: 3 });
      const before = await made();
      const seen = [modern.came.length, legacy.came.length];
      await new Promise((resolve) => setTimeout(resolve, silence));
      assertEquals(sumOf(await modern.ask(add(3, envelope))), { sum: 4 });
      assertEquals(sumOf(await legacy.ask(add(3))), { sum: 4 });
      assertEquals([modern.came.length, legacy.came.length], seen.map((count) => count + 1));
      assertEquals([before, await made()], [2, 4], "the objects have slept");
    } finally {
      await flare.dispose();
    }
  });
});

import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { createHash } from "node:crypto";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { OpenWebSocket, WebSocketLike } from "../../../src/ports.ts";
import { ConnectError } from "../../../src/protocol/errors.ts";
import { openWebSocket as openInBrowser } from "../../../src/runtime/browser.ts";
import { openWebSocket as openInBun } from "../../../src/runtime/bun.ts";
import { openWebSocket as openInDeno } from "../../../src/runtime/deno.ts";
import { openSocketWith } from "../../../src/runtime/sockets/headed_web_socket.ts";
import { openWebSocket as openInNode } from "../../../src/runtime/node.ts";
import type { WebSocketClass } from "../../../src/runtime/sockets/web_socket.ts";
import { until } from "../../suites/spawn.ts";

let server: Server;
let port = 0;
/** What the last handshake offered beside the protocol itself. */
let extensions = "";
const sockets = new Set<Socket>();

before(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    let head = "";
    const onHead = (chunk: Uint8Array) => {
      head += new TextDecoder("latin1").decode(chunk);
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", onHead);
      greet(socket, head);
    };
    socket.on("data", onHead);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

after(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Answers the handshake and says which headers came; `/refuse` answers 401, `/hang` nothing. */
function greet(socket: Socket, head: string): void {
  const header = (name: string) => new RegExp(`^${name}: *(.*?)\r$`, "im").exec(head)?.[1] ?? "";
  extensions = header("sec-websocket-extensions");
  if (head.startsWith("GET /hang")) return;
  if (head.startsWith("GET /refuse")) {
    return void socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }
  const accept = createHash("sha1").update(header("sec-websocket-key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest(
    "base64",
  );
  const protocol = header("sec-websocket-protocol").split(",")[0];
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n` +
      (protocol ? `Sec-WebSocket-Protocol: ${protocol}\r\n` : "") + "\r\n",
  );
  const text = new TextEncoder().encode(JSON.stringify({ key: header("x-key"), protocol }));
  socket.write(new Uint8Array([0x81, text.length, ...text]));
  // A close frame is given back, so that both sides see a clean end.
  socket.on("data", (chunk: Uint8Array) => {
    if ((chunk[0] ?? 0) === 0x88) socket.end(new Uint8Array([0x88, 0]));
  });
}

const url = (path: string) => `ws://127.0.0.1:${port}${path}?token=secret`;

async function firstMessage(socket: WebSocketLike): Promise<unknown> {
  return JSON.parse(
    await new Promise((resolve) => socket.addEventListener("message", (event) => resolve(String(event.data)))),
  );
}

const own: OpenWebSocket = "Bun" in globalThis ? openInBun : "Deno" in globalThis ? openInDeno : openInNode;
const isNode = own === openInNode;
const missing = "WebSocket" in globalThis ? false : "this Node has no WebSocket (22 has)";

async function withoutGlobal(run: () => Promise<void>): Promise<void> {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
  Object.defineProperty(globalThis, "WebSocket", { value: undefined, configurable: true, writable: true });
  try {
    await run();
  } finally {
    if (descriptor) Object.defineProperty(globalThis, "WebSocket", descriptor);
    else Reflect.deleteProperty(globalThis, "WebSocket");
  }
}

describe("openWebSocket", () => {
  test("opens with protocols and headers", async () => {
    const socket = await own(url("/"), { protocols: ["mcp"], headers: { "x-key": "k1" } });
    const message = firstMessage(socket);
    assertEquals([socket.readyState, socket.protocol], [1, "mcp"]);
    assertEquals(await message, { key: "k1", protocol: "mcp" });
    socket.close();
  });

  test("offers no compression: a few bytes of a server could become gigabytes", async () => {
    for (const headers of [undefined, { "x-key": "k1" }]) {
      extensions = "none was heard";
      const socket = await own(url("/"), { protocols: ["mcp"], headers });
      assertEquals([extensions, socket.protocol], ["", "mcp"]);
      socket.close();
    }
  });

  test("on Bun the proxy of the environment is taken, as its fetch does", {
    skip: own !== openInBun && "this is not Bun",
  }, async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.once("data", (head) => {
        asked.push(String(head).split("\r\n")[0] ?? "");
        const onward = connect(port, "127.0.0.1");
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        socket.pipe(onward).pipe(socket);
        socket.on("error", () => onward.destroy());
        onward.on("error", () => socket.destroy());
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const socket = await own("ws://mcp.example/?token=secret", { protocols: ["mcp"], headers: { "x-key": "k1" } });
      assertEquals(await firstMessage(socket), { key: "k1", protocol: "mcp" });
      assertEquals([asked, extensions], [["CONNECT mcp.example:80 HTTP/1.1"], ""]);
      await assertRejects(() => own("no URL", { protocols: [] }), ConnectError, "Cannot open");
      socket.close();
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
      proxy.close();
    }
  });

  test("opens as a browser does: without headers", { skip: missing }, async () => {
    const socket = await openInBrowser(url("/"), { protocols: ["mcp"] });
    assertEquals(await firstMessage(socket), { key: "", protocol: "mcp" });
    const headers = { "x-key": "secret-key" };
    const error = await assertRejects(
      () => openInBrowser(url("/"), { protocols: [], headers }),
      ConnectError,
      "headers",
    );
    assert(!error.retryable && !error.message.includes("secret-key"), error.message);
    socket.close();
  });

  test("says what failed, without the query", async () => {
    for (const address of [url("/refuse"), "ws://127.0.0.1:1/?token=secret"]) {
      const error = await assertRejects(() => own(address, { protocols: [] }), ConnectError, "Cannot open");
      assert(!error.message.includes("secret"), error.message);
      assertEquals(error.delivery, "not-sent");
    }
    await assertRejects(() => own("nonsense", { protocols: [] }), ConnectError);
  });

  test("a header that cannot be sent is refused without its value", async () => {
    const headers = { authorization: "Bearer first-half\nsecond-half" };
    const error = await assertRejects(() => own(url("/"), { protocols: ["mcp"], headers }), ConnectError);
    assert(!/first-half|second-half/.test(`${error.message}${String(error.cause)}`), error.message);
  });

  test("may be tried again, unless a certificate is not trusted: a name that has the word in it is none", async () => {
    const isRetryable = async (message: string): Promise<boolean | undefined> => {
      const failing = class extends EventTarget {
        constructor() {
          super();
          queueMicrotask(() => this.dispatchEvent(Object.assign(new Event("error"), { message })));
        }
      } as unknown as WebSocketClass;
      const url = "wss://certificate.example.com/certificate";
      return (await assertRejects(() => openSocketWith(url, [], { protocols: [] }, failing), ConnectError)).retryable;
    };
    const trusted = ["getaddrinfo ENOTFOUND certificate.example.com", "getaddrinfo EAI_AGAIN certificate", "it failed"];
    assertEquals(await Promise.all(trusted.map(isRetryable)), [true, true, true]);
    const untrusted = [
      ...["self-signed certificate", "certificate has expired", "unable to verify the first certificate"],
      ...[
        "invalid peer certificate: UnknownIssuer",
        "Hostname/IP does not match certificate's altnames: IP: 127.0.0.1",
        // Node 24
        "self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca",
      ],
    ];
    assertEquals(await Promise.all(untrusted.map(isRetryable)), untrusted.map(() => false));
  });

  test("an abort ends the opening with its reason, and later closes the socket", async () => {
    const reason = new Error("enough");
    await assertRejects(() => own(url("/"), { protocols: [], signal: AbortSignal.abort(reason) }), Error, "enough");
    const opening = new AbortController();
    const pending = own(url("/hang"), { protocols: [], signal: opening.signal });
    setTimeout(() => opening.abort(reason), 20);
    assertEquals(await assertRejects(() => pending), reason);
    const open = new AbortController();
    const socket = await own(url("/"), { protocols: [], signal: open.signal });
    open.abort(reason);
    await until(() => socket.readyState === 3, "the closed socket");
  });

  test("without a WebSocket it says what to do", () =>
    withoutGlobal(async () => {
      await assertRejects(() => openInBrowser(url("/"), { protocols: [] }), ConnectError, "use Node 22 or later");
    }));

  test(
    "on a Node without a WebSocket the package takes its place",
    { skip: !isNode && "this is not Node" },
    () =>
      withoutGlobal(async () => {
        const socket = await own(url("/"), { protocols: ["mcp"], headers: { "x-key": "k1" } });
        assertEquals(await firstMessage(socket), { key: "k1", protocol: "mcp" });
        const closed = new Promise<number | undefined>((resolve) =>
          socket.addEventListener("close", ({ code }) => resolve(code))
        );
        socket.close(1000, "done");
        assertEquals(await closed, 1005);
      }),
  );
});

describe("openWebSocket in a Worker", () => {
  test("opens by an upgrade, with headers; a refusal and an abort are told", async () => {
    const { outputFiles } = await build({
      stdin: { contents: worker, resolveDir: process.cwd(), loader: "ts" },
      bundle: true,
      format: "esm",
      write: false,
      logLevel: "error",
    });
    const contents = outputFiles[0]?.text ?? "";
    assert(!contents.includes("node:"), "the Worker's part reaches no module of Node");
    const flare = new Miniflare({
      compatibilityDate: "2026-05-03",
      modules: [{ type: "ESModule", path: "worker.mjs", contents }],
    });
    try {
      const response = await flare.dispatchFetch(`http://worker/?port=${port}`);
      assertEquals(await response.json(), {
        message: { key: "k1", protocol: "mcp" },
        state: 1,
        refused: [
          "ConnectError",
          `Cannot open "ws://127.0.0.1:${port}/refuse": the server answered 401 instead of upgrading`,
        ],
        aborted: "enough",
      });
    } finally {
      await flare.dispose();
    }
  });
});

const worker = `
import { openWebSocket } from "./src/runtime/workers.ts";
export default {
  async fetch(request) {
    const base = "ws://127.0.0.1:" + new URL(request.url).searchParams.get("port");
    const socket = await openWebSocket(base + "/", { protocols: ["mcp"], headers: { "x-key": "k1" } });
    const state = socket.readyState;
    const message = JSON.parse(await new Promise((resolve) => socket.addEventListener("message", (event) => resolve(event.data))));
    socket.close();
    const refused = await openWebSocket(base + "/refuse?token=secret", { protocols: [] }).catch((error) => [error.name, error.message]);
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 20);
    const aborted = await openWebSocket(base + "/hang", { protocols: [], signal: controller.signal }).catch((error) => error.message);
    return Response.json({ message, state, refused, aborted });
  },
};`;

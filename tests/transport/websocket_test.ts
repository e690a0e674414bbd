import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  ChannelTransport,
  connect,
  ConnectError,
  ConnectionClosedError,
  createWebSocketChannel,
  LimitExceededError,
  McpError,
  TimeoutError,
} from "../../mod.ts";
import type { OpenWebSocket, WebSocketEvent, WebSocketLike, WebSocketOptions } from "../../mod.ts";
import { openWebSocket as openInWorkers } from "../../src/runtime/workers.ts";
import { createPipeServer, type PipeOptions, type PipeServer } from "../servers/pipe.ts";
import { textOf, turns, until } from "../support/clients.ts";
import { openWebSocket as openPlain } from "../support/open_socket.ts";
import { serverUrl } from "../support/server_url.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { transportSuite } from "../suites/transport.ts";
import { fresh, remoteState, subjectOf } from "./support.ts";

const address = "ws://fake.test/mcp?key=hunter2";

/** A socket whose other end is in the test's hand. */
class PlayedSocket implements WebSocketLike {
  readyState = 1;
  readonly protocol = "mcp";
  bufferedAmount = 0;
  readonly sent: string[] = [];
  closed: number | undefined;
  received: ((text: string) => void) | undefined;
  readonly #listeners: [string, (event: WebSocketEvent) => void][] = [];

  send(text: string): void {
    this.sent.push(text);
    this.received?.(text);
  }

  close(code?: number): void {
    // As the standard has it.
    if (code !== undefined && code !== 1000 && (code < 3000 || code > 4999)) throw new RangeError(`the code ${code}`);
    this.end(code);
  }

  end(code?: number): void {
    if (this.readyState > 1) return;
    this.closed = code;
    this.readyState = 2;
    // As with a real socket, the event comes after the call.
    setTimeout(() => {
      this.readyState = 3;
      this.tell("close", { code: code ?? 1005 });
    }, 0);
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.#listeners.push([type, listener]);
  }

  tell(type: string, event: WebSocketEvent): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === type) listener(event);
  }
}

/** Transports to a fake peer behind played sockets; each connection is another server. */
function played(options: Partial<PipeOptions> & Pick<PipeOptions, "era">, more: Partial<WebSocketOptions> = {}) {
  const sockets: PlayedSocket[] = [];
  const servers: PipeServer[] = [];
  const asked: Parameters<OpenWebSocket>[] = [];
  const openWebSocket: OpenWebSocket = (...given) => {
    asked.push(given);
    const socket = new PlayedSocket();
    const server = createPipeServer({
      ...options,
      send: (text) => queueMicrotask(() => socket.readyState === 1 && socket.tell("message", { data: text })),
      exit: () => socket.end(1011),
    });
    socket.received = (text) => server.receive(text);
    socket.addEventListener("close", () => server.close());
    sockets.push(socket);
    servers.push(server);
    return Promise.resolve(socket);
  };
  const transport = new ChannelTransport(() => createWebSocketChannel(address, { openWebSocket, ...more }));
  return { transport, sockets, servers, asked };
}

for (const era of ["modern", "legacy"] as const) {
  transportSuite(`WebSocket in memory, ${era}`, () => {
    const { transport, servers } = played({ era });
    return subjectOf(transport, era, () => servers.at(-1) ?? createPipeServer({ era, send() {} }));
  });
}

const base = serverUrl() ?? "";
const inWorkers = globalThis.navigator?.userAgent === "Cloudflare-Workers";
const skip = base === "" ? "the test server does not run: start the tests with tools/run.ts" : false;
for (const era of ["modern", "legacy"] as const) {
  transportSuite(`WebSocket over a socket, ${era}`, () => {
    const path = `/ws@${fresh()}/${era}`;
    const openWebSocket = inWorkers ? openInWorkers : openPlain;
    const target = `${base.replace(/^http/, "ws")}${path}`;
    const transport = new ChannelTransport(() => createWebSocketChannel(target, { openWebSocket }));
    return { transport, era, state: () => remoteState(base, path) };
  }, { skip });
}

describe("WebSocket", () => {
  test("an address that is none is a TypeError that does not tell its secrets", () => {
    const openWebSocket: OpenWebSocket = () => Promise.reject(new Error("not called"));
    for (const wrong of ["http://fake.test/?key=hunter2", "fake.test?key=hunter2", "wss:"]) {
      const error = assertThrows(() => createWebSocketChannel(wrong, { openWebSocket }), TypeError);
      assert(!error.message.includes("hunter2"), error.message);
    }
  });

  test("`connect` takes ws: addresses, with the headers of the handshake and the subprotocol", async () => {
    const { asked, servers, sockets } = played({ era: "modern" });
    const openWebSocket: OpenWebSocket = async (...given) => {
      await played({ era: "modern" }).transport.close();
      asked.push(given);
      const socket = new PlayedSocket();
      const server = createPipeServer({
        era: "both",
        send: (text) => queueMicrotask(() => socket.tell("message", { data: text })),
      });
      socket.received = (text) => server.receive(text);
      servers.push(server);
      sockets.push(socket);
      return socket;
    };
    const headers = { Authorization: "Bearer x" };
    await using client = await connect(address, { openWebSocket, headers });
    assertEquals([client.era, client.label], ["modern", "ws://fake.test/mcp"]);
    const [target, options] = asked[0] ?? [];
    assertEquals([target, options?.protocols, options?.headers], [address, ["mcp"], headers]);
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    assertEquals(servers[0]?.violations, []);
  });

  test("one message is one text frame, without a line end (C-061)", async () => {
    const { transport, sockets } = played({ era: "modern" });
    await using client = await connect(transport);
    await Promise.all(["a\nb", "c"].map((text) => client.callTool("echo", { text })));
    const sent = sockets[0]?.sent ?? [];
    assertEquals(sent.length, 3);
    for (const text of sent) assert(!text.includes("\n") && typeof JSON.parse(text) === "object");
  });

  test("bytes instead of text are read as UTF-8", async () => {
    const { transport, sockets, servers } = played({ era: "modern" });
    await using client = await connect(transport);
    const call = client.callTool("slow");
    await until(() => servers[0]?.calls("slow") === 1);
    const id: unknown = JSON.parse(sockets[0]?.sent.at(-1) ?? "").id;
    const answer = {
      jsonrpc: "2.0",
      id,
      result: { resultType: "complete", content: [{ type: "text", text: "bÿtes" }] },
    };
    sockets[0]?.tell("message", { data: new TextEncoder().encode(JSON.stringify(answer)).buffer });
    assertEquals(textOf(await call), "bÿtes");
  });

  test("a socket that closes or breaks takes all that waits with it, and the next call opens another", async () => {
    for (const event of ["close", "error"] as const) {
      const { transport, sockets, servers } = played({ era: "modern" });
      await using client = await connect(transport);
      const call = assertRejects(() => client.callTool("slow"), McpError, event === "close" ? "1006 gone" : "reset");
      await until(() => servers[0]?.calls("slow") === 1);
      const [socket] = sockets;
      if (socket) socket.readyState = 3;
      socket?.tell(event, event === "close" ? { code: 1006, reason: "gone" } : { message: "connection reset" });
      assert((await call).cause instanceof ConnectionClosedError);
      assertEquals(textOf(await client.callTool("echo", { text: "again" })), "again");
      assertEquals(sockets.length, 2);
    }
  });

  test("a frame that is too large ends the connection, and says which limit to raise", async () => {
    const limits = { messageBytes: 1_000 };
    const { transport, sockets } = played({ era: "modern" }, { limits });
    await using client = await connect(transport, { verdict: { era: "modern", revision: "2026-07-28" } });
    const error = await assertRejects(() => client.callTool("big", { bytes: 5_000 }), LimitExceededError);
    assertEquals([error.limit, error.value, sockets[0]?.closed], ["limits.messageBytes", 1_000, 1000]);
  });

  test("closing the client closes the socket, in good order", async () => {
    const { transport, sockets } = played({ era: "legacy" });
    const client = await connect(transport);
    await client.close();
    assertEquals(sockets.map(({ closed }) => closed), [1000]);
  });

  test("a server that cannot be reached: ConnectError, without the query", async () => {
    const openWebSocket: OpenWebSocket = () => Promise.reject(new Error(`failed: ${address}`));
    const channel = new ChannelTransport(() => createWebSocketChannel(address, { openWebSocket }));
    const error = await assertRejects(() => connect(channel, { retry: { attempts: 1 } }), ConnectError);
    assert(!error.message.includes("hunter2"), error.message);
    assertEquals(error.delivery, "not-sent");
  });

  test("a handshake that never ends: a time-out, `timeouts.start`, and it is called off", async () => {
    const clock = new VirtualClock();
    let signal: AbortSignal | undefined;
    const openWebSocket: OpenWebSocket = (_, options) => {
      signal = options.signal;
      return new Promise((_, reject) => options.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
    };
    const timeouts = { start: 2_000 };
    const channel = new ChannelTransport(() => createWebSocketChannel(address, { openWebSocket, clock, timeouts }));
    const connecting = connect(channel, { clock, timeouts, retry: { attempts: 1 } });
    await assertRejects(() => clock.until(connecting), TimeoutError);
    assertEquals(signal?.aborted, true);
  });

  test("a socket that does not drain holds the next write back", async () => {
    const clock = new VirtualClock();
    const { transport, sockets } = played({ era: "modern" }, { clock });
    const client = await clock.until(connect(transport, { clock }));
    const [socket] = sockets;
    assert(socket);
    socket.bufferedAmount = 5 * 2 ** 20;
    const first = client.callTool("echo", { text: "first" });
    await turns();
    const second = client.callTool("echo", { text: "second" });
    await turns();
    assertEquals(socket.sent.filter((text) => text.includes("echo")).length, 1);
    socket.bufferedAmount = 0;
    const results = await clock.until(Promise.all([first, second]));
    assertEquals(results.map(textOf), ["first", "second"]);
    await client.close();
  });
});

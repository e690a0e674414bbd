/**
 * Pipes and WebSockets in memory that can go wrong; what is sent to the other side is counted.
 *
 * @module
 */
import { ChannelTransport, createMemoryPair, createWebSocketChannel } from "../../../src/transport/mod.ts";
import type { Channel } from "../../../src/transport/mod.ts";
import type { WebSocketEvent, WebSocketLike } from "../../../src/ports.ts";
import { isJsonObject, type JsonObject } from "../../servers/core/wire.ts";
import { createPipeServer, type PipeOptions, type PipeServer } from "../../servers/pipe.ts";

/** What one pipe after the other to the same server came to. */
export interface PipeSide {
  /** For the config of a hub. */
  transport(): ChannelTransport;
  /** Pipes that are open now. */
  open(): number;
}

/** What makes a server at the other end. */
export interface PipePlan extends Omit<PipeOptions, "send" | "exit" | "era"> {
  readonly era: "modern" | "legacy";
  /** Hears of each start, and of each request. */
  asked(method: string | undefined): void;
  /** Takes a message in the server's place: true. `end` lets the server die. */
  spoil?(message: JsonObject, end: () => void): boolean;
  /** The server ends as soon as it is started. */
  isDead?: boolean;
}

/** Makes a server on a pipe; each restart of the transport is another one. */
export function createPipes({ asked, spoil, isDead, ...options }: PipePlan): PipeSide {
  let open = 0;
  const transport = () =>
    new ChannelTransport((): Channel => {
      const [near, far] = createMemoryPair();
      let isOver = false;
      const end = () => void far.close();
      asked(undefined);
      const server: PipeServer = createPipeServer({
        ...options,
        exit: end,
        send: (text) => {
          if (!isOver) far.write([text]);
        },
      });
      open++;
      void far.open({
        text(text) {
          const message: unknown = JSON.parse(text);
          if (!isJsonObject(message)) return server.receive(text);
          if ("id" in message && typeof message.method === "string") asked(message.method);
          if (!spoil?.(message, end)) server.receive(text);
        },
        end() {
          open--;
          isOver = true;
          server.close();
        },
      });
      if (isDead) end();
      return near;
    });
  return { transport, open: () => open };
}

/** Makes a server behind a WebSocket. */
export function createSockets(options: Omit<PipeOptions, "send" | "exit">): PipeSide {
  const sockets = new Set<MemorySocket>();
  const openWebSocket = (): Promise<WebSocketLike> => {
    const socket = new MemorySocket(options, () => sockets.delete(socket));
    sockets.add(socket);
    return Promise.resolve(socket);
  };
  return {
    transport: () => new ChannelTransport(() => createWebSocketChannel("ws://socket.test/mcp", { openWebSocket })),
    open: () => sockets.size,
  };
}

class MemorySocket implements WebSocketLike {
  readyState = 1;
  readonly protocol = "mcp";
  readonly #listeners = new Map<string, ((event: WebSocketEvent) => void)[]>();
  readonly #server: PipeServer;
  readonly #left: () => void;

  constructor(options: Omit<PipeOptions, "send" | "exit">, left: () => void) {
    this.#left = left;
    this.#server = createPipeServer({ ...options, send: (data) => this.#tell("message", { data }) });
  }

  send(data: string): void {
    queueMicrotask(() => this.#server.receive(data));
  }

  close(code: number = 1000): void {
    if (this.readyState === 3) return;
    this.#tell("close", { code });
    this.readyState = 3;
    this.#server.close();
    this.#left();
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.#listeners.set(type, [...this.#listeners.get(type) ?? [], listener]);
  }

  #tell(type: string, event: WebSocketEvent): void {
    if (this.readyState === 3) return;
    queueMicrotask(() => this.#listeners.get(type)?.forEach((listener) => listener(event)));
  }
}

/** A WebSocket client made of bytes: it offers and sends what no well-behaved client would. */
import { connect as connectSocket } from "node:net";
import type { Socket } from "node:net";

/** A frame of the server. */
export interface Frame {
  readonly opcode: number;
  readonly payload: Uint8Array;
}

/** One connection: the reply to its handshake, then frames. */
export class RawSocket {
  readonly socket: Socket;
  /** All frames that came. */
  readonly frames: Frame[] = [];
  /** Resolves with the head of the reply. */
  readonly head: Promise<string>;
  /** Resolves when the connection is gone. */
  readonly gone: Promise<void>;
  #bytes: Uint8Array = new Uint8Array();
  #text = "";

  constructor(port: number, request: string) {
    this.socket = connectSocket(port, "127.0.0.1", () => void this.socket.write(request));
    this.gone = new Promise((resolve) => this.socket.once("close", () => resolve()));
    this.socket.on("error", () => {});
    this.head = new Promise((resolve) => {
      this.socket.on("data", (chunk: Uint8Array) => {
        if (this.#text === "") {
          // The head comes whole: it is short, and the first thing that is sent.
          const at = new TextDecoder("latin1").decode(chunk).indexOf("\r\n\r\n");
          this.#text = new TextDecoder().decode(chunk.subarray(0, at));
          resolve(this.#text);
          chunk = chunk.subarray(at + 4);
        }
        this.#take(chunk);
      });
      this.socket.once("close", () => resolve(this.#text));
    });
  }

  /** What came after the head and is no whole frame yet: the body of a reply. */
  get rest(): string {
    return new TextDecoder().decode(this.#bytes);
  }

  /** The texts that came. */
  get texts(): string[] {
    return this.frames.filter(({ opcode }) => opcode === 1).map(({ payload }) => new TextDecoder().decode(payload));
  }

  /** The code of the server's goodbye; undefined when it has said none. */
  get closeCode(): number | undefined {
    const payload = this.frames.find(({ opcode }) => opcode === 8)?.payload;
    return payload && payload.length > 1 ? (payload[0]! << 8) + payload[1]! : undefined;
  }

  send(data: string | Uint8Array, { opcode = 1, last = true }: { opcode?: number; last?: boolean } = {}): void {
    const payload = typeof data === "string" ? new TextEncoder().encode(data) : data;
    const { length } = payload;
    const size = length < 126
      ? [0x80 | length]
      : length < 65_536
      ? [0x80 | 126, length >> 8, length & 255]
      : [0x80 | 127, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255];
    // A mask of zeros leaves the payload as it is.
    this.socket.write(new Uint8Array([(last ? 0x80 : 0) | opcode, ...size, 0, 0, 0, 0]));
    this.socket.write(payload);
  }

  #take(chunk: Uint8Array): void {
    const joined = new Uint8Array(this.#bytes.length + chunk.length);
    joined.set(this.#bytes);
    joined.set(chunk, this.#bytes.length);
    this.#bytes = joined;
    if (!this.#text.startsWith("HTTP/1.1 101")) return;
    for (let frame = this.#next(); frame; frame = this.#next()) this.frames.push(frame);
  }

  #next(): Frame | undefined {
    const [first = 0, second = 0] = this.#bytes;
    const long = second === 126 ? 2 : second === 127 ? 8 : 0;
    if (this.#bytes.length < 2 + long) return undefined;
    const size = long === 0 ? second : this.#bytes.slice(2, 2 + long).reduce((sum, byte) => sum * 256 + byte, 0);
    const end = 2 + long + size;
    if (this.#bytes.length < end) return undefined;
    const payload = this.#bytes.slice(2 + long, end);
    this.#bytes = this.#bytes.slice(end);
    return { opcode: first & 15, payload };
  }
}

/** The text of a handshake; `headers` go over what a good one has, undefined leaves one out. */
export function handshake(port: number, headers: Record<string, string | undefined> = {}, path = "/mcp"): string {
  const all = {
    host: `127.0.0.1:${port}`,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    "sec-websocket-protocol": "mcp",
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}\r\n`]);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

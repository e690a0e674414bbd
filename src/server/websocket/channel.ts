/**
 * The server's end of a WebSocket as a channel: one JSON-RPC message in one text frame, subprotocol `mcp`. A custom
 * transport in the words of the specification (transports, Custom Transports).
 *
 * @module
 */
import { ConnectionClosedError, LimitExceededError } from "../../protocol/errors.ts";
import type { McpError } from "../../protocol/errors.ts";
import { defaultLimits } from "../../protocol/limits.ts";
import { systemClock } from "../../ports.ts";
import type { Clock, WebSocketEvent, WebSocketLike } from "../../ports.ts";
import type { Channel, ChannelReceiver } from "../../transport/channel.ts";

/** Options of {@linkcode createSocketChannel}. */
export interface SocketChannelOptions {
  /** The most that one frame may have, in characters: looked at before it is parsed. Default: 16 Mi. */
  messageBytes?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
}

/** Bytes that may wait in the socket before the next message is held back, where the runtime counts them. */
const highWater = 1 << 20;
/** How long until a full socket is looked at again, in milliseconds, at first and at most: there is no event for it. */
const drainPause = 20;
const longestPause = 1_000;
/** How long a full socket may take nothing at all, in milliseconds. */
const stallTime = 60_000;
/** Close codes (RFC 6455, section 7.4.1). */
const done = 1000;
const noText = 1003;
const tooBig = 1009;

/**
 * Makes a channel of a socket that was accepted. A frame that is too long or binary ends it.
 *
 * @param socket An open socket, or one that is about to open. Its messages are taken from `open` on, in the same tick.
 */
export function createSocketChannel(socket: WebSocketLike, options: SocketChannelOptions = {}): Channel {
  return new SocketChannel(socket, options);
}

class SocketChannel implements Channel {
  readonly label = "websocket";
  readonly #socket: WebSocketLike;
  readonly #messageBytes: number;
  readonly #clock: Clock;
  #receiver: ChannelReceiver | undefined;
  #closed = false;

  constructor(socket: WebSocketLike, options: SocketChannelOptions) {
    this.#socket = socket;
    this.#messageBytes = options.messageBytes ?? defaultLimits.messageBytes;
    this.#clock = options.clock ?? systemClock;
  }

  open(receiver: ChannelReceiver): Promise<void> {
    this.#receiver = receiver;
    const socket = this.#socket;
    socket.addEventListener("message", (event) => this.#message(event));
    socket.addEventListener("close", () => {
      this.#close(done);
      this.#end();
    });
    socket.addEventListener("error", ({ message }) => {
      this.#close(done);
      this.#end(new ConnectionClosedError(`The socket broke${message ? ` (${message})` : ""}`));
    });
    return Promise.resolve();
  }

  write(messages: readonly string[]): void | Promise<void> {
    for (const [index, text] of messages.entries()) {
      this.#send(text);
      if (this.#isFull()) return this.#writeRest(messages.slice(index + 1));
    }
  }

  close(): Promise<void> {
    this.#close(done);
    this.#end();
    return Promise.resolve();
  }

  async #writeRest(messages: readonly string[]): Promise<void> {
    await this.#drained();
    for (const text of messages) {
      this.#send(text);
      if (this.#isFull()) await this.#drained();
    }
  }

  #send(text: string): void {
    const socket = this.#socket;
    if (this.#closed || socket.readyState !== 1) {
      throw new ConnectionClosedError("The socket is not open", { delivery: "not-sent" });
    }
    socket.send(text);
  }

  #isFull(): boolean {
    return (this.#socket.bufferedAmount ?? 0) > highWater;
  }

  /** Waits until the socket has room again. A client that takes nothing for a minute is given up. */
  async #drained(): Promise<void> {
    const socket = this.#socket;
    let least = socket.bufferedAmount ?? 0;
    let since = this.#clock.monotonic();
    let pause = drainPause;
    while (!this.#closed && socket.readyState === 1 && this.#isFull()) {
      await new Promise<void>((resolve) => void this.#clock.schedule(resolve, pause));
      const waiting = socket.bufferedAmount ?? 0;
      if (waiting < least) {
        least = waiting;
        pause = drainPause;
        since = this.#clock.monotonic();
      } else if (this.#clock.monotonic() - since >= stallTime) {
        throw new ConnectionClosedError("The client reads nothing any more");
      } else pause = Math.min(2 * pause, longestPause);
    }
  }

  #message({ data }: WebSocketEvent): void {
    if (this.#closed) return;
    if (typeof data !== "string") {
      this.#close(noText, "text frames only");
      return this.#end(new ConnectionClosedError("The client sent a binary frame"));
    }
    const { length } = data;
    if (length <= this.#messageBytes) return this.#receiver?.text(data);
    this.#close(tooBig, "the message is too long");
    this.#end(new LimitExceededError("limits.messageBytes", this.#messageBytes, length));
  }

  /** Says goodbye, also where the other side did so first: some runtimes wait for it. */
  #close(code: number, reason?: string): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      this.#socket.close(code, reason);
    } catch {
      // It is closed already.
    }
  }

  #end(reason?: McpError): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.end(reason);
  }
}

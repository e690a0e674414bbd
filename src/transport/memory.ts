/**
 * Two ends of a channel in one process: for tests, and for a server in the same program.
 *
 * @module
 */
import { ConnectionClosedError } from "../protocol/errors.ts";
import type { Channel, ChannelReceiver } from "./channel.ts";

/**
 * Makes two channels that are joined: what one writes, the other hears, in order, a microtask later.
 *
 * @example Two ends
 * ```ts
 * import { createMemoryPair } from "@causeway/mcp/transport";
 *
 * const [left, right] = createMemoryPair();
 * await right.open({ text: (text) => console.log(text), end() {} });
 * await left.open({ text() {}, end() {} });
 * left.write(['{"jsonrpc":"2.0","method":"notifications/initialized"}']);
 * await left.close();
 * ```
 */
export function createMemoryPair(): [Channel, Channel] {
  const left = new MemoryChannel();
  const right = new MemoryChannel();
  left.peer = right;
  right.peer = left;
  return [left, right];
}

class MemoryChannel implements Channel {
  readonly label = "memory";
  peer: MemoryChannel | undefined;
  #receiver: ChannelReceiver | undefined;
  #waiting: string[] = [];
  #closed = false;

  open(receiver: ChannelReceiver): Promise<void> {
    this.#receiver = receiver;
    if (this.#waiting.length > 0) queueMicrotask(() => this.#deliver());
    // Later, as everything else here: who opens it is not ready to hear of anything yet.
    if (this.#closed) queueMicrotask(() => receiver.end());
    return Promise.resolve();
  }

  write(messages: readonly string[]): void {
    const peer = this.peer;
    if (this.#closed || !peer) {
      throw new ConnectionClosedError("The memory channel is closed", { delivery: "not-sent" });
    }
    if (peer.#waiting.length === 0) queueMicrotask(() => peer.#deliver());
    peer.#waiting.push(...messages);
  }

  close(): Promise<void> {
    const { peer } = this;
    this.#end();
    if (peer) peer.#end();
    return Promise.resolve();
  }

  #deliver(): void {
    const receiver = this.#receiver;
    if (!receiver) return;
    const messages = this.#waiting;
    this.#waiting = [];
    for (const text of messages) receiver.text(text);
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deliver();
    this.#receiver?.end();
  }
}

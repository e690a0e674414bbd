/**
 * A WebSocket that is closed before it is open.
 */
import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { ChannelTransport, connect, createWebSocketChannel } from "../../mod.ts";
import type { OpenWebSocket, WebSocketLike } from "../../mod.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

test("closed in the middle of the handshake, it is called off: nothing goes on until its time is over", async () => {
  const clock = new VirtualClock();
  const signals: (AbortSignal | undefined)[] = [];
  const openWebSocket: OpenWebSocket = (_, { signal }) => {
    signals.push(signal);
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  };
  const transport = new ChannelTransport(() => createWebSocketChannel("ws://fake.test/mcp", { openWebSocket, clock }));
  const controller = new AbortController();
  const rejected = assertRejects(() => connect(transport, { clock, signal: controller.signal }));
  await clock.advance(10);
  controller.abort(new Error("not wanted any more"));
  await clock.until(rejected);
  await clock.advance(1_000);
  assertEquals([signals.map((signal) => signal?.aborted), clock.waiting], [[true], 0]);
});

test("closed in the middle of a handshake that cannot be called off: the socket is closed when it comes", async () => {
  const closed: unknown[] = [];
  let come = (_: WebSocketLike): void => {};
  const openWebSocket: OpenWebSocket = () => new Promise((resolve) => come = resolve);
  const channel = createWebSocketChannel("ws://fake.test/mcp", { openWebSocket, clock: new VirtualClock() });
  const opening = channel.open({ text() {}, end() {} });
  await channel.close();
  come({ readyState: 1, protocol: "mcp", send() {}, close: (code) => closed.push(code), addEventListener() {} });
  await opening;
  assertEquals(closed, [1000]);
});

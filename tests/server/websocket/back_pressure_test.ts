/** A server's WebSocket whose client reads slowly, or not at all. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import type { WebSocketLike } from "../../../mod.ts";
import { createSocketChannel } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const full = 2 << 20;

/** A channel on a socket that is full, and what was sent. */
async function fullSocket() {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const socket = {
    readyState: 1,
    protocol: "mcp",
    bufferedAmount: full,
    send: (text: string) => void sent.push(text),
    close: () => void (socket.readyState = 3),
    addEventListener() {},
  } satisfies WebSocketLike;
  const channel = createSocketChannel(socket, { clock });
  await channel.open({ text: () => {}, end: () => {} });
  return { clock, sent, socket, channel };
}

describe("back-pressure", () => {
  test("the next message waits until the socket has room", async () => {
    const { clock, sent, socket, channel } = await fullSocket();
    const writing = Promise.resolve(channel.write(["1", "2"]));
    await clock.advance(40);
    assertEquals(sent, ["1"]);
    socket.bufferedAmount = 0;
    await clock.advance(20);
    await writing;
    assertEquals(sent, ["1", "2"]);
    assertEquals(channel.write(["3"]), undefined);
  });

  test("a client that reads nothing for a minute is given up", async () => {
    const { clock, channel } = await fullSocket();
    const writing = assertRejects(async () => await channel.write(["1"]), Error, "reads nothing");
    for (let step = 0; step < 13; step++) await clock.advance(5_000);
    await writing;
  });

  test("a client that reads slowly is waited for as long as it reads", async () => {
    const { clock, sent, socket, channel } = await fullSocket();
    let isDone = false;
    const writing = Promise.resolve(channel.write(["1", "2"])).then(() => isDone = true);
    for (let half = 0; half < 10; half++) {
      await clock.advance(30_000);
      socket.bufferedAmount -= 10;
    }
    assertEquals([sent, isDone], [["1"], false]);
    socket.bufferedAmount = 0;
    await clock.advance(1_000);
    await writing;
    assertEquals(sent, ["1", "2"]);
  });

  test("a socket that is closed meanwhile is waited for no longer", async () => {
    const { clock, sent, channel } = await fullSocket();
    const writing = assertRejects(async () => await channel.write(["1", "2"]), Error, "not open");
    await clock.advance(20);
    await channel.close();
    await clock.advance(1_000);
    await writing;
    assertEquals([sent, clock.waiting], [["1"], 0]);
  });
});

import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { serveChannel } from "../../../src/server/channel_server.ts";
import type { ChannelReceiver } from "../../../src/transport/channel.ts";
import { turns } from "../../client/support.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { said, standIn } from "../stand_in.ts";
import { handshake, request } from "./support.ts";

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A channel in the hands of a test: the receiver, and how often it was closed. */
function held() {
  const seen: { receiver?: ChannelReceiver; closed: number; texts: string[] } = { closed: 0, texts: [] };
  const channel = {
    label: "held",
    open: (receiver: ChannelReceiver) => {
      seen.receiver = receiver;
      return Promise.resolve();
    },
    write: (texts: readonly string[]) => void seen.texts.push(...texts),
    close: () => {
      seen.closed++;
      return Promise.resolve();
    },
  };
  return { channel, seen };
}

describe("the end of a channel, and what comes at the same time", () => {
  test("what waited for the answer to initialize is not begun by the end", async () => {
    let begun = 0;
    const server = standIn({
      "tools/call": () => {
        begun++;
        return said("begun");
      },
    });
    const { channel, seen } = held();
    const serving = serveChannel(server, channel, { eras: ["modern"] });
    seen.receiver?.text(JSON.stringify(request(1, "initialize")));
    seen.receiver?.text(JSON.stringify(request(2, "tools/call", { name: "a", _meta: envelope })));
    await serving.close();
    await turns(20);
    assertEquals(begun, 0);
  });

  test("what is called off at the end of its time does not end it once more", async () => {
    const clock = new VirtualClock();
    const server = standIn({ "tools/call": () => new Promise(() => {}) });
    const { channel, seen } = held();
    const serving = serveChannel(server, channel, { clock, drainTimeout: 200 });
    for (const message of handshake()) seen.receiver?.text(JSON.stringify(message));
    seen.receiver?.text(JSON.stringify(request(1, "tools/call", { name: "a" })));
    seen.receiver?.end(undefined);
    await clock.advance(200);
    await serving.closed;
    assertEquals(seen.closed, 1);
  });

  test("a handler that ends its server when it is called off does so once", async () => {
    const { channel, seen } = held();
    const server = standIn({
      "tools/call": (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => void serving.close())),
    });
    const serving = serveChannel(server, channel);
    for (const message of handshake()) seen.receiver?.text(JSON.stringify(message));
    seen.receiver?.text(JSON.stringify(request(1, "tools/call", { name: "a" })));
    await turns(20);
    await serving.close();
    assertEquals(seen.closed, 1);
  });
});

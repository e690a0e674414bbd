/**
 * A client that is closed while it connects: nothing is started anew behind it. And a pipe that is closed before anybody asks.
 */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChannelTransport, Client, connect, createMemoryPair, HttpTransport, McpError } from "../../mod.ts";
import { inputFeature, listenFeature } from "../../src/client/mod.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { front, textOf, until, url } from "../support/clients.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createPipeServer } from "../servers/pipe.ts";

/** A program that can be silent; what is started, and what was not ended. */
function createProgram() {
  const program = { starts: 0, open: 0, isSilent: false, die: () => {} };
  const transport = () =>
    new ChannelTransport(() => {
      const [near, far] = createMemoryPair();
      program.starts++;
      program.open++;
      const server = createPipeServer({ era: "modern", send: (text) => far.write([text]) });
      program.die = () => void far.close();
      void far.open({
        text: (text) => program.isSilent || server.receive(text),
        end() {
          program.open--;
          server.close();
        },
      });
      return near;
    });
  return { program, transport };
}

describe("a client on a pipe that is closed", () => {
  for (const at of [0, 1, 4_999, 5_000, 29_999]) {
    test(`${at} ms after it began to ask a silent server: that one is ended, and no other is started`, async () => {
      const clock = new VirtualClock();
      const { program, transport } = createProgram();
      program.isSilent = true;
      const controller = new AbortController();
      const connecting = connect(transport(), { clock, signal: controller.signal });
      const reason = new Error("not wanted any more");
      const rejected = assertRejects(() => connecting);
      await clock.advance(at);
      controller.abort(reason);
      assertEquals(await clock.until(rejected), reason);
      // No process is kept alive for longer than a second.
      await clock.advance(1_000);
      assertEquals([program.starts, program.open, clock.waiting], [1, 0, 0]);
    });
  }

  test("while a dead one is started anew: no other is left", async () => {
    const clock = new VirtualClock();
    const { program, transport } = createProgram();
    const client = await clock.until(connect(transport(), { clock }));
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "a" }))), "a");
    program.die();
    await clock.settle();
    const call = client.callTool("echo", { text: "b" }).catch((error) => error);
    await clock.until(client.close());
    assert(await clock.until(call) instanceof McpError);
    await clock.advance(1_000);
    assertEquals([program.open, clock.waiting], [0, 0]);
  });
});

test("a pipe whose other end was closed before is told to be broken at once", async () => {
  const clock = new VirtualClock();
  const dead = () => {
    const [near, far] = createMemoryPair();
    void far.close();
    return near;
  };
  const error = await assertRejects(() => clock.until(connect(new ChannelTransport(dead), { clock })), McpError);
  assertEquals([error.code, clock.monotonic()], ["connection_closed", 0]);
  await clock.advance(1_000);
  assertEquals(clock.waiting, 0);
});

for (const held of ["notifications/initialized", "GET"]) {
  test(`a client that is closed while ${held} is under way opens its stream no more`, async () => {
    const clock = new VirtualClock();
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    const server = front(createLegacyServer(), async ({ method }) => {
      if (method === held) await gate;
      return undefined;
    });
    const client = new Client(new HttpTransport(url, { fetch: memoryFetch(server), clock }), {
      clock,
      features: { inputs: inputFeature, listen: listenFeature },
      handlers: { log() {} },
    });
    const connecting = client.connect().catch((error: unknown) => error);
    await until(() => server.methods.includes(held));
    await clock.until(client.close());
    open();
    await clock.until(connecting);
    await clock.advance(1_000);
    assertEquals(clock.waiting, 0);
  });
}

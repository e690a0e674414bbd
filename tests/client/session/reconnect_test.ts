import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ChannelTransport,
  connect,
  ConnectionClosedError,
  createMemoryPair,
  McpError,
  OutcomeUnknownError,
  TimeoutError,
} from "../../../mod.ts";
import { createPipeServer, type PipeServer } from "../../servers/pipe.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createPipe, methodsOf, type Options, textOf, turns, until } from "../support.ts";

describe("a pipe whose server died", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`the next call starts it anew (${era}) (C-067)`, async () => {
      const pipe = createPipe({ era });
      await using client = await connect(pipe.transport);
      assertEquals(textOf(await client.callTool("echo", { text: "one" })), "one");
      pipe.die();
      await turns();
      assertEquals(pipe.servers.length, 1, "nothing is started before it is needed");
      assertEquals(textOf(await client.callTool("echo", { text: "two" })), "two");
      assertEquals([pipe.servers.length, client.era, pipe.server.calls("echo")], [2, era, 1]);
    });

    test(`ten calls at once start one (${era})`, async () => {
      const pipe = createPipe({ era });
      await using client = await connect(pipe.transport);
      pipe.die();
      await turns();
      const calls = Array.from({ length: 10 }, (_, index) => client.callTool("echo", { text: `${index}` }));
      assertEquals((await Promise.all(calls)).map(textOf), Array.from({ length: 10 }, (_, index) => `${index}`));
      assertEquals([pipe.servers.length, pipe.server.calls("echo")], [2, 10]);
    });

    test(`the call that was in flight has an unknown outcome, and is not run again (${era})`, async () => {
      const pipe = createPipe({ era });
      await using client = await connect(pipe.transport);
      const call = assertRejects(() => client.callTool("slow"), OutcomeUnknownError);
      await until(() => pipe.server.calls("slow") === 1);
      pipe.die();
      const error = await call;
      assert(error.cause instanceof ConnectionClosedError);
      assertEquals([error.delivery, error.method, error.server], ["unknown", "tools/call", client.label]);
      await turns();
      assertEquals(pipe.servers.map((server) => server.calls("slow")), [1]);
    });

    test(`a list that was in flight is asked for again by itself (${era})`, async () => {
      const clock = new VirtualClock();
      const pipe = createPipe({ era });
      const client = await clock.until(connect(pipe.transport, { clock }));
      const listing = client.listTools();
      pipe.die();
      const { tools } = await clock.until(listing);
      assert(tools.length > 10);
      assertEquals(pipe.servers.length, 2);
      await client.close();
    });

    test(`reconnect: false leaves it dead (${era})`, async () => {
      const pipe = createPipe({ era });
      const options: Options = { reconnect: false, retry: { attempts: 1 } };
      await using client = await connect(pipe.transport, options);
      pipe.die();
      await turns();
      const error = await assertRejects(() => client.callTool("echo", { text: "hi" }), McpError);
      assertEquals([error.delivery, pipe.servers.length], ["not-sent", 1]);
    });

    test(`a closed client starts nothing (${era})`, async () => {
      const pipe = createPipe({ era });
      const client = await connect(pipe.transport);
      await client.close();
      await assertRejects(() => client.callTool("echo", { text: "hi" }), McpError);
      await turns();
      assertEquals(pipe.servers.length, 1);
    });
  }

  test("the handshake is made anew, with the log level", async () => {
    const pipe = createPipe({ era: "legacy" });
    await using client = await connect(pipe.transport, { logLevel: "error" });
    pipe.die();
    await turns();
    await client.callTool("echo", { text: "hi" });
    const wanted = ["initialize", "notifications/initialized", "logging/setLevel", "tools/call"];
    assertEquals(methodsOf(pipe.server), wanted);
    assertEquals([pipe.server.session.logLevel, pipe.server.violations], ["error", []]);
  });

  for (const how of ["hears nothing", "is not heard"]) {
    test(`one that ${how} while it is started anew: nothing is sent without a handshake, another one is started`, async () => {
      const clock = new VirtualClock();
      const servers: PipeServer[] = [];
      let broken = -1;
      let die = () => {};
      const transport = new ChannelTransport(() => {
        const [near, far] = createMemoryPair();
        const own = servers.length;
        const isDeaf = (end: string) => broken === own && how === end;
        const send = (text: string) => isDeaf("is not heard") ? undefined : far.write([text]);
        const server = createPipeServer({ era: "legacy", clock, exit: () => void far.close(), send });
        servers.push(server);
        die = () => void far.close();
        const text = (text: string) => isDeaf("hears nothing") ? undefined : server.receive(text);
        void far.open({ text, end: () => server.close() });
        return near;
      });
      const client = await clock.until(connect(transport, { clock }));
      const name = client.info?.server?.name;
      broken = 1;
      die();
      const failed = await assertRejects(() => clock.until(client.callTool("echo", { text: "one" })), TimeoutError);
      assertEquals([failed.timeout, client.info?.server?.name], ["start", name]);
      for (const text of ["two", "three"]) {
        assertEquals(textOf(await clock.until(client.callTool("echo", { text }))), text);
      }
      const [, , third] = servers;
      assert(third);
      assertEquals(methodsOf(third), ["initialize", "notifications/initialized", "tools/call", "tools/call"]);
      assertEquals([servers.length, third.violations], [3, []]);
      await client.close();
      await clock.advance(1_000);
      assertEquals(clock.waiting, 0);
    });
  }

  test("what is known of it is not asked again: a modern server is called at once", async () => {
    const pipe = createPipe({ era: "modern" });
    await using client = await connect(pipe.transport);
    pipe.die();
    await turns();
    await client.callTool("echo", { text: "hi" });
    assertEquals(methodsOf(pipe.server), ["tools/call"]);
  });

  test("it dies at every call: each is told, each starts it once", async () => {
    const pipe = createPipe({ era: "modern" });
    await using client = await connect(pipe.transport);
    for (let round = 1; round <= 4; round++) {
      const call = assertRejects(() => client.callTool("slow"), OutcomeUnknownError);
      await until(() => pipe.servers.length === round && pipe.server.calls("slow") === 1);
      pipe.die();
      await call;
      assertEquals(pipe.servers.length, round);
    }
  });
});

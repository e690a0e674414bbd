import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ChannelTransport,
  connect,
  ConnectionClosedError,
  createMemoryPair,
  InvalidRequestError,
  TimeoutError,
  UnsupportedVersionError,
} from "../../../mod.ts";
import { McpServer, serveChannel } from "../../../src/server/mod.ts";
import { type JsonObject, objectAt } from "../../servers/core/wire.ts";
import { played } from "../played.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createPipe, methodsOf, modernRevision, type Options, textOf, withPipe } from "../support.ts";

const discovered: JsonObject = {
  resultType: "complete",
  supportedVersions: [modernRevision],
  capabilities: { tools: {} },
};

function result({ id }: JsonObject, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

function failure({ id }: JsonObject, code: number, data?: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, error: { code, message: "no", ...(data && { data }) } };
}

/** Answers as a modern server does, but takes its time for `server/discover`. */
function slowModern(clock: VirtualClock, milliseconds: number) {
  return played((message, send) => {
    if (message.method === "server/discover") {
      clock.schedule(() => send(result(message, discovered)), milliseconds);
    } else if (message.method === "initialize") {
      const data = { supported: [modernRevision], requested: "2025-11-25" };
      clock.schedule(() => send(failure(message, -32022, data)), milliseconds);
    } else if (message.id !== undefined) send(result(message, { resultType: "complete", content: [] }));
  });
}

describe("finding out the era on a pipe", () => {
  test("a modern server: asked first, never initialized (C-015 C-018)", () =>
    withPipe((client, { server }) => {
      assertEquals([client.era, client.revision], ["modern", modernRevision]);
      assertEquals(methodsOf(server), ["server/discover"]);
      return Promise.resolve();
    }, { server: { era: "modern" } }));

  test("a server of both eras speaks the modern one", () =>
    withPipe(async (client, { server }) => {
      assertEquals(client.era, "modern");
      await client.callTool("echo", { text: "hi" });
      assertEquals(server.count("initialize"), 0);
    }, { server: { era: "both" } }));

  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    test(`a handshake server of ${revision} answers with an error and is initialized (C-016 C-031 C-034)`, () =>
      withPipe(async (client, { server, servers }) => {
        assertEquals([client.era, client.revision as string], ["legacy", revision]);
        assertEquals(methodsOf(server), ["server/discover", "initialize", "notifications/initialized"]);
        assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
        assertEquals(servers.length, 1);
      }, { server: { era: "legacy", revision } }));
  }

  for (const code of [-32601, -32602, -32600, -32603, -32000, -32020, 42]) {
    test(`any other error means handshake: ${code} (C-016)`, async () => {
      const server = played((message, send) => {
        if (message.method === "server/discover") send(failure(message, code));
        if (message.method !== "initialize") return;
        send(
          result(message, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } }),
        );
      });
      await using client = await connect(server.transport);
      assertEquals(client.era, "legacy");
    });
  }

  for (const wrong of [{ error: "no such method" }, { result: null, error: { code: -32601, message: "no" } }, {}]) {
    test(`an answer that is none means handshake: ${JSON.stringify(wrong)} (C-016)`, async () => {
      const server = played((message, send) => {
        if (message.method === "server/discover") send({ jsonrpc: "2.0", id: message.id, ...wrong });
        if (message.method !== "initialize") return;
        send(
          result(message, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } }),
        );
      });
      await using client = await connect(server.transport);
      assertEquals(client.era, "legacy");
    });
  }

  test("a handshake server that is silent: initialized after five seconds (C-016)", async () => {
    const clock = new VirtualClock();
    const pipe = createPipe({ era: "legacy", probe: "silent" });
    const connecting = connect(pipe.transport, { clock });
    await clock.advance(4_900);
    assertEquals(pipe.server.count("initialize"), 0);
    await clock.advance(200);
    const client = await connecting;
    assertEquals([client.era, pipe.servers.length], ["legacy", 1]);
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    await client.close();
    assertEquals(pipe.server.violations, []);
  });

  test("the wait for a silent server is an option: timeouts.probe", async () => {
    const clock = new VirtualClock();
    const pipe = createPipe({ era: "legacy", probe: "silent" });
    const connecting = connect(pipe.transport, { clock, timeouts: { probe: 300 } });
    await clock.advance(310);
    await using client = await connecting;
    assertEquals(client.era, "legacy");
  });

  test("a handshake server that ends because of the question is started anew (C-069)", () =>
    withPipe(async (client, { servers }) => {
      assertEquals([client.era, servers.length], ["legacy", 2]);
      assertEquals(servers.map(methodsOf), [["server/discover"], ["initialize", "notifications/initialized"]]);
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    }, { server: { era: "legacy", probe: "exit" } }));

  for (const code of [-32600, -32000]) {
    test(`a bridge that used up its one handshake to pass the question on is started anew: ${code} (C-016)`, async () => {
      let asked = 0;
      const server = played((message, send) => {
        const again = asked++ === 1;
        if (message.method === "server/discover") send(failure(message, -32601));
        else if (message.method === "initialize" && again) send(failure(message, code));
        else if (message.id !== undefined) {
          const serverInfo = { name: "x", version: "1" };
          send(result(message, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo, content: [] }));
        }
      });
      await using client = await connect(server.transport);
      assertEquals(client.era, "legacy");
      assertEquals((await client.callTool("echo")).content, []);
      const asking = ["server/discover", "initialize", "initialize", "notifications/initialized", "tools/call"];
      assertEquals(server.methods(), asking);
    });
  }

  test("a server that refuses each handshake is started anew once", async () => {
    const server = played((message, send) => send(failure(message, -32600)));
    await assertRejects(() => connect(server.transport), InvalidRequestError);
    assertEquals(server.methods(), ["server/discover", "initialize", "initialize"]);
  });

  /** Each process ends because of the question, after so long, and does with the handshake what it is told to. */
  function ending(
    clock: VirtualClock,
    milliseconds: number,
    handshake: (message: JsonObject) => JsonObject | undefined,
  ) {
    const asked: unknown[][] = [];
    const transport = new ChannelTransport(() => {
      const methods: unknown[] = [];
      asked.push(methods);
      const [near, far] = createMemoryPair();
      void far.open({
        text(text) {
          const message: JsonObject = JSON.parse(text);
          methods.push(message.method);
          const answer = message.method === "initialize" && handshake(message);
          if (message.method === "server/discover") clock.schedule(() => void far.close(), milliseconds);
          else if (answer) void far.write([JSON.stringify(answer)]);
          else if (answer === undefined) void far.close();
        },
        end() {},
      });
      return near;
    });
    return { asked, transport };
  }

  test("a server that ends because of the question and refuses the handshake is asked once, in another process", async () => {
    const clock = new VirtualClock();
    const { asked, transport } = ending(clock, 0, (message) => failure(message, -32600));
    await assertRejects(() => clock.until(connect(transport, { clock })), InvalidRequestError);
    assertEquals(asked, [["server/discover"], ["initialize"]]);
  });

  test("a server that is slow to start and ends because of the question is started anew (C-069)", async () => {
    const clock = new VirtualClock();
    const serverInfo = { name: "x", version: "1" };
    const { asked, transport } = ending(
      clock,
      8_000,
      (message) =>
        asked.length > 1
          ? result(message, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo })
          : { jsonrpc: "2.0", method: "notifications/message" },
    );
    const client = await clock.until(connect(transport, { clock }));
    assertEquals([client.era, asked.length], ["legacy", 2]);
    assertEquals(asked[1], ["initialize", "notifications/initialized"]);
    await client.close();
  });

  test("a server that is slow to start and always ends is started twice", async () => {
    const clock = new VirtualClock();
    const { asked, transport } = ending(
      clock,
      8_000,
      () => asked.length > 1 ? undefined : { jsonrpc: "2.0", method: "notifications/message" },
    );
    await assertRejects(() => clock.until(connect(transport, { clock })), ConnectionClosedError);
    assertEquals(asked.map((methods) => methods.at(-1)), ["initialize", "initialize"]);
  });

  test("a server that speaks another revision is not started once more", async () => {
    const serverInfo = { name: "x", version: "1" };
    const newer = played((message, send) =>
      send(
        message.method === "initialize"
          ? result(message, { protocolVersion: "2099-01-01", capabilities: {}, serverInfo })
          : failure(message, -32601),
      )
    );
    await assertRejects(() => connect(newer.transport), UnsupportedVersionError);
    assertEquals(newer.methods(), ["server/discover", "initialize"]);
  });

  test("a modern server that is slow to start: its late answer wins (C-017)", async () => {
    const clock = new VirtualClock();
    const server = slowModern(clock, 8_000);
    const client = await clock.until(connect(server.transport, { clock }));
    assertEquals([client.era, client.revision], ["modern", modernRevision]);
    await client.callTool("echo");
    assertEquals(server.methods(), ["server/discover", "initialize", "tools/call"]);
    await client.close();
  });

  test("a modern server whose two late answers come in one write is modern", async () => {
    const clock = new VirtualClock();
    const waiting: JsonObject[] = [];
    const server = played((message, send) => {
      if (message.id === undefined) return;
      if (message.method !== "initialize") return void waiting.push(message);
      const data = { supported: [modernRevision] };
      send(...waiting.splice(0).map((probe) => result(probe, discovered)), failure(message, -32022, data));
    });
    const client = await clock.until(connect(server.transport, { clock }));
    assertEquals(client.era, "modern");
    await client.close();
  });

  test("a modern server that refuses the handshake before its late answer is modern all the same", async () => {
    const clock = new VirtualClock();
    const server = played((message, send) => {
      if (message.method === "initialize") send(failure(message, -32022, { supported: [modernRevision] }));
      else if (message.id !== undefined) clock.schedule(() => send(result(message, discovered)), 9_000);
    });
    const client = await clock.until(connect(server.transport, { clock }));
    assertEquals(client.era, "modern");
    await client.close();
  });

  test("-32022 that names our revision: asked again, never initialized (C-017)", async () => {
    let refused = 0;
    const patient = played((message, send) => {
      const refuse = message.method === "server/discover" && refused++ === 0;
      send(refuse ? failure(message, -32022, { supported: [modernRevision] }) : result(message, discovered));
    });
    await using client = await connect(patient.transport);
    assertEquals([client.era, patient.methods()], ["modern", ["server/discover", "server/discover"]]);
    const stubborn = played((message, send) => send(failure(message, -32022, { supported: [modernRevision] })));
    await assertRejects(() => connect(stubborn.transport), UnsupportedVersionError);
    assert(!stubborn.methods().includes("initialize"));
  });

  test("a server that never says anything: a time-out after timeouts.start, and initialize is not cancelled (C-036)", async () => {
    const clock = new VirtualClock();
    const server = played(() => {});
    const options: Options = { clock, timeouts: { start: 8_000 } };
    const connecting = connect(server.transport, options);
    const error = await assertRejects(() => clock.until(connecting), TimeoutError);
    assertEquals(error.milliseconds, 8_000);
    assert(clock.monotonic() >= 8_000 && clock.monotonic() <= 14_000, `${clock.monotonic()}`);
    const [initialize] = server.seen.filter(({ method }) => method === "initialize");
    const cancelled = server.seen.filter(({ method }) => method === "notifications/cancelled");
    for (const notice of cancelled) assert(objectAt(notice, "params").requestId !== initialize?.id);
  });

  test("given up while it is asked: no other process is started in its place", async () => {
    for (const wait of [10, 5_000]) {
      const clock = new VirtualClock();
      let opened = 0;
      const transport = new ChannelTransport(() => {
        const [near] = createMemoryPair();
        const open = near.open.bind(near);
        near.open = (receiver) => {
          opened++;
          return open(receiver);
        };
        return near;
      });
      const controller = new AbortController();
      const connecting = connect(transport, { clock, signal: controller.signal });
      const refused = assertRejects(() => connecting, Error, "enough");
      await clock.advance(wait);
      controller.abort(new Error("enough"));
      await refused;
      await clock.advance(60_000);
      assertEquals(opened, 1);
    }
  });

  test("a verdict saves the question on a pipe too", () =>
    withPipe(async (client, { server }) => {
      assertEquals([client.era, server.log.length], ["modern", 0]);
      await client.callTool("echo", { text: "hi" });
      assertEquals(methodsOf(server), ["tools/call"]);
    }, { server: { era: "modern" }, client: { verdict: { era: "modern", revision: "2026-07-28" } } }));

  test("a verdict that was wrong on a pipe is asked again", () =>
    withPipe(async (client, { server }) => {
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals([client.era, server.calls("echo")], ["legacy", 1]);
    }, {
      server: { era: "legacy", lenient: false },
      client: { verdict: { era: "modern", revision: "2026-07-28" } },
    }));

  test("a handshake verdict of a program that speaks the modern era alone by now is asked again (C-025)", async () => {
    const server = new McpServer({ name: "new", version: "2.0.0" });
    server.tool("echo", {}, () => "hi");
    const transport = new ChannelTransport(() => {
      const [near, far] = createMemoryPair();
      serveChannel(server, far, { eras: ["modern"] });
      return near;
    });
    await using client = await connect(transport, { verdict: { era: "legacy" } });
    assertEquals([client.era, textOf(await client.callTool("echo"))], ["modern", "hi"]);
  });
});

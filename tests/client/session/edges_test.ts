import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, connect, HttpTransport, LimitExceededError, McpError, UnauthorizedError } from "../../../mod.ts";
import type { Handlers, RequestOptions } from "../../../mod.ts";
import type { JsonObject } from "../../servers/core/wire.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createPipe, front, inEveryWay, textOf, turns, until, url } from "../support.ts";

describe("what a caller does wrong", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const wrong: [string, unknown][] = [["a bigint", { n: 1n }], ["a circle", circular]];
  for (const [name, args] of wrong) {
    inEveryWay(`${name} cannot be sent: TypeError, nothing is sent, nothing is left`, async (client, server) => {
      const before = server.count("tools/call");
      await assertRejects(() => client.callTool("echo", args as JsonObject), TypeError);
      assertEquals(server.count("tools/call"), before);
      assertEquals(textOf(await client.callTool("echo", { text: "fine" })), "fine");
    });
  }

  test("what could not be sent leaves no clock running that fails later", async () => {
    const clock = new VirtualClock();
    const pipe = createPipe({ era: "modern" });
    const client = await clock.until(connect(pipe.transport, { clock }));
    await assertRejects(() => client.callTool("echo", { n: 1n } as unknown as JsonObject), TypeError);
    await clock.advance(61_000);
    assertEquals(clock.waiting, 0);
    await client.close();
  });

  inEveryWay("what its caller does not want to be sent any more is not sent", async (client, server) => {
    const before = server.count("tools/call");
    const changed = new Error("it has changed");
    const sent = () => {
      throw changed;
    };
    const error = await client.callTool("echo", {}, { sent } as RequestOptions).catch((reason) => reason);
    assertEquals([error === changed, server.count("tools/call")], [true, before]);
  });

  test("a name that no header can say: refused before anything is sent", async () => {
    const server = createModernServer();
    await using client = await connect(url, { fetch: memoryFetch(server) });
    await assertRejects(() => client.callTool("\ud800"), TypeError);
    await assertRejects(() => client.callTool("x".repeat(10_000)), LimitExceededError);
    assertEquals(server.count("tools/call"), 0);
  });
});

describe("handlers that misbehave", () => {
  inEveryWay("a log handler that throws harms no call", async (client) => {
    await client.setLogLevel("debug");
    assertEquals(textOf(await client.callTool("log", { count: 2 })), "logged");
    assertEquals(textOf(await client.callTool("echo", { text: "fine" })), "fine");
  }, {
    client: {
      stream: false,
      handlers: {
        log() {
          throw new Error("the log is full");
        },
      },
    },
  });

  let closing: Client | undefined;
  inEveryWay("a handler that closes the client: its own call fails, nothing hangs", async (client) => {
    closing = client;
    await assertRejects(() => client.callTool("ask"), Error);
  }, {
    client: {
      stream: false,
      handlers: {
        elicitation: async () => {
          await closing?.close();
          return { action: "cancel" };
        },
      },
    },
  });
});

describe("closing", () => {
  let signal: AbortSignal | undefined;
  const elicitation: Handlers["elicitation"] = (_, context) => {
    signal = context.signal;
    return new Promise(() => {});
  };
  inEveryWay("while a person is asked: the call fails at once, and the form is not wanted any more", async (client) => {
    signal = undefined;
    const call = assertRejects(() => client.callTool("ask"), McpError, "closed");
    await until(() => signal !== undefined);
    await client.close();
    assertEquals((await call).code, "outcome_unknown");
    await until(() => !!signal?.aborted);
  }, { client: { handlers: { elicitation } } });
});

describe("connecting", () => {
  test("twice is once", async () => {
    const server = createModernServer();
    await using client = await connect(url, { fetch: memoryFetch(server) });
    assertEquals(await client.connect(), client);
    await Promise.all([client.connect(), client.connect()]);
    assertEquals(server.log.length, 1);
  });

  for (const held of ["server/discover", "initialize", "notifications/initialized"]) {
    test(`closing while ${held} is under way: connect fails, nothing more is sent`, async () => {
      const legacy = createLegacyServer();
      let open = () => {};
      const gate = new Promise<void>((resolve) => open = resolve);
      const server = front(legacy, async ({ method }) => {
        if (method === held) await gate;
        return undefined;
      });
      const client = new Client(new HttpTransport(url, { fetch: memoryFetch(server) }));
      const connecting = assertRejects(() => client.connect(), McpError);
      await until(() => server.methods.includes(held));
      await client.close();
      const methods = server.methods.filter((method) => method !== "DELETE");
      open();
      if (held !== "notifications/initialized") await connecting;
      else connecting.catch(() => {});
      await turns();
      assertEquals(server.methods.filter((method) => method !== "DELETE"), methods);
      await assertRejects(() => client.callTool("echo", { text: "late" }), McpError);
    });
  }

  test("a failure is told to all who wait for it, and each may try again", async () => {
    let allowed = false;
    const server = front(createModernServer(), () => allowed ? undefined : new Response("", { status: 401 }));
    await using client = new Client(new HttpTransport(url, { fetch: memoryFetch(server) }));
    const calls = Array.from(
      { length: 3 },
      () => assertRejects(() => client.callTool("echo", { text: "x" }), UnauthorizedError),
    );
    await Promise.all(calls);
    assertEquals(server.methods, ["server/discover", "initialize"]);
    allowed = true;
    assertEquals(textOf(await client.callTool("echo", { text: "x" })), "x");
  });

  test("giving up while a lost session is opened anew: only this caller gives up", async () => {
    const legacy = createLegacyServer();
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    const server = front(legacy, async ({ method }, count) => {
      if (method === "initialize" && count > 1) await gate;
      return undefined;
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    legacy.forgetSessions();
    const controller = new AbortController();
    const reason = new Error("enough");
    const impatient = assertRejects(() => client.callTool("echo", { text: "a" }, { signal: controller.signal }));
    const patient = client.callTool("echo", { text: "b" });
    await until(() => server.methods.filter((method) => method === "initialize").length === 2);
    controller.abort(reason);
    assertEquals(await impatient, reason);
    open();
    assertEquals(textOf(await patient), "b");
    assertEquals([legacy.count("initialize"), legacy.calls("echo"), legacy.violations], [2, 1, []]);
  });

  test("listening on a client that cannot connect: the error reaches the listener", async () => {
    const server = front(createModernServer(), () => new Response("", { status: 401 }));
    await using client = new Client(new HttpTransport(url, { fetch: memoryFetch(server) }), {
      features: (await import("../../../mod.ts")).allFeatures,
    });
    const stream = client.listen({ tools: true });
    await assertRejects(() => stream.next(), UnauthorizedError);
    assert(server.seen.length >= 1);
  });
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, TimeoutError } from "../../../mod.ts";
import type { Client } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import {
  createPipe,
  front,
  inEveryWay,
  paramsOf,
  type Peer,
  sent,
  textOf,
  turns,
  until,
  url,
  type Way,
} from "../support.ts";

/** What calls a request off on the wire. */
function notices(server: Peer): number {
  return server.count("notifications/cancelled");
}

/** A call that runs at the server, and what called it off. */
async function running(client: Client, server: Peer, tool: string = "slow") {
  const controller = new AbortController();
  const call = assertRejects(() => client.callTool(tool, {}, { signal: controller.signal }));
  await until(() => server.calls(tool) === 1);
  await turns();
  return { controller, call };
}

describe("giving up", () => {
  inEveryWay(
    "in the middle of a call: the signal's own reason, and the server stops, in the way of its binding (C-065 C-115 C-130 C-131 C-132)",
    async (client, server, way) => {
      const reason = { any: "value" };
      const { controller, call } = await running(client, server);
      controller.abort(reason);
      assertEquals(await call as unknown, reason);
      await until(() => server.cancellations.length === 1);
      assertEquals(server.cancellations[0]?.method, "tools/call");
      // Modern HTTP closes the stream; all else sends a notice that names the request.
      assertEquals(notices(server), way === "modern HTTP" ? 0 : 1);
      if (way !== "modern HTTP") {
        const [notice] = paramsOf(server, "notifications/cancelled");
        assertEquals(notice?.requestId, sent(server, "tools/call")[0]?.id);
      }
    },
  );

  inEveryWay("the reason reaches the server where there is a notice for it (C-138)", async (client, server) => {
    const { controller, call } = await running(client, server);
    controller.abort(new Error("the user pressed stop"));
    await call;
    await until(() => server.cancellations.length === 1);
    assertEquals(server.cancellations[0]?.reason, "the user pressed stop");
  }, { ways: ["legacy HTTP", "modern pipe", "legacy pipe"] });

  inEveryWay(
    "a reason that is no text is told to nobody, and one without words breaks nothing",
    async (client, server) => {
      for (const reason of [{ toString: () => "secret" }, Object.create(null), Symbol("secret"), 7]) {
        const controller = new AbortController();
        const seen = server.calls("slow");
        const call = client.callTool("slow", {}, { signal: controller.signal }).catch((thrown: unknown) => thrown);
        await until(() => server.calls("slow") === seen + 1);
        controller.abort(reason);
        assert(await call === reason);
        await until(() => server.cancellations.length === seen + 1);
        assertEquals(server.cancellations.at(-1)?.reason, "unknown");
      }
    },
    { ways: ["legacy HTTP", "modern pipe", "legacy pipe"] },
  );

  inEveryWay("before: nothing is sent", async (client, server) => {
    const before = server.log.length;
    const reason = new Error("too late");
    const options = { signal: AbortSignal.abort(reason) };
    assertEquals(await assertRejects(() => client.callTool("echo", { text: "hi" }, options)), reason);
    assertEquals(await assertRejects(() => client.listTools(options)), reason);
    assertEquals(await assertRejects(() => client.readResource("test://text", options)), reason);
    assertEquals(server.log.length, before);
  });

  inEveryWay("in the same tick: the reason, and no answer is waited for", async (client, server) => {
    const reason = new Error("at once");
    const controller = new AbortController();
    const call = assertRejects(() => client.callTool("slow", {}, { signal: controller.signal }));
    controller.abort(reason);
    assertEquals(await call, reason);
    await turns();
    assertEquals(textOf(await client.callTool("echo", { text: "fine" })), "fine");
    assertEquals(server.log.filter(({ message }) => message?.method === "tools/call").length <= 2, true);
    server.release();
  });

  test("by what sends it, before that has returned: it is called off all the same", async () => {
    const controller = new AbortController();
    const reason = new Error("not this one");
    const server = memoryFetch(createModernServer());
    let signal: AbortSignal | null | undefined;
    await using client = await connect(url, {
      fetch(target, init) {
        if (new Headers(init.headers).get("mcp-name") === "slow") {
          signal = init.signal;
          controller.abort(reason);
        }
        return server(target, init);
      },
    });
    assertEquals(await assertRejects(() => client.callTool("slow", {}, { signal: controller.signal })), reason);
    assertEquals(signal?.aborted, true);
  });

  inEveryWay("after the answer: nothing happens (C-133)", async (client, server) => {
    const controller = new AbortController();
    const result = await client.callTool("echo", { text: "hi" }, { signal: controller.signal });
    controller.abort();
    await turns();
    assertEquals([textOf(result), notices(server), server.cancellations.length], ["hi", 0, 0]);
  });

  inEveryWay("one of many: the others go on (C-133)", async (client, server) => {
    const controller = new AbortController();
    const others = Array.from({ length: 5 }, () => client.callTool("slow"));
    const call = assertRejects(() => client.callTool("slow", {}, { signal: controller.signal }));
    await until(() => server.calls("slow") === 6);
    await turns();
    controller.abort(new Error("this one"));
    await call;
    await until(() => server.cancellations.length === 1);
    server.release();
    assertEquals((await Promise.all(others)).map(textOf), Array(5).fill("done"));
  });

  inEveryWay("an answer that comes too late is ignored (C-134)", async (client, server) => {
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const call = client.callTool("echo", { text: "race" }, { signal: controller.signal }).then(textOf, () => "race");
      if (round % 2) await Promise.resolve();
      controller.abort(new Error("race"));
      assertEquals(await call, "race");
    }
    assertEquals(textOf(await client.callTool("echo", { text: "fine" })), "fine");
    assert(server.calls("echo") >= 1);
  });

  const reasons: [string, unknown][] = [["undefined", undefined], ["a text", "stop"], ["null", null], [
    "a DOMException",
    "default",
  ]];
  for (const [name, reason] of reasons) {
    inEveryWay(`any reason comes back as it is: ${name}`, async (client, server) => {
      const { controller, call } = await running(client, server);
      controller.abort(reason === "default" ? undefined : reason);
      const thrown: unknown = await call;
      assert(thrown === controller.signal.reason);
    });
  }

  inEveryWay("other requests can be given up too", async (client, server) => {
    const controller = new AbortController();
    const { signal } = controller;
    const works = [
      () => client.listTools({ signal }),
      () => client.readResource("test://text", { signal }),
      () => client.getPrompt("plain", {}, { signal }),
      () => client.request("tools/list", {}, { signal }),
    ].map((work) => work().then(() => "done", (error: unknown) => error));
    const reason = new Error("all of it");
    controller.abort(reason);
    assertEquals(await Promise.all(works), works.map(() => reason));
    assert(server.log.length < 20);
  });

  inEveryWay("a signal that lives long gathers no listeners", async (client) => {
    const counted = countListeners(new AbortController().signal);
    for (let index = 0; index < 50; index++) await client.callTool("echo", { text: "hi" }, { signal: counted.signal });
    await client.listTools({ signal: counted.signal });
    await assertRejects(() => client.callTool("none", {}, { signal: counted.signal }));
    await turns();
    assertEquals(counted.listeners(), 0);
    assert(counted.most() >= 1 && counted.most() <= 4, `${counted.most()} listeners for one call at a time`);
  });
});

describe("giving up before there is a session", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`initialize is never cancelled, and the others who wait go on (${era}) (C-036)`, async () => {
      const inner = era === "modern" ? createModernServer() : createLegacyServer();
      let open = () => {};
      const gate = new Promise<void>((resolve) => open = resolve);
      const server = front(inner, async ({ method }) => {
        if (method === "server/discover" || method === "initialize") await gate;
        return undefined;
      });
      const { Client, HttpTransport } = await import("../../../mod.ts");
      await using client = new Client(new HttpTransport(url, { fetch: memoryFetch(server) }));
      const controller = new AbortController();
      const reason = new Error("cannot wait");
      const impatient = assertRejects(() => client.callTool("echo", { text: "a" }, { signal: controller.signal }));
      const patient = client.callTool("echo", { text: "b" });
      await until(() => server.seen.length === 1);
      controller.abort(reason);
      assertEquals(await impatient, reason);
      open();
      assertEquals(textOf(await patient), "b");
      assertEquals([inner.calls("echo"), inner.count("notifications/cancelled")], [1, 0]);
    });
  }
});

describe("a time-out calls the request off like its caller would", () => {
  const ways: Way[] = ["modern HTTP", "legacy HTTP", "modern pipe", "legacy pipe"];
  for (const way of ways) {
    test(way, async () => {
      const clock = new VirtualClock();
      const era = way.startsWith("modern") ? "modern" : "legacy";
      const http = era === "modern" ? createModernServer() : createLegacyServer();
      const pipe = createPipe({ era });
      const server: Peer = way.endsWith("pipe") ? pipe.server : http;
      const target = way.endsWith("pipe") ? pipe.transport : url;
      const client = await clock.until(connect(target, { fetch: memoryFetch(http), clock }));
      const call = assertRejects(() => client.callTool("slow", {}, { timeout: 2_500 }), TimeoutError);
      await until(() => server.calls("slow") === 1);
      await clock.advance(2_400);
      assertEquals(server.cancellations.length, 0);
      await clock.advance(200);
      const error = await call;
      assertEquals([error.milliseconds, error.delivery, error.method], [2_500, "unknown", "tools/call"]);
      await until(() => server.cancellations.length === 1);
      assertEquals([notices(server), server.calls("slow")], [way === "modern HTTP" ? 0 : 1, 1]);
      await clock.until(client.close());
      assertEquals(server.violations, []);
    });
  }
});

/** A signal that counts who listens to it. */
function countListeners(signal: AbortSignal) {
  let count = 0;
  let most = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const known = new Set<unknown>();
  signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject | null, options?: unknown) => {
    if (listener && !known.has(listener)) {
      known.add(listener);
      most = Math.max(most, ++count);
    }
    add(type, listener as EventListener, options as AddEventListenerOptions);
  };
  signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject | null) => {
    if (listener && known.delete(listener)) count--;
    remove(type, listener as EventListener);
  };
  return { signal, listeners: () => count, most: () => most };
}

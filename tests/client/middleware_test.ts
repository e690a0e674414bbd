import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, InternalError } from "../../mod.ts";
import type { ClientRequest, Middleware } from "../../mod.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { createPipe, front, inEveryWay, methodsOf, textOf, turns, until, url, withModern } from "./support.ts";

const told: string[] = [];
const telling = (name: string): Middleware => (next) => async (request) => {
  told.push(`${name} ${request.method}`);
  try {
    return await next(request);
  } finally {
    told.push(`${name} done`);
  }
};

describe("layers around every request", () => {
  inEveryWay("the first is the outermost, for every verb", async (client) => {
    told.length = 0;
    await client.callTool("echo", { text: "hi" });
    assertEquals(told, ["a tools/call", "b tools/call", "b done", "a done"]);
    told.length = 0;
    await client.listPrompts();
    await client.readResource("test://text");
    await client.getPrompt("plain");
    await client.ping();
    const methods = told.filter((line) => line.startsWith("a ") && line !== "a done").map((line) => line.slice(2));
    assertEquals(methods.slice(0, 3), ["prompts/list", "resources/read", "prompts/get"]);
    assertEquals(methods.length, 4);
  }, { client: { middleware: [telling("a"), telling("b")] } });

  test("a layer may change what is asked, and what comes back", () => {
    const loud: Middleware = (next) => async (request) => {
      if (request.method !== "tools/call") return await next(request);
      const params = { ...request.params, arguments: { text: "changed" } };
      const result = await next({ ...request, params });
      return { ...result, content: [{ type: "text", text: JSON.stringify(result.content) }] };
    };
    return withModern(async (client, server) => {
      const text = textOf(await client.callTool("echo", { text: "original" }));
      assertEquals(text, '[{"type":"text","text":"changed"}]');
      assertEquals(server.executions[0]?.arguments, { text: "changed" });
    }, { client: { middleware: [loud] } });
  });

  test("a layer may answer by itself: nothing is sent", () => {
    const own: Middleware = (next) => (request) =>
      request.method === "tools/call"
        ? Promise.resolve({ content: [{ type: "text", text: "from the layer" }] })
        : next(request);
    return withModern(async (client, server) => {
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "from the layer");
      assertEquals(methodsOf(server), ["server/discover"]);
    }, { client: { middleware: [own] } });
  });

  test("a layer may send twice; each is a request of its own", () => {
    const twice: Middleware = (next) => async (request) => {
      if (request.method === "tools/call") await next(request);
      return await next(request);
    };
    return withModern(async (client, server) => {
      await client.callTool("echo", { text: "hi" });
      assertEquals(server.calls("echo"), 2);
    }, { client: { middleware: [twice] } });
  });

  test("a layer sees failures as the caller does, and may turn them into something else", () => {
    const errors: unknown[] = [];
    const mapping: Middleware = (next) => async (request) => {
      try {
        return await next(request);
      } catch (error) {
        errors.push(error);
        if (request.method !== "tools/call") throw error;
        return { content: [{ type: "text", text: "saved" }], isError: true };
      }
    };
    return withModern(async (client) => {
      const result = await client.callTool("crash");
      assertEquals([textOf(result), result.isError], ["saved", true]);
      assert(errors[0] instanceof InternalError);
      await assertRejects(() => client.request("com.example/none"));
    }, { client: { middleware: [mapping] } });
  });

  test("retries, rounds and the question for the era are inside: one call is one request for a layer", async () => {
    const seen: ClientRequest[] = [];
    const counting: Middleware = (next) => (request) => {
      seen.push(request);
      return next(request);
    };
    const inner = createModernServer();
    const server = front(inner, ({ method }, count) => {
      return method === "tools/call" && count === 1 ? new Response("", { status: 429 }) : undefined;
    });
    const clock = new VirtualClock();
    const handlers = { elicitation: () => ({ action: "accept" as const, content: { name: "x" } }) };
    const options = { fetch: memoryFetch(server), middleware: [counting], handlers, clock };
    const client = await clock.until(connect(url, options));
    await clock.until(client.callTool("ask", { rounds: 2 }));
    assertEquals(seen.map(({ method }) => method), ["tools/call"]);
    assertEquals(server.methods.filter((method) => method === "tools/call").length, 4);
    await client.close();
  });

  test("the options of the call reach it, and it may add to them", () => {
    const adding: Middleware = (next) => (request) => {
      const headers = { ...request.options.headers, "X-Trace": "1" };
      return next({ ...request, options: { ...request.options, headers } });
    };
    return withModern(async (client, server) => {
      await client.callTool("echo", { text: "hi" }, { headers: { "X-Own": "2" } });
      const { headers = {} } = server.log.at(-1) ?? {};
      assertEquals([headers["x-trace"], headers["x-own"]], ["1", "2"]);
    }, { client: { middleware: [adding] } });
  });
});

describe("keepAlive", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`an idle connection is pinged, a busy one is not, a closed one never (${era}) (C-144)`, async () => {
      const clock = new VirtualClock();
      const pipe = createPipe({ era, clock });
      const client = await clock.until(connect(pipe.transport, { clock, keepAlive: 10_000 }));
      const pings = () => pipe.server.count("ping") + pipe.server.count("server/discover") - 1;
      await clock.advance(10_500);
      assertEquals(pings(), 1);
      for (let round = 0; round < 4; round++) {
        await clock.advance(6_000);
        await client.callTool("echo", { text: "hi" });
      }
      assert(pings() <= 2, `${pings()} pings`);
      await clock.until(client.close());
      const before = pings();
      await clock.advance(60_000);
      assertEquals([pings(), clock.waiting], [before, 0]);
      assertEquals(pipe.server.violations, []);
    });
  }

  for (const keepAlive of [undefined, 0, -1, NaN]) {
    test(`it is off by default, and for ${keepAlive}`, async () => {
      const clock = new VirtualClock();
      const server = createLegacyServer();
      const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, keepAlive }));
      const before = server.log.length;
      await clock.advance(3_600_000);
      assertEquals([server.log.length, clock.waiting], [before, 0]);
      await clock.until(client.close());
    });
  }

  test("a server that does not answer it harms nobody", async () => {
    const clock = new VirtualClock();
    let down = false;
    const server = front(createLegacyServer(), () => down ? new Response("", { status: 500 }) : undefined);
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, keepAlive: 5_000 }));
    down = true;
    await clock.advance(30_000);
    down = false;
    await clock.advance(5_000);
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "fine" }))), "fine");
    assert(server.methods.filter((method) => method === "ping").length >= 3);
    await clock.until(client.close());
  });

  test("it opens a lost session anew before somebody needs it", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer();
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, keepAlive: 5_000 }));
    server.forgetSessions();
    await clock.advance(6_000);
    await until(() => server.sessionIds().length === 1);
    await turns();
    assertEquals(server.count("initialize"), 2);
    await clock.until(client.close());
    assertEquals(server.violations, []);
  });
});

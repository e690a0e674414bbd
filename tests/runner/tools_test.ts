import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "node:test";
import { ChannelTransport, connect, createMemoryPair } from "../../mod.ts";
import type { Handlers } from "../../mod.ts";
import { createRelay } from "../../src/hub/gateway/mod.ts";
import { createApiKey, createKeyList, createPolicy, createRunner } from "../../src/runner/mod.ts";
import { McpServer } from "../../src/server/mod.ts";
import type { RequestContext } from "../../src/server/mod.ts";
import { inMemory, openHub, textOf } from "../hub/support.ts";
import { askingServer } from "../hub/support/by_hand.ts";
import { until } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { createWorld, problemOf } from "./support/world.ts";

describe("tools by plain HTTP", () => {
  it("lists them, in pages", async () => {
    await using world = await createWorld({ servers: ["alpha", "beta"] });
    const all = await (await world.ask("/api/tools")).json();
    assertEquals(all.tools.map(({ name }: { name: string }) => name), [
      ...["alpha__echo", "alpha__send", "beta__echo", "beta__send"],
    ]);
    assertEquals([all.tools[0].server, all.tools[0].tool.name, all.tools[0].approval, all.next], [
      ...["alpha", "echo", false, undefined],
    ]);
    const seen: string[] = [];
    let after = "";
    do {
      const page = await (await world.ask(`/api/tools?limit=3${after && `&after=${after}`}`)).json();
      seen.push(...page.tools.map(({ name }: { name: string }) => name));
      after = page.next ?? "";
    } while (after);
    assertEquals(seen, ["alpha__echo", "alpha__send", "beta__echo", "beta__send"]);
    const own = await (await world.ask("/api/tools?server=beta")).json();
    assertEquals(own.tools.length, 2);
  });

  it("finds them", async () => {
    await using world = await createWorld({ servers: ["alpha", "beta"] });
    const { tools } = await (await world.ask("/api/tools?query=send%20at%20beta&limit=2")).json();
    assertEquals(tools[0].name, "beta__send");
    assert(tools[0].score > 0);
  });

  it("calls one, and gives what it gave", async () => {
    await using world = await createWorld();
    const response = await world.ask("/api/tools/alpha__echo", { body: { text: "hello" } });
    assertEquals(response.status, 200);
    const { content } = await response.json();
    assertEquals(content[0].text, 'acme/alpha/echo: {"text":"hello"}');
    assertEquals((await world.ask("/api/tools/alpha.echo", { body: {} })).status, 200);
    assertEquals(world.ledger.length, 2);
    const [row] = world.audit;
    assertEquals([row?.principal, row?.tenant, row?.server, row?.tool, row?.action, row?.outcome], [
      ...["ada", "acme", "alpha", "echo", "call", "allow"],
    ]);
    assertEquals(row?.argumentsHash?.length, 64);
    assert(!JSON.stringify(world.audit).includes("hello"), "arguments are in the audit log");
  });

  it("calls none with a number that JSON cannot hold", async () => {
    const policy = [
      { effect: "allow" as const },
      { tools: ["send"], actions: ["call" as const], effect: "ask" as const },
    ];
    await using world = await createWorld({ policy });
    for (const tool of ["alpha__echo", "alpha__send"]) {
      const response = await world.ask(`/api/tools/${tool}`, { body: '{"a":{"b":[1e999]}}' });
      const { status, code, detail } = await problemOf(response);
      assertEquals([status, code], [400, "invalid_request"]);
      assert(String(detail).includes("too large"), String(detail));
    }
    const asked = await world.ask("/v1/chat/completions", {
      body: '{"model":"helper","messages":[{"role":"user","content":"x"}],"temperature":1e999}',
    });
    assertEquals((await problemOf(asked)).status, 400);
    assertEquals([world.ledger, world.runs("acme").started.length], [[], 0]);
  });

  it("tells progress first, as events", async () => {
    await using world = await createWorld();
    const response = await world.ask("/api/tools/alpha__echo", { body: {}, headers: { accept: "text/event-stream" } });
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals(response.headers.get("x-accel-buffering"), "no");
    assertStringIncludes(response.headers.get("cache-control") ?? "", "no-transform");
    const events = [...(await response.text()).matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, type, data]) => ({
      type,
      data: JSON.parse(data ?? ""),
    }));
    assertEquals(events.map(({ type }) => type), ["progress", "result"]);
    assertEquals(events[0]?.data.message, "half of it");
    assertEquals(events[1]?.data.content[0].text, "acme/alpha/echo: {}");
  });

  it("tells events without a character but CR and LF that some client ends a line at", async () => {
    await using world = await createWorld();
    const odd = { text: "one\u2028two\u2029three\u0085four" };
    const text =
      await (await world.ask("/api/tools/alpha__echo", { body: odd, headers: { accept: "text/event-stream" } }))
        .text();
    assertEquals(text.match(/[\x85\u2028\u2029]/g), null);
    const [, data = ""] = /event: result\ndata: (.*)\n/.exec(text) ?? [];
    assertEquals(JSON.parse(data).content[0].text, `acme/alpha/echo: ${JSON.stringify(odd)}`);
  });

  it("tells a tool that failed, and one that is not there", async () => {
    await using world = await createWorld({ onCall: () => ({ error: "no paper" }) });
    const failed = await (await world.ask("/api/tools/alpha__echo", { body: {} })).json();
    assertEquals(failed.isError, true);
    const response = await world.ask("/api/tools/alpha__nothing", { body: {} });
    assertEquals(response.status, 404);
    assertEquals((await problemOf(response)).detail, 'There is no tool "alpha__nothing"');
    const stream = await world.ask("/api/tools/alpha__nothing", { body: {}, headers: { accept: "text/event-stream" } });
    assertEquals(stream.status, 404);
    await problemOf(stream);
  });

  for (const accept of ["application/json", "text/event-stream"]) {
    it(`calls it off when the caller leaves (${accept})`, async () => {
      let gone: () => void = () => {};
      const left = new Promise<void>((resolve) => gone = resolve);
      let begun: () => void = () => {};
      const started = new Promise<void>((resolve) => begun = resolve);
      await using world = await createWorld({
        onCall: async (_, signal) => {
          begun();
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          gone();
        },
      });
      const controller = new AbortController();
      const asking = world.ask("/api/tools/alpha__echo", { body: {}, headers: { accept }, signal: controller.signal });
      if (accept === "text/event-stream") {
        const response = await asking;
        await started;
        await response.body?.cancel();
      } else {
        await started;
        controller.abort();
        assertEquals((await asking).status, 499);
      }
      await left;
    });
  }

  it("reads resources and prompts", async () => {
    await using world = await createWorld();
    const { resources } = await (await world.ask("/api/resources")).json();
    assertEquals(resources.length, 2);
    const read = await (await world.ask("/api/resources/read", { body: { uri: "note://alpha/echo" } })).json();
    assertEquals(read.contents[0].text, "the note echo of alpha in acme");
    const { prompts } = await (await world.ask("/api/prompts")).json();
    assertEquals(prompts[0].name, "alpha__greet");
    const filled = await (await world.ask("/api/prompts/alpha__greet", { body: { arguments: { who: "you" } } })).json();
    assertEquals(filled.messages[0].content.text, "hello you from alpha in acme");
    for (const uri of ["note://alpha/none", "note://alpha/../echo"]) {
      const wrong = await world.ask("/api/resources/read", { body: { uri } });
      assertEquals([wrong.status, (await problemOf(wrong)).detail], [404, `There is no resource "${uri}"`]);
    }
    // No server is asked for what another policy may be meant for.
    for (const uri of ["note://alpha/x%2f../echo", "note://alpha/.\t./echo", "note://alpha/x/.. "]) {
      const wrong = await world.ask("/api/resources/read", { body: { server: "alpha", uri } });
      assertEquals([wrong.status, (await problemOf(wrong)).detail], [404, `There is no resource "${uri}"`]);
    }
    assertEquals((await world.ask("/api/prompts/none", { body: {} })).status, 404);
  });
});

describe("what servers ask for calls by plain HTTP", () => {
  const calls = [
    ["/api/tools/asker__ask", {}],
    ["/api/resources/read", { uri: "note://asks" }],
    ["/api/resources/read", { uri: "note://asks", server: "asker" }],
    ["/api/prompts/asker__asks", {}],
  ] as const;

  async function open(era: "modern" | "legacy", own: Handlers) {
    const server = new McpServer({ name: "asker", version: "1.0.0" });
    let letGo = () => {};
    let begun = false;
    server.tool("wait", {}, async () => {
      begun = true;
      await new Promise<void>((resolve) => letGo = resolve);
      return "waited";
    });
    const ask = async ({ elicit, log }: RequestContext) => {
      log("error", "of the other one");
      const { action } = await elicit({ message: "Whose?", requestedSchema: { type: "object", properties: {} } });
      return `said: ${action}`;
    };
    server.tool("ask", {}, (_, context) => ask(context));
    server.resource("note://asks", {}, (_, context) => ask(context));
    server.prompt("asks", {}, (_, context) => ask(context));
    const keys = { ada: await createApiKey(), bob: await createApiKey() };
    const relay = createRelay({ handlers: own });
    const { handlers, features } = relay;
    const runner = createRunner({
      relay: () => relay,
      // Over a pipe an older server does not say whose call its question belongs to.
      hubs: () => openHub({ asker: inMemory(server, { eras: [era] }).config }, { handlers, features }),
      access: {
        keys: createKeyList([
          { hash: keys.ada.hash, principal: "ada", tenant: "acme" },
          { hash: keys.bob.hash, principal: "bob", tenant: "acme" },
        ]),
        policy: createPolicy([{ effect: "allow" }]),
      },
    });
    const asked: unknown[] = [];
    const client = await connect("http://localhost/mcp", {
      fetch: (url, init) => runner.fetch(new Request(url, init)),
      headers: { authorization: `Bearer ${keys.ada.key}` },
      handlers: {
        elicitation: ({ message }) => {
          asked.push(message);
          return { action: "accept", content: {} };
        },
        log: ({ data }) => void asked.push(data),
      },
      logLevel: "debug",
      verdict: { era: "legacy" },
    });
    return {
      asked,
      /** Ada's call at `/mcp`, which stays there until it is let go. */
      wait: async () => {
        const waiting = client.callTool("asker__wait", {});
        await until(() => begun);
        return async () => {
          letGo();
          return textOf(await waiting);
        };
      },
      send: async ([path, body]: typeof calls[number]) => {
        const headers = { authorization: `Bearer ${keys.bob.key}`, "content-type": "application/json" };
        const given = { method: "POST", headers, body: JSON.stringify(body) };
        return await (await runner.fetch(new Request(`http://localhost${path}`, given))).text();
      },
      [Symbol.asyncDispose]: async () => {
        await client.close();
        await runner.close();
      },
    };
  }

  for (const era of ["modern", "legacy"] as const) {
    it(`is asked of nobody who has a call at /mcp: ${era} behind`, async () => {
      await using world = await open(era, {});
      const letGo = await world.wait();
      for (const call of calls) {
        const said = await world.send(call);
        assert(!said.includes("said:"), `${call[0]}: ${said}`);
      }
      assertEquals(await letGo(), "waited");
      const alone = await world.send(calls[0]);
      assert(alone.includes("it is not known whom to ask"), alone);
      assertEquals(world.asked, []);
    });

    it(`is answered by the relay's own handlers, where there are some: ${era} behind`, async () => {
      await using world = await open(era, { elicitation: () => ({ action: "decline" }) });
      for (const call of calls) {
        const said = await world.send(call);
        assert(said.includes("said: decline"), `${call[0]}: ${said}`);
      }
      const letGo = await world.wait();
      for (const call of calls) {
        const said = await world.send(call);
        // Over the pipe it is not known for whom it is asked.
        assert(!said.includes("said: accept") && (era === "legacy" || said.includes("said: decline")), said);
      }
      await letGo();
      assertEquals(world.asked, []);
    });
  }

  it("is not told to who called before, either: what an older server logs behind a result", async () => {
    const replies: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: "by hand", version: "1" },
      },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "echo" }] },
    };
    let write = (_: object): void => {};
    const log = (data: string) => write({ method: "notifications/message", params: { level: "error", data } });
    const transport = () =>
      new ChannelTransport(() => {
        const [near, far] = createMemoryPair();
        write = (message) => void far.write([JSON.stringify({ jsonrpc: "2.0", ...message })]);
        void far.open({
          text: (text) => {
            const { id, method } = JSON.parse(text);
            if (id === undefined) return;
            const result = replies[method];
            write(result ? { id, result } : { id, error: { code: -32601, message: "unknown" } });
          },
          end() {},
        });
        return near;
      });
    const relay = createRelay();
    const { handlers, features } = relay;
    const keys = { ada: await createApiKey(), bob: await createApiKey() };
    await using runner = createRunner({
      relay: () => relay,
      hubs: () => openHub({ pipe: { transport } }, { handlers, features }),
      access: {
        keys: createKeyList([
          { hash: keys.ada.hash, principal: "ada", tenant: "acme" },
          { hash: keys.bob.hash, principal: "bob", tenant: "acme" },
        ]),
        policy: createPolicy([{ effect: "allow" }]),
      },
    });
    const logged: unknown[] = [];
    await using client = await connect("http://localhost/mcp", {
      fetch: (url, init) => runner.fetch(new Request(url, init)),
      headers: { authorization: `Bearer ${keys.ada.key}` },
      handlers: { log: ({ data }) => void logged.push(data) },
      logLevel: "debug",
      verdict: { era: "legacy" },
    });
    await client.callTool("pipe__echo");
    log("ada");
    await until(() => logged.length === 1);
    const headers = { authorization: `Bearer ${keys.bob.key}`, "content-type": "application/json" };
    const given = { method: "POST", headers, body: "{}" };
    assertEquals((await runner.fetch(new Request("http://localhost/api/tools/pipe__echo", given))).status, 200);
    log("bob");
    await client.callTool("pipe__echo");
    log("ada again");
    await until(() => logged.includes("ada again"));
    assertEquals(logged, ["ada", "ada again"]);
  });

  for (const how of ["left", "late"] as const) {
    it(`is nobody else's for a while after its caller has ${how === "left" ? "left" : "waited too long"}`, async () => {
      const clock = new VirtualClock();
      const server = askingServer({ timeouts: { total: 1_000 } });
      const relay = createRelay();
      const { handlers, features } = relay;
      const { key, hash } = await createApiKey();
      await using runner = createRunner({
        clock,
        relay: () => relay,
        hubs: () => openHub({ pipe: server.config }, { handlers, features, clock }),
        access: {
          keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
          policy: createPolicy([{ effect: "allow" }]),
        },
      });
      const asked: unknown[] = [];
      await using client = await connect("http://localhost/mcp", {
        fetch: (url, init) => runner.fetch(new Request(url, init)),
        headers: { authorization: `Bearer ${key}` },
        handlers: {
          elicitation: ({ message }) => {
            asked.push(message);
            return { action: "accept", content: {} };
          },
        },
        verdict: { era: "legacy" },
      });
      const caller = new AbortController();
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const given = { method: "POST", headers, body: "{}", signal: caller.signal };
      const plain = runner.fetch(new Request("http://localhost/api/tools/pipe__hang", given));
      await until(() => server.calls === 1);
      await clock.advance(500);
      const waiting = client.callTool("pipe__hang");
      await until(() => server.calls === 2);
      if (how === "left") caller.abort();
      else await clock.advance(500);
      await (await plain).body?.cancel();
      assertStringIncludes((await server.ask()).error?.message ?? "", "it is not known whom to ask");
      assertEquals(asked, []);
      await clock.advance(1_000);
      assertEquals((await waiting).isError, true);
    });
  }
});

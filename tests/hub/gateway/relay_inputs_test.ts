import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { InputRequiredError, ProtocolViolationError } from "../../../mod.ts";
import type { Handlers } from "../../../mod.ts";
import type { Passage } from "../../../src/hub/gateway/calls/passage.ts";
import type { Relay } from "../../../src/hub/gateway/calls/relay.ts";
import type { RelayedCall } from "../../../src/hub/relayed_call.ts";
import type { Fetch } from "../../../src/ports.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { asks, healthy, urlOf } from "../faulty.ts";
import { createRelay } from "../../../src/hub/gateway/mod.ts";
import { openHub } from "../support.ts";
import { createAll, inMemory, open, textOf } from "./support.ts";
import { RelayInputs } from "../../../src/hub/gateway/calls/relay_inputs.ts";

test("what is no question of a server is not handed to the caller in front", async () => {
  const inputs = new RelayInputs({}, () => ({}) as never);
  const request = { method: "tools/call", params: { name: "ask" }, options: {} };
  const ask = (inputRequests: Record<string, object>) =>
    inputs.answerRound({ inputRequests } as never, { request, round: 1 }, "one", (work) => work as never);
  for (const wrong of [{}, { method: 5 }, { method: "roots/list", params: [] }]) {
    assertThrows(() => ask({ a: wrong }), ProtocolViolationError, '"inputRequests.a.');
  }
  await assertRejects(() => ask({ a: { method: "roots/list" } }), InputRequiredError, "of the client in front");
});

test("more than a thousand questions of one round are not handed to the caller in front", async () => {
  const inputs = new RelayInputs({}, () => ({}) as never);
  const request = { method: "tools/call", params: { name: "ask" }, options: {} };
  const ask = (count: number) => {
    const inputRequests = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`q${at}`, { method: "roots/list" }]),
    );
    return inputs.answerRound({ inputRequests }, { request, round: 1 }, "one", (work) => work as never);
  };
  assertThrows(() => ask(1_001), ProtocolViolationError, "more than 1,000");
  await assertRejects(() => ask(1_000), InputRequiredError, "of the client in front");
});

test("a call that goes on after its caller's answer has all the time that it needs", async () => {
  const server = new McpServer({ name: "one", version: "1.0.0" });
  let goOn: (() => void) | undefined;
  server.tool("asks", {}, async (_, context) => {
    const { action } = await context.elicit({ message: "?", requestedSchema: { type: "object", properties: {} } });
    await new Promise<void>((resolve) => goOn = resolve);
    return action;
  });
  const clock = new VirtualClock();
  const options = { clock, answerTime: 1_000 };
  await using scene = await open({ one: inMemory(server, { eras: ["legacy"] }).config }, options);
  const client = await scene.join("modern", { handlers: { elicitation: () => ({ action: "decline" }) } });
  const call = client.callTool("one__asks");
  while (!goOn) await new Promise((resolve) => setTimeout(resolve, 1));
  await clock.advance(60_000);
  goOn();
  assertEquals(textOf(await call), "decline");
});

test("a server that asks each time under the same key gets the answer to what it asks now", async () => {
  const seen: unknown[] = [];
  const fetch: Fetch = async (url, init) => {
    if (!asks(init, "tools/call")) return await healthy("one")(url, init);
    const { id, params } = JSON.parse(await new Response(init.body).text());
    const round = Number(params.requestState ?? 0);
    if (round) seen.push(params.inputResponses);
    const message = `question ${round + 1}`;
    const schema = { type: "object", properties: { said: { type: "string" } } };
    const question = { method: "elicitation/create", params: { mode: "form", message, requestedSchema: schema } };
    const result = round < 3
      ? { resultType: "input_required", inputRequests: { q: question }, requestState: String(round + 1) }
      : { resultType: "complete", content: [{ type: "text", text: "done" }] };
    return Response.json({ jsonrpc: "2.0", id, result });
  };
  await using scene = await open({ one: { url: urlOf("one"), fetch } });
  for (const era of ["modern", "legacy"] as const) {
    seen.length = 0;
    const client = await scene.join(era, {
      handlers: { elicitation: ({ message }) => ({ action: "accept", content: { said: message } }) },
    });
    assertEquals(textOf(await client.callTool("one__echo", { text: "a" })), "done", era);
    assertEquals(seen, [1, 2, 3].map((n) => ({ q: { action: "accept", content: { said: `question ${n}` } } })), era);
  }
});

test("a form that a caller sent back with an empty field reaches the server as it is, in either era", async () => {
  const properties = { name: { type: "string" }, age: { type: "integer", default: 3 } } as const;
  const server = new McpServer({ name: "one", version: "1.0.0" });
  server.tool("asks", {}, async (_, context) => {
    const answer = await context.elicit({ message: "Who?", requestedSchema: { type: "object", properties } });
    return JSON.stringify(answer.content);
  });
  const content = { name: "Ada" };
  for (const era of ["modern", "legacy"] as const) {
    await using scene = await open({ one: inMemory(server, { eras: [era] }).config });
    const client = await scene.join("modern", { capabilities: { elicitation: { form: {} } } });
    const { pending } = await assertRejects(() => client.callTool("one__asks"), InputRequiredError);
    const [key = ""] = Object.keys(pending?.inputRequests ?? {});
    const result = await client.resume(pending!, { [key]: { action: "accept", content } });
    assertEquals(textOf(result), JSON.stringify(content), era);
  }
});

test("who stands around the relay's handler has the last word on what an older server is told", async () => {
  const server = new McpServer({ name: "one", version: "1.0.0" });
  server.tool("asks", {}, async (_, context) => {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } } as const;
    const { action, content } = await context.elicit({ message: "Who?", requestedSchema });
    return JSON.stringify({ action, content });
  });
  for (const last of [{ action: "decline" }, { action: "accept", content: {} }] as const) {
    const relay = createRelay();
    const { handlers: inner, features, middleware, tasks } = relay;
    const handlers: Handlers = {
      ...inner,
      elicitation: async (form, context) => {
        assertEquals((await inner.elicitation?.(form, context))?.content, { name: "Ada" });
        return last;
      },
    };
    const config = { one: inMemory(server, { eras: ["legacy"] }).config };
    await using scene = await open(config, { relay }, { handlers, features, middleware, tasks });
    const user: Handlers = { elicitation: () => ({ action: "accept", content: { name: "Ada" } }) };
    const client = await scene.join("legacy", { handlers: user });
    assertEquals(textOf(await client.callTool("one__asks")), JSON.stringify(last));
  }
});

test("calls that come through no gateway are answered by the relay's own handlers, each by its kind", async () => {
  const server = new McpServer({ name: "one", version: "1.0.0" });
  const text = (text: string) => ({ type: "text", text }) as const;
  server.tool("asks", {}, async (_, context) => {
    const form = await context.elicit({ message: "?", requestedSchema: { type: "object", properties: {} } });
    const page = await context.elicit({ mode: "url", message: "?", url: "https://a.test/", elicitationId: "1" });
    const sampled = await context.sample({ messages: [{ role: "user", content: text("?") }], maxTokens: 1 });
    const roots = await context.roots();
    return JSON.stringify([form.action, page.action, sampled.model, roots]);
  });
  const all = [{ uri: "file:///a" }];
  for (const roots of [all, () => all]) {
    const relay = createRelay({
      handlers: {
        elicitation: () => ({ action: "decline" }),
        elicitationUrl: () => ({ action: "cancel" }),
        sampling: () => ({ role: "assistant", content: text("!"), model: "m" }),
        roots,
      },
    });
    const { handlers, features, middleware, tasks } = relay;
    for (const era of ["modern", "legacy"] as const) {
      const config = { one: inMemory(server, { eras: [era] }).config };
      await using hub = await openHub(config, { handlers, features, middleware, tasks });
      const result = await hub.callTool("one__asks");
      assertEquals(JSON.parse(textOf(result)), ["decline", "cancel", "m", all], era);
    }
  }
});

test("without handlers of its own a relay answers no call that comes through no gateway", async () => {
  const { server } = createAll("one");
  const { handlers, features, middleware, tasks } = createRelay();
  for (const era of ["modern", "legacy"] as const) {
    const config = { one: inMemory(server, { eras: [era] }).config };
    await using hub = await openHub(config, { handlers, features, middleware, tasks });
    for (const name of ["asks", "samples", "looks"]) {
      assertEquals((await hub.callTool(`one__${name}`)).isError, true, `${era} ${name}`);
    }
  }
});

describe("whom a server's question goes to that says nothing of its call", () => {
  const form = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } } as const;
  type Asked = Parameters<NonNullable<Relay["handlers"]["elicitation"]>>[1] & { readonly asking?: unknown };

  /** A relay, calls that go through it, and who was asked. */
  function stage(handlers: Handlers = {}) {
    const relay = createRelay({ handlers });
    const { signal } = new AbortController();
    const asked: string[] = [];
    const call = (name: string, caller: string | undefined, more: Partial<RelayedCall> = {}) => {
      const ask = () => {
        asked.push(name);
        return Promise.resolve({ action: "decline" });
      };
      const passage = { server: "one", caller, meta: {}, ask, ...more } as unknown as Passage;
      relay.begin(passage);
      return passage;
    };
    const question = async (more: Partial<Asked> = {}): Promise<string> => {
      const context = { server: "one", signal, ...more } as Asked;
      const answer = relay.handlers.elicitation?.(form, context);
      return await Promise.resolve(answer).then((result) => result?.action ?? "", (error: Error) => error.name);
    };
    return { relay, asked, call, question };
  }
  const own: Handlers = { elicitation: () => ({ action: "cancel" }) };
  const refused = "MethodNotFoundError";

  test("to the caller whose calls alone are at the server, known or not", async () => {
    for (const caller of ["ada", undefined]) {
      const { asked, call, question } = stage();
      call("first", caller);
      assertEquals([await question(), asked], ["decline", ["first"]]);
    }
    const { asked, call, question } = stage();
    call("first", "ada");
    call("second", "ada");
    call("elsewhere", "ben", { server: "two" });
    assertEquals([await question(), asked], ["decline", ["second"]]);
  });

  test("to nobody where it may be another caller's", async () => {
    for (const [one, other] of [["ada", "ben"], ["ada", undefined], [undefined, "ada"], [undefined, undefined]]) {
      for (const handlers of [{}, own]) {
        const { asked, call, question } = stage(handlers);
        call("first", one);
        call("second", other);
        assertEquals([await question(), asked], [refused, []], `${one} ${other}`);
      }
    }
  });

  test("to nobody for a call that was given up, and to no other one in its place", async () => {
    const { relay, asked, call, question } = stage();
    const first = call("first", "ada");
    relay.leave(first);
    assertEquals([await question(), asked], [refused, []]);
    const second = call("second", "ben");
    assertEquals([await question(), asked], [refused, []], "it may still be the first one's");
    relay.end(first);
    assertEquals([await question(), asked], ["decline", ["second"]]);
    const third = call("third", "ben");
    relay.leave(third);
    assertEquals([await question(), asked], ["decline", ["second", "second"]], "of one caller");
    relay.end(second);
    relay.end(third);
    assertEquals(await question(), refused);
  });

  test("to the call that it came with, whoever else is there", async () => {
    const { asked, call, question } = stage(own);
    const first = call("first", "ada");
    call("second", "ben");
    const asking = { options: { meta: first.meta } } as unknown;
    assertEquals([await question({ asking }), asked], ["decline", ["first"]]);
    // One that came through no gateway is the relay's own.
    assertEquals([await question({ asking: { options: {} } }), asked.length], ["cancel", 1]);
  });

  test("to the relay's own handlers where nobody calls, or the caller cannot be asked; else not", async () => {
    const { relay, asked, call, question } = stage(own);
    assertEquals(await question(), "cancel");
    const attended = call("attended", "ada");
    assertEquals([await question(), asked], ["decline", ["attended"]]);
    relay.end(attended);
    call("unattended", "ada", { isUnattended: true });
    assertEquals([await question(), asked.length], ["cancel", 1]);
    assertEquals(await stage().question(), refused);
  });
});

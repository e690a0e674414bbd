import { describe, test } from "node:test";
import { assert, assertEquals, assertInstanceOf, assertNotEquals, assertRejects } from "@std/assert";
import {
  MissingCapabilityError,
  ProtocolViolationError,
  RpcError,
  TimeoutError,
} from "../../../src/protocol/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../../src/protocol/json_rpc.ts";
import type { CreateMessageRequest, ElicitRequest } from "../../../src/protocol/types.ts";
import { said, standIn } from "../stand_in.ts";
import { bench, held, hello, opened } from "./support.ts";

const form: ElicitRequest = {
  message: "Which?",
  requestedSchema: {
    type: "object",
    properties: { size: { type: "string", oneOf: [{ const: "s", title: "Small" }] } },
  },
};
const page: ElicitRequest = { mode: "url", message: "Go there", url: "https://go.there/" };
const question: CreateMessageRequest = {
  messages: [{ role: "user", content: { type: "text", text: "?" } }],
  maxTokens: 9,
};
const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };

/** A session with a call whose handler the test is. */
async function calling(revision?: string, capabilities: JsonObject = everything, askTimeout?: number) {
  const session = await held({ revision, capabilities, askTimeout }, {}, "call");
  const asked = (at = -1): JsonRpcRequest => session.sent.at(at)?.message as JsonRpcRequest;
  return {
    ...session,
    asked,
    reply: (result: JsonObject, id = asked().id) => session.session.answered({ jsonrpc: "2.0", id, result }),
    refuse: (code: number) =>
      session.session.answered({ jsonrpc: "2.0", id: asked().id, error: { code, message: "no" } }),
  };
}

describe("asking the client", () => {
  test("goes out as a request that belongs to the call, and its answer comes back", async () => {
    const { context, sent, asked, reply } = await calling();
    const answer = context.elicit(form);
    assertEquals([asked().method, asked().params, sent[0]?.about], ["elicitation/create", form, "call"]);
    assertEquals(reply({ action: "accept", content: { size: "s" } }), true);
    assertEquals(await answer, { action: "accept", content: { size: "s" } });
    assertEquals(reply({ action: "accept" }), false);

    const sampled = context.sample(question);
    assertEquals([asked().method, asked().params], ["sampling/createMessage", question as unknown as JsonObject]);
    const text = { role: "assistant", content: { type: "text", text: "!" }, model: "m" };
    reply(text);
    assertEquals(await sampled as unknown, text);

    const roots = context.roots();
    assertEquals([asked().method, asked().params], ["roots/list", undefined]);
    reply({ roots: [{ uri: "file:///a" }] });
    assertEquals(await roots, [{ uri: "file:///a" }]);
  });

  test("a question that is no JSON is refused at once", async () => {
    const { context, sent } = await calling();
    const before = sent.length;
    const wrong = { ...form, message: 1n as unknown as string };
    await assertRejects(() => context.elicit(wrong), TypeError, 'Cannot ask for "elicitation/create": its "message"');
    assertEquals(sent.length, before);
  });

  test("ids are unguessable and answers are told apart", async () => {
    const { context, asked, reply, session } = await calling();
    const answers = [context.elicit(form), context.roots()];
    const [first, second] = [asked(0).id, asked(1).id];
    assert(typeof first === "string" && first.length >= 32);
    assertNotEquals(first, second);
    for (const id of [1, "x", null]) assertEquals(session.answered({ jsonrpc: "2.0", id, result: {} }), false);
    reply({ roots: [] }, second);
    reply({ action: "cancel" }, first);
    assertEquals(await Promise.all(answers), [{ action: "cancel" }, []]);
  });

  test("an error, and an answer that is none, reach the handler", async () => {
    const { context, reply, refuse } = await calling();
    const refused = context.roots();
    refuse(-1);
    assertEquals((await assertRejects(() => refused, RpcError, "no")).rpcCode, -1);
    const unfit = { action: "accept", content: { size: "huge" } };
    for (const bad of [{}, { action: "yes" }, { action: 1 }, { action: "accept", content: "s" }, unfit]) {
      const answer = context.elicit(form);
      reply(bad);
      await assertRejects(() => answer, ProtocolViolationError);
    }
    const sampled = context.sample(question);
    reply({ content: "text" });
    await assertRejects(() => sampled, ProtocolViolationError);
    const roots = context.roots();
    reply({ roots: [{}] });
    await assertRejects(() => roots, ProtocolViolationError);
  });

  test("an error of the client that the handler lets through is not the caller's fault", async () => {
    const { request, sent, session } = await opened(
      standIn({ "prompts/get": async (_, { roots }) => ({ roots: await roots() as never }) }),
      "2025-11-25",
      everything,
    );
    const answer = request("prompts/get");
    await Promise.resolve();
    const { id } = sent[0]?.message as JsonRpcRequest;
    session.answered({ jsonrpc: "2.0", id, error: { code: -32601, message: "no roots" } });
    assertEquals((await answer)?.response.error, { code: -32603, message: "Internal error" });
  });

  test("waits for the client to be ready", async () => {
    const { session, sent, request, result, notify } = bench(standIn({
      "tools/call": async (_, { elicit }) => said((await elicit(form)).action),
    }));
    await result("initialize", hello("2025-06-18", { elicitation: {} }));
    const answer = request("tools/call");
    await Promise.resolve();
    assertEquals(sent, []);
    notify("notifications/initialized");
    const { id } = sent[0]?.message as JsonRpcRequest;
    session.answered({ jsonrpc: "2.0", id, result: { action: "decline" } });
    assertEquals((await answer)?.response.result, said("decline"));
  });
});

describe("a question is called off", () => {
  const cancelled = (id: unknown) => ["notifications/cancelled", id];
  const last = ({ sent }: Awaited<ReturnType<typeof calling>>) => {
    const { method, params } = sent.at(-1)?.message ?? {};
    return [method, params?.requestId];
  };

  test("with its call", async () => {
    const call = await calling();
    const answer = assertRejects(() => call.context.elicit(form), DOMException);
    const { id } = call.asked();
    call.notify("notifications/cancelled", { requestId: "call" });
    await answer;
    assertEquals(await call.answer, undefined);
    assertEquals(last(call), cancelled(id));
    assertEquals(call.reply({ action: "accept" }, id), false);
    await assertRejects(() => call.context.roots());
  });

  test("when its own signal is aborted, and the call goes on", async () => {
    const call = await calling();
    const controller = new AbortController();
    const answer = assertRejects(() => call.context.elicit(form, { signal: controller.signal }), Error, "not any more");
    const { id } = call.asked();
    controller.abort(new Error("not any more"));
    await answer;
    assertEquals(last(call), cancelled(id));
    assertEquals(call.reply({ action: "accept" }, id), false);
    const count = call.sent.length;
    await assertRejects(() => call.context.elicit(form, { signal: controller.signal }), Error, "not any more");
    assertEquals(call.sent.length, count);
    const next = call.context.elicit(form);
    call.reply({ action: "decline" });
    assertEquals((await next).action, "decline");
  });

  test("when the call is answered without it, and none is asked after that", async () => {
    const call = await calling();
    const answer = assertRejects(() => call.context.elicit(form));
    const { id } = call.asked();
    call.finish();
    await call.answer;
    await answer;
    assertEquals(last(call), cancelled(id));
    await assertRejects(() => call.context.roots(), TypeError);
    assertEquals(call.clock.waiting, 0);
  });

  test("which does no harm to a handler that waits for it no longer", async () => {
    const call = await calling();
    void call.context.elicit(form);
    void call.context.elicit(page);
    call.session.answered({ jsonrpc: "2.0", id: call.asked(0).id, error: { code: -1, message: "no" } });
    call.finish();
    assertEquals((await call.answer)?.response.result, said("done"));
    await call.clock.settle();
  });

  test("when it takes too long", async () => {
    for (const [option, timeout] of [[undefined, 300_000], [1_000, 1_000]] as const) {
      const call = await calling(undefined, everything, option);
      let error: unknown;
      call.context.elicit(form).catch((reason) => error = reason);
      const { id } = call.asked();
      await call.clock.advance(timeout - 1);
      assertEquals(error, undefined);
      await call.clock.advance(1);
      assertInstanceOf(error, TimeoutError);
      assertEquals(last(call), cancelled(id));
    }
  });

  test("with the session", async () => {
    const call = await calling();
    const answer = assertRejects(() => call.context.elicit(form));
    call.session.close();
    await answer;
  });
});

describe("what the client did not declare is not asked", () => {
  const all = ["elicit", "elicitUrl", "sample", "sampleWithTools", "roots"] as const;
  const cases: [string, JsonObject, readonly string[]][] = [
    ["2025-11-25", {}, []],
    ["2025-11-25", everything, all],
    ["2025-11-25", { elicitation: {}, sampling: {} }, ["elicit", "sample"]],
    ["2025-11-25", { elicitation: { url: {} } }, ["elicitUrl"]],
    ["2025-06-18", everything, ["elicit", "sample", "roots"]],
    ["2025-03-26", everything, ["sample", "roots"]],
    ["2024-11-05", everything, ["sample", "roots"]],
  ];
  for (const [revision, capabilities, able] of cases) {
    test(`${revision} with ${JSON.stringify(capabilities)}`, async () => {
      const { context, sent } = await calling(revision, capabilities);
      assertEquals(all.filter((what) => context.can(what)), [...able] as typeof all[number][]);
      const ask = {
        elicit: () => context.elicit(form),
        elicitUrl: () => context.elicit(page),
        sample: () => context.sample(question),
        sampleWithTools: () => context.sample({ ...question, tools: [] }),
        roots: () => context.roots(),
      };
      for (const what of all.filter((what) => !able.includes(what))) {
        await assertRejects(ask[what], MissingCapabilityError);
      }
      assertEquals(sent, []);
    });
  }

  test("the caller is told what is missing when the handler lets it through", async () => {
    const { failure } = await opened(
      standIn({ "prompts/get": async (_, { roots }) => ({ a: await roots() as never }) }),
    );
    assertEquals(await failure("prompts/get"), [-32600, { requiredCapabilities: { roots: {} } }]);
  });
});

describe("questions in an older revision", () => {
  test("forms before 2025-11-25 have no mode, and choices in two lists", async () => {
    const { context, asked } = await calling("2025-06-18");
    void context.elicit({ ...form, mode: "form" });
    assertEquals(asked().params, {
      message: "Which?",
      requestedSchema: {
        type: "object",
        properties: { size: { type: "string", enum: ["s"], enumNames: ["Small"] } },
      },
    });
  });

  test("a form without fields says so, and only what was accepted has content", async () => {
    const { context, asked, reply } = await calling();
    const accepted = context.elicit({ message: "Go on?" });
    assertEquals(asked().params?.requestedSchema, { type: "object", properties: {} });
    reply({ action: "accept" });
    assertEquals(await accepted, { action: "accept", content: {} });
    const declined = context.elicit({ message: "Go on?" });
    reply({ action: "decline", content: { a: 1 } });
    assertEquals(await declined, { action: "decline" });
    const visited = context.elicit(page);
    reply({ action: "accept", content: { a: 1 } });
    assertEquals(await visited, { action: "accept" });
  });

  test("a page to visit has a name", async () => {
    const { context, asked } = await calling();
    void context.elicit(page);
    const { elicitationId, ...rest } = asked().params ?? {};
    assertEquals(rest, page);
    assert(typeof elicitationId === "string" && elicitationId.length >= 32);
  });

  test("messages before 2025-11-25 have one part", async () => {
    const { context, asked } = await calling("2024-11-05");
    const content = [{ type: "text" as const, text: "a" }, { type: "audio" as const, data: "", mimeType: "audio/wav" }];
    void context.sample({ messages: [{ role: "user", content }], maxTokens: 1, includeContext: "thisServer" }).catch(
      () => {},
    );
    assertEquals(asked().params, {
      messages: [
        { role: "user", content: { type: "text", text: "a" } },
        {
          role: "user",
          content: { type: "text", text: "[audio, audio/wav: this revision of the protocol cannot carry it]" },
        },
      ],
      maxTokens: 1,
      includeContext: "thisServer",
    });
  });

  test("context is asked for only where it was declared", async () => {
    const { context, asked } = await calling("2025-11-25", { sampling: {} });
    void context.sample({ ...question, includeContext: "allServers" });
    assertEquals(asked().params, question as unknown as JsonObject);
  });
});

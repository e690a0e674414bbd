import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  connect,
  HttpStatusError,
  InputRequiredError,
  LimitExceededError,
  McpError,
  ProtocolViolationError,
} from "../../../mod.ts";
import type { Client, Handlers, InputRequest, PendingInput } from "../../../mod.ts";
import { isJsonObject, type JsonObject, objectAt } from "../../servers/core/wire.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { front, inEveryWay, type Options, paramsOf, resultReply, textOf, url, withModern } from "../support.ts";

let counter = 0;
const counting: Handlers = {
  elicitation: () => ({ action: "accept", content: { name: `n${++counter}` } }),
};
const form: InputRequest = { method: "elicitation/create", params: { message: "?", requestedSchema: {} } };
const modernWays = { ways: ["modern HTTP", "modern pipe"] as const };

describe("a call that asks more than once", () => {
  inEveryWay("three rounds, one call, one execution", async (client, server) => {
    counter = 0;
    assertEquals(textOf(await client.callTool("ask", { rounds: 3 })), '["n1","n2","n3"]');
    assertEquals(server.calls("ask"), 1);
  }, { client: { handlers: counting } });

  inEveryWay(
    "each round has a fresh id and token, the same arguments, and only its own answers (C-139 C-204 C-206)",
    async (client, server) => {
      await client.callTool("ask", { rounds: 3 });
      const rounds = server.log.flatMap(({ message }) => message?.method === "tools/call" ? [message] : []);
      assertEquals(rounds.length, 4);
      const tokens = rounds.map((message) => objectAt(objectAt(message, "params"), "_meta").progressToken);
      assertEquals([new Set(rounds.map(({ id }) => id)).size, new Set(tokens).size], [4, 4]);
      const params = rounds.map((message) => objectAt(message, "params"));
      for (const { name, arguments: args } of params) assertEquals([name, args], ["ask", { rounds: 3 }]);
      const keys = params.map(({ inputResponses }) => isJsonObject(inputResponses) ? Object.keys(inputResponses) : []);
      assertEquals(keys, [[], ["name_1"], ["name_2"], ["name_3"]]);
    },
    { client: { handlers: counting }, ...modernWays },
  );

  inEveryWay("the server's state comes back byte for byte (C-203)", async (client, server) => {
    await client.callTool("ask", { rounds: 2 });
    const states = paramsOf(server, "tools/call").map(({ requestState }) => requestState);
    // The server refuses a state that was altered; this one is made to break when trimmed, parsed or normalised.
    assertEquals(states[0], undefined);
    for (const state of states.slice(1)) assert(typeof state === "string" && / $/.test(state) && state.startsWith(" "));
    assert(states[1] !== states[2]);
  }, { client: { handlers: counting }, ...modernWays });

  inEveryWay("without a state none is sent (C-203)", async (client, server) => {
    await client.callTool("ask", { state: false });
    assertEquals(paramsOf(server, "tools/call").map((params) => "requestState" in params), [false, false]);
  }, { client: { handlers: counting }, ...modernWays });

  test("a round brings back only what it was given: no older state, no older answers (C-203 C-206)", async () => {
    const given: JsonObject[] = [
      { inputRequests: { a: form as unknown as JsonObject }, requestState: "one" },
      { inputRequests: { b: form as unknown as JsonObject } },
      { requestState: "three" },
    ];
    const server = front(createModernServer(), (seen, count) => {
      if (seen.method !== "tools/call") return undefined;
      const round = given[count - 1];
      return resultReply(
        seen,
        round ? { resultType: "input_required", ...round } : { resultType: "complete", content: [] },
      );
    });
    await using client = await connect(url, { fetch: memoryFetch(server), handlers: counting });
    await client.callTool("echo", { text: "hi" });
    const rounds = server.seen.slice(1).map(({ message }) => {
      const { inputResponses, requestState } = objectAt(message ?? {}, "params");
      return [isJsonObject(inputResponses) ? Object.keys(inputResponses) : undefined, requestState];
    });
    assertEquals(rounds, [[undefined, undefined], [["a"], "one"], [["b"], undefined], [undefined, "three"]]);
  });

  inEveryWay("ten calls of the same tool at once do not mix their rounds (C-205)", async (client, server) => {
    const calls = Array.from({ length: 10 }, () => client.callTool("ask", { rounds: 2 }));
    const names = (await Promise.all(calls)).map((result) => JSON.parse(textOf(result) ?? "") as string[]);
    assertEquals(new Set(names.flat()).size, 20);
    assertEquals(server.calls("ask"), 10);
  }, { client: { handlers: counting } });

  test("a round that fails for good fails the call: the rounds before it have run, and nobody is asked again", async () => {
    const clock = new VirtualClock();
    let asked = 0;
    const elicitation = () => {
      asked++;
      return { action: "accept" as const, content: { name: "Ada" } };
    };
    const server = front(
      createModernServer(),
      ({ method }, count) => method === "tools/call" && count > 1 ? new Response("", { status: 429 }) : undefined,
    );
    const client = await clock.until(
      connect(url, { fetch: memoryFetch(server), clock, handlers: { elicitation }, retry: { attempts: 2 } }),
    );
    await assertRejects(() => clock.until(client.callTool("ask")), HttpStatusError);
    const first = server.seen.filter(({ message }) =>
      message?.method === "tools/call" && !("inputResponses" in objectAt(message, "params"))
    );
    assertEquals([asked, first.length, server.methods.filter((method) => method === "tools/call").length], [1, 1, 3]);
    await client.close();
  });

  inEveryWay("the eleventh round is refused: limits.inputRounds", async (client, server) => {
    const error = await assertRejects(() => client.callTool("ask", { rounds: 11 }), LimitExceededError);
    assertEquals([error.limit, error.value, server.calls("ask")], ["limits.inputRounds", 10, 1]);
  }, { client: { handlers: counting }, ...modernWays });

  inEveryWay("the rounds are an option, and exactly as many are allowed", async (client) => {
    assertEquals(JSON.parse(textOf(await client.callTool("ask", { rounds: 2 })) ?? "").length, 2);
    await assertRejects(() => client.callTool("ask", { rounds: 3 }), LimitExceededError);
  }, { client: { handlers: counting, limits: { inputRounds: 2 } }, ...modernWays });

  test("rounds that only hand over a state are paced (C-202 C-209)", async () => {
    const clock = new VirtualClock();
    const server = createModernServer();
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
    const before = clock.monotonic();
    assertEquals(textOf(await clock.until(client.callTool("later", { rounds: 4 }))), "here you are");
    const passed = clock.monotonic() - before;
    assert(passed >= 4 * 50 && passed <= 4 * 250, `${passed} ms`);
    await client.close();
    assertEquals([server.count("tools/call"), server.calls("later"), server.violations], [5, 1, []]);
  });

  test("one deadline for all rounds; giving up between two of them sends nothing more (C-209)", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const handlers: Handlers = {
      elicitation: (_, { signal }) => {
        const answer = new Promise<{ action: "cancel" }>((resolve) => {
          signal.addEventListener("abort", () => resolve({ action: "cancel" }));
        });
        setTimeout(() => controller.abort(reason), 0);
        return answer;
      },
    };
    await withModern(async (client, server) => {
      const { signal } = controller;
      assertEquals(await assertRejects(() => client.callTool("ask", {}, { signal })), reason);
      await new Promise((resolve) => setTimeout(resolve, 2));
      assertEquals(server.count("tools/call"), 1);
    }, { client: { handlers } });
  });
});

/** A modern server whose tool asks for these, once. */
function asking(inputRequests: Record<string, InputRequest>) {
  const done: JsonObject = { resultType: "complete", content: [{ type: "text", text: "done" }] };
  return front(createModernServer(), (seen, count) => {
    if (seen.method !== "tools/call") return undefined;
    const requests = inputRequests as unknown as JsonObject;
    return resultReply(seen, count === 1 ? { resultType: "input_required", inputRequests: requests } : done);
  });
}

const questions = (count: number): Record<string, InputRequest> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, form]));

describe("what a server must not ask", () => {
  const elicitation: Handlers = { elicitation: () => ({ action: "accept", content: {} }) };
  const message = { role: "user", content: { type: "text", text: "hi" } };
  const sampling: Handlers = {
    sampling: () => ({ role: "assistant", model: "m", content: { type: "text", text: "x" } }),
  };
  const cases: [string, Handlers, Record<string, InputRequest>][] = [
    ["a kind that was not declared (C-207)", elicitation, { a: { method: "roots/list" } }],
    ["a page when only forms were declared (C-207)", elicitation, {
      a: { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://x.example/" } },
    }],
    ["a mode that nobody knows", elicitation, {
      a: { method: "elicitation/create", params: { mode: "voice", message: "?" } },
    }],
    ["what is no question", elicitation, { a: form, b: null as never }],
    ["more than a thousand things at once", elicitation, questions(1_001)],
    ["for a sample of nothing", sampling, { a: { method: "sampling/createMessage", params: null as never } }],
    ["a method that nobody knows", elicitation, { a: { method: "com.example/ask" } }],
    ["tools in sampling that were not declared (C-226)", sampling, {
      a: {
        method: "sampling/createMessage",
        params: { messages: [message], maxTokens: 1, tools: [{ name: "t", inputSchema: {} }] },
      },
    }],
    ["tool results mixed with text (C-229)", sampling, {
      a: {
        method: "sampling/createMessage",
        params: {
          messages: [{
            role: "user",
            content: [{ type: "tool_result", toolUseId: "1", content: [] }, message.content],
          }],
          maxTokens: 1,
        },
      },
    }],
  ];
  for (const [name, handlers, requests] of cases) {
    test(`${name}: the call fails, nothing is answered`, async () => {
      const server = asking(requests);
      await using client = await connect(url, { fetch: memoryFetch(server), handlers });
      await assertRejects(() => client.callTool("echo", { text: "hi" }), McpError);
      assertEquals(server.methods, ["server/discover", "tools/call"]);
    });
  }

  test("a thousand things at once are asked", async () => {
    let asked = 0;
    const handlers: Handlers = {
      elicitation: () => {
        asked++;
        return { action: "cancel" };
      },
    };
    await using client = await connect(url, { fetch: memoryFetch(asking(questions(1_000))), handlers });
    assertEquals([textOf(await client.callTool("echo", { text: "hi" })), asked], ["done", 1_000]);
  });

  test("one question of two that cannot be answered: the user is not asked the other", async () => {
    let bothered = 0;
    const handlers: Handlers = {
      elicitation: () => {
        bothered++;
        return { action: "accept", content: {} };
      },
    };
    const server = asking({ a: form, b: { method: "roots/list" } });
    await using client = await connect(url, { fetch: memoryFetch(server), handlers });
    await assertRejects(() => client.callTool("echo", { text: "hi" }), ProtocolViolationError);
    assertEquals([bothered, server.methods.length], [0, 2]);
  });

  test("a client without handlers is never asked; if it is, the call fails", async () => {
    const server = asking({ a: form });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    await assertRejects(() => client.callTool("echo", { text: "hi" }), ProtocolViolationError);
    assertEquals(server.methods.length, 2);
  });
});

describe("input that comes later, from elsewhere", () => {
  const declared: Options = { capabilities: { elicitation: { form: {} } } };

  async function stopped(client: Client, work: () => Promise<unknown>): Promise<PendingInput> {
    const error = await assertRejects(work, InputRequiredError);
    assertEquals([error.delivery, error.server], ["answered", client.label]);
    return JSON.parse(JSON.stringify(error.pending));
  }

  test("a call stops, travels as JSON, and another client finishes it", async () => {
    const server = createModernServer();
    const options = { fetch: memoryFetch(server), ...declared };
    const first = await connect(url, options);
    const pending = await stopped(first, () => first.callTool("ask", { rounds: 2 }));
    await first.close();
    assertEquals([pending.method, Object.keys(pending.inputRequests)], ["tools/call", ["name_1"]]);

    const second = await connect(url, options);
    const answer = { action: "accept", content: { name: "Grace" } };
    const next = await stopped(second, () => second.resume(pending, { name_1: answer }));
    assertEquals(Object.keys(next.inputRequests), ["name_2"]);
    const result = await second.resume(next, { name_2: { ...answer, content: { name: "Ada" } } });
    assertEquals(textOf(result), '["Grace","Ada"]');
    await second.close();
    assertEquals([server.calls("ask"), server.violations], [1, []]);
  });

  test("prompts and resources too", () =>
    withModern(async (client) => {
      const answers = { name: { action: "accept", content: { name: "Grace" } } };
      const prompt = await stopped(client, () => client.getPrompt("ask_prompt"));
      const { messages } = await client.resume<Awaited<ReturnType<Client["getPrompt"]>>>(prompt, answers);
      assertEquals(messages[0]?.content, { type: "text", text: 'For {"name":"Grace"}' });
      const resource = await stopped(client, () => client.readResource("test://ask"));
      const { contents } = await client.resume<Awaited<ReturnType<Client["readResource"]>>>(resource, answers);
      assertEquals(contents[0]?.text, '{"name":"Grace"}');
    }, { client: declared }));

  test("a client with a handler goes on by itself after the first answer", () =>
    withModern(async (client, server) => {
      const pending = await stopped(client, () => client.callTool("ask", { rounds: 3 }));
      const handlers: Handlers = { elicitation: () => ({ action: "accept", content: { name: "by hand" } }) };
      await using other = await connect(url, { fetch: memoryFetch(server), handlers });
      const result = await other.resume(pending, { name_1: { action: "accept", content: { name: "first" } } });
      assertEquals(textOf(result), '["first","by hand","by hand"]');
    }, { client: declared }));

  test("an answer that is missing is a TypeError, before anything is sent", () =>
    withModern(async (client, server) => {
      const pending = await stopped(client, () => client.callTool("ask_many"));
      const before = server.log.length;
      await assertRejects(() => client.resume(pending, { first: { action: "cancel" } }), TypeError, "last");
      assertEquals(server.log.length, before);
    }, { client: declared }));

  test("the rounds are counted over all clients", () =>
    withModern(async (client) => {
      const pending = await stopped(client, () => client.callTool("ask", { rounds: 3 }));
      const answer = { action: "accept", content: { name: "x" } };
      await assertRejects(() => client.resume({ ...pending, round: 10 }, { name_1: answer }), LimitExceededError);
    }, { client: declared }));
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, UrlElicitationRequiredError } from "../../../mod.ts";
import type { Client, HandlerContext, Handlers, LogMessage } from "../../../mod.ts";
import type { JsonObject } from "../../servers/core/wire.ts";
import type { LegacySession } from "../../servers/core/legacy_session.ts";
import { handshaking } from "../played.ts";
import { eventReply, type Options, textOf, turns, until, withLegacy, withPipe } from "../support.ts";

/** A handshake server's own requests, over both bindings. */
function onBoth(
  name: string,
  client: Options,
  run: (client: Client, session: () => LegacySession, calls: (tool: string) => number) => Promise<void>,
): void {
  test(`${name} (HTTP)`, () =>
    withLegacy((client, server) => run(client, () => server.session() as LegacySession, (tool) => server.calls(tool)), {
      client,
    }));
  test(`${name} (pipe)`, () =>
    withPipe((client, { server }) => run(client, () => server.session, (tool) => server.calls(tool)), {
      server: { era: "legacy" },
      client,
    }));
}

const text = { role: "user", content: { type: "text", text: "hi" } };
const toolUse = { role: "assistant", content: { type: "tool_use", id: "1", name: "t", input: {} } };
const toolResult = { role: "user", content: [{ type: "tool_result", toolUseId: "1", content: [] }] };
const form: JsonObject = { message: "Name?", requestedSchema: { type: "object", properties: {} } };
const all: Handlers = {
  elicitation: () => ({ action: "accept", content: { name: "Grace" } }),
  sampling: () => ({ role: "assistant", model: "m", content: { type: "text", text: "x" } }),
  roots: [{ uri: "file:///work" }],
};

const circle: JsonObject = { name: "Grace" };
circle.self = circle;
onBoth("an answer that is no JSON is told as one that could not be given, and leaves nothing in work", {
  handlers: { elicitation: () => ({ action: "accept", content: circle }) },
  timeouts: { idle: 10_000 },
}, async (client) => {
  for (let round = 0; round < 2; round++) {
    assertEquals(textOf(await client.callTool("ask")), "the client refused: -32603 The client could not answer");
  }
});

/** A client of a handshake server that asks such questions, and then answers the call. */
function askedBy(questions: readonly JsonObject[], handlers: Handlers): Promise<Client> {
  return connect("http://fake.test/mcp", {
    stream: false,
    handlers,
    fetch: async (_, { body }) => {
      const { id, method } = JSON.parse(await new Response(body ?? "{}").text());
      const info = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } };
      if (method === "initialize") return Response.json({ jsonrpc: "2.0", id, result: info });
      if (method !== "tools/call") return new Response(null, { status: id === undefined ? 202 : 400 });
      return eventReply([...questions, { jsonrpc: "2.0", id, result: { content: [] } }]);
    },
  });
}

test("a call that ends takes back all that was asked during it, and nothing of it stays (HTTP)", async () => {
  const signals: AbortSignal[] = [];
  const asks = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "elicitation/create", params: form }));
  const client = await askedBy(asks, {
    elicitation: (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    },
  });
  await client.callTool("asks_twice");
  await turns();
  assertEquals(signals.map(({ aborted }) => aborted), [true, true]);
  // The same ids again: a server without sessions begins anew with each call.
  await client.callTool("asks_twice");
  await turns();
  assertEquals(signals.map(({ aborted }) => aborted), [true, true, true, true]);
  await client.close();
});

test("a call that is given up takes back its own questions, and no other's (HTTP)", async () => {
  const signals: AbortSignal[] = [];
  const answers: (() => void)[] = [];
  const elicitation: Handlers["elicitation"] = async (_, { signal }) => {
    signals.push(signal);
    await new Promise<void>((resolve) => answers.push(resolve));
    return { action: "accept", content: { name: "Grace" } };
  };
  await withLegacy(async (client) => {
    const first = client.callTool("ask");
    await until(() => answers.length === 1);
    const controller = new AbortController();
    const second = client.callTool("ask", {}, { signal: controller.signal });
    await until(() => answers.length === 2);
    controller.abort("enough");
    assertEquals(await second.catch((reason) => reason), "enough");
    await turns();
    assertEquals(signals.map(({ aborted }) => aborted), [false, true]);
    answers[0]?.();
    assertEquals(textOf(await first), '["Grace"]');
  }, { client: { handlers: { elicitation } } });
});

test("a call in which the server asks very often ends as any other (HTTP)", async () => {
  const asks = Array.from({ length: 50_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "roots/list" }));
  const client = await askedBy(asks, { roots: [] });
  assertEquals(await client.callTool("asks_often"), { content: [] });
  await client.close();
});

describe("what a handshake server asks on its own account", () => {
  onBoth(
    "ping is answered, also by a client without any handler for it (C-143)",
    { handlers: { log() {} } },
    async (_, session) => {
      assertEquals(await session().ask("ping"), {});
    },
  );

  onBoth(
    "elicitation, sampling and roots are answered by the same handlers (C-116)",
    { handlers: all },
    async (_, session) => {
      assertEquals(await session().ask("elicitation/create", form), { action: "accept", content: { name: "Grace" } });
      assertEquals((await session().ask("sampling/createMessage", { messages: [text], maxTokens: 1 })).model, "m");
      const messages = [text, toolUse, toolResult];
      assertEquals((await session().ask("sampling/createMessage", { messages, maxTokens: 1 })).model, "m");
      assertEquals(await session().ask("roots/list"), { roots: [{ uri: "file:///work" }] });
    },
  );

  const refusals: [string, Handlers, string, JsonObject, number][] = [
    ["roots without roots (C-241)", { elicitation: all.elicitation }, "roots/list", {}, -32601],
    [
      "sampling without a handler",
      { elicitation: all.elicitation },
      "sampling/createMessage",
      { messages: [text] },
      -32601,
    ],
    ["a method that nobody knows", all, "com.example/dance", {}, -32601],
    ["a page when only forms were declared (C-222)", all, "elicitation/create", { ...form, mode: "url" }, -32602],
    ["a mode that nobody knows (C-222)", all, "elicitation/create", { ...form, mode: "voice" }, -32602],
    ["tools in sampling that were not declared (C-226)", all, "sampling/createMessage", {
      messages: [text],
      maxTokens: 1,
      tools: [{ name: "t", inputSchema: {} }],
    }, -32602],
    ["a choice of tools that were not declared (C-226)", all, "sampling/createMessage", {
      messages: [text],
      toolChoice: { mode: "auto" },
    }, -32602],
    ["messages that are no list", all, "sampling/createMessage", { messages: "hi" }, -32602],
    ["a tool use without its result (C-229)", all, "sampling/createMessage", { messages: [toolUse, text] }, -32602],
    ["a tool result without its use (C-229)", all, "sampling/createMessage", { messages: [toolResult] }, -32602],
    ["a tool result that the model said (C-229)", all, "sampling/createMessage", {
      messages: [toolUse, { ...toolResult, role: "assistant" }],
    }, -32602],
    ["tool results mixed with text (C-229)", all, "sampling/createMessage", {
      messages: [{ role: "user", content: [{ type: "tool_result", toolUseId: "1", content: [] }, text.content] }],
      maxTokens: 1,
    }, -32602],
    ["a tool result for nothing (C-229)", all, "sampling/createMessage", {
      messages: [{ role: "user", content: [{ type: "tool_result", toolUseId: "1", content: [] }] }],
      maxTokens: 1,
    }, -32602],
    [
      "a sampling request that the user refuses (C-232)",
      { ...all, sampling: () => undefined },
      "sampling/createMessage",
      {
        messages: [text],
        maxTokens: 1,
      },
      -1,
    ],
    ["a handler that fails", { roots: () => Promise.reject(new Error("secret detail")) }, "roots/list", {}, -32603],
  ];
  for (const [name, handlers, method, params, code] of refusals) {
    onBoth(`${name}: refused with ${code}`, { handlers }, async (_, session) => {
      const error = await assertRejects(() => session().ask(method, params), Error, String(code));
      assert(!error.message.includes("secret detail"), "what broke inside the client is its own affair");
    });
  }

  let answer = () => {};
  const slow: Handlers = {
    elicitation: async () => {
      await new Promise<void>((resolve) => answer = resolve);
      return { action: "accept", content: { name: "slow" } };
    },
  };
  onBoth(
    "a ping is answered while a handler sleeps, and other calls go on",
    { handlers: slow },
    async (client, session, calls) => {
      const asking = client.callTool("ask");
      await until(() => calls("ask") === 1);
      await turns();
      assertEquals(await session().ask("ping"), {});
      assertEquals(textOf(await client.callTool("echo", { text: "meanwhile" })), "meanwhile");
      answer();
      assertEquals(textOf(await asking), '["slow"]');
    },
  );

  const contexts: HandlerContext[] = [];
  const waiting: Handlers = {
    elicitation: (_, context) => {
      contexts.push(context);
      return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve({ action: "cancel" })));
    },
  };
  onBoth("a question that the server withdraws: the handler's signal is aborted, no answer is sent", {
    handlers: waiting,
  }, async (client, _, calls) => {
    contexts.length = 0;
    const controller = new AbortController();
    const call = assertRejects(() => client.callTool("ask", {}, { signal: controller.signal }));
    await until(() => calls("ask") === 1 && contexts.length === 1);
    assertEquals([contexts[0]?.server, contexts[0]?.signal.aborted], [client.label, false]);
    controller.abort(new Error("enough"));
    await call;
    await until(() => contexts[0]?.signal.aborted === true);
    await turns();
  });

  onBoth("a client that is closed calls its handlers off", { handlers: waiting }, async (client, session) => {
    contexts.length = 0;
    const asked = session().ask("elicitation/create", form).catch(() => "gone");
    await until(() => contexts.length === 1);
    await client.close();
    assertEquals(contexts[0]?.signal.aborted, true);
    assertEquals(await asked, "gone");
  });

  const lines: LogMessage[] = [];
  onBoth(
    "log lines that belong to no call reach the handler",
    { handlers: { log: (line) => void lines.push(line) } },
    async (client) => {
      lines.length = 0;
      await client.callTool("log", { count: 2 });
      await until(() => lines.length === 2);
      assertEquals(lines.map(({ data }) => data), ["line 0", "line 1"]);
    },
  );

  const failures: unknown[] = [];
  onBoth(
    "a log handler that fails, at once or later, is told of and breaks nothing",
    {
      handlers: {
        log: ({ data }) => {
          const error = new Error(String(data));
          if (data === "line 0") throw error;
          return Promise.reject(error);
        },
      },
      logger: ({ fields }) => void failures.push(fields?.error),
    },
    async (client) => {
      failures.length = 0;
      await client.callTool("log", { count: 2 });
      await until(() => failures.length === 2);
      assertEquals(failures.map(String), ["Error: line 0", "Error: line 1"]);
    },
  );

  test("a ping before notifications/initialized is answered (C-143)", async () => {
    const { transport, seen } = handshaking(({ method }, send) => {
      if (method === "initialize") send({ jsonrpc: "2.0", id: 77, method: "ping" });
    });
    await using client = await connect(transport);
    assertEquals(client.era, "legacy");
    const pong = seen.findIndex(({ id }) => id === 77);
    assertEquals(seen[pong], { jsonrpc: "2.0", id: 77, result: {} });
    assert(pong < seen.findIndex(({ method }) => method === "notifications/initialized"));
  });

  test("a question that comes twice (a resumed stream) is asked and answered once", async () => {
    const server = handshaking(() => {});
    let bothered = 0;
    let answer = () => {};
    const elicitation: Handlers["elicitation"] = async () => {
      bothered++;
      await new Promise<void>((resolve) => answer = resolve);
      return { action: "cancel" };
    };
    await using client = await connect(server.transport, { handlers: { elicitation } });
    const question: JsonObject = { jsonrpc: "2.0", id: 5, method: "elicitation/create", params: form };
    server.send(question, question);
    await until(() => bothered > 0);
    server.send(question);
    await turns();
    answer();
    await turns();
    assertEquals([client.era, bothered, server.seen.filter(({ id }) => id === 5).length], ["legacy", 1, 1]);
  });
});

describe("-32042 of 2025-11-25: pages first, then again (C-221)", () => {
  const visits: string[] = [];
  const visiting: Handlers = {
    elicitationUrl: ({ url = "", elicitationId = "" }) => {
      visits.push(`${elicitationId} ${url}`);
      return { action: "accept" };
    },
  };

  onBoth(
    "the user visits, the server says when it is done, the call is repeated",
    { handlers: visiting },
    async (client, session, calls) => {
      visits.length = 0;
      const call = client.callTool("ask_url");
      await until(() => visits.length === 1);
      await turns();
      assertEquals(calls("ask_url"), 1);
      session().completeElicitation("somebody-elses");
      await turns();
      assertEquals(calls("ask_url"), 1, "a notice for another page changes nothing (C-220)");
      session().completeElicitation("sign-1");
      assertEquals(textOf(await call), "signed");
      assertEquals([visits, calls("ask_url")], [["sign-1 https://example.com/sign"], 2]);
      session().completeElicitation("sign-1");
    },
  );

  onBoth("two calls wait for one page: both go on when it is done", { handlers: visiting }, async (client, session) => {
    visits.length = 0;
    const calls = [client.callTool("ask_url"), client.callTool("ask_url")];
    await until(() => visits.length === 2);
    await turns();
    session().completeElicitation("sign-1");
    assertEquals((await Promise.all(calls)).map(textOf), ["signed", "signed"]);
  });

  for (const action of ["decline", "cancel"] as const) {
    onBoth(`the user says ${action}: the server's error reaches the caller`, {
      handlers: { elicitationUrl: () => ({ action }) },
    }, async (client, _, calls) => {
      await assertRejects(() => client.callTool("ask_url"), UrlElicitationRequiredError);
      assertEquals(calls("ask_url"), 1);
    });
  }

  onBoth("without a handler the caller gets the pages", { handlers: { log() {} } }, async (client) => {
    const error = await assertRejects(() => client.callTool("ask_url"), UrlElicitationRequiredError);
    assertEquals((error.data as { elicitations: { url: string }[] }).elicitations[0]?.url, "https://example.com/sign");
  });

  onBoth("giving up while the user is away ends the call", { handlers: visiting }, async (client) => {
    visits.length = 0;
    const reason = new Error("too long");
    const controller = new AbortController();
    const call = assertRejects(() => client.callTool("ask_url", {}, { signal: controller.signal }));
    await until(() => visits.length === 1);
    await turns();
    controller.abort(reason);
    assertEquals(await call, reason);
  });
});

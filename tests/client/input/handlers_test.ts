import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createSchemaValidator, InputRequiredError, InvalidParamsError, MissingCapabilityError } from "../../../mod.ts";
import type { Client, CreateMessageRequest, HandlerContext, Handlers, LogRecord } from "../../../mod.ts";
import { answerSampling } from "../../../src/client/input/sampling.ts";
import { objectAt } from "../../servers/core/wire.ts";
import { inEveryWay, paramsOf, textOf, withLegacy, withModern } from "../support.ts";
import type { Options } from "../support.ts";
import { stopwatch } from "../../support/clocks/stopwatch.ts";

const asked: unknown[] = [];
const accept = (name: string): Handlers => ({ elicitation: () => ({ action: "accept", content: { name } }) });
const withHandlers = (handlers: Handlers): { client: Options } => ({ client: { handlers } });

describe("forms", () => {
  inEveryWay("the user's answer reaches the tool", async (client) => {
    assertEquals(textOf(await client.callTool("ask")), '["Grace"]');
  }, withHandlers(accept("Grace")));

  inEveryWay("what the user leaves out gets its default (C-215)", async (client) => {
    assertEquals(textOf(await client.callTool("ask")), '["Ada"]');
  }, withHandlers({ elicitation: () => ({ action: "accept" }) }));

  inEveryWay(
    "the handler sees the question, who asks, and a signal (C-211)",
    async (client, _, way) => {
      asked.length = 0;
      await client.callTool("ask");
      const [request, context, aborted] = asked as [Record<string, unknown>, HandlerContext, boolean];
      assertEquals([request.message, request.mode ?? "form"], ["Name number 1?", "form"]);
      assertEquals(objectAt(request.requestedSchema as never, "properties").name, {
        type: "string",
        title: "Name",
        default: "Ada",
      });
      assertEquals([context.server, aborted], [client.label, false]);
      if (way.startsWith("modern")) assertEquals(context.method, "tools/call");
    },
    withHandlers({
      elicitation: (request, context) => {
        asked.push(request, context, context.signal.aborted);
        return { action: "accept" };
      },
    }),
  );

  const wrongForm = {
    client: {
      handlers: { elicitation: () => ({ action: "accept" as const, content: { name: 7 } }) },
      validator: createSchemaValidator(),
    },
  };

  test("an answer that does not fit the form is not sent: modern (C-215)", () =>
    withModern(async (client, server) => {
      const error = await assertRejects(() => client.callTool("ask"), TypeError);
      assertEquals(error.message, 'Cannot send the answer to "Name number 1?": "/name" must be of the type string');
      assertEquals(paramsOf(server, "tools/call").length, 1);
    }, wrongForm));

  const wrongAction = { client: { handlers: { elicitation: () => ({ action: "accepted" as "accept" }) } } };

  test("an answer with an action that there is not, is not sent: modern", () =>
    withModern(async (client, server) => {
      const error = await assertRejects(() => client.callTool("ask"), TypeError);
      assertEquals(
        error.message,
        'Cannot send the answer to "Name number 1?": "action" is not accept, decline or cancel',
      );
      assertEquals(paramsOf(server, "tools/call").length, 1);
    }, wrongAction));

  test("an answer that does not fit the form is not sent: legacy (C-215)", () =>
    withLegacy(async (client, server) => {
      await client.callTool("ask");
      const errors = server.log.flatMap(({ message }) => message?.error ? [objectAt(message as never, "error")] : []);
      assertEquals(errors, [{ code: -32603, message: "The client could not answer" }]);
    }, wrongForm));

  test("why a question got no answer is told to the operator alone: legacy", async () => {
    const told: LogRecord[] = [];
    const options = { ...wrongForm.client, logger: (entry: LogRecord) => void told.push(entry) };
    await withLegacy((client) => client.callTool("ask").then(() => {}), { client: options });
    const last = told.at(-1);
    assertEquals([last?.level, last?.message], ["warning", 'Could not answer "elicitation/create"']);
    assert(last?.fields?.error instanceof TypeError);
  });

  inEveryWay("an answer to a form that cannot be checked goes out as it is", async (client) => {
    assertEquals(textOf(await client.callTool("ask")), '["Grace"]');
  }, {
    client: {
      handlers: accept("Grace"),
      validator: () => {
        throw new TypeError("Cannot use the schema");
      },
    },
  });

  inEveryWay("an answer that fits is sent, defaults included (C-215)", async (client) => {
    assertEquals(textOf(await client.callTool("ask")), '["Ada"]');
  }, { client: { handlers: { elicitation: () => ({ action: "accept" }) }, validator: createSchemaValidator() } });

  for (const action of ["decline", "cancel"] as const) {
    inEveryWay(`${action} is an answer, and carries no content (C-208 C-214)`, async (client, server, way) => {
      const result = await client.callTool("ask");
      assertEquals([result.isError, textOf(result)], [true, `the user said ${action}`]);
      const answers = way.startsWith("modern")
        ? [objectAt(paramsOf(server, "tools/call")[1] ?? {}, "inputResponses").name_1]
        : server.log.flatMap(({ message }) => message?.method === undefined && message?.result ? [message.result] : []);
      assertEquals(answers, [{ action }]);
    }, withHandlers({ elicitation: () => ({ action, content: { name: "leaked" } }) }));
  }

  inEveryWay(
    "three questions at once are all answered, each under its key (C-201)",
    async (client) => {
      const answers = JSON.parse(textOf(await client.callTool("ask_many")) ?? "");
      const names = Object.entries(answers).map(([key, answer]) => [key, objectAt(answer as never, "content").name]);
      assertEquals(names.sort(), [["first", "your first"], ["key with spaces é", "your nickn"], [
        "last",
        "your last ",
      ]]);
    },
    withHandlers({
      elicitation: ({ message }) => ({ action: "accept", content: { name: message.toLowerCase().slice(0, 10) } }),
    }),
  );

  for (const revision of ["2025-06-18", "2025-11-25"]) {
    test(`a question without a mode is a form: ${revision} (C-213)`, () =>
      withLegacy(async (client) => {
        assertEquals(textOf(await client.callTool("ask")), '["Grace"]');
      }, { ...withHandlers(accept("Grace")), server: { revision } }));
  }

  inEveryWay(
    "a handler may take its time and be asynchronous",
    async (client) => {
      assertEquals(textOf(await client.callTool("ask")), '["late"]');
    },
    withHandlers({
      elicitation: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return { action: "accept", content: { name: "late" } };
      },
    }),
  );

  inEveryWay("prompts and resources may ask too", async (client) => {
    const { messages: [message] } = await client.getPrompt("ask_prompt");
    assertEquals(message?.content, { type: "text", text: 'For {"name":"Grace"}' });
    assertEquals((await client.readResource("test://ask")).contents[0]?.text, '{"name":"Grace"}');
  }, withHandlers(accept("Grace")));

  let nested: Client | undefined;
  inEveryWay(
    "a handler may call the client itself while its call waits",
    async (client) => {
      nested = client;
      assertEquals(textOf(await client.callTool("ask")), '["inner echo"]');
    },
    withHandlers({
      elicitation: async () => {
        const result = await nested?.callTool("echo", { text: "inner echo" });
        return { action: "accept", content: { name: result ? textOf(result) ?? "" : "" } };
      },
    }),
  );

  inEveryWay("a handler that fails, fails the call and nothing else", async (client, _, way) => {
    if (way.startsWith("modern")) await assertRejects(() => client.callTool("ask"), RangeError, "broken handler");
    else assertEquals((await client.callTool("ask")).isError, true);
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
  }, withHandlers({ elicitation: () => Promise.reject(new RangeError("broken handler")) }));
});

describe("pages to visit", () => {
  const seen: string[] = [];
  const elicitationUrl: Handlers["elicitationUrl"] = ({ url = "" }) => {
    seen.push(url);
    return { action: "accept", content: { never: "sent" } };
  };

  inEveryWay(
    "the user is shown the whole URL; accept carries no content (C-214 C-217)",
    async (client, server, way) => {
      seen.length = 0;
      assertEquals(textOf(await client.callTool("ask", { mode: "url" })), '["visited"]');
      assertEquals(seen, ["https://example.com/form"]);
      if (way.startsWith("modern")) {
        const answer = objectAt(paramsOf(server, "tools/call")[1] ?? {}, "inputResponses").name_1;
        assertEquals(answer, { action: "accept" });
      }
    },
    withHandlers({ elicitationUrl }),
  );

  test("modern: a page that has to be visited first", () =>
    withModern(async (client) => {
      assertEquals(textOf(await client.callTool("ask_url")), "signed");
    }, withHandlers({ elicitationUrl })));
});

describe("sampling and roots (deprecated)", () => {
  const sampling: Handlers["sampling"] = ({ messages, maxTokens }) => {
    const [first] = messages;
    const content = first && !Array.isArray(first.content) && first.content.type === "text" ? first.content.text : "";
    return { role: "assistant", model: "tiny", content: { type: "text", text: `${content}! (${maxTokens})` } };
  };

  inEveryWay("the client's model answers", async (client) => {
    const result = JSON.parse(textOf(await client.callTool("sample", { prompt: "Hello" })) ?? "");
    assertEquals([result.content.text, result.model, result.role], ["Hello! (100)", "tiny", "assistant"]);
  }, withHandlers({ sampling }));

  inEveryWay("a refusal fails the call and is not repeated (C-208 C-232 C-233)", async (client, server, way) => {
    if (way.startsWith("modern")) {
      const error = await assertRejects(() => client.callTool("sample"), InputRequiredError);
      assertEquals(error.pending, undefined);
    } else {
      const result = await client.callTool("sample");
      assertEquals(result.isError, true);
      assert(textOf(result)?.includes("-1"), textOf(result) ?? "");
    }
    assertEquals([server.count("tools/call"), server.calls("sample")], [1, 1]);
  }, withHandlers({ sampling: () => undefined }));

  inEveryWay("tools are declared when the handler takes them (C-226)", async (client) => {
    const result = JSON.parse(textOf(await client.callTool("sample", { tools: true })) ?? "");
    assertEquals(result.model, "tiny");
  }, withHandlers({ sampling, samplingTools: true }));

  inEveryWay("roots are told, from a list", async (client) => {
    const roots = JSON.parse(textOf(await client.callTool("list_roots")) ?? "");
    assertEquals(roots, { roots: [{ uri: "file:///work", name: "work" }] });
  }, withHandlers({ roots: [{ uri: "file:///work", name: "work" }] }));

  let current = "file:///one";
  inEveryWay("roots are told, from a function that is asked each time", async (client) => {
    for (const uri of ["file:///one", "file:///two"]) {
      current = uri;
      const roots = JSON.parse(textOf(await client.callTool("list_roots")) ?? "");
      assertEquals(roots.roots, [{ uri }]);
    }
  }, withHandlers({ roots: () => [{ uri: current }] }));

  inEveryWay("a root that is no file: is never told (C-238)", async (client, server, way) => {
    if (way.startsWith("modern")) await assertRejects(() => client.callTool("list_roots"), TypeError, "https://secret");
    else assertEquals((await client.callTool("list_roots")).isError, true);
    for (const { message } of server.log) assert(!JSON.stringify(message ?? {}).includes("https://secret"));
  }, withHandlers({ roots: [{ uri: "https://secret.example/" }] }));
});

describe("what is declared", () => {
  const all: Handlers = {
    elicitation: () => ({ action: "cancel" }),
    elicitationUrl: () => ({ action: "cancel" }),
    sampling: () => undefined,
    samplingTools: true,
    roots: [],
  };
  const cases: [string, Handlers | undefined, Record<string, unknown>][] = [
    ["nothing without handlers", undefined, {}],
    ["nothing for a log handler", { log() {} }, {}],
    ["forms", accept("x"), { elicitation: { form: {} } }],
    ["pages", { elicitationUrl: () => ({ action: "cancel" }) }, { elicitation: { url: {} } }],
    ["sampling without tools", { sampling: () => undefined }, { sampling: {} }],
    ["all of it", all, { elicitation: { form: {}, url: {} }, sampling: { tools: {} } }],
  ];
  for (const [name, handlers, expected] of cases) {
    inEveryWay(`${name} (C-040 C-041 C-042 C-212)`, async (client, server, way) => {
      await client.listTools();
      const got = way.startsWith("modern")
        ? server.log.map(({ message }) => {
          const meta = objectAt(objectAt(message ?? {}, "params"), "_meta");
          return objectAt(meta, "io.modelcontextprotocol/clientCapabilities");
        })
        : [objectAt(paramsOf(server, "initialize")[0] ?? {}, "capabilities")];
      assert(got.length > 0);
      for (const capabilities of got) {
        const { roots, ...rest } = capabilities;
        assertEquals(rest, expected as typeof rest);
        assertEquals(roots !== undefined, handlers?.roots !== undefined);
      }
    }, { client: { ...(handlers && { handlers }), stream: false } });
  }

  inEveryWay("a tool that needs what was not declared: an error that says what (C-047)", async (client, _, way) => {
    if (way.startsWith("modern")) {
      const error = await assertRejects(() => client.callTool("ask"), MissingCapabilityError);
      assertEquals(error.data, { requiredCapabilities: { elicitation: { form: {} } } });
    } else assertEquals((await client.callTool("ask")).isError, true);
  });

  test("roots.listChanged is declared to handshake servers, and does not exist in 2026-07-28 (C-240 C-242)", async () => {
    const sides = withHandlers({ roots: [{ uri: "file:///work" }] });
    await withLegacy(async (client, server) => {
      await client.ping();
      assertEquals(objectAt(paramsOf(server, "initialize")[0] ?? {}, "capabilities").roots, { listChanged: true });
    }, sides);
    await withModern(async (client, server) => {
      await client.listTools();
      const meta = objectAt(paramsOf(server, "tools/list")[0] ?? {}, "_meta");
      assertEquals(objectAt(meta, "io.modelcontextprotocol/clientCapabilities").roots, {});
    }, sides);
  });
});

describe("results of tools in a server's question to the model", () => {
  const ask = (uses: readonly string[], results: readonly string[]) => {
    const request = {
      messages: [
        { role: "assistant", content: uses.map((id) => ({ type: "tool_use", id, name: "t", input: {} })) },
        { role: "user", content: results.map((toolUseId) => ({ type: "tool_result", toolUseId, content: [] })) },
      ],
      maxTokens: 1,
    };
    const result = { role: "assistant", model: "m", content: { type: "text", text: "yes" } } as const;
    const answer = answerSampling({ sampling: () => result }, request as unknown as CreateMessageRequest);
    return answer!({ server: "s", signal: new AbortController().signal });
  };

  test("each answers one use, in any order, once (C-229)", async () => {
    assertEquals((await ask(["a", "b"], ["b", "a"])).model, "m");
    for (const results of [["a"], ["a", "c"], ["a", "b", "c"], ["a", "a"], ["a", "b", "b"]]) {
      await assertRejects(() => ask(["a", "b"], results), InvalidParamsError, "each once");
    }
  });

  test("very many are held against each other in a moment", async () => {
    // Work that grows with the square takes a minute here.
    const ids = Array.from({ length: 100_000 }, (_, at) => `id-${at}`);
    const took = stopwatch();
    await ask(ids, ids.toReversed());
    assert(took() < 5_000);
  });
});

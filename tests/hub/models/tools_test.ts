/** Word for word: what each provider gets of the tools of a hub, and its calls on their way back. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import {
  runAnthropicToolUses,
  runGoogleFunctionCalls,
  runLangChainToolCalls,
  runOpenAiFunctionCalls,
  runOpenAiToolCalls,
  toAiSdkTools,
  toAnthropicTools,
  toGoogleTools,
  toLangChainMessages,
  toLangChainTools,
  toOpenAiTools,
} from "../../../src/hub/models/mod.ts";
import type { ToolProblem } from "../../../src/hub/models/mod.ts";
import { dropProperties } from "../../../src/hub/models/tools.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { turns } from "../../support/clients.ts";
import { FakeHub } from "../support/fake_hub.ts";

const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };

function createHub(): FakeHub {
  return new FakeHub({
    github: {
      tools: {
        create_issue: {
          title: "Create",
          description: "Makes an issue",
          inputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema },
        },
        me: { title: "Who am I" },
      },
    },
    mail: { tools: { send: {} } },
  });
}

const empty = { type: "object", properties: {} };

describe("tools", () => {
  test("OpenAI, chat completions", () => {
    assertEquals(toOpenAiTools(createHub()), [
      {
        type: "function",
        function: { name: "github__create_issue", description: "Makes an issue", parameters: schema },
      },
      { type: "function", function: { name: "github__me", description: "Who am I", parameters: empty } },
      { type: "function", function: { name: "mail__send", description: "send", parameters: empty } },
    ]);
  });

  test("OpenAI, responses", () => {
    assertEquals(toOpenAiTools(createHub(), { api: "responses" }).slice(0, 2), [
      {
        type: "function",
        name: "github__create_issue",
        description: "Makes an issue",
        parameters: schema,
        strict: false,
      },
      { type: "function", name: "github__me", description: "Who am I", parameters: empty, strict: false },
    ]);
  });

  test("Anthropic", () => {
    assertEquals<unknown>(toAnthropicTools(createHub()).slice(0, 2), [
      { name: "github__create_issue", description: "Makes an issue", input_schema: schema },
      { name: "github__me", description: "Who am I", input_schema: empty },
    ]);
  });

  test("Google", () => {
    assertEquals(toGoogleTools(createHub()), [{
      functionDeclarations: [
        {
          name: "github__create_issue",
          description: "Makes an issue",
          parameters: { type: "OBJECT", properties: { title: { type: "STRING" } }, required: ["title"] },
        },
        { name: "github__me", description: "Who am I" },
        { name: "mail__send", description: "send" },
      ],
    }]);
    assertEquals(toGoogleTools(new FakeHub({})), []);
  });

  test("AI SDK", () => {
    const tools = toAiSdkTools(createHub());
    assertEquals(Object.keys(tools), ["github__create_issue", "github__me", "mail__send"]);
    const { description, title, type, inputSchema } = tools["github__create_issue"] ?? {};
    assertEquals({ description, title, type }, { description: "Makes an issue", title: "Create", type: "dynamic" });
    assertEquals<unknown>(inputSchema?.jsonSchema, schema);
  });

  test("LangChain", () => {
    const [first] = toLangChainTools(createHub());
    const { func, ...rest } = first ?? {};
    assertEquals(typeof func, "function");
    assertEquals(rest, {
      name: "github__create_issue",
      description: "Makes an issue",
      schema,
      responseFormat: "content_and_artifact",
      metadata: { server: "github", tool: "create_issue" },
    });
  });

  test("one bad tool is left out and told, the others stay", () => {
    const hub = new FakeHub({
      a: {
        tools: {
          good: {},
          list: { inputSchema: { type: "array" } },
          none: { inputSchema: "no schema" as unknown as JsonObject },
          "loose": { inputSchema: { type: "object", properties: { a: 5 } } as unknown as JsonObject },
        },
      },
    });
    const problems: ToolProblem[] = [];
    const tools = toOpenAiTools(hub, { onProblem: (problem) => problems.push(problem) });
    assertEquals(tools.map((tool) => tool.function.name), ["a__good", "a__loose"]);
    const of = (tool: string) => ({ server: "a", tool, qualifiedName: `a__${tool}` });
    assertEquals(problems, [
      { ...of("list"), message: 'its inputSchema is of type "array", expected "object"', isLeftOut: true },
      { ...of("none"), message: "its inputSchema is no object", isLeftOut: true },
      { ...of("loose"), message: "/properties/a: it is no schema", isLeftOut: false },
    ]);
    for (const make of [toAnthropicTools, toAiSdkTools, toLangChainTools]) {
      assertEquals(Object.keys(make(hub)).length, 2, make.name);
    }
    assertEquals(toGoogleTools(hub)[0]?.functionDeclarations.length, 2);
  });

  test("whoever is told of a problem may fail later", async () => {
    const hub = new FakeHub({ a: { tools: { none: { inputSchema: "no schema" as unknown as JsonObject } } } });
    assertEquals(toOpenAiTools(hub, { onProblem: () => Promise.reject(new Error("the pager is down")) }), []);
    // A rejection that nobody takes fails the run.
    await turns();
  });

  test("OpenAI's bound of descriptions is kept and told", () => {
    const hub = new FakeHub({ a: { tools: { long: { description: "x".repeat(1022) + "😀😀" } } } });
    const problems: string[] = [];
    const [tool] = toOpenAiTools(hub, { onProblem: ({ message }) => problems.push(message) });
    const description = tool?.function.description ?? "";
    assertEquals(description.length, 1024);
    assert(description.isWellFormed());
    assertEquals(problems, ["its description is cut from 1026 to 1024 characters"]);
    assertEquals(toOpenAiTools(hub, { descriptionLimit: 2000 })[0]?.function.description.length, 1026);
    assertEquals(toAnthropicTools(hub)[0]?.description.length, 1026);
  });

  test("names of properties that Anthropic refuses are left out, and the tool that requires one", () => {
    const properties = { "a b": { type: "string" }, "filter[x]": { type: "string" }, ok: { type: "string" } };
    const hub = new FakeHub({
      a: {
        tools: {
          optional: { inputSchema: { type: "object", properties } },
          required: { inputSchema: { type: "object", properties, required: ["a b"] } },
        },
      },
    });
    const problems: unknown[] = [];
    const tools = toAnthropicTools(hub, { onProblem: ({ tool, message }) => problems.push([tool, message]) });
    assertEquals<unknown>(tools.map((tool) => tool.input_schema), [{
      type: "object",
      properties: { ok: { type: "string" } },
    }]);
    assertEquals(problems, [
      ["optional", 'the property "a b" is left out, since this provider refuses its name'],
      ["optional", 'the property "filter[x]" is left out, since this provider refuses its name'],
      ["required", 'it requires the property "a b", whose name this provider refuses'],
    ]);
    assertEquals(hub.findTool("a__optional")?.tool.inputSchema, { type: "object", properties });
  });

  test("what is required is looked up, and not searched for, since there may be very many", () => {
    const required = Object.assign(["ok"], { includes: () => assert(false, "it was searched for") });
    const schema = { properties: { "a b": {}, ok: {}, "c!": {} }, required };
    dropProperties(schema, /^\w+$/, () => {});
    assertEquals(schema.properties, { ok: {} } as typeof schema.properties);
  });
});

describe("the way back", () => {
  const text = 'github__create_issue got {"title":"A"}';

  test("OpenAI, chat completions", async () => {
    const hub = createHub();
    const messages = await runOpenAiToolCalls(hub, [
      { id: "c1", function: { name: "github__create_issue", arguments: '{"title":"A"}' } },
      { id: "c2" },
      { id: "c3", function: { name: "github__nothing", arguments: "" } },
    ]);
    assertEquals(messages, [
      { role: "tool", tool_call_id: "c1", content: text },
      {
        role: "tool",
        tool_call_id: "c3",
        content: 'Tool error: Cannot call "github__nothing": there is no tool of this name',
      },
    ]);
    assertEquals(await runOpenAiToolCalls(hub, undefined), []);
  });

  test("OpenAI, responses", async () => {
    const outputs = await runOpenAiFunctionCalls(createHub(), [
      { type: "reasoning" },
      { type: "function_call", call_id: "c1", name: "github__create_issue", arguments: '{"title":"A"}' },
    ]);
    assertEquals(outputs, [{ type: "function_call_output", call_id: "c1", output: text }]);
  });

  test("Anthropic", async () => {
    const message = await runAnthropicToolUses(createHub(), [
      { type: "text" },
      { type: "tool_use", id: "c1", name: "github__create_issue", input: { title: "A" } },
    ]);
    assertEquals(message, {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text }] }],
    });
  });

  test("Google", async () => {
    const content = await runGoogleFunctionCalls(createHub(), [
      {},
      { functionCall: { name: "github__create_issue", args: { title: "A" } } },
    ]);
    assertEquals(content, {
      role: "user",
      parts: [{ functionResponse: { name: "github__create_issue", response: { output: text } } }],
    });
  });

  test("LangChain, by messages and by tools", async () => {
    const hub = createHub();
    const artifact = { content: [{ type: "text" as const, text }] };
    assertEquals(await runLangChainToolCalls(hub, [{ id: "c1", name: "github__create_issue", args: { title: "A" } }]), [
      { role: "tool", content: text, tool_call_id: "c1", name: "github__create_issue", status: "success", artifact },
    ]);
    const { signal } = new AbortController();
    const [tool] = toLangChainTools(hub);
    assertEquals(await tool?.func({ title: "A" }, { signal }), [text, artifact]);
    assertEquals(await tool?.func({ title: "A" }, undefined, { signal }), [text, artifact]);
    assertEquals(hub.calls.map(({ options }) => options.signal === signal), [false, true, true]);
  });

  test("AI SDK: the signal goes down, and an abort comes up", async () => {
    const hub = createHub();
    const tools = toAiSdkTools(hub, { timeout: 9 });
    const controller = new AbortController();
    const call = { toolCallId: "c1", abortSignal: controller.signal };
    const result = await tools["github__create_issue"]?.execute({ title: "A" }, call);
    assertEquals(result, { content: [{ type: "text", text }] });
    assertEquals(hub.calls.map(({ options }) => [options.signal === controller.signal, options.timeout]), [[true, 9]]);
    controller.abort(new Error("enough"));
    const thrown = await tools["github__create_issue"]?.execute({}, call).catch((error: Error) => error.message);
    assertEquals<unknown>(thrown, "enough");
  });
});

describe("types of the providers' own packages", () => {
  test("Google: tools go where its enums are asked for", () => {
    /** As an enum: no text fits. */
    type Type = string & { readonly enum: unique symbol };
    interface Tool {
      readonly functionDeclarations?: { readonly parameters?: { readonly type?: Type; readonly maxItems?: string } }[];
    }
    const config: { readonly tools?: Tool[] } = { tools: toGoogleTools(createHub()) };
    assertEquals(config.tools?.[0]?.functionDeclarations?.length, 3);
    assertEquals(toGoogleTools(createHub())[0]?.functionDeclarations[0]?.name, "github__create_issue");
  });

  test("OpenAI: an item of the output can have no call", async () => {
    const searched: { readonly type: "tool_search_call"; readonly call_id: string | null } = {
      type: "tool_search_call",
      call_id: null,
    };
    assertEquals(await runOpenAiFunctionCalls(createHub(), [searched]), []);
  });

  test("LangChain: messages are records", async () => {
    const calls = [{ id: "1", name: "github__me", args: {} }];
    const answers: (Record<string, unknown> & { role: string })[] = await runLangChainToolCalls(createHub(), calls);
    const asked: (Record<string, unknown> & { role: string })[] = toLangChainMessages({
      messages: [{ role: "user", content: { type: "text", text: "Hello" } }],
    });
    assertEquals([...asked, ...answers].map(({ role }) => role), ["user", "tool"]);
  });
});

/** Tools, as the APIs of models take them. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Agent, aiSdkModel, openAiModel, workersAiModel } from "../../../src/agent/mod.ts";
import type { Logger } from "../../../src/ports.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { collect, ended, endpoint, hello, said, sdk } from "./support.ts";

describe("the schemas of tools are sent in the form that the APIs of models take", () => {
  const id = { type: "string" } as const;
  const byId = { properties: { id }, required: ["id"] };
  const pair: JsonObject = { type: "array", items: [id, id] };
  const schemas: Record<string, JsonObject> = {
    bare: { type: "object" },
    choice: { type: "object", anyOf: [byId, { properties: { name: id } }] },
    draft: { $schema: "http://json-schema.org/draft-07/schema#", type: "object", ...byId },
    pair: { type: "object", properties: { at: pair } },
    none: { type: "array" },
  };
  const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, description: name, inputSchema }));
  const expected = {
    bare: { type: "object", properties: {} },
    choice: { type: "object", properties: { id, name: id } },
    draft: { type: "object", ...byId },
    pair: { type: "object", properties: { at: { type: "array", items: { anyOf: [id, id] } } } },
  };
  const parametersOf = (tools: { function: { name: string; parameters: unknown } }[] | undefined) =>
    Object.fromEntries((tools ?? []).map(({ function: { name, parameters } }) => [name, parameters]));

  test("chat completions; a tool without such a form is left out", async () => {
    const { fetch, sent } = endpoint(ended(), ended());
    const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch });
    await collect(model.stream({ ...hello, tools }));
    assertEquals(parametersOf(sent[0]?.body.tools), expected);
    await collect(model.stream({ ...hello, tools: tools.slice(-1), toolChoice: "required" }));
    assertEquals([sent[1]?.body.tools, sent[1]?.body.tool_choice], [undefined, undefined]);
  });

  test("Workers AI", async () => {
    const asked: { tools?: Parameters<typeof parametersOf>[0] }[] = [];
    const run = (_: string, inputs: object) => {
      asked.push(inputs);
      return Promise.resolve({ response: "ok" });
    };
    await collect(workersAiModel({ run }, "@cf/m").stream({ ...hello, tools }));
    assertEquals(parametersOf(asked[0]?.tools), expected);
  });

  test("AI SDK", async () => {
    const { model, asked } = sdk(said("ok"));
    await collect(aiSdkModel(model).stream({ ...hello, tools }));
    const made = asked[0]?.tools as { name: string; inputSchema: unknown }[];
    assertEquals(Object.fromEntries(made.map(({ name, inputSchema }) => [name, inputSchema])), expected);
  });

  test("AI SDK: by what its providers refuse, names of properties (Anthropic) and long descriptions (OpenAI)", async () => {
    const properties = { "filter[a]": id, name: id };
    const description = "x".repeat(1_100);
    const odd = [
      { name: "odd", description, inputSchema: { type: "object", properties } },
      { name: "needs", description, inputSchema: { type: "object", properties, required: ["filter[a]"] } },
    ];
    const cases = [
      ["anthropic.messages", [["odd", ["name"], 1_100]]],
      ["vertex.anthropic.messages", [["odd", ["name"], 1_100]]],
      ["openai.responses", [["odd", ["filter[a]", "name"], 1_024], ["needs", ["filter[a]", "name"], 1_024]]],
      ["test", [["odd", ["filter[a]", "name"], 1_100], ["needs", ["filter[a]", "name"], 1_100]]],
    ] as const;
    for (const [provider, expected] of cases) {
      const { model, asked } = sdk(said("ok"));
      await collect(aiSdkModel({ ...model, provider }).stream({ ...hello, tools: odd }));
      const made = asked[0]?.tools as { name: string; description: string; inputSchema: { properties: object } }[];
      const seen = made.map(({ name, description, inputSchema }) => [
        name,
        Object.keys(inputSchema.properties),
        description.length,
      ]);
      assertEquals<unknown>(seen, expected, provider);
    }
  });

  test("once for each of them, not for each question: there may be hundreds", async () => {
    let reads = 0;
    const inputSchema = new Proxy<JsonObject>({ type: "object", properties: { id } }, {
      ownKeys: (target) => (reads++, Reflect.ownKeys(target)),
    });
    const request = () => ({ ...hello, tools: [{ name: "f", description: "f", inputSchema }] });
    const { fetch } = endpoint(ended(), ended());
    const run = () => Promise.resolve({ response: "ok" });
    const models = [
      openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch }),
      workersAiModel({ run }, "@cf/m"),
      aiSdkModel(sdk(said("ok"), said("ok")).model),
    ];
    for (const model of models) {
      await collect(model.stream(request()));
      const once = reads;
      await collect(model.stream(request()));
      assertEquals([once > 0, reads], [true, once], model.id);
      reads = 0;
    }
  });

  test("what is left out is told, once", async () => {
    const told: unknown[] = [];
    const logger: Logger = ({ level, message, fields }) => told.push([level, message, fields]);
    const left = tools.slice(-1);
    const needs = [{ name: "needs", description: "", inputSchema: { ...byId, type: "object", required: ["a b"] } }];
    const odd = needs.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema, properties: { "a b": id } } }));
    const { fetch } = endpoint(ended(), ended());
    const chat = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch, logger });
    const claude = aiSdkModel({ ...sdk(said("ok"), said("ok")).model, provider: "anthropic.messages" }, { logger });
    for (const [model, tools] of [[chat, left], [claude, odd]] as const) {
      for (let time = 0; time < 2; time++) await collect(model.stream({ ...hello, tools }));
    }
    const message = "A tool is left out: it has no form that the model takes";
    const [array, property] = [
      'its inputSchema is of type "array", expected "object"',
      'it requires the property "a b", whose name this provider refuses',
    ];
    assertEquals(told, [
      ["warning", message, { model: "m", tool: "none", reason: array }],
      ["warning", message, { model: "m", tool: "needs", reason: property }],
    ]);
  });

  test("a function of an agent that takes nothing", async () => {
    const { fetch, sent } = endpoint(ended());
    const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch });
    await new Agent({ model, tools: [{ name: "now", description: "The time", run: () => "noon" }] }).run("Go").result;
    assertEquals(parametersOf(sent[0]?.body.tools), { now: { type: "object", properties: {} } });
  });
});

describe("Kimi is sent what Moonshot's own kind of JSON Schema has, at whichever endpoint it is", () => {
  const text = { type: "string" };
  /** What servers have, and what the model gets of it: each made Moonshot refuse the whole question. */
  const cases: Record<string, [given: JsonObject, expected: JsonObject]> = {
    "no type: an enum (JetBrains)": [{ enum: ["START", "END"] }, { enum: ["START", "END"], type: "string" }],
    "no type: words alone": [{ description: "a" }, { description: "a", type: "string" }],
    "no type: others": [
      { properties: { a: { items: { const: 1 } }, b: { enum: [true] } } },
      {
        type: "object",
        properties: {
          a: { type: "array", items: { type: "number", const: 1 } },
          b: { type: "boolean", enum: [true] },
        },
      },
    ],
    "a type beside a choice": [
      { type: "string", anyOf: [{ format: "uuid" }, { type: "string", maxLength: 3 }, { $ref: "#/$defs/Id" }] },
      { anyOf: [{ type: "string", format: "uuid" }, { type: "string", maxLength: 3 }, { $ref: "#/$defs/Id" }] },
    ],
    "a choice of one without a type": [{ oneOf: [text, { description: "a" }] }, {
      anyOf: [text, { description: "a", type: "string" }],
    }],
    "a choice of what is required (Apollo)": [
      { type: "array", items: { type: "object", properties: { a: text }, anyOf: [{ required: ["a"] }] } },
      { type: "array", items: { type: "object", properties: { a: text } } },
    ],
    "words beside a reference (Unity)": [{ $ref: "#/$defs/Id", description: "Which" }, { $ref: "#/$defs/Id" }],
    "anything as a value": [
      { type: "object", additionalProperties: {} },
      { type: "object", additionalProperties: true },
    ],
    "a condition": [{ type: "object", if: { required: ["a"] }, then: { required: ["b"] } }, { type: "object" }],
    "what it takes": [{ type: "integer", minimum: 1, default: 1 }, { type: "integer", minimum: 1, default: 1 }],
  };
  const $defs = { Id: text };
  const tools = Object.entries(cases).map(([description, [given]], at) => ({
    name: `tool${at}`,
    description,
    inputSchema: { type: "object", properties: { a: given }, $defs },
  }));
  const expected = Object.values(cases).map(([, a]) => ({ type: "object", properties: { a }, $defs }));
  const before = JSON.stringify(tools);

  for (
    const [baseUrl, model] of [
      ["https://api.moonshot.ai/v1", "k3"],
      ["https://openrouter.ai/api/v1", "moonshotai/kimi-k2.6"],
    ] as const
  ) {
    test(`openAiModel: ${model}`, async () => {
      const { fetch, sent } = endpoint(ended());
      await collect(openAiModel({ baseUrl, model, fetch }).stream({ ...hello, tools }));
      const made: { function: { parameters: JsonObject } }[] = sent[0]?.body.tools;
      assertEquals(made.map(({ function: { parameters } }) => parameters), expected);
      assertEquals(JSON.stringify(tools), before);
    });
  }

  test("aiSdkModel; others are sent what they were", async () => {
    const sentTo = async (provider: string): Promise<unknown> => {
      const { model, asked } = sdk(said("ok"));
      await collect(aiSdkModel({ ...model, provider }).stream({ ...hello, tools }));
      return (asked[0]?.tools as { inputSchema: unknown }[]).map(({ inputSchema }) => inputSchema);
    };
    assertEquals(await sentTo("moonshotai.chat"), expected);
    const given = tools.map(({ inputSchema }) => inputSchema);
    assertEquals(await sentTo("other.chat"), given);
  });
});

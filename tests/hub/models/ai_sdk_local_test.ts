/** What is made for the AI SDK, in the hands of the AI SDK's own code, as it is installed for the benchmark. */
import { describe, test } from "node:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type AiSdkTool, toAiSdkTools } from "../../../src/hub/models/mod.ts";
import { FakeHub } from "../support/fake_hub.ts";

const file = join(process.cwd(), "bench/node_modules/@ai-sdk/provider-utils/dist/index.js");
const skip = existsSync(file) ? false : "@ai-sdk/provider-utils is not installed";

/** The part of the SDK that runs tools, as far as it is used. */
interface Utils {
  asSchema(schema: unknown): { jsonSchema: object };
  isExecutableTool(tool: unknown): boolean;
  safeValidateTypes(given: { value: unknown; schema: unknown }): Promise<{ success: boolean; value?: unknown }>;
  executeTool(
    given: { tool: unknown; input: unknown; options: object },
  ): AsyncIterable<{ type: string; output: unknown }>;
}

interface Call {
  readonly toolName: string;
  readonly input: string;
}

describe("the AI SDK's own code", () => {
  const png = "iVBORw0KGgo=";
  const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const createHub = () =>
    new FakeHub({
      s: {
        tools: {
          echo: { inputSchema: { ...schema, $schema: "x", "x-a": 1 } },
          see: { run: () => ({ content: [{ type: "image", mimeType: "image/png", data: png }] }) },
          fail: { run: () => ({ content: [{ type: "text", text: "no" }], isError: true }) },
          wait: {
            run: (_, { signal }) =>
              new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
          },
        },
      },
    });

  test("knows the schemas as its own", { skip }, async () => {
    const utils = await load();
    const tools = toAiSdkTools(createHub());
    const made = tools["s__echo"]?.inputSchema;
    assert(utils.asSchema(made) === made as object, "it is not wrapped: the SDK knows it by its symbol");
    assertEquals(utils.asSchema(made).jsonSchema, schema);
    const validated = await utils.safeValidateTypes({ value: { text: "a" }, schema: made });
    assertEquals([validated.success, validated.value], [true, { text: "a" }]);
    for (const tool of Object.values(tools)) assert(utils.isExecutableTool(tool));
  });

  test("a model that is played calls the tools and reads what they gave", { skip }, async () => {
    const utils = await load();
    const tools = toAiSdkTools(createHub());
    const played: [Call, unknown][] = [
      [{ toolName: "s__echo", input: '{"text":"a"}' }, { type: "text", value: 's__echo got {"text":"a"}' }],
      [{ toolName: "s__see", input: "{}" }, {
        type: "content",
        value: [
          { type: "text", text: "(what the tool gave stands beside this)" },
          { type: "image-data", data: png, mediaType: "image/png" },
        ],
      }],
      [{ toolName: "s__fail", input: "{}" }, { type: "error-text", value: "Tool error: no" }],
    ];
    for (const [call, expected] of played) assertEquals(await step(utils, tools, call), expected);
  });

  test("its signal ends a call", { skip }, async () => {
    const utils = await load();
    const controller = new AbortController();
    const running = step(utils, toAiSdkTools(createHub()), { toolName: "s__wait", input: "{}" }, controller.signal);
    setTimeout(() => controller.abort(new Error("enough")), 5);
    await assertRejects(() => running, Error, "enough");
  });
});

/** What the SDK does with one call of a model: reads the input, runs the tool, asks it what the model gets. */
async function step(
  utils: Utils,
  tools: Record<string, AiSdkTool>,
  { toolName, input }: Call,
  abortSignal?: AbortSignal,
): Promise<unknown> {
  const tool = tools[toolName];
  const read = await utils.safeValidateTypes({ value: JSON.parse(input), schema: utils.asSchema(tool?.inputSchema) });
  const options = { toolCallId: "c1", messages: [], ...(abortSignal && { abortSignal }) };
  let output: unknown;
  for await (const given of utils.executeTool({ tool, input: read.value, options })) output = given.output;
  return tool?.toModelOutput({ toolCallId: "c1", input: read.value, output } as { output: unknown });
}

async function load(): Promise<Utils> {
  return await import(pathToFileURL(file).href) as Utils;
}

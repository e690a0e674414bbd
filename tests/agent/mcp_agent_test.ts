import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ChannelTransport, connect, createMemoryPair, InvalidParamsError } from "../../mod.ts";
import type { Client } from "../../mod.ts";
import { ApiAgent, McpAgent, type McpAgentShape, toMcpServer, unknownTool, withApiAgent } from "../../src/agent/mod.ts";
import type { ModelInfo, WithApiAgent } from "../../src/agent/mod.ts";
import type { LogRecord } from "../../src/ports.ts";
import { type McpServer, serveChannel } from "../../src/server/mod.ts";
import { textOf } from "../support/clients.ts";
import { BothAgent, PlainAgent, RichAgent } from "./support.ts";

async function withClient(server: McpServer, run: (client: Client) => Promise<void>): Promise<void> {
  for (const era of ["modern", "legacy"] as const) {
    const [near, far] = createMemoryPair();
    const serving = serveChannel(server, far, { eras: [era] });
    await using client = await connect(new ChannelTransport(() => near));
    await run(client);
    await serving.close();
  }
}

/** A class as JavaScript writes it: no type says that something is missing. */
function javascript(base: unknown, members: object = {}): new () => object {
  const made = class Incomplete extends (base as new () => object) {};
  Object.assign(made.prototype, members);
  return made;
}

test("all of it can be imported from one place", async () => {
  const names = Object.keys(await import("../../src/agent/mod.ts")).sort();
  assertEquals(names, [
    "Agent",
    "AgentRun",
    "AgentRunError",
    "ApiAgent",
    "LanguageModelError",
    "McpAgent",
    "ModelError",
    "RunCancelledError",
    "RunLeftError",
    "StepUnknownError",
    "aiSdkModel",
    "callOnce",
    "createAgentHandler",
    "createBridgeHandler",
    "createModelHandler",
    "createObjectRuns",
    "createRuns",
    "createStoreMarker",
    "directiveModel",
    "isApiAgent",
    "openAiModel",
    "samplingHandler",
    "scriptedModel",
    "textOfMessage",
    "toMcpServer",
    "unknownTool",
    "withApiAgent",
    "workersAiModel",
    "workflowSteps",
  ]);
});

describe("McpAgent: what a class has to have", () => {
  test("a class that lacks methods cannot be constructed, and the error names them", () => {
    const both = assertThrows(() => new (javascript(McpAgent))(), TypeError);
    assert(both.message.includes("getMcpToolDefinitions") && both.message.includes("executeMcpTool"), both.message);
    assert(both.message.includes("Incomplete"), both.message);
    const one = assertThrows(() => new (javascript(McpAgent, { executeMcpTool() {} }))(), TypeError);
    assert(one.message.includes("getMcpToolDefinitions") && !one.message.includes("executeMcpTool"), one.message);
    assertThrows(() => new (McpAgent as unknown as new () => object)(), TypeError, "executeMcpTool");
    assertThrows(() => new (javascript(ApiAgent))(), TypeError, "respond");
    const lacksRespond = Object.getPrototypeOf(BothAgent);
    assertThrows(() => new (javascript(lacksRespond))(), TypeError, "respond");
  });

  test("a complete class can, with what its base and its mixin give", () => {
    const agent = new (javascript(McpAgent, { executeMcpTool() {}, getMcpToolDefinitions: () => [] }))();
    assert(agent instanceof McpAgent);
    const both = new BothAgent();
    assert(both instanceof McpAgent);
    assertEquals([both.getModelId(), both.getModelInfo().maxInputTokens], ["causeway-both", 8_192]);
  });

  test("a mixin leaves what its base says of the model", () => {
    class Named extends PlainAgent {
      getModelId(): string {
        return "named";
      }

      getModelInfo(): ModelInfo {
        return { maxInputTokens: 1 };
      }

      respond(): string {
        return "hi";
      }
    }
    const Both: WithApiAgent<typeof Named> = withApiAgent(Named);
    class Mixed extends Both {}
    const agent = new Mixed();
    assertEquals([agent.getModelId(), agent.getModelInfo(), agent.respond([], {} as never)], [
      "named",
      { maxInputTokens: 1 },
      "hi",
    ]);
  });

  test("the defaults: no prompts, no resources, a name that holds the class's", () => {
    const agent = new PlainAgent();
    assertEquals([agent.getMcpPrompts(), agent.getMcpResources()], [[], []]);
    assertEquals(agent.getMcpServerInfo(), { name: "Causeway PlainAgent", version: "2.0.0" });
    assertEquals(unknownTool("x").rpcCode, -32602);
    const object = { getMcpToolDefinitions: () => [], executeMcpTool: () => 1 };
    assertEquals(toMcpServer(object).methods.info, { name: "Causeway Agent", version: "2.0.0" });
  });

  test("a name, a version and a description of its own", () => {
    const { info } = toMcpServer(new RichAgent()).methods;
    assertEquals(info, { name: "Rich", version: "7.0.0", description: "has it all" });
  });

  test("an object that is no agent cannot be served", () => {
    const none = undefined as unknown as McpAgentShape;
    assertThrows(() => toMcpServer(none), TypeError, "getMcpToolDefinitions");
    assertThrows(() => toMcpServer({} as McpAgentShape), TypeError, "executeMcpTool");
    const wrong = { getMcpToolDefinitions: () => "tools", executeMcpTool() {} } as unknown as McpAgentShape;
    assertThrows(() => toMcpServer(wrong), TypeError, "no list of objects");
  });

  test("what is listed has to be given: prompts and resources without a reader are refused", () => {
    class Promises extends PlainAgent {
      override getMcpPrompts() {
        return [{ name: "empty" }];
      }
    }
    assertThrows(() => toMcpServer(new Promises()), TypeError, "getMcpPrompt");
    const object = {
      getMcpToolDefinitions: () => [],
      executeMcpTool: () => 1,
      getMcpResources: () => [{ uri: "a://b", name: "b" }],
    };
    assertThrows(() => toMcpServer(object), TypeError, "readMcpResource");
  });
});

describe("McpAgent: served to our client, in both eras", () => {
  test("tools are listed as they were defined, with an object's schema", () =>
    withClient(toMcpServer(new PlainAgent()), async (client) => {
      const { tools } = await client.listTools();
      assertEquals(tools.map(({ name }) => name), ["first", "second", "add", "fail", "refuse", "circle"]);
      assertEquals(tools.map(({ inputSchema }) => inputSchema.type), new Array(6).fill("object"));
      assertEquals(tools[0]?.description, "Says so");
      assertEquals(client.info?.server?.name, "Causeway PlainAgent");
    }));

  test("a tool runs; with {} for its schema it takes any arguments", () =>
    withClient(toMcpServer(new PlainAgent()), async (client) => {
      assertEquals(textOf(await client.callTool("add", { a: 2, b: 3 })), "5");
      const { structuredContent } = await client.callTool("first", { any: ["thing"] });
      assertEquals(structuredContent, { said: "first", args: { any: ["thing"] } });
    }));

  test("arguments are checked before the tool runs", () =>
    withClient(toMcpServer(new PlainAgent()), async (client) => {
      const result = await client.callTool("add", { a: "two", b: 3 });
      assertEquals(result.isError, true);
      assert(textOf(result)?.includes("/a"), textOf(result));
    }));

  test("what throws, what returns { error } and what is no JSON are results with isError", () =>
    withClient(toMcpServer(new PlainAgent()), async (client) => {
      const failed = await client.callTool("fail");
      assertEquals([failed.isError, textOf(failed)], [true, "it is broken"]);
      const refused = await client.callTool("refuse");
      assertEquals([refused.isError, textOf(refused)], [true, "it will not"]);
      const circle = await client.callTool("circle");
      assertEquals(circle.isError, true);
      assert(textOf(circle)?.includes("cannot be written as JSON"), textOf(circle));
    }));

  test("an { error } that is no text is a failure as well", async () => {
    const returned: Record<string, unknown> = { error: new Error("deep down"), object: { code: 7 }, number: 10n };
    const server = toMcpServer({
      getMcpToolDefinitions: () => [{ name: "run", inputSchema: {} }],
      executeMcpTool: (_name, { which }) => ({ error: returned[String(which)] }) as never,
    });
    await withClient(server, async (client) => {
      const run = async (which: string) => {
        const result = await client.callTool("run", { which });
        return [result.isError, textOf(result)];
      };
      assertEquals(await run("error"), [true, "deep down"]);
      assertEquals(await run("object"), [true, '{"code":7}']);
      assertEquals((await run("number"))[0], true);
    });
  });

  test("an unknown tool is -32602, by the wire and by the agent itself", async () => {
    await withClient(toMcpServer(new PlainAgent()), async (client) => {
      const error = await assertRejects(() => client.callTool("nothing"), InvalidParamsError, "Unknown tool: nothing");
      assertEquals(error.rpcCode, -32602);
    });
    assertThrows(() => new PlainAgent().executeMcpTool("nothing", {}), InvalidParamsError, "Unknown tool: nothing");
  });

  test("prompts and resources that are listed are really served", () =>
    withClient(toMcpServer(new RichAgent()), async (client) => {
      const { prompts } = await client.listPrompts();
      assertEquals(prompts[0]?.arguments, [{ name: "who", required: true }]);
      const { messages } = await client.getPrompt("greet", { who: "Ada" });
      assertEquals(messages[0]?.content, { type: "text", text: "Greet Ada" });
      await assertRejects(() => client.getPrompt("greet"), InvalidParamsError, '"who" is missing');
      const { resources } = await client.listResources();
      assertEquals(resources.map(({ uri }) => uri), ["rich://one"]);
      const [read] = (await client.readResource("rich://one")).contents;
      assertEquals([read?.text, read?.mimeType], ["# rich://one", "text/markdown"]);
      await assertRejects(() => client.readResource("rich://two"), InvalidParamsError);
      const { name, version } = client.info?.server ?? {};
      assertEquals([name, version], ["Rich", "7.0.0"]);
    }));

  test("the context of a call reaches the agent", async () => {
    const seen: unknown[] = [];
    const server = toMcpServer({
      getMcpToolDefinitions: () => [{ name: "look" }],
      executeMcpTool(_name, _args, { era, signal }) {
        seen.push([era, signal.aborted]);
      },
    });
    await withClient(server, async (client) => {
      assertEquals((await client.callTool("look")).content, []);
    });
    assertEquals(seen, [["modern", false], ["legacy", false]]);
  });

  test("names that are no lower-case words with dashes are warned of, and work", async () => {
    const log: LogRecord[] = [];
    const names = ["read-file", "x2", "Read_File", "readFile", "-x", "a--b"];
    const server = toMcpServer(
      { getMcpToolDefinitions: () => names.map((name) => ({ name })), executeMcpTool: (name) => name },
      { logger: (record) => log.push(record) },
    );
    assertEquals(
      log.map(({ level, fields }) => [level, fields?.tool]),
      names.slice(2).map((name) => ["warning", name]),
    );
    await withClient(server, async (client) => assertEquals(textOf(await client.callTool("readFile")), "readFile"));
  });
});

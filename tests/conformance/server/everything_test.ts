import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { ElicitResult } from "../../../src/protocol/types.ts";
import type { AskOptions, RequestContext } from "../../../src/server/definitions.ts";
import { context } from "../../server/catalog/support.ts";
import { createEverything } from "./everything.ts";

/** A client that answers everything at once; what it was asked goes to `asked`. */
function client(
  asked: string[] = [],
  content: JsonObject = { name: "Alice", ok: true, color: "blue", context: "none" },
): RequestContext {
  const ask = <Answer>(what: string, answer: Answer) => (request?: unknown, options?: AskOptions) => {
    const { key } = what === "roots" ? request as AskOptions ?? {} : options ?? {};
    asked.push(key ?? what);
    return Promise.resolve(answer);
  };
  return context({
    progress: ({ progress }) => asked.push(`progress ${progress}`),
    log: (level, data) => asked.push(`${level}: ${data}`),
    elicit: ask<ElicitResult>("elicit", { action: "accept", content }),
    sample: ask("sample", {
      role: "assistant" as const,
      content: { type: "text" as const, text: "Paris" },
      model: "m",
    }),
    roots: ask("roots", [{ uri: "file:///test/root" }]),
    can: (what) => what === "sample",
  });
}

async function run(method: string, params: JsonObject, asking = client()): Promise<JsonObject> {
  return await createEverything().methods.run(method, params, asking) ?? {};
}

async function call(name: string, args: JsonObject, asking = client()): Promise<string> {
  const { content } = await run("tools/call", { name, arguments: args }, asking);
  const [first] = content as { text: string }[];
  return first?.text ?? "";
}

describe("the fixtures of the conformance server", () => {
  test("the tools stay in one order and their schemas as they were written", async () => {
    const server = createEverything();
    const list = async () => (await server.methods.run("tools/list", {}, client()))?.["tools"] as JsonObject[];
    const first = await list();
    await server.methods.run("tools/call", { name: "test_trigger_tool_change", arguments: {} }, client());
    assertEquals((await list()).map(({ name }) => name), first.map(({ name }) => name));
    const wide = first.find(({ name }) => name === "json_schema_2020_12_tool")?.["inputSchema"] as JsonObject;
    assertEquals((wide["$defs"] as Record<string, JsonObject>)["address"]?.["$anchor"], "addressDef");
    assertEquals(wide["additionalProperties"], false);
  });

  test("a change of the lists is told, and leaves nothing behind", async () => {
    const server = createEverything();
    const changes: string[] = [];
    const stop = server.methods.watch(({ type }) => changes.push(type));
    for (const name of ["test_trigger_tool_change", "test_trigger_prompt_change"]) {
      await server.methods.run("tools/call", { name, arguments: {} }, client());
    }
    stop();
    assertEquals([...new Set(changes)], ["tools", "prompts"]);
  });

  test("the rounds ask by the keys that the suite answers", async () => {
    const asked: string[] = [];
    const tool = (name: string) => call(`test_input_required_result_${name}`, {}, client(asked));
    assertEquals(await tool("elicitation"), "Hello, Alice!");
    assertEquals(await tool("sampling"), "Paris");
    assertEquals(await tool("list_roots"), "Roots: file:///test/root");
    assertEquals(await tool("multiple_inputs"), "Paris Alice, you have 1 roots");
    assertEquals(await tool("multi_round"), "Alice likes blue");
    assertEquals(await tool("capabilities"), "Paris");
    assert((await tool("request_state")).includes("state-ok"));
    const three = ["user_name", "greeting", "client_roots"];
    const keys = ["user_name", "capital_question", "client_roots", ...three, "step1", "step2", "greeting", "confirm"];
    assertEquals(asked, keys);
    const { messages } = await run("prompts/get", { name: "test_input_required_result_prompt" });
    assert(JSON.stringify(messages).includes("none"));
  });

  test("progress and logs come in their order", async () => {
    const told: string[] = [];
    await call("test_tool_with_progress", {}, client(told));
    await call("test_tool_with_logging", {}, client(told));
    assertEquals(told.slice(0, 3), ["progress 0", "progress 50", "progress 100"]);
    assertEquals(told.slice(3).length, 3);
  });

  test("resources are read as text, as bytes and by template", async () => {
    const read = async (uri: string) => ((await run("resources/read", { uri }))["contents"] as JsonObject[])[0];
    assertEquals((await read("test://static-text"))?.["text"], "This is the content of the static text resource.");
    assertEquals(String((await read("test://static-binary"))?.["blob"]).slice(0, 8), "iVBORw0K");
    const data = { id: "123", templateTest: true, data: "Data for ID: 123" };
    assertEquals((await read("test://template/123/data"))?.["text"], JSON.stringify(data));
    await assertRejects(() => read("test://none"));
  });

  test("arguments are completed", async () => {
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
    const { completion } = await run("completion/complete", { ref, argument: { name: "arg1", value: "par" } });
    assertEquals((completion as JsonObject)["values"], ["paris", "park", "party"]);
  });
});

/** Progressive discovery: three tools in the place of many. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { withResultBudget } from "../../../src/hub/budget/result_budget.ts";
import { createDiscoveryTools } from "../../../src/hub/search/discovery.ts";
import type { HubLike } from "../../../src/hub/seam.ts";
import { createSchemaValidator } from "../../../src/protocol/json_schema/mod.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/json_rpc.ts";
import type { CallToolResult } from "../../../src/protocol/types.ts";
import { TestStore } from "../../support/test_store.ts";
import { serverOf, toolOf } from "../catalog/support.ts";
import { manyTools, playHub } from "./support.ts";

const issue = toolOf("create_issue", {
  title: "Create an issue",
  description: "Opens an issue. " + "It is long. ".repeat(50),
  inputSchema: { type: "object", properties: { title: { type: "string" }, body: { type: "string" } } },
  outputSchema: { type: "object" },
  annotations: { destructiveHint: false },
});
const stage = (count = 100) =>
  playHub([serverOf("many", [], { tools: manyTools(count) }), serverOf("git.hub", [], { tools: [issue] })]);
const qualified = (hub: HubLike): string[] => hub.tools().map(({ qualifiedName }) => qualifiedName);
const textOf = ({ content: [block] }: CallToolResult): string => block?.type === "text" ? block.text : "";
const three = ["search_tools", "describe_tool", "call_tool"];

async function found(hub: HubLike, args: JsonObject): Promise<{ tools: JsonObject[]; hint?: string }> {
  const result = await hub.callTool("search_tools", args);
  assertEquals(JSON.parse(textOf(result)), result.structuredContent);
  return JSON.parse(textOf(result));
}

describe("the tools that a model sees", () => {
  test("are all up to the threshold, and three above it", () => {
    const hub = stage(39);
    const discovery = createDiscoveryTools(hub);
    assertEquals(qualified(discovery), qualified(hub));
    hub.change(serverOf("one", ["more"]));
    assertEquals(qualified(discovery), three);
    assertEquals(qualified(createDiscoveryTools(hub, { threshold: 41 })).length, 41);
    assertEquals(qualified(createDiscoveryTools(hub, { threshold: 0 })), three);
    assertEquals(qualified(createDiscoveryTools(hub, { threshold: Infinity })).length, 41);
    assertEquals(qualified(createDiscoveryTools(playHub([]), { threshold: 0 })), []);
  });

  test("are counted as the filter leaves them", () => {
    const filter = ({ name }: { name: string }): boolean => name.endsWith("1");
    assertEquals(qualified(createDiscoveryTools(stage(), { filter })).length, 10);
    assertEquals(qualified(createDiscoveryTools(stage(), { filter, threshold: 9 })), three);
  });

  test("name the servers, stay the same object while those do, and have sound schemas", () => {
    const hub = stage();
    const discovery = createDiscoveryTools(hub);
    const before = discovery.tools();
    assertMatch(before[0]?.tool.description ?? "", /Servers with tools: many, git\.hub\.$/);
    hub.change(serverOf("many", [], { tools: manyTools(70) }));
    assertStrictEquals(discovery.tools(), before);
    hub.change(serverOf("new", ["x"]));
    assertMatch(discovery.tools()[0]?.tool.description ?? "", /many, git\.hub, new\.$/);
    const validate = createSchemaValidator();
    const right: JsonObject[] = [{ query: "x", server: "many", limit: 5 }, { name: "x" }, { name: "x", arguments: {} }];
    for (const [at, { tool, server }] of before.entries()) {
      assertEquals(server, "");
      assert(validate(tool.inputSchema)(right[at]).valid, tool.name);
      assert(!validate(tool.inputSchema)({}).valid, tool.name);
    }
    assertEquals(discovery.findTool("call_tool")?.name, "call_tool");
    assertEquals(discovery.findTool({ server: "", name: "call_tool" })?.name, "call_tool");
    assertEquals(discovery.findTool("git.hub.create_issue")?.server, "git.hub");
  });

  test("are beside what the hub inside has itself: cut results name read_result, which is of no server", async () => {
    const inside = stage(39);
    const discovery = createDiscoveryTools(withResultBudget(inside, { store: new TestStore(), readTool: true }));
    assertEquals(qualified(discovery), [...qualified(inside), "read_result"]);
    inside.change(serverOf("one", ["read"]));
    assertEquals(qualified(discovery), [...three, "read_result"]);
    assertStrictEquals(discovery.tools(), discovery.tools());
    assertMatch(discovery.tools()[0]?.tool.description ?? "", /Servers with tools: many, git\.hub, one\.$/);
    const { tools } = await found(discovery, { query: "read" });
    assertEquals(tools.map(({ name }) => name), ["one__read"]);
    assertMatch(textOf(await discovery.callTool("read_result", {})), /"uri" is missing/);
    assertMatch(textOf(await discovery.callTool("call_tool", { name: "read_result" })), /"uri" is missing/);
  });

  test("name no more servers than a model wants to read", () => {
    const hub = playHub(Array.from({ length: 60 }, (_, at) => serverOf(`s${at}`, ["x"])));
    assertMatch(createDiscoveryTools(hub).tools()[0]?.tool.description ?? "", / s49 and 10 more\.$/);
  });

  test("options that are none are refused", () => {
    for (const threshold of [-1, NaN]) assertThrows(() => createDiscoveryTools(stage(), { threshold }), RangeError);
    for (const limit of [0, 51, 1.5]) assertThrows(() => createDiscoveryTools(stage(), { limit }), RangeError);
  });
});

describe("search_tools", () => {
  test("gives names, what they do in short, and parameters", async () => {
    const { tools: [best] } = await found(createDiscoveryTools(stage()), { query: "create an issue" });
    const { description, ...rest } = best ?? {};
    assertEquals(rest, {
      name: createDiscoveryTools(stage()).findTool("git.hub.create_issue")?.qualifiedName,
      server: "git.hub",
      title: "Create an issue",
      parameters: ["title", "body"],
    });
    assertEquals(String(description).length, 301);
  });

  test("finds tools whose server says null where it has nothing to say", async () => {
    const tool = { name: "zebra", title: null, description: null, inputSchema: { type: "object", properties: null } };
    const hub = playHub([serverOf("zoo", [], { tools: [tool as unknown as typeof issue] })]);
    const discovery = createDiscoveryTools(hub, { threshold: 0 });
    const { tools } = await found(discovery, { query: "zebra" });
    assertEquals(tools, [{ name: "zoo__zebra", server: "zoo", description: "", parameters: [] }]);
    const described = await discovery.callTool("describe_tool", { name: "zoo__zebra" });
    assertEquals<unknown>(described.structuredContent, {
      name: "zoo__zebra",
      server: "zoo",
      inputSchema: { type: "object", properties: null },
    });
  });

  test("gives as many as asked for, of the server asked for", async () => {
    const discovery = createDiscoveryTools(stage(), { limit: 3 });
    assertEquals((await found(discovery, { query: "thing" })).tools.length, 3);
    assertEquals((await found(discovery, { query: "thing", limit: 7 })).tools.length, 7);
    assertEquals((await found(discovery, { query: "thing", limit: 1_000 })).tools.length, 50);
    assertEquals((await found(discovery, { query: "thing", server: "git.hub" })).tools.length, 0);
  });

  test("says what to do when nothing fits", async () => {
    const discovery = createDiscoveryTools(stage());
    assertMatch((await found(discovery, { query: "zebra" })).hint ?? "", /try other words/);
    assertMatch((await found(discovery, { query: "thing", server: "zoo" })).hint ?? "", /No server .* called "zoo"/);
  });

  const refused: JsonObject[] = [
    {},
    { query: "" },
    { query: 7 },
    { query: "x", limit: 0 },
    { query: "x", limit: "5" },
    { query: "x", server: 1 },
  ];
  for (const args of refused) {
    test(`answers ${JSON.stringify(args)} with what is wrong`, async () => {
      const result = await createDiscoveryTools(stage()).callTool("search_tools", args);
      assert(result.isError);
      assertMatch(textOf(result), /^"(query|limit|server)" is /);
    });
  }

  test("follows what the servers have", async () => {
    const hub = stage();
    const discovery = createDiscoveryTools(hub);
    assertEquals((await found(discovery, { query: "zebra" })).tools.length, 0);
    hub.change(serverOf("zoo", ["feed_zebra"]));
    assertEquals((await found(discovery, { query: "zebra" })).tools[0]?.name, "zoo__feed_zebra");
  });
});

describe("describe_tool", () => {
  test("gives all of a tool", async () => {
    const discovery = createDiscoveryTools(stage());
    const result = await discovery.callTool("describe_tool", { name: "git.hub.create_issue" });
    const { name: _, ...rest } = issue;
    const { qualifiedName } = discovery.findTool("git.hub.create_issue") ?? {};
    assertEquals<unknown>(result.structuredContent, { ...rest, name: qualifiedName, server: "git.hub" });
    assertEquals(JSON.parse(textOf(result)), result.structuredContent);
  });

  test("names what is alike when there is no such tool", async () => {
    const discovery = createDiscoveryTools(stage());
    const wrong = await discovery.callTool("describe_tool", { name: "github__create_issue" });
    assert(wrong.isError);
    assertMatch(textOf(wrong), /^No tool is called "github__create_issue": did you mean git_hub-\w{10}__create_issue/);
    assertMatch(textOf(await discovery.callTool("describe_tool", { name: "?" })), /look for one with search_tools$/);
    assertMatch(textOf(await discovery.callTool("describe_tool", {})), /^"name" is missing/);
    assertMatch(textOf(await discovery.callTool("describe_tool", { name: "search_tools" })), /^No tool is called/);
  });
});

describe("call_tool", () => {
  test("calls the hub with the arguments and the options, and gives its result", async () => {
    const hub = stage();
    const options = { timeout: 5, meta: { trace: "x" } };
    const args = JSON.parse('{"title":"x","__proto__":{"deep":1}}');
    const discovery = createDiscoveryTools(hub);
    const { qualifiedName = "" } = hub.findTool("git.hub.create_issue") ?? {};
    const result = await discovery.callTool("call_tool", { name: qualifiedName, arguments: args }, options);
    assertEquals(textOf(result), "called");
    assertEquals(hub.calls, [["callTool", { server: "git.hub", name: "create_issue" }, args, options]]);
    assertStrictEquals(hub.calls[0]?.[3], options);
  });

  test("needs no arguments where a tool has none, and takes nothing but an object", async () => {
    const hub = stage();
    const discovery = createDiscoveryTools(hub);
    await discovery.callTool("call_tool", { name: "many__tool_7" });
    assertEquals(hub.calls, [["callTool", { server: "many", name: "tool_7" }, {}, undefined]]);
    const wrong: JsonValue[] = ["{}", [], null, 7];
    for (const value of wrong) {
      const result = await discovery.callTool("call_tool", { name: "many__tool_7", arguments: value });
      assert(result.isError);
      assertMatch(textOf(result), /^"arguments" is not an object/);
    }
    assertEquals(hub.calls.length, 1);
  });

  test("calls neither itself nor what is not there", async () => {
    const hub = stage();
    const discovery = createDiscoveryTools(hub);
    for (const name of ["call_tool", "search_tools", "nothing__here", "", "__proto__"]) {
      assert((await discovery.callTool("call_tool", { name })).isError, name);
    }
    assertEquals(hub.calls, []);
  });

  test("a signal that is aborted already ends it with its reason", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    for (const name of three) {
      await assertRejects(
        () => createDiscoveryTools(stage()).callTool(name, { query: "x" }, { signal }),
        Error,
        "enough",
      );
    }
  });
});

describe("what is hidden", () => {
  test("by the filter is not found, not described and not called, by no name", async () => {
    const hub = stage();
    const discovery = createDiscoveryTools(hub, { filter: ({ server }) => server !== "git.hub" });
    const { qualifiedName = "" } = hub.findTool("git.hub.create_issue") ?? {};
    assertEquals((await found(discovery, { query: "create issue" })).tools, []);
    assertEquals(discovery.findTool("git.hub.create_issue"), undefined);
    for (const name of [qualifiedName, "git.hub.create_issue"]) {
      for (const tool of ["describe_tool", "call_tool"]) {
        const result = await discovery.callTool(tool, { name });
        assert(result.isError);
        assert(!textOf(result).includes("did you mean git"), textOf(result));
      }
      assert((await discovery.callTool(name)).isError);
    }
    assert((await discovery.callTool({ server: "git.hub", name: "create_issue" })).isError);
    assert((await discovery.callTool("many.not_listed")).isError);
    assertEquals(hub.calls, []);
    assertMatch(discovery.tools()[0]?.tool.description ?? "", /Servers with tools: many\.$/);
  });

  test("by the hub stays hidden, though the hub finds it", async () => {
    const hub = stage();
    const hiding: HubLike = { ...hub, tools: () => hub.tools().filter(({ server }) => server === "many") };
    const discovery = createDiscoveryTools(hiding);
    for (const tool of ["describe_tool", "call_tool"]) {
      assert((await discovery.callTool(tool, { name: "git.hub.create_issue" })).isError);
    }
    assertEquals((await found(discovery, { query: "create issue" })).tools, []);
    assertEquals(hub.calls, []);
  });
});

describe("all else", () => {
  test("goes to the hub as it is", async () => {
    const hub = stage();
    const discovery = createDiscoveryTools(hub);
    assertEquals(textOf(await discovery.callTool("many__tool_1", { a: 1 }, { timeout: 1 })), "called");
    assertEquals(textOf(await discovery.callTool({ server: "many", name: "not_listed" })), "called");
    hub.calls.pop();
    await discovery.readResource("memo://1", { timeout: 2 });
    await discovery.getPrompt("many__ask", { a: "1" }, { timeout: 3 });
    const reference = { type: "ref/prompt", name: "many__ask" } as const;
    await discovery.complete(reference, { name: "a", value: "b" }, { timeout: 4 });
    assertEquals(hub.calls, [
      ["callTool", "many__tool_1", { a: 1 }, { timeout: 1 }],
      ["readResource", "memo://1", { timeout: 2 }],
      ["getPrompt", "many__ask", { a: "1" }, { timeout: 3 }],
      ["complete", reference, { name: "a", value: "b" }, { timeout: 4 }],
    ]);
    for await (const event of discovery.events()) assertEquals(event, { type: "added", server: "a" });
    assertEquals(discovery.catalog(), hub.catalog());
    assertEquals([discovery.status(), discovery.resources(), discovery.templates(), discovery.prompts()], [
      [],
      [],
      [],
      [],
    ]);
  });
});

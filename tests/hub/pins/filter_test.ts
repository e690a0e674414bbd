import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { type FilterOptions, withFilter } from "../../../src/hub/pins/filter.ts";
import { createMatcher } from "../../../src/hub/pins/glob.ts";
import { runToolCall } from "../../../src/hub/models/mod.ts";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import { FakeHub } from "../support/fake_hub.ts";
import { stopwatch } from "../../support/clocks/stopwatch.ts";

function createHub(): FakeHub {
  return new FakeHub({
    github: {
      tools: { get_issue: {}, create_issue: {}, delete_repo: {} },
      resources: { "repo://a": "A", "repo://secret": "S" },
      templates: ["repo://{name}"],
      prompts: { review: [{ role: "user", content: { type: "text", text: "Review" } }] },
    },
    docs: { tools: { search: {} }, resources: { "repo://a": "other" } },
  });
}

const table: [FilterOptions, string[]][] = [
  [{}, ["github.get_issue", "github.create_issue", "github.delete_repo", "docs.search"]],
  [{ allow: [] }, []],
  [{ allow: ["docs"] }, ["docs.search"]],
  [{ allow: ["github.get_*", "docs"] }, ["github.get_issue", "docs.search"]],
  [{ allow: ["github__get_issue"] }, ["github.get_issue"]],
  [{ allow: ["*"], deny: ["*.delete_*"] }, ["github.get_issue", "github.create_issue", "docs.search"]],
  [{ allow: ["github"], deny: ["github"] }, []],
  [{ deny: ["git*"] }, ["docs.search"]],
  [{ deny: ["get_issue"] }, ["github.get_issue", "github.create_issue", "github.delete_repo", "docs.search"]],
  [{ deny: ["GITHUB"] }, ["github.get_issue", "github.create_issue", "github.delete_repo", "docs.search"]],
  [{ allow: ["*_issue*"] }, ["github.get_issue", "github.create_issue"]],
];

describe("a filter", () => {
  for (const [options, expected] of table) {
    test(`of tools: ${JSON.stringify(options)}`, async () => {
      const inside = createHub();
      const hub = withFilter(inside, options);
      const names = hub.tools().map(({ server, name }) => `${server}.${name}`);
      assertEquals(names, expected);
      const listed = hub.catalog().servers.flatMap(({ name, tools }) => tools.map((tool) => `${name}.${tool.name}`));
      assertEquals(listed, expected);
      for (const { server, name, qualifiedName } of inside.tools()) {
        const isThere = expected.includes(`${server}.${name}`);
        for (const called of [qualifiedName, `${server}.${name}`, { server, name }]) {
          assertEquals(hub.findTool(called) !== undefined, isThere);
          assertEquals((await hub.callTool(called)).isError === true, !isThere);
        }
      }
      assertEquals(inside.calls.length, expected.length * 3);
    });
  }

  test("what is denied and what is not known cannot be told apart, and a model reads it", async () => {
    const hub = withFilter(createHub(), { deny: ["*.delete_*"] });
    const [denied, missing] = [await hub.callTool("github__delete_repo"), await hub.callTool("github__nothing")];
    assertEquals(JSON.stringify(missing).replaceAll("nothing", "delete_repo"), JSON.stringify(denied));
    const told = await runToolCall(hub, { name: "github__delete_repo" });
    assertEquals(told.isError, true);
    assertEquals(JSON.stringify(told).includes('mean "github__delete_repo"'), false);
  });

  test("what is not listed is refused, since nobody knows its qualified name", async () => {
    const inside = createHub();
    const hub = withFilter(inside, { deny: ["github__new_thing"] });
    inside.findTool = () => undefined;
    inside.prompts = () => [];
    inside.callTool = () => Promise.resolve({ content: [{ type: "text", text: "found after all" }] });
    inside.getPrompt = () => Promise.resolve({ messages: [] });
    for (const name of ["github.new_thing", "github__new_thing", { server: "github", name: "new_thing" }]) {
      assertEquals((await hub.callTool(name)).isError, true);
      await assertRejects(() => hub.getPrompt(name), InvalidParamsError, "is not allowed here");
    }
  });

  test("the catalog has nothing that is hidden, of whatever kind, also where another server has its name", () => {
    const templates = ["x:///{a}", "y:///{a}"];
    const part = { tools: { get: {} }, prompts: { plan: [] }, templates, resources: { "x:///1": "1" } };
    const hub = withFilter(new FakeHub({ a: part, b: part }), { deny: ["a.*", "b.y:*"] });
    assertEquals(
      hub.catalog().servers.map(({ tools, prompts, resources, templates }) =>
        [tools, prompts, resources, templates].map(({ length }) => length)
      ),
      [[0, 0, 0, 0], [1, 1, 1, 1]],
    );
    assertEquals(hub.templates().map(({ server, template }) => [server, template.uriTemplate]), [["b", templates[0]]]);
    const { kind, version } = hub.catalog();
    assertEquals([kind, version], ["causeway.catalog", 1]);
  });

  test("what goes through goes with all that the caller gave", async () => {
    const inside = createHub();
    const given: unknown[] = [];
    inside.readResource = (...[name, options]: unknown[]) => {
      given.push([name, options]);
      return Promise.resolve({ contents: [] });
    };
    inside.getPrompt = (...[name, args, options]: unknown[]) => {
      given.push([name, args, options]);
      return Promise.resolve({ messages: [] });
    };
    inside.complete = (...[reference, argument, options]: unknown[]) => {
      given.push([reference, argument, options]);
      return Promise.resolve({ completion: { values: [] } });
    };
    const hub = withFilter(inside, { allow: ["github"] });
    const options = { timeout: 7 };
    const argument = { name: "a", value: "b" };
    const prompt = { server: "github", name: "review" };
    const template = { type: "ref/resource", server: "github", uri: "repo://{name}" } as const;
    await hub.callTool("github__get_issue", { number: 5 }, options);
    assertEquals(inside.calls.map(({ args, options }) => [args, options]), [[{ number: 5 }, options]]);
    // One server lists it, so that the others need not be allowed.
    await hub.readResource("repo://secret", options);
    await hub.getPrompt("github__review", { a: "b" }, options);
    await hub.complete({ type: "ref/prompt", name: "github__review" }, argument, options);
    await hub.complete(template, argument, options);
    assertEquals(given, [
      ["repo://secret", options],
      [prompt, { a: "b" }, options],
      [{ type: "ref/prompt", name: prompt }, argument, options],
      [template, argument, options],
    ]);
  });

  test("the list is the same as long as the hub's is", () => {
    const hub = withFilter(createHub(), { deny: ["docs"] });
    assertStrictEquals(hub.tools(), hub.tools());
  });

  test("resources and templates", async () => {
    const inside = createHub();
    const hub = withFilter(inside, { deny: ["github.*secret*", "docs"] });
    assertEquals(hub.resources().map(({ server, resource }) => `${server} ${resource.uri}`), ["github repo://a"]);
    assertEquals(hub.templates().length, 1);
    assertEquals((await hub.readResource({ server: "github", uri: "repo://a" })).contents[0]?.text, "A");
    for (
      const name of [{ server: "github", uri: "repo://secret" }, "repo://secret", { server: "docs", uri: "repo://a" }]
    ) {
      await assertRejects(() => hub.readResource(name), InvalidParamsError, "is not allowed here");
    }
    // Two servers list it and one of them is hidden: which one would answer is not said.
    await assertRejects(() => hub.readResource("repo://a"), InvalidParamsError, "is not allowed here");
    // Nobody lists it, and a hidden server could have it.
    await assertRejects(() => hub.readResource("repo://new"), InvalidParamsError, "is not allowed here");
    assertEquals(inside.reads, ["github repo://a"]);
    assertEquals(hub.catalog().servers.map(({ resources, templates }) => [resources.length, templates.length]), [
      [1, 1],
      [0, 0],
    ]);
  });

  test("a URI that climbs out of what is allowed is refused", async () => {
    const inside = createHub();
    const read: string[] = [];
    inside.readResource = (name) => {
      read.push(typeof name === "string" ? name : name.uri);
      return Promise.resolve({ contents: [] });
    };
    const hub = withFilter(inside, { allow: ["docs.file:///pub/*"] });
    const climbing = [
      "file:///pub/../etc",
      "file:///pub/%2e%2E/etc",
      "file:///pub/a/..",
      "file:///pub/.%2e?x",
      "file:///pub/..\\etc",
      "file:///pub/a%2f..%2F../etc",
      "file:///pub/a%5C%2e%2e/../etc",
      "file:///pub/.\t./etc",
      "file:///pub/%\n2e./etc",
      "file:///pub/a/.. ",
      "file:///pub/a/..\u0001",
    ];
    for (const uri of climbing) {
      await assertRejects(
        () => hub.readResource({ server: "docs", uri }),
        InvalidParamsError,
        "is not allowed here",
        uri,
      );
    }
    for (const uri of ["file:///pub/a..b", "file:///pub/...", "file:///pub/a.txt"]) {
      await hub.readResource({ server: "docs", uri });
    }
    assertEquals(read, ["file:///pub/a..b", "file:///pub/...", "file:///pub/a.txt"]);
  });

  test("prompts and completions", async () => {
    const open = withFilter(createHub(), { allow: ["github.review", "github.repo://*"] });
    assertEquals(open.prompts().length, 1);
    assertEquals((await open.getPrompt("github__review")).messages.length, 1);
    assertEquals((await open.getPrompt("github.review")).messages.length, 1);
    const argument = { name: "a", value: "" };
    await open.complete({ type: "ref/prompt", name: "github__review" }, argument);
    await open.complete({ type: "ref/resource", server: "github", uri: "repo://{name}" }, argument);
    const closed = withFilter(createHub(), { deny: ["github"] });
    assertEquals(closed.prompts(), []);
    for (const name of ["github__review", "github.review", { server: "github", name: "review" }]) {
      await assertRejects(() => closed.getPrompt(name), InvalidParamsError, "is not allowed here");
      await assertRejects(() => closed.complete({ type: "ref/prompt", name }, argument), InvalidParamsError);
    }
    await assertRejects(
      () => closed.complete({ type: "ref/resource", server: "github", uri: "repo://{name}" }, argument),
      InvalidParamsError,
    );
  });

  test("patterns that are none are refused at once", () => {
    assertThrows(() => withFilter(createHub(), { allow: [""] }), TypeError, 'Cannot use the pattern 0: it is ""');
    assertThrows(() => withFilter(createHub(), { deny: [5 as unknown as string] }), TypeError, "it is 5");
    const misspelt = { denied: ["docs"] } as object;
    assertThrows(() => withFilter(createHub(), misspelt), TypeError, '"denied" is not known, expected allow or deny');
    for (const allow of ["docs", "", null, 0, false]) {
      assertThrows(
        () => withFilter(createHub(), { allow: allow as unknown as string[] }),
        TypeError,
        "a list of texts",
      );
    }
  });

  test("stars stand for any run, and a hostile name costs no time", () => {
    const fits = (pattern: string, name: string) => createMatcher([pattern])([name]);
    const table: [string, string, boolean][] = [
      ["a*", "a", true],
      ["*a", "ba", true],
      ["a*a", "a", false],
      ["a*a", "aa", true],
      ["a**b", "ab", true],
      ["*b*", "abc", true],
      ["*b*c*", "acb", false],
      ["a*bc*c", "abc", false],
      ["a*bc*c", "abcc", true],
      [".*", "abc", false],
      ["a", "ab", false],
    ];
    for (const [pattern, name, expected] of table) assertEquals(fits(pattern, name), expected, `${pattern} ${name}`);
    const took = stopwatch();
    assertEquals(fits("*a".repeat(200) + "b", "a".repeat(100_000)), false);
    // Going back would take years; a machine may stand still for seconds.
    assertEquals(took() < 10_000, true);
  });
});

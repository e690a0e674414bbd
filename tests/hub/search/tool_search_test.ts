/** Search over tools: what is found, in which order, and what a change costs. */
import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createCatalogView } from "../../../src/hub/catalog/catalog.ts";
import { createToolSearch, searchTools } from "../../../src/hub/search/tool_search.ts";
import type { CatalogServer } from "../../../src/hub/seam.ts";
import { serverOf, toolOf } from "../catalog/support.ts";

const properties = (...names: string[]) => ({
  inputSchema: { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) },
});

const view = createCatalogView([
  serverOf("github", [], {
    tools: [
      toolOf("create_issue", { description: "Opens a new issue in a repository" }),
      toolOf("list_issues", { description: "All issues of a repository, page by page" }),
      toolOf("mergePullRequest", { title: "Merge", description: "Merges a pull request" }),
      toolOf("get_file", properties("repositoryName", "commitHash")),
    ],
  }),
  serverOf("weather", [], {
    tools: [
      toolOf("forecast", { title: "天気予報", description: "The weather of the next days" }),
      toolOf("alerts", { description: "Issues of the weather service, such as storms" }),
    ],
  }),
]);
const names = (query: string, options?: Parameters<typeof searchTools>[2]): string[] =>
  searchTools(view, query, options).map(({ tool }) => tool.qualifiedName);

describe("search over tools", () => {
  const best: [query: string, expected: string][] = [
    ["create issue", "github__create_issue"],
    ["createIssue", "github__create_issue"],
    ["merge a pull request", "github__mergePullRequest"],
    ["MERGE", "github__mergePullRequest"],
    ["commit hash", "github__get_file"],
    ["forec", "weather__forecast"],
    ["天気", "weather__forecast"],
    ["storm", "weather__alerts"],
    ["weather forecast", "weather__forecast"],
    ["list of the issues", "github__list_issues"],
    ["github__get_file", "github__get_file"],
  ];
  for (const [query, expected] of best) {
    test(`"${query}" finds ${expected} first`, () => assertEquals(names(query)[0], expected));
  }

  test("a word weighs more than one that begins with it", () => {
    const both = createCatalogView([serverOf("a", ["a_repository", "b_repo"])]);
    assertEquals(searchTools(both, "repo").map(({ tool }) => tool.name), ["b_repo", "a_repository"]);
    assertEquals(searchTools(both, "repository").map(({ tool }) => tool.name), ["a_repository"]);
  });

  test("a name weighs more than a description", () => {
    assertEquals(names("issue").indexOf("weather__alerts"), 2);
  });

  for (const query of ["", "  ", "?!", "nothing-like-it", "zzz"]) {
    test(`"${query}" finds nothing`, () => assertEquals(names(query), []));
  }

  test("one server's tools alone, where one is named", () => {
    assertEquals(names("issue", { server: "weather" }), ["weather__alerts"]);
    assertEquals(names("issue", { server: "none" }), []);
  });

  test("what a filter leaves out makes room for others", () => {
    const filter = ({ name }: { name: string }): boolean => name !== "create_issue";
    assertEquals(names("create issue", { filter, limit: 1 }), ["github__list_issues"]);
  });

  test("a limit is a whole number from 1 on", () => {
    for (const limit of [0, -1, 1.5, NaN, Infinity]) assertThrows(() => names("x", { limit }), RangeError, "limit");
  });

  test("what fits equally well comes in the order of the catalog", () => {
    const same = createCatalogView(["c", "a", "b"].map((name) => serverOf(name, ["run_it"])));
    assertEquals(searchTools(same, "run").map(({ tool }) => tool.server), ["c", "a", "b"]);
    assertEquals(searchTools(same, "run", { limit: 2 }).map(({ tool }) => tool.server), ["c", "a"]);
  });

  test("tools that want to be found by saying a word a thousand times gain little, and cost little", () => {
    const greedy = createCatalogView([serverOf("a", [], {
      tools: [
        toolOf("delete_account", { description: "mail ".repeat(2_000_000) }),
        toolOf("send_mail", { description: "Sends a mail" }),
        toolOf("wide", properties(...Array.from({ length: 5_000 }, (_, at) => `mail${at}`))),
      ],
    })]);
    assertEquals(searchTools(greedy, "send mail")[0]?.tool.name, "send_mail");
  });

  test("schemas and titles that are none are passed over", () => {
    const odd = JSON.parse('{"name":"odd","title":7,"description":null,"inputSchema":{"properties":["x"]}}');
    assertEquals(searchTools(createCatalogView([serverOf("a", [], { tools: [odd] })]), "odd").length, 1);
  });

  test("a query of any length costs what its first part costs", () => {
    assertEquals(names("issue " + "x y z ".repeat(1_000_000)).length, 3);
  });
});

/** Catalogs of few words, so that they meet. */
const word = fc.constantFrom("create", "issue", "file", "user", "get", "list", "天気", "étude");
const tool = fc.tuple(fc.uniqueArray(word, { minLength: 1, maxLength: 3 }), fc.array(word, { maxLength: 5 }))
  .map(([name, description]) => toolOf(name.join("_"), { description: description.join(" ") }));
const server = fc.tuple(fc.constantFrom("a", "b", "c"), fc.array(tool, { maxLength: 6 }))
  .map(([name, tools]) => serverOf(name, [], { tools }));
const query = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));

describe("search over a catalog that changes", () => {
  test("finds at every moment what a new index finds, and tells the same order at every limit", () => {
    fc.assert(fc.property(fc.array(fc.tuple(server, query), { minLength: 1, maxLength: 8 }), (changes) => {
      let now = createCatalogView([]);
      const search = createToolSearch({ tools: () => now.tools() });
      for (const [changed, query] of changes) {
        now = changed.tools.length > 0 ? now.with(changed) : now.without(changed.name);
        const found = search.search(query, { limit: 100 });
        assertEquals(found, searchTools(now, query, { limit: 100 }));
        assertEquals(search.search(query, { limit: 2 }), found.slice(0, 2));
        for (const [at, { score }] of found.entries()) assert(score > 0 && score <= (found[at - 1]?.score ?? score));
        const words = query.split(" ");
        const right = now.tools().filter((item) =>
          words.some((word) => item.name.includes(word) || item.tool.description?.includes(word))
        );
        assertEquals(new Set(found.map((item) => item.tool)), new Set(right));
      }
    }));
  });

  test("indexes only the server whose tools have changed", () => {
    let reads = 0;
    const watched = (name: string): CatalogServer => {
      const tools = [toolOf("run")];
      Object.defineProperty(tools[0], "description", {
        enumerable: true,
        get: () => {
          reads++;
          return `of ${name}`;
        },
      });
      return serverOf(name, [], { tools });
    };
    let now = createCatalogView([watched("a"), watched("b"), watched("c")]);
    const search = createToolSearch({ tools: () => now.tools() });
    assertEquals(reads, 0);
    // A query for one server looks at that one alone.
    search.search("run", { server: "b" });
    assertEquals(reads, 1);
    search.search("run");
    search.search("run");
    assertEquals(reads, 3);
    now = now.with(watched("b")).with(serverOf("d", ["other"]));
    assertEquals(search.search("run").length, 3);
    assertEquals(reads, 4);
    now = now.without("a");
    assertEquals(search.search("run").map(({ tool }) => tool.server), ["b", "c"]);
    assertEquals(reads, 4);
  });

  test("finds a tool no more that is gone, though the others are the same objects", () => {
    const tools = [toolOf("run_one"), toolOf("run_two")];
    let now = createCatalogView([serverOf("a", [], { tools }), serverOf("b", ["walk"])]);
    const search = createToolSearch({ tools: () => now.tools() });
    assertEquals(search.search("two").length, 1);
    now = now.with(serverOf("a", [], { tools: tools.slice(0, 1) }));
    assertEquals(search.search("two"), []);
    now = now.with(serverOf("a", [], { tools }));
    assertEquals(search.search("two").map(({ tool }) => tool.name), ["run_two"]);
  });
});

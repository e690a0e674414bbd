/** Names for models: always allowed, always one thing's, and the same whatever else there is. */
import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createCatalogView } from "../../../src/hub/catalog/catalog.ts";
import { labelServers, qualify } from "../../../src/hub/catalog/names.ts";
import { serverOf } from "./support.ts";

const free = (): boolean => false;
const nameOf = (server: string, tool: string): string => {
  const [label = ""] = labelServers([server]).values();
  return qualify(label, tool, free);
};

/** Names that meet each other easily: few letters, and what parts and ends names. */
const part = fc.oneof(
  fc.array(fc.constantFrom("a", "B", "_", "__", "-", ".", "/", " ", "é", "0", "-0123456789", "_0123456789"), {
    maxLength: 6,
  }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.constantFrom("__proto__", "constructor", "toString", "", "x".repeat(64), "x".repeat(65), "\ud800"),
);
const servers = fc.uniqueArray(fc.tuple(part, fc.uniqueArray(part, { maxLength: 6 })), {
  maxLength: 6,
  selector: ([name]) => name,
});

describe("qualified names", () => {
  const plain: [server: string, tool: string, expected: string][] = [
    ["github", "create_issue", "github__create_issue"],
    ["my-server", "get-it", "my-server__get-it"],
    ["a", "b__c", "a__b__c"],
    ["a", "_b", "a___b"],
    ["1password", "read", "_1password__read"],
    ["a", "b".repeat(61), `a__${"b".repeat(61)}`],
  ];
  for (const [server, tool, expected] of plain) {
    test(`"${server}" and "${tool}" stand as they are`, () => assertEquals(nameOf(server, tool), expected));
  }

  const hashed: [server: string, tool: string, expected: RegExp][] = [
    ["github", "repo.search", /^github__repo_search_[\da-f]{10}$/],
    ["github", "list/日本語", /^github__list_[\da-f]{10}$|^github__list__[\da-f]{10}$/],
    ["GitHub Copilot", "search", /^GitHub_Copilot-[\da-f]{10}__search$/],
    ["a__b", "c", /^a_b-[\da-f]{10}__c$/],
    ["a_", "b", /^a_-[\da-f]{10}__b$/],
    ["_1password", "read", /^_1password-[\da-f]{10}__read$/],
    ["a", "b".repeat(62), /^a__b{50}_[\da-f]{10}$/],
    ["s".repeat(33), "b", /^s{20}-[\da-f]{10}__b$/],
    ["a", "b_0123456789", /^a__b_0123456789_[\da-f]{10}$/],
    ["a-0123456789", "b", /^a-0123456789-[\da-f]{10}__b$/],
    ["", "", /^_-[\da-f]{10}___[\da-f]{10}$/],
  ];
  for (const [server, tool, expected] of hashed) {
    test(`"${server}" and "${tool}" get a hash`, () =>
      assert(expected.test(nameOf(server, tool)), nameOf(server, tool)));
  }

  test("stay what they are from version to version: what was stored and approved still fits", () => {
    assertEquals(nameOf("GitHub Copilot", "repo.search"), "GitHub_Copilot-df4682ddad__repo_search_fd7318521d");
  });

  test("are allowed everywhere, unique, found again, and the same whatever else there is and in whatever order", () => {
    fc.assert(fc.property(servers, fc.nat(), (all, seed) => {
      const view = createCatalogView(all.map(([name, tools]) => serverOf(name, tools)));
      const seen = new Set<string>();
      for (const tool of view.tools()) {
        const { qualifiedName, server, name } = tool;
        assert(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(qualifiedName), qualifiedName);
        assert(!seen.has(qualifiedName), qualifiedName);
        seen.add(qualifiedName);
        assertEquals(view.findTool(qualifiedName), tool);
        assertEquals(view.findTool({ server, name }), tool);
        assertEquals(nameOf(server, name), qualifiedName);
      }
      assertEquals(seen.size, all.reduce((sum, [, tools]) => sum + tools.length, 0));
      const turned = all.map(([name, tools]) => serverOf(name, [...tools].reverse()));
      turned.push(...turned.splice(0, seed % (turned.length || 1)));
      const other = createCatalogView(turned);
      for (const { server, name, qualifiedName } of view.tools()) {
        assertEquals(other.findTool({ server, name })?.qualifiedName, qualifiedName);
      }
    }));
  });

  test("two tools whose hashes meet have two names, whichever was listed first", () => {
    const [one, two] = ["xâàüðá", "xúòãü"];
    assertEquals(nameOf("a", one), nameOf("a", two));
    for (const tools of [[one, two], [two, one]]) {
      const view = createCatalogView([serverOf("a", tools)]);
      const [first, second] = view.tools();
      assertEquals([first?.name, second?.name], [one, two]);
      assertEquals(first?.qualifiedName, nameOf("a", one));
      assertNotEquals(first?.qualifiedName, second?.qualifiedName);
      assertEquals(view.findTool(second?.qualifiedName ?? ""), second);
    }
  });

  test("two servers whose hashes meet have two labels, whichever is named first", () => {
    const [one, two] = ["xâàüðá", "xúòãü"];
    assertEquals([...labelServers([one]).values()], [...labelServers([two]).values()]);
    const labels = labelServers([two, one]);
    assertEquals(labels.get(one), labelServers([one]).get(one));
    assertNotEquals(labels.get(one), labels.get(two));
    assertEquals(labelServers([one, two]), labels);
  });

  test("a server that comes and takes a label leaves no tool with a name that means another", () => {
    const [one, two] = ["xâàüðá", "xúòãü"];
    const alone = createCatalogView([serverOf(two, ["run"])]);
    const name = alone.tools()[0]?.qualifiedName ?? "";
    const both = alone.with(serverOf(one, ["run"]));
    assertEquals(both.findTool(name)?.server, one);
    assertEquals(new Set(both.tools().map(({ qualifiedName }) => qualifiedName)).size, 2);
    for (const tool of both.tools()) assertEquals(both.findTool(tool.qualifiedName), tool);
    assertEquals(both.without(one).findTool(name)?.server, two);
  });
});

/** The view of a catalog: its order, what it finds, and what it shares with the view that it was made from. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { createCatalogView } from "../../../src/hub/catalog/catalog.ts";
import { findTemplates } from "../../../src/hub/catalog/templates.ts";
import { Uris } from "../../../src/hub/gateway/lists/uris.ts";
import { serverOf, toolOf } from "./support.ts";
import { stopwatch } from "../../support/clocks/stopwatch.ts";

const resource = (uri: string) => ({ uri, name: uri });
const template = (uriTemplate: string) => ({ uriTemplate, name: uriTemplate });

describe("the order of a catalog", () => {
  test("is that of the servers, then of names, however a server lists them", () => {
    const lists = {
      resources: [resource("b:1"), resource("a:1")],
      templates: [template("b:{x}"), template("a:{x}")],
      prompts: [{ name: "b" }, { name: "B" }],
    };
    const view = createCatalogView([serverOf("z", ["b", "a", "B"], lists), serverOf("a", ["c"])]);
    assertEquals(view.tools().map(({ qualifiedName }) => qualifiedName), ["z__B", "z__a", "z__b", "a__c"]);
    assertEquals(view.prompts().map(({ qualifiedName, prompt }) => [qualifiedName, prompt.name]), [["z__B", "B"], [
      "z__b",
      "b",
    ]]);
    assertEquals(view.resources().map(({ resource }) => resource.uri), ["a:1", "b:1"]);
    assertEquals(view.templates().map(({ template }) => template.uriTemplate), ["a:{x}", "b:{x}"]);
  });

  test("of two tools with one name the first is there", () => {
    const tools = [toolOf("x", { title: "first" }), toolOf("y"), toolOf("x", { title: "second" })];
    const view = createCatalogView([serverOf("a", [], { tools })]);
    assertEquals(view.tools().map(({ tool }) => tool.title), ["first", undefined]);
    assertEquals(view.findTool("a.x")?.tool.title, "first");
  });

  test("two servers with one name are a mistake", () => {
    assertThrows(() => createCatalogView([serverOf("a"), serverOf("a")]), TypeError, "a name of its own");
  });

  test("what the caller does to its array afterwards changes nothing", () => {
    const servers = [serverOf("a", ["x"])];
    const view = createCatalogView(servers);
    servers.length = 0;
    assertEquals(view.tools().length, 1);
  });
});

describe("finding a tool", () => {
  const view = createCatalogView([
    serverOf("a", ["b.c", "b.d", "x__y", "plain"]),
    serverOf("a.b", ["c", ".."]),
    serverOf("a__x", ["y"]),
    serverOf("__proto__", ["constructor"]),
  ]);
  const at = (name: string) => {
    const found = view.findTool(name);
    return found && [found.server, found.name];
  };

  test("by its name for models", () => {
    for (const tool of view.tools()) assertStrictEquals(view.findTool(tool.qualifiedName), tool);
    assertEquals(at("a__x__y"), ["a", "x__y"]);
  });

  test("as server.tool: the longest server with such a tool counts", () => {
    assertEquals(at("a.plain"), ["a", "plain"]);
    assertEquals(at("a.b.c"), ["a.b", "c"]);
    assertEquals(at("a.b.d"), ["a", "b.d"]);
    assertEquals(at("a.b..."), ["a.b", ".."]);
    assertEquals(at("a__x.y"), ["a__x", "y"]);
    assertEquals(at("__proto__.constructor"), ["__proto__", "constructor"]);
  });

  test("in two parts, which leave no doubt", () => {
    assertEquals(view.findTool({ server: "a", name: "b.c" })?.server, "a");
    assertEquals(view.findTool({ server: "a.b", name: "c" })?.server, "a.b");
    assertEquals(view.findTool({ server: "a.b", name: "d" }), undefined);
    assertEquals(view.findTool({ server: "none", name: "c" }), undefined);
  });

  for (const name of ["", ".", "a", "a.", ".plain", "plain", "a__", "__plain", "b__c", "A__plain", "constructor"]) {
    test(`"${name}" is nothing`, () => assertEquals(at(name), undefined));
  }

  test("a text of nothing but dots is nothing, and costs little", () => {
    assertEquals(at(".".repeat(5_000_000)), undefined);
    assertEquals(at("_".repeat(5_000_000)), undefined);
  });

  test("prompts are found the same way, and are no tools", () => {
    const prompts = createCatalogView([serverOf("a", [], { prompts: [{ name: "ask.it" }] })]);
    const [prompt] = prompts.prompts();
    assert(prompt);
    for (const name of [prompt.qualifiedName, "a.ask.it", { server: "a", name: "ask.it" }]) {
      assertStrictEquals(prompts.findPrompt(name), prompt);
      assertEquals(prompts.findTool(name), undefined);
    }
  });
});

describe("finding a resource", () => {
  const view = createCatalogView([
    serverOf("a", [], { resources: [resource("memo://1"), resource("memo://2")] }),
    serverOf("b", [], {
      resources: [resource("memo://2")],
      templates: [template("memo://{id}"), template("memo://{id"), template("{".repeat(5_000))],
    }),
    serverOf("c", [], { templates: [template("memo://9{+rest}")] }),
  ]);

  test("by its URI, with everybody who has it", () => {
    assertEquals(view.findResource("memo://1").map(({ server }) => server), ["a"]);
    assertEquals(view.findResource("memo://2").map(({ server }) => server), ["a", "b"]);
    assertEquals(view.findResource("memo://3"), []);
  });

  test("by the templates that it fits; a broken one fits nothing", () => {
    const found = (uri: string) => findTemplates(view, uri).map(({ server, variables }) => [server, variables]);
    assertEquals(found("memo://3"), [["b", { id: "3" }]]);
    assertEquals(found("memo://95"), [["b", { id: "95" }], ["c", { rest: "5" }]]);
    assertEquals(found("other://"), []);
    assertEquals(found("memo://" + "9".repeat(20_000)), []);
  });
});

describe("a server with very many templates", () => {
  const parts = Array.from({ length: 63 }, (_, at) => `{+v${at}}`).join("");
  const templates = Array.from({ length: 4_000 }, (_, at) => template(`{+first}#${at}${parts}`));
  const good = serverOf("good", [], { templates: [template("note:///{name}")] });
  const view = createCatalogView([serverOf("evil", [], { templates }), good]);

  test("does not keep what another one has from being found", () => {
    const took = stopwatch();
    const name = "a".repeat(16_000);
    assertEquals(findTemplates(view, `note:///${name}`).map(({ server, variables }) => [server, variables]), [
      ["good", { name }],
    ]);
    // Each of them takes some milliseconds.
    assert(took() < 5_000);
  });

  test("does not hold up links in the results of another one", () => {
    const took = stopwatch();
    const uris = new Uris({
      resources: () => [],
      templates: () => view.templates(),
      servers: () => ["evil", "good"],
      withResources: () => ["evil", "good"],
    });
    const link = uris.linker("good");
    for (let at = 0; at < 50; at++) {
      const uri = `https://example.com/${at}/${"a".repeat(1_000)}`;
      assertEquals(uris.find(link(uri)), { server: "good", uri });
    }
    assert(took() < 10_000);
  });

  test("has no link of another one read for it, however many there are", () => {
    const templates = Array.from({ length: 1_000 }, (_, at) => template(`docs://{name}/${at}`));
    const many = createCatalogView([serverOf("many", [], { templates }), good]);
    const uris = new Uris({
      resources: () => [],
      templates: () => many.templates(),
      servers: () => ["many", "good"],
      withResources: () => ["many", "good"],
    });
    const link = uris.linker("good");
    for (let at = 0; at < 50; at++) {
      const uri = `docs://page-${at}/999`;
      assertEquals(uris.find(link(uri)), { server: "good", uri }, uri);
    }
  });
});

describe("another view", () => {
  const first = createCatalogView([serverOf("a", ["x"]), serverOf("b", ["x"]), serverOf("c", ["x"])]);

  test("has the new server in the old place, and shares the rest", () => {
    const tools = first.tools();
    const second = first.with(serverOf("b", ["x", "y"]));
    assertEquals(second.tools().map(({ qualifiedName }) => qualifiedName), ["a__x", "b__x", "b__y", "c__x"]);
    assertStrictEquals(second.tools()[0], tools[0]);
    assertStrictEquals(second.tools()[3], tools[2]);
    assertEquals(first.tools(), tools);
    assertEquals(first.findTool("b__y"), undefined);
    assertStrictEquals(second.tools(), second.tools());
  });

  test("shares also over views that nobody looked at", () => {
    const last = first.with(serverOf("b")).with(serverOf("d", ["x"])).without("a");
    assertEquals(last.tools().map(({ qualifiedName }) => qualifiedName), ["c__x", "d__x"]);
    assertStrictEquals(last.tools()[0], first.findTool("c__x"));
    assertEquals(last.findTool("a__x"), undefined);
    assertEquals(last.server("a"), undefined);
    assertEquals(last.server("d")?.name, "d");
  });

  test("without a server that is not there is the same", () => {
    assertStrictEquals(first.without("z"), first);
  });

  test("is plain JSON", () => {
    const json = JSON.parse(JSON.stringify(first));
    assertEquals(json, { kind: "causeway.catalog", version: 1, servers: [...first.servers] });
    assertEquals(createCatalogView(json.servers).tools(), first.tools());
  });
});

/** What no server lists is read from the one whose template makes it. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { InvalidParamsError, McpError } from "../../../src/protocol/errors.ts";
import { withTemplates } from "../../../src/hub/catalog/with_templates.ts";
import { withFilter } from "../../../src/hub/pins/filter.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { inMemory, openHub } from "../support.ts";

/** A server with a template, and what is read of it says whose it is. */
function createServer(name: string, template: string): McpServer {
  const server = new McpServer({ name, version: "1.0.0" });
  server.template(template, { name: "a family" }, (uri) => `${name} has ${uri}`);
  server.resource("memo:///listed", { name: "one" }, () => `${name} lists it`);
  return server;
}

/** A hub of these servers: templates by names. */
function open(templates: Readonly<Record<string, string>>) {
  return openHub(Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [name, inMemory(createServer(name, template)).config]),
  ));
}

describe("withTemplates", () => {
  test("a URI that nobody lists is read from the server whose template makes it", async () => {
    await using hub = await open({ notes: "note:///{name}", files: "file:///{+path}" });
    const read = async (uri: string) => {
      const { contents } = await withTemplates(hub).readResource(uri);
      return contents.map((part) => "text" in part ? part.text : "");
    };
    assertEquals(await read("note:///today"), ["notes has note:///today"]);
    assertEquals(await read("file:///a/b.txt"), ["files has file:///a/b.txt"]);
    await assertRejects(() => hub.readResource("note:///today"), InvalidParamsError, "no server lists it");
    await assertRejects(() => read("other:///x"), InvalidParamsError, "no server lists it");
  });

  test("several servers that make it are named, and nobody is asked; with its server it is read", async () => {
    await using hub = await open({ one: "note:///{name}", two: "note:///{id}", three: "file:///{id}" });
    const layer = withTemplates(hub);
    const error = await assertRejects(() => layer.readResource("note:///today"), InvalidParamsError);
    assertEquals(
      error.message,
      'Cannot read "note:///today": more than one server has a template for it, name one of "one", "two"',
    );
    assertEquals(error.delivery, "not-sent");
    const { contents: [first] } = await layer.readResource({ server: "two", uri: "note:///today" });
    assertEquals(first && "text" in first && first.text, "two has note:///today");
  });

  test("of many servers a message names five", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    await using hub = await open(Object.fromEntries(names.map((name) => [name, "note:///{name}"])));
    await assertRejects(
      () => withTemplates(hub).readResource("note:///today"),
      McpError,
      'name one of "a", "b", "c", "d", "e" and 2 more',
    );
  });

  test("what is listed is the hub's own matter, also where a template of another server makes it", async () => {
    const lists = new McpServer({ name: "lists", version: "1.0.0" });
    lists.resource("note:///today", { name: "today" }, () => "lists it");
    const makes = new McpServer({ name: "makes", version: "1.0.0" });
    makes.template("note:///{name}", { name: "notes" }, () => "makes it");
    await using hub = await openHub({ makes: inMemory(makes).config, lists: inMemory(lists).config });
    const { contents: [first] } = await withTemplates(hub).readResource("note:///today");
    assertEquals(first && "text" in first && first.text, "lists it");
  });

  test("around a filter only what it shows makes a URI", async () => {
    await using hub = await open({ one: "note:///{name}", two: "note:///{id}" });
    const filtered = withTemplates(withFilter(hub, { allow: ["two"] }));
    const { contents: [first] } = await filtered.readResource("note:///today");
    assertEquals(first && "text" in first && first.text, "two has note:///today");
    await assertRejects(() => filtered.readResource({ server: "one", uri: "note:///today" }), InvalidParamsError);
  });
});

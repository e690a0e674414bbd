import { describe, test } from "node:test";
import { assertEquals, assertStrictEquals } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { Revision } from "../../../src/protocol/revisions.ts";
import { dressResult } from "../../../src/server/legacy/dress.ts";

const revisions: Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** The value for each revision, oldest first. */
function each(method: string, result: JsonObject, pick: (dressed: JsonObject) => unknown): unknown[] {
  const before = JSON.stringify(result);
  const dressed = revisions.map((revision) => pick(dressResult(method, result, revision)));
  assertEquals(JSON.stringify(result), before, "the result itself is left alone");
  return dressed;
}

/** The fields of the first item of a list. */
function fields(method: string, list: string, item: JsonObject): unknown[] {
  return each(method, { [list]: [item] }, (dressed) => Object.keys((dressed[list] as JsonObject[])[0] ?? {}));
}

const icons = [{ src: "data:," }];
const annotations = { priority: 1, lastModified: "2026-01-01" };
const object = { type: "object" };

describe("results for older clients", () => {
  test("nothing of the modern era is left", () => {
    const result = { tools: [], resultType: "complete", ttlMs: 5, cacheScope: "private", nextCursor: "n", _meta: {} };
    for (const method of ["tools/list", "completion/complete", "resources/read"]) {
      assertEquals(dressResult(method, result, "2025-11-25"), { tools: [], nextCursor: "n", _meta: {} });
    }
  });

  test("tools have the fields of the revision", () => {
    const tool = {
      ...{ name: "t", title: "T", description: "d", inputSchema: object, outputSchema: object },
      ...{ annotations: { readOnlyHint: true }, icons, execution: {}, _meta: {} },
    };
    const first = ["name", "description", "inputSchema"];
    const third = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
    assertEquals(fields("tools/list", "tools", tool), [
      first,
      [...first, "annotations"],
      [...third, "_meta"],
      [...third, "icons", "execution", "_meta"],
    ]);
  });

  test("an output schema whose root is no object is left out", () => {
    for (const outputSchema of [{ type: "array" }, { type: ["object", "null"] }, {}, true]) {
      const result = { tools: [{ name: "t", inputSchema: object, outputSchema }] };
      assertEquals(dressResult("tools/list", result, "2025-11-25"), { tools: [{ name: "t", inputSchema: object }] });
    }
  });

  test("structured results are objects, and texts before 2025-06-18", () => {
    const content = [{ type: "text", text: "[1]" }];
    assertEquals(each("tools/call", { content, structuredContent: [1] }, (dressed) => dressed), [
      { content },
      { content },
      { content, structuredContent: { result: [1] } },
      { content, structuredContent: { result: [1] } },
    ]);
    for (const value of [null, 0, false, "x"]) {
      const dressed = dressResult("tools/call", { content, structuredContent: value }, "2025-06-18");
      assertEquals(dressed.structuredContent, { result: value });
    }
    const kept = { content, structuredContent: { a: 1 }, isError: true };
    assertEquals(dressResult("tools/call", kept, "2025-06-18"), kept);
    assertEquals(dressResult("tools/call", { content: [], structuredContent: [1] }, "2024-11-05"), { content });
  });

  test("links and sounds are said in text where they are not known", () => {
    const link = { type: "resource_link", uri: "a:b", name: "n", title: "The B", description: "all of it", icons };
    const sound = { type: "audio", data: "AAAA", mimeType: "audio/wav", annotations };
    const said = { type: "text", text: "The B: a:b\nall of it" };
    const { icons: _icons, ...plain } = link;
    assertEquals(each("tools/call", { content: [link] }, ({ content }) => (content as JsonObject[])[0]), [
      said,
      said,
      plain,
      link,
    ]);
    assertEquals(each("tools/call", { content: [sound] }, ({ content }) => (content as JsonObject[])[0]), [
      {
        type: "text",
        text: "[audio, audio/wav: this revision of the protocol cannot carry it]",
        annotations: { priority: 1 },
      },
      { ...sound, annotations: { priority: 1 } },
      sound,
      sound,
    ]);
    const messages = [{ role: "user", content: link }];
    assertEquals(dressResult("prompts/get", { messages }, "2025-03-26"), {
      messages: [{ role: "user", content: said }],
    });
  });

  test("what is embedded has the fields of the revision", () => {
    const plain = { type: "resource", resource: { uri: "a:b", text: "x" }, annotations: { priority: 1 } };
    const resource = { ...plain.resource, _meta: { a: 1 } };
    const whole = { ...plain, resource, annotations, _meta: { b: 2 } };
    assertEquals(each("tools/call", { content: [whole] }, ({ content }) => (content as JsonObject[])[0]), [
      plain,
      plain,
      whole,
      whole,
    ]);
  });

  test("resources, templates and prompts have the fields of the revision", () => {
    const named = { name: "n", title: "N", annotations, icons, _meta: {} };
    const old = ["name", "annotations"];
    const expected = [old, old, ["name", "title", "annotations", "_meta"], Object.keys(named)];
    assertEquals(fields("resources/list", "resources", named), expected);
    assertEquals(fields("resources/templates/list", "resourceTemplates", named), expected);
    const prompt = { name: "p", title: "P", arguments: [{ name: "a", title: "A", required: true }] };
    assertEquals(dressResult("prompts/list", { prompts: [prompt] }, "2025-03-26"), {
      prompts: [{ name: "p", arguments: [{ name: "a", required: true }] }],
    });
    const [resource] = dressResult("resources/list", { resources: [named] }, "2025-03-26").resources as JsonObject[];
    assertEquals(resource?.annotations, { priority: 1 });
    const contents = [{ uri: "a:b", text: "x", _meta: { a: 1 } }];
    assertEquals(dressResult("resources/read", { contents }, "2024-11-05"), { contents: [{ uri: "a:b", text: "x" }] });
  });

  test("what needs no change is not copied", () => {
    const result = { content: [{ type: "text", text: "x" }] };
    for (const revision of revisions) assertStrictEquals(dressResult("tools/call", result, revision), result);
  });
});

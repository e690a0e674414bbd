import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { checkResult as checkCore } from "../../src/protocol/shapes/core.ts";
import { checkShape } from "../../src/protocol/shapes/all.ts";
import { checkInputs } from "../../src/protocol/shapes/inputs.ts";
import { checkTool } from "../../src/protocol/shapes/tool.ts";

/** All tables: the one that every client meets, the rest, and what is looked at by who takes it. */
function checkResult(method: string, result: Record<string, unknown>): string | undefined {
  const taken = new Map([["tool", checkTool], ["input_required", checkInputs]]);
  return checkCore(method, result) ?? checkShape(method, result) ?? taken.get(method)?.(result);
}

type Result = Record<string, unknown>;

const schema = { type: "object" };
const message = { role: "user", content: { type: "text", text: "hi" } };
const task = {
  taskId: "t",
  status: "working",
  createdAt: "2026-01-01T00:00:00Z",
  lastUpdatedAt: "2026-01-01T00:00:00Z",
};

/** A right result of each method, with every field that is looked at. */
const right: Record<string, Result> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    serverInfo: { name: "s", version: "1" },
    instructions: "x",
  },
  "server/discover": {
    supportedVersions: ["2026-07-28"],
    capabilities: {},
    instructions: "x",
    ttlMs: 0,
    cacheScope: "public",
  },
  "tools/list": { tools: [], nextCursor: "", ttlMs: 5 },
  // Each tool is judged alone, so that one that is none does not spoil the list.
  "tool": {
    name: "a",
    title: "A",
    description: "x",
    inputSchema: schema,
    outputSchema: schema,
    annotations: { readOnlyHint: true },
    execution: { taskSupport: "optional" },
    _meta: {},
  },
  "tools/call": {
    content: [
      { type: "text", text: "" },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "audio", data: "AA==", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "a:b", text: "" } },
      { type: "resource", resource: { uri: "a:b", blob: "", mimeType: "x/y" } },
      { type: "resource_link", uri: "a:b", name: "b", title: "B", description: "x", mimeType: "x/y", size: 1 },
    ],
    structuredContent: null,
    isError: false,
  },
  "resources/list": { resources: [{ uri: "a:b", name: "b", title: "B", description: "x", mimeType: "x/y", size: 1 }] },
  "resources/templates/list": {
    resourceTemplates: [{ uriTemplate: "a:{b}", name: "b", title: "B", description: "x", mimeType: "x/y" }],
  },
  "resources/read": { contents: [{ uri: "a:b", text: "" }, { uri: "a:c", mimeType: "x/y", blob: "AA==" }], ttlMs: 1 },
  "prompts/list": {
    prompts: [{
      name: "p",
      title: "P",
      description: "x",
      arguments: [{ name: "a", title: "A", description: "x", required: true }],
    }],
  },
  "prompts/get": {
    description: "x",
    messages: [message, { role: "assistant", content: { type: "audio", data: "", mimeType: "" } }],
  },
  "completion/complete": { completion: { values: ["a", "b"], total: 2, hasMore: false } },
  "tasks/get": {
    ...task,
    statusMessage: "x",
    ttl: null,
    ttlMs: 5,
    pollInterval: 1,
    pollIntervalMs: 1,
    result: {},
    error: {},
    inputRequests: {},
  },
  "tasks/list": { tasks: [task], nextCursor: "2" },
  task: { resultType: "task", ...task },
  input_required: {
    resultType: "input_required",
    requestState: "s",
    inputRequests: { "a b": { method: "roots/list", params: {} } },
  },
};

/** Every path into a value: names and positions. */
function paths(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const below = keys.flatMap((key) => paths(value[key as never], [...path, key]));
  return path.length ? [path, ...below] : below;
}

/** A copy with another value at one place; undefined takes the field away, as in JSON. */
function replace(result: Result, path: (string | number)[], value: unknown): Result {
  const copy = structuredClone(result);
  const parent = path.slice(0, -1).reduce<unknown>((inner, key) => (inner as Result)[key], copy) as Result;
  const last = String(path[path.length - 1]);
  if (value === undefined && !Array.isArray(parent)) delete parent[last];
  else parent[last] = value;
  return copy;
}

function at(result: Result, path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Result)[key], result);
}

describe("result shapes: what is right", () => {
  for (const [method, result] of Object.entries(right)) {
    test(`${method}: a full result passes, also with fields that no one knows`, () => {
      assertEquals(checkResult(method, result), undefined);
      assertEquals(checkResult(method, { ...result, extra: [1], _meta: {} }), undefined);
    });
  }

  test("empty lists pass, and null stands for missing", () => {
    for (
      const [method, field] of [["tools/list", "tools"], ["tools/call", "content"], ["prompts/get", "messages"], [
        "resources/read",
        "contents",
      ]] as const
    ) {
      assertEquals(checkResult(method, { [field]: [] }), undefined);
    }
    const tool = {
      name: "a",
      inputSchema: schema,
      title: null,
      description: null,
      outputSchema: null,
      annotations: null,
      _meta: null,
    };
    assertEquals(checkResult("tools/list", { tools: [tool], nextCursor: null, ttlMs: null, _meta: null }), undefined);
    assertEquals(checkResult("prompts/list", { prompts: [{ name: "p", arguments: null }] }), undefined);
    assertEquals(checkResult("tools/call", { content: [], isError: null }), undefined);
  });

  test("an unknown content type passes, whatever else it has, also one that is a word of JavaScript", () => {
    for (const type of ["video", "", "constructor", "__proto__", "toString"]) {
      const block = { type, text: 5, data: {} };
      assertEquals(checkResult("tools/call", { content: [block] }), undefined);
      assertEquals(checkResult("prompts/get", { messages: [{ role: "user", content: block }] }), undefined);
    }
  });

  test("a tool's result may do without content only when it has structured content or a task", () => {
    for (const structuredContent of [{}, [], null, 0, false, ""]) {
      assertEquals(checkResult("tools/call", { structuredContent }), undefined);
    }
    assertEquals(checkShape("tools/call", { task }), undefined);
    assertEquals(checkResult("tools/call", { isError: false }), '"content" is missing: expected an array');
    assertEquals(
      checkShape("tools/call", { task: { ...task, status: "?" } }),
      '"task.status" is a string: expected working|input_required|completed|failed|cancelled',
    );
    assertEquals(
      checkResult("tools/call", { structuredContent: {}, content: {} }),
      '"content" is an object: expected an array',
    );
  });

  test("acknowledgements and methods without a shape take any object", () => {
    for (
      const method of [
        "ping",
        "tasks/cancel",
        "tasks/update",
        "tasks/result",
        "subscriptions/listen",
        "acme/own",
        "constructor",
      ]
    ) {
      assertEquals(checkResult(method, {}), undefined);
      assertEquals(checkResult(method, { _meta: 1 }), '"_meta" is a number: expected an object');
    }
  });

  test("a request for input needs requests or a state", () => {
    assertEquals(checkResult("input_required", { requestState: "" }), undefined);
    assertEquals(checkResult("input_required", { inputRequests: {} }), undefined);
    assertEquals(
      checkResult("input_required", { inputRequests: JSON.parse('{"__proto__":{"method":"a/b"}}') }),
      undefined,
    );
    assertEquals(checkResult("input_required", {}), '"requestState" is missing: expected a string');
    assertEquals(
      checkResult("input_required", { inputRequests: { a: {} } }),
      '"inputRequests.a.method" is missing: expected a string',
    );
    assertEquals(
      checkResult("input_required", { inputRequests: [], requestState: 1 }),
      '"inputRequests" is an array: expected an object',
    );
  });
});

describe("result shapes: what is wrong", () => {
  const cases: [method: string, result: Result, sentence: string][] = [
    ["tools/list", {}, '"tools" is missing: expected an array'],
    ["tools/list", { tools: { a: 1 } }, '"tools" is an object: expected an array'],
    ["tool", { name: "b" }, '"inputSchema" is missing: expected an object'],
    ["tool", { name: 5, inputSchema: schema }, '"name" is a number: expected a string'],
    ["tools/list", { tools: [], nextCursor: 2 }, '"nextCursor" is a number: expected a string'],
    ["tools/call", { content: ["text"] }, '"content[0]" is a string: expected an object'],
    ["tools/call", { content: [{ text: "a" }] }, '"content[0].type" is missing: expected a string'],
    ["tools/call", { content: [{ type: ["text"], text: "a" }] }, '"content[0].type" is an array: expected a string'],
    ["tools/call", { content: [{ type: "text" }] }, '"content[0].text" is missing: expected a string'],
    [
      "tools/call",
      { content: [{ type: "resource", resource: { uri: "a:b" } }] },
      '"content[0].resource.blob" is missing: expected a string',
    ],
    ["tools/call", { content: [], isError: "no" }, '"isError" is a string: expected a boolean'],
    ["resources/read", { contents: [{ uri: "a:b", text: 1 }] }, '"contents[0].text" is a number: expected a string'],
    [
      "prompts/get",
      { messages: [{ role: "system", content: message.content }] },
      '"messages[0].role" is a string: expected user|assistant',
    ],
    [
      "prompts/get",
      { messages: [{ role: "user", content: [] }] },
      '"messages[0].content" is an array: expected an object',
    ],
    [
      "initialize",
      { ...right.initialize, serverInfo: { name: "s" } },
      '"serverInfo.version" is missing: expected a string',
    ],
    [
      "server/discover",
      { supportedVersions: [1], capabilities: {} },
      '"supportedVersions[0]" is a number: expected a string',
    ],
    ["completion/complete", { completion: { values: "a" } }, '"completion.values" is a string: expected an array'],
  ];
  for (const [method, result, sentence] of cases) {
    test(`${method}: ${sentence}`, () => assertEquals(checkResult(method, result), sentence));
  }

  test("a wrong type at any place that is looked at is named by its path", () => {
    // Not looked at: what is below a schema, hints, capabilities; the scope of a cache, the type of a result.
    const unseen =
      /^(cacheScope|structuredContent|resultType)$|(Schema|annotations|execution|params)\.|^supportedVersions$/;
    const skipped = new Set<string>();
    for (const [method, result] of Object.entries(right)) {
      for (const path of paths(result)) {
        const name = path.reduce<string>(
          (text, key) => typeof key === "number" ? `${text}[${key}]` : text ? `${text}.${key}` : key,
          "",
        );
        if (unseen.test(name)) {
          skipped.add(name);
          continue;
        }
        const value = at(result, path);
        const wrong = typeof value === "string" || typeof value === "boolean" ? 7 : "7";
        const sentence = checkResult(method, replace(result, path, wrong));
        assert(sentence?.startsWith(`"${name}" is `), `${method} ${name}: ${sentence}`);
      }
    }
    assertEquals([...skipped].sort(), [
      "annotations.readOnlyHint",
      "cacheScope",
      "execution.taskSupport",
      "inputSchema.type",
      "outputSchema.type",
      "resultType",
      "structuredContent",
      "supportedVersions",
    ]);
  });

  test("a sentence stays short, whatever the server calls its fields", () => {
    const sentence = checkResult("input_required", { inputRequests: { ["k".repeat(100_000)]: {} } });
    assert(sentence && sentence.length < 200);
  });
});

describe("result shapes: properties", () => {
  test("any JSON object gives undefined or one sentence, and is left as it was", () => {
    const keys = fc.constantFrom(
      "tools",
      "content",
      "type",
      "name",
      "text",
      "contents",
      "uri",
      "messages",
      "task",
      "structuredContent",
      "inputRequests",
      "__proto__",
    );
    const value = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: "medium", withCrossShrink: true },
        fc.constantFrom<unknown>(null, 1, "text", "user", true, "", "resource"),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.array(fc.tuple(keys, tie("node")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
      ),
    })).node;
    const result = fc.array(fc.tuple(keys, value), { maxLength: 4 }).map((entries): Result =>
      Object.fromEntries(entries)
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(right), "ping"), result, (method, given) => {
        const before = JSON.stringify(given);
        const sentence = checkResult(method, given);
        assert(sentence === undefined || /^"[^"]+" is .+: expected .+[^.]$/.test(sentence), sentence);
        assertEquals(JSON.stringify(given), before);
      }),
      { numRuns: 3_000 },
    );
  });
});

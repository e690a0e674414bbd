import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { causeway } from "../support.ts";

/** A server that says null, or what is no text, where it could leave a field out. */
async function answer(request: Request): Promise<Response> {
  const { id, method } = await request.json();
  const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const none = { title: null, description: null };
  const inputSchema = { type: "object", properties: { a: { type: "string", ...none } } };
  const results: Record<string, JsonObject> = {
    "server/discover": {
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: "terse", version: "1" },
    },
    "tools/list": {
      tools: [{ name: "one", inputSchema, ...none }, { name: "two", inputSchema, annotations: { title: 5 } }],
    },
    "resources/list": { resources: [{ uri: "a:b", name: "n", mimeType: null, size: null, ...none }] },
    "resources/templates/list": { resourceTemplates: [{ uriTemplate: "a:{b}", name: "n", mimeType: null, ...none }] },
    "prompts/list": {
      prompts: [{ name: "p", arguments: null, ...none }, { name: "q", arguments: [{ name: "a", ...none }] }],
    },
    "tools/call": {
      content: [
        { type: "resource", resource: { uri: "a:b", text: null, blob: "aGk=", mimeType: "a/b" } },
        { type: "resource", resource: { uri: "a:b", text: "hi", blob: null } },
      ],
    },
    "resources/read": {
      contents: [{ uri: "a:b", text: null, blob: "aGk=" }, { uri: "a:b", text: "ho", blob: null }],
    },
    "prompts/get": { ...none, messages: [{ role: "user", content: { type: "text", text: "hi" } }] },
  };
  return Response.json({ jsonrpc: "2.0", id, result: { ...complete, ...results[method] } });
}

describe("a server that says null where it has nothing to say", () => {
  const cases: [words: string[], out: string][] = [
    [["tools"], "one\n    a?  string\ntwo\n    a?  string\n"],
    [["tools", "--signatures"], "one(a?: string);\ntwo(a?: string);\n"],
    [["resources"], "a:b\n    n\na:{b}\n    n\n"],
    [["prompts"], "p\nq\n    a?\n"],
    [["prompt", "p"], "user: hi\n"],
    [["call", "one"], "[resource a:b a/b, 2 bytes: --json gives the data]\nhi\n"],
    [["read", "a:b"], "hiho"],
  ];
  for (const [[verb = "", ...rest], out] of cases) {
    test(`is listed as one that leaves it out: ${[verb, ...rest].join(" ")}`, async () => {
      await using host = await serveHttp(answer, { port: 0 });
      assertEquals(await causeway([verb, `${host.url}/mcp`, ...rest]), { code: 0, out, err: "" });
    });
  }
});

import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { Tool } from "../../../src/protocol/types.ts";
import { modernMeta, modernPost, post, rpc, world } from "./support.ts";

const tool: Tool = {
  name: "query",
  inputSchema: {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      count: { type: "integer", "x-mcp-header": "Count" },
      dry: { type: "boolean", "x-mcp-header": "Dry" },
      deep: { type: "object", properties: { tenant: { type: "string", "x-mcp-header": "Tenant" } } },
      free: { type: "string" },
    },
  },
};

/** Sends one request; "" when it went through, else what was said against it. */
async function complaint(
  method: string,
  params: JsonObject,
  headers: Record<string, string | undefined>,
  limits = {},
): Promise<string> {
  const { handler, seen } = world({ tools: [tool], limits });
  const response = await handler(modernPost(method, params, headers));
  if (response.status === 200) return "";
  assertEquals(seen.length, 0);
  const { id, error } = await response.json() as { id: unknown; error: { code: number; message: string } };
  assertEquals([response.status, id, error.code], [400, 1, -32020]);
  return error.message;
}

const call = (args: JsonObject, headers: Record<string, string | undefined> = {}, limits = {}) =>
  complaint("tools/call", { name: "query", arguments: args }, headers, limits);

describe("headers of a modern request", () => {
  test("revision and method have to be there and say what the body says (S-028)", async () => {
    assertEquals(await complaint("tools/list", {}, {}), "");
    assertStringIncludes(await complaint("tools/list", {}, { "mcp-protocol-version": undefined }), "missing");
    assertStringIncludes(await complaint("tools/list", {}, { "mcp-protocol-version": "2025-11-25" }), "match");
    assertStringIncludes(await complaint("tools/list", {}, { "mcp-method": undefined }), "missing");
    assertStringIncludes(await complaint("tools/list", {}, { "mcp-method": "tools/call" }), "match");
    assertStringIncludes(await complaint("tools/list", {}, { "mcp-method": "TOOLS/LIST" }), "match");
  });

  test("names of headers are read in any case, values lose the space around them (S-032)", async () => {
    assertEquals(await complaint("tools/list", {}, { "mcp-method": undefined, "MCP-METHOD": "  tools/list  " }), "");
  });

  test("the name is the tool's, the prompt's, the resource's or the task's (S-028, S-033)", async () => {
    const named: [string, JsonObject][] = [
      ["tools/call", { name: "other" }],
      ["prompts/get", { name: "p" }],
      ["resources/read", { uri: "file:///a%20b" }],
      ["tasks/get", { taskId: "t" }],
      ["tasks/update", { taskId: "t" }],
      ["tasks/cancel", { taskId: "t" }],
    ];
    for (const [method, params] of named) {
      assertEquals(await complaint(method, params, {}), "", method);
      assertStringIncludes(await complaint(method, params, { "mcp-name": undefined }), "missing");
      assertStringIncludes(await complaint(method, params, { "mcp-name": "wrong" }), "match");
    }
    assertEquals(await complaint("tools/list", {}, { "mcp-name": "anything" }), "");
  });

  test("base64 is decoded before it is compared; a broken one is a failure, a broken marker a literal (S-029)", async () => {
    const name = "naïve – 名";
    const encoded = "=?base64?bmHDr3ZlIOKAkyDlkI0=?=";
    assertEquals(await complaint("tools/call", { name }, { "mcp-name": encoded }), "");
    assertStringIncludes(await complaint("tools/call", { name }, { "mcp-name": "=?base64?bmHDr3Zl?=" }), "match");
    for (const wrong of ["=?base64?%%%?=", "=?base64?bmHDr3ZlIOKAkyDlkI0?=", "=?base64?/w==?="]) {
      assertStringIncludes(await complaint("tools/call", { name }, { "mcp-name": wrong }), "base64");
    }
    assertEquals(await complaint("tools/call", { name: "=?BASE64?eA==?=" }, { "mcp-name": "=?BASE64?eA==?=" }), "");
  });

  test("mirrored arguments: there, the same, and not there where the body has none (S-030)", async () => {
    assertEquals(await call({}), "");
    assertEquals(await call({ region: null, free: "x" }), "");
    assertEquals(await call({ region: "eu" }, { "mcp-param-region": "eu" }), "");
    assertEquals(await call({ region: "" }, { "mcp-param-region": "" }), "");
    assertEquals(
      await call({ dry: false, deep: { tenant: "t" } }, { "mcp-param-dry": "false", "mcp-param-tenant": "t" }),
      "",
    );
    assertStringIncludes(await call({ region: "eu" }), "missing");
    assertStringIncludes(await call({ dry: false }), "missing");
    assertStringIncludes(await call({ deep: { tenant: "t" } }), "missing");
    assertStringIncludes(await call({ region: "eu" }, { "mcp-param-region": "EU" }), "match");
    assertStringIncludes(await call({}, { "mcp-param-region": "eu" }), "does not say");
    assertStringIncludes(await call({ region: null }, { "mcp-param-region": "null" }), "does not say");
    assertStringIncludes(await call({ region: {} }, { "mcp-param-region": "[object Object]" }), "match");
    assertEquals(await call({}, { "mcp-param-unknown": "x" }), "");
  });

  test("integers are compared as numbers (S-031)", async () => {
    for (const same of ["42", "42.0", "4.2e1"]) {
      assertEquals(await call({ count: 42 }, { "mcp-param-count": same }), "", same);
    }
    for (const other of ["43", "0x2a", "", "42 ", "4 2", "Infinity"]) {
      const said = await call({ count: 42 }, { "mcp-param-count": other });
      // Space around a value is no part of it.
      if (other === "42 ") assertEquals(said, "");
      else assertStringIncludes(said, "match");
    }
  });

  test("long headers are refused before they are decoded (S-038)", async () => {
    const region = "x".repeat(200);
    assertStringIncludes(await call({ region }, { "mcp-param-region": region }, { headerBytes: 100 }), "too long");
    const both = { region, deep: { tenant: region } };
    assertStringIncludes(
      await call(both, { "mcp-param-region": region, "mcp-param-tenant": region }, { headersBytes: 300 }),
      "too long",
    );
  });

  test("an envelope that lacks something is told before any header", async () => {
    const { handler, seen } = world();
    const meta = { ...modernMeta(), "io.modelcontextprotocol/clientCapabilities": undefined };
    assertEquals((await handler(post(rpc("tools/list", 1, { _meta: meta })))).status, 200);
    assertEquals(seen.length, 1);
  });
});

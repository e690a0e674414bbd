/** Tools that are there for their input schema: what of it is listed, and what of it is mirrored in headers. */
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { McpServer } from "../../../src/server/mod.ts";

/** Every keyword that the suite looks for again in the listing (SEP-1613, SEP-2106). */
const wide: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const mirrored: JsonObject = {
  type: "object",
  properties: {
    region: { type: "string", description: "Mirrored in Mcp-Param-Region", "x-mcp-header": "Region" },
    query: { type: "string", description: "Not mirrored" },
  },
  required: ["region"],
};

/** Registers `json_schema_2020_12_tool` and `test_x_mcp_header`. */
export function addSchemaTools(server: McpServer): void {
  server.tool("json_schema_2020_12_tool", {
    description: "Tool with JSON Schema 2020-12 features",
    input: wide,
  }, (args) => `Taken: ${JSON.stringify(args)}`);
  server.tool("test_x_mcp_header", {
    description: "Takes an argument that is mirrored in a header",
    input: mirrored,
  }, (args) => `Region: ${args["region"]}`);
}

/**
 * Output checks as a layer, for clients that have none of their own.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { Tool } from "../../protocol/types.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";
import type { Middleware } from "../options.ts";
import { Outputs } from "./outputs.ts";

/**
 * Makes a layer that holds structured results against the output schemas of their tools, once these were listed: for the small
 * client of `./client`. `Client` does so by itself where it has a `validator`. Costs no request. A tool that failed
 * (`isError`) need not keep its promise; one whose output schema cannot be used is not called.
 *
 * Implements the duty of clients in specification 2026-07-28: tools, Output Schema.
 *
 * @param validator Reads the schemas: `createSchemaValidator()`, or another one.
 * @returns What goes into `middleware` of one client; its calls throw a `ProtocolViolationError` when a result does not fit
 * (`delivery: "answered"`: the tool has run), or a schema cannot be used (`"not-sent"`).
 *
 * @example The small client with output checks
 * ```ts
 * import { createSchemaValidator } from "@causeway/mcp";
 * import { checkOutputs, connect, listFeature } from "@causeway/mcp/client";
 * import { createHandler, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "sums", version: "1.0.0" });
 * server.tool("sum", { output: { type: "object", properties: { sum: { type: "number" } } } }, () => ({ sum: 3 }));
 * const handler = createHandler(server);
 *
 * await using client = await connect("http://localhost/mcp", {
 *   fetch: (url, init) => handler(new Request(url, init)),
 *   features: { lists: listFeature },
 *   middleware: [checkOutputs(createSchemaValidator())],
 * });
 * await client.listTools();
 * console.log((await client.callTool("sum")).structuredContent); // { sum: 3 }
 * ```
 */
export function checkOutputs(validator: SchemaValidator): Middleware {
  return (next) => {
    const outputs = new Outputs(validator);
    // Until all pages of a list are there, what the list before it said still holds.
    let before = new Map<JsonValue, Tool>();
    let known = before;
    return async (request) => {
      const { method, params } = request;
      const name = method === "tools/call" ? params.name ?? null : null;
      const tool = known.get(name) ?? before.get(name);
      const unusable = tool && outputs.prepare(tool);
      if (unusable) throw unusable;
      const result = await next(request);
      if (method === "tools/list") {
        if (params.cursor === undefined) [before, known] = [known, new Map()];
        for (const item of result.tools as readonly JsonValue[]) if (hasOutput(item)) known.set(item.name, item);
      }
      // A task that was begun has no result yet.
      if (tool && result.content) outputs.check(tool, result);
      return result;
    };
  };
}

function hasOutput(item: JsonValue): item is Tool & JsonObject {
  return isObject(item) && typeof item.name === "string" && item.outputSchema !== undefined;
}

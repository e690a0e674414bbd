/**
 * The three tools that stand for many, and what they say.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { CallToolResult, Tool } from "../../protocol/types.ts";
import type { CatalogTool } from "../seam.ts";

/** The names of the tools: without `__`, so that no tool of a server has one. */
export const discoveryNames = { search: "search_tools", describe: "describe_tool", call: "call_tool" } as const;

/** The most tools that one search gives to a model. */
export const mostFound = 50;

/** The most characters of a description in what a search gives: `describe_tool` has all. */
const excerpt = 300;
/** The most names of servers in a description. */
const mostServers = 50;

/**
 * The tools as a model gets them.
 *
 * @param servers The names of the servers that have tools, in order.
 * @param limit How many tools a search gives where the model names no number.
 */
export function discoveryTools(servers: readonly string[], limit: number): readonly CatalogTool[] {
  const { search, describe, call } = discoveryNames;
  const rest = servers.length > mostServers ? ` and ${servers.length - mostServers} more` : "";
  const text = (description: string): JsonObject => ({ type: "string", description });
  const name = text(`The name of a tool, as ${search} gave it`);
  const hints = { readOnlyHint: true, openWorldHint: false };
  return [
    own({
      name: search,
      title: "Search tools",
      description:
        `Finds tools by what they do. There are many, and only the ones that you look for are shown to you: search ` +
        `before you say that something cannot be done. Servers with tools: ${
          servers.slice(0, mostServers).join(", ")
        }${rest}.`,
      inputSchema: schema({
        query: text("What the tool shall do, in a few words, such as: create issue"),
        server: text("Look at the tools of this server only"),
        limit: {
          type: "integer",
          minimum: 1,
          maximum: mostFound,
          default: limit,
          description: "The most tools to give",
        },
      }, ["query"]),
      annotations: hints,
    }),
    own({
      name: describe,
      title: "Describe a tool",
      description: "Shows all of one tool: what it does, and the JSON Schema of its arguments.",
      inputSchema: schema({ name }, ["name"]),
      annotations: hints,
    }),
    own({
      name: call,
      title: "Call a tool",
      description: `Calls a tool and gives its result. Read the schema of its arguments with ${describe} first.`,
      inputSchema: schema({
        name,
        arguments: { type: "object", description: "What the tool takes, by the JSON Schema that it has" },
      }, ["name"]),
    }),
  ];
}

/** What a search says of a tool. */
export function summarize({ qualifiedName, server, tool }: CatalogTool): JsonObject {
  const { title, inputSchema: { properties } } = tool;
  // Some servers say null where they have nothing to say.
  const description = tool.description ?? "";
  return {
    name: qualifiedName,
    server,
    ...(title != null && { title }),
    description: description.length > excerpt ? description.slice(0, excerpt).toWellFormed() + "…" : description,
    parameters: isObject(properties) ? Object.keys(properties) : [],
  };
}

/** All that a model needs to know to call a tool. */
export function describeTool({ qualifiedName, server, tool }: CatalogTool): JsonObject {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name: qualifiedName,
    server,
    ...(title != null && { title }),
    ...(description != null && { description }),
    inputSchema,
    ...(outputSchema != null && { outputSchema }),
    ...(annotations != null && { annotations: { ...annotations } }),
  };
}

/** A result with this value, for models that read text and for those that read values. */
export function resultOf(value: JsonValue): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

/** A result that says what went wrong. */
export function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function schema(properties: JsonObject, required: string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** A tool of the hub itself: no server is called "". */
function own(tool: Tool): CatalogTool {
  return { server: "", name: tool.name, qualifiedName: tool.name, tool };
}

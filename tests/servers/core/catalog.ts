/**
 * What the fake peers offer: tools, resources, templates and prompts, as each revision writes them.
 *
 * @module
 */
import type { JsonObject } from "./wire.ts";

/** A tool's entry, with what only some revisions know. */
type Definition = JsonObject & { name: string; inputSchema: JsonObject };

/** The name of the tasks extension. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** The tools as `revision` lists them: later fields left out, shapes that it does not know taken away. */
export function toolsOf(revision: string, extra: readonly JsonObject[] = []): JsonObject[] {
  return [...definitions(), ...extra].map((definition) => {
    const { outputSchema, execution, annotations, title, ...rest } = definition;
    const tool: JsonObject = { ...rest };
    if (title !== undefined && revision >= "2025-06-18") tool.title = title;
    if (annotations !== undefined && revision >= "2025-03-26") tool.annotations = annotations;
    const rooted = isObjectSchema(outputSchema) || revision >= "2026-07-28";
    if (outputSchema !== undefined && revision >= "2025-06-18" && rooted) tool.outputSchema = outputSchema;
    if (execution !== undefined && revision === "2025-11-25") tool.execution = execution;
    return tool;
  });
}

/** `count` more tools, for long lists. */
export function manyTools(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    title: `Tool number ${index}`,
    description: `Does the ${index}th thing: takes a query and a limit, gives text.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for" },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["query"],
      additionalProperties: false,
    },
  }));
}

/** The resources. */
export function resourcesOf(): JsonObject[] {
  return [
    { uri: "test://text", name: "text", title: "A text", mimeType: "text/plain", size: 11 },
    { uri: "test://blob", name: "blob", mimeType: "application/octet-stream" },
    { uri: "test://many", name: "many", description: "Two contents at once" },
    { uri: "test://ask", name: "ask", description: "Needs input before it can be read" },
    { uri: "test://watched", name: "watched", description: "Says how often it was read" },
  ];
}

/** The resource templates. */
export function templatesOf(): JsonObject[] {
  return [
    { uriTemplate: "test://item/{id}", name: "item", mimeType: "application/json" },
    { uriTemplate: "test://search{?query,limit}", name: "search" },
  ];
}

/** The prompts. */
export function promptsOf(): JsonObject[] {
  return [
    {
      name: "greet",
      title: "Greeting",
      description: "Greets somebody",
      arguments: [{ name: "who", description: "Whom to greet", required: true }, { name: "tone" }],
    },
    { name: "plain", description: "Takes nothing" },
    { name: "ask_prompt", description: "Needs input before it can be filled in" },
  ];
}

function isObjectSchema(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "type" in schema && schema.type === "object";
}

function object(properties: JsonObject, required: string[] = []): JsonObject {
  if (Object.keys(properties).length === 0) return { type: "object", additionalProperties: false };
  return required.length > 0 ? { type: "object", properties, required } : { type: "object", properties };
}

const text: JsonObject = { type: "string" };
const integer: JsonObject = { type: "integer" };
const flag: JsonObject = { type: "boolean" };

function definitions(): Definition[] {
  return [...plainTools(), ...askingTools()];
}

function plainTools(): Definition[] {
  return [
    {
      name: "echo",
      title: "Echo",
      description: "Gives back the text",
      inputSchema: object({ text }, ["text"]),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    {
      name: "add",
      description: "Adds two numbers",
      inputSchema: object({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]),
      outputSchema: object({ sum: { type: "number" } }, ["sum"]),
    },
    {
      name: "slow",
      description: "Waits so many milliseconds; without them until it is released or called off",
      inputSchema: object({ milliseconds: integer }),
    },
    {
      name: "progress",
      description: "Sends so many signs of progress, then answers",
      inputSchema: object({ count: integer, milliseconds: integer }, ["count"]),
    },
    { name: "fail", description: "Fails as a tool fails", inputSchema: object({ message: text }) },
    { name: "crash", description: "Fails inside the server: -32603", inputSchema: object({}) },
    { name: "big", description: "Gives so many bytes of text", inputSchema: object({ bytes: integer }, ["bytes"]) },
    {
      name: "header_tool",
      description: "Has arguments that are mirrored in headers",
      inputSchema: object({
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
        dry: { type: "boolean", "x-mcp-header": "Dry" },
        tenant: object({ id: { type: "string", "x-mcp-header": "Tenant-Id" } }),
        note: text,
      }),
    },
    {
      name: "log",
      description: "Sends log messages, if the client wants them",
      inputSchema: object({ count: integer, level: text, message: text }),
    },
    { name: "content", description: "Gives one of each kind of content", inputSchema: object({}) },
    {
      name: "any_value",
      description: "Gives any JSON value as structured content",
      inputSchema: object({ value: {} }),
      outputSchema: {},
    },
    {
      name: "bad_output",
      description: "Breaks its own output schema",
      inputSchema: object({}),
      outputSchema: object({ sum: { type: "number" } }, ["sum"]),
    },
  ];
}

function askingTools(): Definition[] {
  return [
    { name: "change", description: "Changes the list of tools", inputSchema: object({ what: text, uri: text }) },
    { name: "reconnect", description: "Closes its stream before it answers", inputSchema: object({ text }) },
    {
      name: "ask",
      description: "Asks the user for a name, as often as `rounds` says",
      inputSchema: object({ rounds: integer, state: flag, mode: text }),
    },
    { name: "ask_many", description: "Asks three things at once", inputSchema: object({}) },
    { name: "ask_url", description: "Sends the user to a page first", inputSchema: object({}) },
    { name: "later", description: "Asks the client to come back", inputSchema: object({ rounds: integer }) },
    { name: "sample", description: "Asks the client's model", inputSchema: object({ prompt: text, tools: flag }) },
    { name: "list_roots", description: "Asks for the client's roots", inputSchema: object({}) },
    { name: "ping_client", description: "Pings the client (handshake revisions)", inputSchema: object({}) },
    {
      name: "job",
      description: "Runs as a task where the client can follow one",
      inputSchema: object({ polls: integer, ask: flag, fail: flag, error: flag, text }),
      execution: { taskSupport: "optional" },
    },
    {
      name: "job_required",
      description: "Runs only as a task",
      inputSchema: object({ polls: integer, text }),
      execution: { taskSupport: "required" },
    },
  ];
}

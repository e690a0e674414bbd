/**
 * An agent as a server.
 *
 * @module
 */
import type { Logger } from "../ports.ts";
import { isObject } from "../protocol/json_rpc.ts";
import type { PromptArgument } from "../protocol/types.ts";
import { writeJson } from "../server/catalog/json.ts";
import type { PromptArgumentOptions, ToolReturn } from "../server/definitions.ts";
import { McpServer } from "../server/mod.ts";
import type { ServerOptions } from "../server/mod.ts";
import { createSafeLogger } from "../egress/safe_logger.ts";
import { defaultServerInfo, McpAgent } from "./mcp_agent.ts";
import type { McpAgentShape, McpToolDefinition } from "./mcp_agent.ts";
import { classNameOf, missingMethods } from "./names.ts";

/**
 * Makes a server of an agent: its tools, prompts and resources are registered, and all of them are really served.
 * What the agent lists is read once; later changes are made at the server that this gives.
 *
 * @param agent A {@linkcode McpAgent}, or any object with `getMcpToolDefinitions` and `executeMcpTool`.
 * @param options As for `McpServer`; `logger` hears of tool names that are no lower-case words with dashes.
 * @throws {TypeError} When it lacks a method that it has to have, lists prompts or resources that it cannot give, or lists
 * anything that cannot be registered.
 *
 * @example Any object will do
 * ```ts
 * import { toMcpServer } from "@causeway/mcp/agent";
 *
 * const server = toMcpServer({
 *   getMcpToolDefinitions: () => [{ name: "roll-dice", inputSchema: {} }],
 *   executeMcpTool: () => 4,
 * });
 * console.assert(server.methods.tool("roll-dice") !== undefined);
 * ```
 */
export function toMcpServer(agent: McpAgentShape, options: ServerOptions = {}): McpServer {
  const name = typeof agent === "object" && agent !== null ? classNameOf(agent) : String(agent);
  const missing = missingMethods(Object(agent), ["getMcpToolDefinitions", "executeMcpTool"]);
  if (missing) throw new TypeError(`Cannot serve "${name}": it has no ${missing}`);
  const server = new McpServer(agent.getMcpServerInfo?.() ?? defaultServerInfo(agent), options);
  const logger = createSafeLogger(options.logger);
  for (const definition of listOf(name, "getMcpToolDefinitions", agent.getMcpToolDefinitions())) {
    warnOfName(definition.name, logger);
    addTool(server, agent, definition);
  }
  addPrompts(server, agent, name);
  addResources(server, agent, name);
  return server;
}

function addTool(server: McpServer, agent: McpAgentShape, definition: McpToolDefinition): void {
  const { name, inputSchema, outputSchema: output, _meta: meta, ...rest } = definition;
  // `{}` takes any object; a schema that says nothing of the type is about an object too: arguments are always one.
  const input = isObject(inputSchema) ? { type: "object", ...inputSchema } : inputSchema;
  server.tool(
    name,
    { ...rest, input, output, meta },
    async (args, context) => readError(await agent.executeMcpTool(name, args, context)),
  );
}

/** `{ error }` that holds something else than a text is a failure as well. */
function readError(returned: ToolReturn): ToolReturn {
  if (!isObject(returned) || Object.keys(returned).length !== 1) return returned;
  const { error } = returned;
  if (error === undefined || typeof error === "string") return returned;
  if ((error as unknown) instanceof Error) return { error: (error as unknown as Error).message };
  const written = writeJson(error);
  return {
    error: typeof written === "string" ? `The tool failed, and its error cannot be read: ${written}` : written.text,
  };
}

function addPrompts(server: McpServer, agent: McpAgentShape, agentName: string): void {
  const prompts = listOf(agentName, "getMcpPrompts", agent.getMcpPrompts?.() ?? []);
  checkGiver(agent, agentName, { count: prompts.length, what: "prompts", method: "getMcpPrompt" });
  for (const { name, arguments: taken = [], _meta: meta, ...rest } of prompts) {
    const options = { ...rest, arguments: Object.fromEntries(taken.map(toEntry)), meta };
    server.prompt(name, options, (args, context) => agent.getMcpPrompt!(name, args, context));
  }
}

function toEntry({ name, ...rest }: PromptArgument): [string, PromptArgumentOptions] {
  return [name, rest];
}

function addResources(server: McpServer, agent: McpAgentShape, agentName: string): void {
  const resources = listOf(agentName, "getMcpResources", agent.getMcpResources?.() ?? []);
  checkGiver(agent, agentName, { count: resources.length, what: "resources", method: "readMcpResource" });
  for (const { uri, _meta: meta, ...rest } of resources) {
    server.resource(uri, { ...rest, meta }, (uri, context) => agent.readMcpResource!(uri, context));
  }
}

/** What is listed has to be given too. */
function checkGiver(
  agent: McpAgentShape,
  name: string,
  { count, what, method }: { count: number; what: string; method: "getMcpPrompt" | "readMcpResource" },
): void {
  const own: unknown = agent[method];
  if (count === 0 || (typeof own === "function" && own !== McpAgent.prototype[method])) return;
  throw new TypeError(`Cannot serve "${name}": it lists ${what}, but has no "${method}" to give them`);
}

function listOf<Item>(agent: string, method: string, list: readonly Item[]): readonly Item[] {
  if (Array.isArray(list) && list.every(isObject)) return list as readonly Item[];
  throw new TypeError(`Cannot serve "${agent}": "${method}" gave no list of objects`);
}

function warnOfName(tool: string, logger: Logger | undefined): void {
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(tool)) return;
  logger?.({ level: "warning", message: "The name of a tool is no lower-case words with dashes", fields: { tool } });
}

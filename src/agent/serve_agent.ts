/**
 * One endpoint for all that an agent is: an MCP server, a model, and a bridge for plain HTTP.
 *
 * @module
 */
import { createHandler } from "../server/mod.ts";
import type { Handler, HandlerOptions, McpServer, ServerOptions } from "../server/mod.ts";
import { isApiAgent } from "./api_agent.ts";
import { BridgeRoutes } from "./bridge.ts";
import { createFront, createRouteParts } from "./http/front.ts";
import { ModelRoutes } from "./http/model_routes.ts";
import type { McpAgentShape } from "./mcp_agent.ts";
import { toMcpServer } from "./mcp_server.ts";

/** Options of {@linkcode createAgentHandler}: those of `createHandler`, which hold for every route. */
export interface AgentHandlerOptions extends HandlerOptions {
  /** Where MCP is served ("/mcp"). */
  mcpPath?: string | undefined;
  /** The server that the agent was made into already. Default: it is made here. */
  server?: McpServer | undefined;
  /** What the server is made with; `logger` is this one's unless it has its own. */
  serverOptions?: ServerOptions | undefined;
}

/**
 * Makes the endpoint of an agent, with the same guards (`allowedHosts`, `allowedOrigins`, `auth`) on every route:
 *
 * - `/mcp`: MCP, in both eras (`createHandler`).
 * - `POST /v1/chat/completions`, `GET /v1/models`, `GET /v1/models/{id}`, where the agent has `respond`.
 * - `GET /health`, `GET /tools`, `POST /tools/{name}`, and `POST /chat` where it has `respond` (`createBridgeHandler`).
 *
 * @param agent An `McpAgent` or any object that fills its interface, with `respond` or without.
 * @returns The endpoint: hand it to `Bun.serve`, `Deno.serve`, a Worker or Hono.
 * @throws {TypeError} When it cannot be served, or an option makes no sense.
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 *
 * @example An agent over HTTP
 * ```ts
 * import { createAgentHandler } from "@causeway/mcp/agent";
 *
 * const handler = createAgentHandler({
 *   getMcpToolDefinitions: () => [{ name: "roll-dice", inputSchema: {} }],
 *   executeMcpTool: () => 4,
 * });
 * const response = await handler(new Request("http://localhost/health"));
 * console.assert((await response.json()).tools === 1);
 * ```
 */
export function createAgentHandler(agent: McpAgentShape, options: AgentHandlerOptions = {}): Handler {
  const { mcpPath = "/mcp", logger } = options;
  if (!mcpPath.startsWith("/")) {
    throw new TypeError(`Cannot serve MCP at "${mcpPath}": expected a path that begins with "/"`);
  }
  const server = options.server ?? toMcpServer(agent, { logger, ...options.serverOptions });
  const parts = createRouteParts(options);
  const model = isApiAgent(agent) ? agent : undefined;
  const routes = [...(model ? [new ModelRoutes([model], parts)] : []), new BridgeRoutes(server.methods, model, parts)];
  const front = createFront(routes, options);
  const mcp = createHandler(server, options);
  const answer = (request: Request): Promise<Response> =>
    new URL(request.url).pathname === mcpPath ? mcp(request) : front(request);
  return Object.assign(answer, {
    close() {
      mcp.close();
      front.close();
    },
  });
}

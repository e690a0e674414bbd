/**
 * Agents as models, over HTTP.
 *
 * @module
 */
import type { Handler } from "../server/http/mod.ts";
import type { ApiAgentShape } from "./api_agent.ts";
import { createFront, createRouteParts } from "./http/front.ts";
import type { RouteOptions } from "./http/front.ts";
import { ModelRoutes } from "./http/model_routes.ts";

/**
 * Makes an endpoint that speaks OpenAI's chat completions: `POST /v1/chat/completions`, whole or as a stream, and
 * `GET /v1/models`. Pages and names of other machines are refused unless `allowedOrigins` and `allowedHosts` name them.
 *
 * @param agent What is asked: an `ApiAgent`, any object with `respond`, or several of them, each with an id of its own.
 * @throws {TypeError} When one has no `respond`, two have the same id, or an option makes no sense.
 *
 * @example A model that is asked once
 * ```ts
 * import { createModelHandler } from "@causeway/mcp/agent";
 *
 * const handler = createModelHandler({ getModelId: () => "parrot", respond: (messages) => `${messages[0]?.content}!` });
 * const body = JSON.stringify({ model: "parrot", messages: [{ role: "user", content: "hello" }] });
 * const headers = { "content-type": "application/json" };
 * const response = await handler(new Request("http://localhost/v1/chat/completions", { method: "POST", headers, body }));
 * console.assert((await response.json()).choices[0].message.content === "hello!");
 * ```
 */
export function createModelHandler(
  agent: ApiAgentShape | readonly ApiAgentShape[],
  options: RouteOptions = {},
): Handler {
  const agents = Array.isArray(agent) ? agent as readonly ApiAgentShape[] : [agent as ApiAgentShape];
  return createFront([new ModelRoutes(agents, createRouteParts(options))], options);
}

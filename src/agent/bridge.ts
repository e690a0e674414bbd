/**
 * A bridge for callers that speak neither MCP nor OpenAI's API: plain JSON over HTTP.
 *
 * @module
 */
import { InvalidParamsError, MissingCapabilityError } from "../protocol/errors.ts";
import { excerpt } from "../protocol/excerpt.ts";
import type { JsonObject, JsonValue } from "../protocol/json_rpc.ts";
import { modernRevisions } from "../protocol/revisions.ts";
import type { RequestContext } from "../server/definitions.ts";
import type { Handler } from "../server/http/mod.ts";
import type { Methods } from "../server/seam.ts";
import type { McpServer, ServerOptions } from "../server/mod.ts";
import { type ApiAgentShape, defaultModelId, isApiAgent, ModelError } from "./api_agent.ts";
import { askAgent, gather, writtenCalls, writtenUsage } from "./http/chat_reply.ts";
import { readMessages } from "./http/chat_request.ts";
import {
  type Asked,
  createFront,
  createRouteParts,
  type Leaving,
  readObject,
  type RouteOptions,
  type RouteParts,
  type Routes,
  watchCaller,
} from "./http/front.ts";
import { headOf, notAllowed, reply } from "./http/replies.ts";
import type { McpAgentShape } from "./mcp_agent.ts";
import { toMcpServer } from "./mcp_server.ts";

/** Options of {@linkcode createBridgeHandler}. */
export interface BridgeOptions extends RouteOptions {
  /** The server that the agent was made into already. Default: it is made here. */
  server?: McpServer | undefined;
  /** What the server is made with; `logger` is this one's unless it has its own. */
  serverOptions?: ServerOptions | undefined;
}

/**
 * Makes the plain-HTTP bridge of an agent. Each call stands for itself: nothing is kept between two of them.
 *
 * - `GET /health` (`HEAD`, too): `{ status: "healthy", service, version, tools }`, for anybody whose Host and Origin are allowed.
 * - `GET /tools`: `{ tools }`, as MCP lists them.
 * - `POST /tools/{name}` with the arguments as a JSON object: the tool's result, as MCP gives it. 404 for an unknown tool.
 * - `POST /chat` with `{ query }` or `{ messages }`: `{ result, finishReason, usage }`. 404 where there is no `respond`.
 *
 * Errors are `{ error: { message, type, param, code } }`.
 *
 * @param agent An `McpAgent` or any object that fills its interface, with `respond` or without.
 * @throws {TypeError} When it cannot be served, or an option makes no sense.
 *
 * @example A tool by plain HTTP
 * ```ts
 * import { createBridgeHandler } from "@causeway/mcp/agent";
 *
 * const handler = createBridgeHandler({
 *   getMcpToolDefinitions: () => [{ name: "roll-dice", inputSchema: {} }],
 *   executeMcpTool: () => 4,
 * });
 * const response = await handler(new Request("http://localhost/tools"));
 * console.assert((await response.json()).tools[0].name === "roll-dice");
 * ```
 */
export function createBridgeHandler(agent: McpAgentShape, options: BridgeOptions = {}): Handler {
  const { logger, serverOptions, server = toMcpServer(agent, { logger, ...serverOptions }) } = options;
  const model = isApiAgent(agent) ? agent : undefined;
  return createFront([new BridgeRoutes(server.methods, model, createRouteParts(options))], options);
}

/** The routes of the bridge. */
export class BridgeRoutes implements Routes {
  readonly #methods: Methods;
  readonly #model: ApiAgentShape | undefined;
  readonly #parts: RouteParts;

  /** Made by the handlers of agents. */
  constructor(methods: Methods, model: ApiAgentShape | undefined, parts: RouteParts) {
    this.#methods = methods;
    this.#model = model;
    this.#parts = parts;
  }

  has(path: string): boolean {
    if (path === "/chat") return this.#model !== undefined;
    return path === "/health" || path === "/tools" || /^\/tools\/[^/]+$/.test(path);
  }

  isPublic(path: string): boolean {
    return path === "/health";
  }

  async answer(asked: Asked): Promise<Response> {
    const { request, path } = asked;
    // Many a monitor asks for the head alone.
    const allowed = path === "/health" ? "GET, HEAD" : path === "/tools" ? "GET" : "POST";
    if (!allowed.split(", ").includes(request.method)) return notAllowed(allowed);
    const leaving = watchCaller(request);
    try {
      const answer = path === "/health"
        ? this.#health(asked, leaving)
        : path === "/tools"
        ? this.#tools(asked, leaving).then((tools) => ({ tools }))
        : path === "/chat"
        ? this.#chat(asked, leaving)
        : this.#call(asked, leaving);
      const body = await Promise.race([answer, leaving.left]);
      // Nobody reads it, but whoever called the handler waits for one.
      if (!body) return new Response(null, { status: 499 });
      return request.method === "HEAD" ? headOf(body) : reply(body, this.#parts.limits.messageBytes);
    } finally {
      leaving.done();
    }
  }

  async #health(asked: Asked, leaving: Leaving): Promise<JsonObject> {
    const { name, version } = this.#methods.info;
    const { length } = await this.#tools(asked, leaving);
    return { status: "healthy", service: name, version, tools: length };
  }

  async #tools(asked: Asked, leaving: Leaving): Promise<JsonValue[]> {
    const tools: JsonValue[] = [];
    let cursor: JsonValue | undefined;
    do {
      const params: JsonObject = cursor === undefined ? {} : { cursor };
      const page = await this.#methods.run("tools/list", params, contextOf(asked, leaving));
      if (Array.isArray(page?.tools)) tools.push(...page.tools);
      cursor = page?.nextCursor;
    } while (cursor !== undefined);
    return tools;
  }

  async #call(asked: Asked, leaving: Leaving): Promise<JsonObject> {
    const name = decode(asked.path.slice("/tools/".length));
    if (!this.#methods.tool(name)) {
      throw new ModelError(`Unknown tool: ${excerpt(name, 200)}`, { status: 404, code: "unknown_tool" });
    }
    const args = await readObject(asked.request, this.#parts);
    try {
      return await this.#methods.run("tools/call", { name, arguments: args }, contextOf(asked, leaving)) ?? {};
    } catch (error) {
      if (error instanceof InvalidParamsError) throw new ModelError(error.message, { status: 400 });
      if (!(error instanceof MissingCapabilityError)) throw error;
      throw new ModelError(error.message, { status: 400, code: "missing_capability" });
    }
  }

  async #chat({ request, auth }: Asked, { signal, left }: Leaving): Promise<JsonObject> {
    const body = await readObject(request, this.#parts);
    const { query, messages: given } = body;
    if (given === undefined && (typeof query !== "string" || query === "")) {
      throw new ModelError('Expected a text under "query", or "messages"', { status: 400, param: "query" });
    }
    const messages = given === undefined ? [{ role: "user" as const, content: query as string }] : readMessages(given);
    const model = this.#model!;
    const id = model.getModelId?.() ?? defaultModelId(model);
    const context = { model: id, signal, auth, request: body };
    const whole = await gather(askAgent(model, messages, { context, limit: this.#parts.limits.messageBytes, left }));
    const calls = writtenCalls(whole);
    return {
      result: whole.content,
      finishReason: whole.finishReason ?? "stop",
      usage: writtenUsage(whole),
      ...(calls.length && { toolCalls: calls }),
    };
  }
}

/** What a tool is told of a call that came over the bridge: nobody can be asked anything, and progress goes nowhere. */
function contextOf({ auth }: Asked, { signal }: Leaving): RequestContext {
  const refuse = (what: string) => (): Promise<never> =>
    Promise.reject(
      new MissingCapabilityError(`Callers by plain HTTP cannot be asked (${what}): use MCP`, { rpcCode: -32021 }),
    );
  return {
    signal,
    auth,
    client: undefined,
    era: "modern",
    revision: modernRevisions[0]!,
    meta: {},
    progress() {},
    log() {},
    elicit: refuse("elicitation"),
    sample: refuse("sampling"),
    roots: refuse("roots"),
    can: () => false,
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

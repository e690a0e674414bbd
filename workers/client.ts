/**
 * A Worker that calls the tools of one MCP server: `GET /tools` lists them, `POST /tools/<name>` calls one with the JSON
 * object in the body. The server's address is the operator's (`MCP_URL`); callers need the token (`ACCESS_TOKEN`).
 *
 * @module
 */
import { connect, HttpStatusError, InvalidParamsError, LimitExceededError, McpError } from "../src/entry/workers.ts";
import type { Client, JsonObject } from "../src/entry/workers.ts";
import { isAllowed } from "./session/token.ts";

/** What the operator sets. */
export interface Env {
  /** The MCP server: an http:, https:, ws: or wss: URL. */
  readonly MCP_URL: string;
  /** What a caller has to send as `Authorization: Bearer …`. Without it nobody may call. */
  readonly ACCESS_TOKEN?: string;
  /** What is sent to the MCP server as `Authorization: Bearer …`, where it wants that. */
  readonly MCP_TOKEN?: string;
}

const longestBody = 1_048_576;

const worker = {
  /** Answers one request. A connection to the MCP server lives no longer than it. */
  async fetch(request: Request, env: Env): Promise<Response> {
    if (!await isAllowed(request, env)) return problem(403, "A valid bearer token is needed");
    if (!env.MCP_URL) return problem(500, "MCP_URL is not set");
    const [, root, name] = new URL(request.url).pathname.split("/");
    if (root !== "tools") return problem(404, "Use GET /tools or POST /tools/<name>");
    try {
      const { signal } = request;
      // Before anything is asked of the server: what cannot be read is a URIError.
      const tool = name && decodeURIComponent(name);
      const args = tool ? await readArguments(request) : undefined;
      await using client = await open(env, signal);
      if (!client) return problem(500, "The settings of this Worker cannot be used");
      if (!tool) return Response.json(await client.listTools({ signal }));
      return Response.json(await client.callTool(tool, args, { signal }));
    } catch (error) {
      return failed(error);
    }
  },
};

export default worker;

/** The client; undefined where what the operator has set cannot be used, which is no fault of the caller. */
async function open(env: Env, signal: AbortSignal): Promise<Client | undefined> {
  const headers = env.MCP_TOKEN ? { Authorization: `Bearer ${env.MCP_TOKEN}` } : {};
  try {
    return await connect(env.MCP_URL, { headers, signal });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // For the operator alone: it may name hosts that nobody else is to know.
    console.error(error.message);
    return undefined;
  }
}

async function readArguments(request: Request): Promise<JsonObject> {
  if (request.method !== "POST") throw new TypeError("Use POST to call a tool");
  if (!(Number(request.headers.get("content-length") ?? NaN) <= longestBody)) {
    throw new TypeError(`The body is too long: expected a Content-Length of at most ${longestBody}`);
  }
  const text = await request.text();
  const args: unknown = text ? JSON.parse(text) : {};
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new TypeError("The body must be a JSON object");
  }
  return args as JsonObject;
}

/** What went wrong, without what only the operator may know. */
function failed(error: unknown): Response {
  if (error instanceof InvalidParamsError) return problem(400, error.message);
  if (error instanceof McpError) {
    const status = error instanceof HttpStatusError && error.status === 429
      ? 429
      : error instanceof LimitExceededError
      ? 413
      : 502;
    return problem(status, `The MCP server failed: ${error.code}`, error.delivery);
  }
  const isBadRequest = error instanceof TypeError || error instanceof SyntaxError || error instanceof URIError;
  if (isBadRequest) return problem(400, error.message);
  throw error;
}

function problem(status: number, message: string, delivery?: string): Response {
  return Response.json({ error: { message, ...(delivery && { delivery }) } }, { status });
}

/**
 * A Worker that serves an MCP server at `/mcp`: modern clients without state in the Worker itself, legacy sessions in a
 * Durable Object each, WebSockets on the same path.
 *
 * @module
 */
import { systemClock } from "../src/ports.ts";
import { classify } from "../src/protocol/json_rpc.ts";
import type { JsonRpcRequest } from "../src/protocol/json_rpc.ts";
import { workersLimits } from "../src/protocol/limits.ts";
import { modernRevisions } from "../src/protocol/revisions.ts";
import { offersMcp, wantsSocket } from "../src/protocol/web_socket.ts";
import { createMcpApp } from "../src/runner/mcp_app.ts";
import type { McpApp } from "../src/runner/mcp_app.ts";
import { readRest } from "../src/server/http/body.ts";
import { Guards } from "../src/server/http/guards.ts";
import { internalError, json, refuse } from "../src/server/http/replies.ts";
import { createModernHandler } from "../src/server/mod.ts";
import type { Authenticate } from "../src/server/mod.ts";
import { createAuth } from "./auth.ts";
import { peek } from "./session/peek.ts";
import { createSample } from "./sample.ts";
import { namesOf } from "./names.ts";
import { SessionObject } from "./session_object.ts";
import type { ServerEnv, SessionNamespace } from "./session_object.ts";
import { SocketObject } from "./socket_object.ts";

export { SessionObject, SocketObject };
export type { ServerEnv };

const worker: { fetch(request: Request, env: ServerEnv): Response | Promise<Response> } = createWorker();
export default worker;

function createWorker(): typeof worker {
  // One application for the life of the isolate: it keeps nothing of a request.
  let app: McpApp | undefined;
  return { fetch: (request, env) => (app ??= createApp(env)).fetch(request) };
}

function createApp(env: ServerEnv): McpApp {
  const server = createSample();
  const auth = createAuth(env);
  const options = { ...namesOf(env), secret: env.STATE_SECRET || undefined, limits: workersLimits, auth };
  const modern = createModernHandler(server, options);
  const guards = new Guards(options);
  const sendAway = (request: Request, reply: Response): Promise<Response> =>
    readRest(request, guards.open(request.headers.get("origin"), reply), systemClock);
  return createMcpApp(async (request) => {
    // Foreign pages and names wake no object.
    const refused = guards.refuse(request);
    if (refused) return await readRest(request, refused, systemClock);
    const object = wantsSocket(request) && offersMcp(request)
      ? () => socketOf(request, env.SOCKETS)
      : await sessionOf(request, env.SESSIONS);
    if (!object) return await modern(request);
    // Neither does who may not come in; the object verifies for itself.
    const caller = await verify(request, auth);
    if (caller instanceof Response) return await sendAway(request, caller);
    try {
      return await object() ?? await sendAway(request, noSession());
    } catch {
      // The runtime tells the operator what befell the object.
      return await sendAway(request, json(internalError(undefined), 500));
    }
  }, { auth });
}

/** Who the caller is; what goes wrong here goes wrong where it is answered, too. */
async function verify(request: Request, auth: Authenticate | undefined): Promise<unknown> {
  try {
    return await auth?.(request);
  } catch {
    return undefined;
  }
}

function socketOf(request: Request, sockets: SessionNamespace): Promise<Response> {
  return sockets.get(sockets.newUniqueId()).fetch(request);
}

/** Who answers a request of the legacy era: the object of its session, if there can be one, or a new one for a handshake. */
async function sessionOf(
  request: Request,
  sessions: SessionNamespace,
): Promise<(() => Promise<Response> | undefined) | undefined> {
  const id = request.headers.get("mcp-session-id");
  const revision = request.headers.get("mcp-protocol-version");
  // To the modern era it means nothing.
  if (id !== null && !modernRevisions.some((known) => known === revision)) {
    // An id that this Worker did not make wakes no object.
    const [name = ""] = id.split(".");
    const object = objectId(sessions, name);
    return () => object ? sessions.get(object).fetch(request) : undefined;
  }
  const message = await peek(request);
  const isHandshake = classify(message) === "request" && (message as JsonRpcRequest).method === "initialize";
  return isHandshake ? () => sessions.get(sessions.newUniqueId()).fetch(request) : undefined;
}

function objectId(sessions: SessionNamespace, name: string): unknown {
  try {
    return sessions.idFromString(name);
  } catch {
    return undefined;
  }
}

function noSession(): Response {
  return refuse(404, "There is no such session: begin with initialize");
}

/**
 * A gateway over HTTP and WebSocket, at one path and behind one guard.
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { serveHttp } from "../../entry/local.ts";
import type { HttpHost, RequestHandler, WebSocketDoor } from "../../entry/local.ts";
import type { Gateway } from "../../hub/gateway/mod.ts";
import type { AuthInfo } from "../../server/definitions.ts";
import { createHandler, createSocketEndpoint } from "../../server/mod.ts";
import type { TaskSupport } from "../../server/mod.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { UsageError } from "../failure.ts";
import { writeWarning } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";

const path = "/mcp";

/** Where it listens, and who is let in. */
export interface HttpPlace {
  readonly port: number;
  readonly hostname: string;
  /** Lets callers in, for HTTP and for WebSockets; undefined: all that reach it from this machine. */
  readonly auth: ((request: Request) => Promise<AuthInfo | Response>) | undefined;
  /** The tasks of its callers: one and the same over HTTP and WebSockets. */
  readonly tasks: TaskSupport;
}

/** What listens, and where it is reached. */
export interface ServedPlace extends AsyncDisposable {
  /** The addresses, for people: `http://127.0.0.1:8080/mcp and ws://127.0.0.1:8080/mcp`. */
  readonly addresses: string;
}

/**
 * Serves a gateway at `/mcp`. Where the runtime has no WebSockets to serve (Node without the package `ws`), it is told and
 * served over HTTP alone.
 *
 * @throws {UsageError} When it cannot listen there.
 */
export async function serveAt(gateway: Gateway, place: HttpPlace): Promise<ServedPlace> {
  const { auth, tasks, hostname } = place;
  const guard = { auth, tasks, allowedHosts: hostsOf(hostname) };
  const handler = createHandler(gateway, guard);
  const answer = async (request: Request): Promise<Response> =>
    new URL(request.url).pathname === path ? await handler(request) : new Response(null, { status: 404 });
  const served = Object.assign(answer, { close: () => handler.close() });
  const webSocket = createSocketEndpoint(gateway, { ...guard, path });
  let isWithout: string | undefined;
  const host = await listen(served, place, webSocket).catch(async (error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    isWithout = error.message;
    return await listen(served, place);
  }).catch((error: unknown) => {
    throw cannotListen(error, place);
  });
  if (isWithout !== undefined) await writeWarning(isWithout);
  const url = `${host.url}${path}`;
  const addresses = isWithout === undefined ? `${url} and ${url.replace(/^http/, "ws")}` : url;
  return { addresses, [Symbol.asyncDispose]: () => host.close() };
}

/** What to say where nothing can listen: the runtimes have different words for it. */
export function cannotListen(
  error: unknown,
  { hostname, port }: { readonly hostname: string; readonly port: number },
): UsageError {
  const message = error instanceof Error ? error.message : String(error);
  const code = isObject(error) && typeof error.code === "string" ? error.code : "";
  const other = "choose another with --port, or 0 for any that is free";
  const why = /EADDRINUSE|address (already )?in use|is port \d+ in use/i.test(`${code} ${message}`)
    ? `something listens there already; ${other}`
    : /EACCES|permission denied/i.test(`${code} ${message}`)
    ? `this user may not; ${other}`
    : oneLine(message);
  return new UsageError(`Cannot listen at "${hostname}", port ${port}: ${why}`);
}

function listen(served: RequestHandler, { port, hostname }: HttpPlace, webSocket?: WebSocketDoor): Promise<HttpHost> {
  return serveHttp(served, { port, hostname, webSocket });
}

/** The hosts that requests may name: names of this machine, unless it is reached by another: then its callers have a token, and no page has it. */
export function hostsOf(hostname: string): readonly string[] | "*" | undefined {
  return isLoopbackHost(hostname) ? undefined : "*";
}

/**
 * Serves a web-standard handler on a free loopback port by `node:http`, with CORS as a test wants it.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { heldRequest } from "../support/held_request.ts";

/** What is allowed to pages of other origins. */
export interface CorsRules {
  /** The allowed origin; `*` for all. */
  origin: string;
  /** Request headers that are allowed; all that are asked for when it is missing. */
  headers?: string;
  /** Reply headers that a page may read. */
  expose?: string;
}

/** Answers one request. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** A running server. */
export interface LoopbackServer {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** `method path` of all requests, preflights among them. */
  readonly seen: string[];
  stop(): Promise<void>;
}

/** Starts a server. Without `cors` it says nothing of other origins, so that browsers keep its replies from their pages. */
export async function serveLoopback(handler: Handler, cors?: CorsRules): Promise<LoopbackServer> {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    answer(incoming, outgoing, handler, cors).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handler: Handler,
  cors: CorsRules | undefined,
): Promise<void> {
  const allowed = corsHeaders(incoming, cors);
  if (incoming.method === "OPTIONS") return void outgoing.writeHead(204, allowed).end();
  const controller = new AbortController();
  outgoing.once("close", () => controller.abort());
  const { body, status, headers } = await handler(await requestOf(incoming, controller.signal));
  outgoing.writeHead(status, { ...Object.fromEntries(headers), ...allowed });
  if (body === null) return void outgoing.end();
  outgoing.flushHeaders();
  const reader = body.getReader();
  controller.signal.addEventListener("abort", () => void reader.cancel().catch(() => {}));
  for (let part = await reader.read(); !part.done; part = await reader.read()) outgoing.write(part.value);
  outgoing.end();
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value])
  );
  const url = `http://${incoming.headers.host}${incoming.url}`;
  const { method = "GET" } = incoming;
  return heldRequest(url, { method, headers, signal, ...(chunks.length > 0 && { body: new Blob(chunks) }) });
}

function corsHeaders(incoming: IncomingMessage, cors: CorsRules | undefined): Record<string, string> {
  if (cors === undefined) return {};
  const asked = incoming.headers["access-control-request-headers"];
  return {
    "access-control-allow-origin": cors.origin,
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": cors.headers ?? (typeof asked === "string" ? asked : ""),
    ...(cors.expose !== undefined && { "access-control-expose-headers": cors.expose }),
  };
}

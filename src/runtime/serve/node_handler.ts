/**
 * A handler of requests among those of `node:http`: in Express, Fastify, Koa, NestJS and the like.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerBy, checkHandler, type RequestHandler } from "./answer.ts";
import { answerNode } from "./node.ts";

/**
 * A request of `node:http` (its `IncomingMessage`), perhaps one that a framework has dealt with. Told by its shape, so that
 * a program needs no types of Node to name it.
 */
export interface NodeRequest {
  /** The method, in capitals. */
  readonly method?: string | undefined;
  /** The path and the query. */
  readonly url?: string | undefined;
  /** The headers, by their names in small letters. */
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** Whether the body was read to its end. */
  readonly readableEnded: boolean;
  /** The body, where it was read already, as by `express.json()`. */
  body?: unknown;
  /** The path as it was asked for, where a router has cut it. */
  originalUrl?: string | undefined;
}

/** A response of `node:http` (its `ServerResponse`). */
export interface NodeResponse {
  /** The status. */
  statusCode: number;
  /** Whether the headers are on their way. */
  readonly headersSent: boolean;
  /** Ends the response. */
  end(): unknown;
}

/**
 * Answers a request of `node:http`. Never rejects.
 *
 * @param body The body, where it was read already and does not stand in `request.body`: what JSON says, a text, or bytes. A
 *   function, as the `next` of a router, is none.
 */
export type NodeHandler = (request: NodeRequest, response: NodeResponse, body?: unknown) => Promise<void>;

/**
 * Makes a handler of requests fit for `node:http`: the endpoint of `createHandler`, or any function from `Request` to
 * `Response`. Replies are streamed; a client that leaves aborts the `signal` of its request.
 *
 * A body that was read before (`express.json()`) is taken from `request.body` or from the third argument; where it stands in
 * neither, it is empty.
 *
 * @param handler What answers requests. It is not closed: that is up to you.
 * @returns A listener, for `createServer`, `app.all` or `app.use`.
 * @throws {TypeError} When it is no function.
 *
 * @example In a server of one's own
 * ```ts
 * import { createServer } from "node:http";
 * import { toNodeHandler } from "@causeway/mcp/node";
 * import { createHandler, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "greeter", version: "1.0.0" });
 * server.tool("greet", {}, () => "hello");
 * const listener = toNodeHandler(createHandler(server)); // Express: app.all("/mcp", listener)
 * const http = createServer((request, response) => void listener(request, response));
 * http.close();
 * ```
 */
export function toNodeHandler(handler: RequestHandler): NodeHandler {
  checkHandler(handler);
  const answer = answerBy(handler);
  return (request, response, given) => {
    const read = given === undefined || typeof given === "function" ? request.body : given;
    // What parses bodies says an empty one of those that it has left alone. Of one that is gone nothing would ever come.
    const body = request.readableEnded ? textOf(read) : undefined;
    return answerNode(request as IncomingMessage, response as ServerResponse, {
      answer,
      path: request.originalUrl,
      body,
    });
  };
}

function textOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array
    ? body as string | Uint8Array<ArrayBuffer>
    : JSON.stringify(body) ?? "";
}

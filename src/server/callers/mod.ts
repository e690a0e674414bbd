/**
 * One endpoint for many callers, each of whom gets a server of their own.
 *
 * @module
 */
import type { Methods, Servable } from "../seam.ts";
import { CallersModern } from "./modern.ts";
import { CallerSession } from "./session.ts";
import { openOnce } from "./opening.ts";
import type { Caller, CallerServers } from "./seam.ts";

export type { Caller, CallerServers } from "./seam.ts";

/**
 * Serves each caller with a server of theirs at one endpoint: a gateway for a team, whose members see what they may use.
 *
 * The function is asked after `auth`, for each request that stands for itself, each handshake and each WebSocket. It may
 * give one server to many callers, or make one each time: nothing is kept of a server but by who uses it, and none is
 * closed here. A stream of changes stays with its server until it ends. So does a session, which is there for the same
 * principal with the same `clientId` and `scopes` alone: for any other it is gone (404), and the next handshake asks the
 * function again. What a caller may no longer do at once is for `auth`, which judges each request, or for the server.
 *
 * What it throws is logged, and the caller is told that there is no server (500); an `RpcError` of its own making is
 * answered as it is. Nothing that one caller was given may be cached for another, whatever the servers say
 * (`cacheScope: "private"`).
 *
 * @param serverOf Gives the server of a caller.
 * @returns What stands in the place of a server.
 * @throws {TypeError} When it is no function.
 *
 * @example Who may write sees another server
 * ```ts
 * import { createHandler, McpServer, perCaller } from "@causeway/mcp/server";
 *
 * const reading = new McpServer({ name: "wiki", version: "1.0.0" });
 * const writing = new McpServer({ name: "wiki", version: "1.0.0" });
 * writing.tool("edit", {}, () => "changed");
 * const handler = createHandler(perCaller(({ auth }) => auth?.scopes?.includes("write") ? writing : reading), {
 *   auth: ({ headers }) => ({ principal: "ada", scopes: headers.has("x-write") ? ["write"] : [] }),
 * });
 * handler.close();
 * ```
 */
export function perCaller(serverOf: (caller: Caller) => Servable | Promise<Servable>): CallerServers {
  if (typeof serverOf !== "function") {
    throw new TypeError(
      `Cannot serve callers by ${typeof serverOf}: expected a function that gives the server of each`,
    );
  }
  const of = async (caller: Caller): Promise<Servable> => {
    const server: unknown = await serverOf(caller);
    if (isServable(server)) return server;
    throw new TypeError("Cannot serve what the function of perCaller gave: expected a server, such as an McpServer");
  };
  return {
    of,
    open(open) {
      const { parts, modern, legacy } = open(nobodys);
      const opened = openOnce(of, open);
      return {
        parts,
        modern: modern && new CallersModern(parts, opened),
        legacy: legacy && ((outlet) => new CallerSession(parts, opened, outlet)),
      };
    },
  };
}

function isServable(server: unknown): server is Servable {
  return typeof server === "object" && server !== null && typeof (server as Partial<Servable>).methods === "object";
}

/** What is there before it is known who asks. */
const nobodys: Methods = {
  info: { name: "nobody's", version: "0.0.0" },
  instructions: undefined,
  capabilities: () => ({}),
  run: () => undefined,
  tool: () => undefined,
  cache: { ttlMs: 0, cacheScope: "private" },
  watch: () => () => {},
};

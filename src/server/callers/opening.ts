/**
 * The server of a caller, put to work.
 *
 * @module
 */
import { RpcError } from "../../protocol/errors.ts";
import type { RequestId } from "../../protocol/json_rpc.ts";
import { HeaderCheck } from "../http/header_check.ts";
import type { Answer, Incoming, Methods, Servable, Served, ServerParts } from "../seam.ts";
import type { Caller } from "./seam.ts";

/** A server at work for its callers. */
export interface Opened extends Served {
  readonly check: HeaderCheck;
}

/** Gives what serves the caller of a request. Rejects with what the author's function threw. */
export type OpenFor = (incoming: Incoming) => Promise<Opened>;

/** Puts each server to work once for as long as somebody holds it: who makes one for each request leaves nothing behind. */
export function openOnce(of: (caller: Caller) => Promise<Servable>, open: (methods: Methods) => Served): OpenFor {
  const known = new WeakMap<Servable, Opened>();
  return async ({ auth, request }) => {
    if (!request) throw new TypeError("Cannot tell callers apart here: this way to serve has no requests of HTTP");
    const server = await of({ auth, request });
    let opened = known.get(server);
    if (!opened) {
      const served = open(server.methods);
      const { methods, limits } = served.parts;
      known.set(server, opened = { ...served, check: new HeaderCheck(methods, limits) });
    }
    return opened;
  };
}

/** The answer where there is no server: what the author's function threw is the operator's to know. */
export function noServer(
  { message: { id, method }, auth }: Incoming,
  error: unknown,
  parts: ServerParts,
  told: (error: RpcError) => Answer | undefined,
): Answer {
  const answer = error instanceof RpcError ? told(error) : undefined;
  if (answer) return answer;
  const fields = { method, principal: auth?.principal, error };
  parts.logger?.({ level: "error", message: "There is no server for a caller", fields });
  return failure(id);
}

function failure(id: RequestId): Answer {
  const error = { code: -32603, message: "The server of this caller could not be opened" };
  return { response: { jsonrpc: "2.0", id, error }, status: 500 };
}

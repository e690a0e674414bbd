/**
 * Roots: a server asks where it may work (specification: client, Roots). Deprecated in 2026-07-28; delete this file to
 * be rid of it.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { HandlerContext, Handlers } from "./seam.ts";

/** The handler, made ready; undefined when there is none. Only `file:` URIs are told. */
export function answerRoots(handlers: Handlers): ((context: HandlerContext) => Promise<JsonObject>) | undefined {
  const given = handlers.roots;
  return given && (async (context) => {
    const roots = typeof given === "function" ? await given(context) : given;
    const wrong = roots.find((root) => !root.uri.startsWith("file://"));
    if (wrong) throw new TypeError(`Cannot tell the root "${wrong.uri}": expected a file:// URI`);
    return { roots: roots as unknown as JsonObject[] };
  });
}

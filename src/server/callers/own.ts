/**
 * What one caller is given, for no other to keep.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { withRun } from "../common/other_run.ts";
import type { Methods } from "../seam.ts";
import { after } from "../../protocol/promise.ts";

/** A result that nobody may keep for another caller, whatever the server says. */
export function ownResult(result: JsonObject): JsonObject {
  return result.cacheScope === "public" ? { ...result, cacheScope: "private" } : result;
}

/** The methods of a caller's server, where their results are not looked at on the way out. */
export function ownMethods(methods: Methods): Methods {
  const run: Methods["run"] = (method, params, context) => {
    const running = methods.run(method, params, context);
    return running && after(running, ownResult);
  };
  return withRun(methods, run, { ...methods.cache, cacheScope: "private" });
}

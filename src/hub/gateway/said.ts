/**
 * What servers say, for clients that are stricter than ours.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";

const serverKey = metaPrefix + "serverInfo";

/** Values of the server's own, in which null is one. */
const values: ReadonlySet<string> = new Set(["_meta", "structuredContent"]);
/** Schemas: null is a value further inside. */
const schemas: ReadonlySet<string> = new Set(["inputSchema", "outputSchema"]);

/**
 * The same without members that are null. Some servers say so where they have nothing to say, and there are clients that refuse the
 * whole list of all servers for one of them. What has none is given as it is.
 */
export function withoutNull<Value>(value: Value, isFlat = false): Value {
  if (Array.isArray(value)) {
    const kept = value.map((item) => withoutNull(item));
    return kept.some((item, at) => item !== value[at]) ? kept as Value : value;
  }
  if (!isObject(value)) return value;
  let said: Record<string, unknown> = value;
  for (const [name, inner] of Object.entries(value)) {
    if (inner !== null && (isFlat || values.has(name))) continue;
    const kept = inner === null ? undefined : withoutNull(inner, schemas.has(name));
    if (kept === inner) continue;
    if (said === value) said = { ...value };
    if (kept === undefined) delete said[name];
    else said[name] = kept;
  }
  return said as Value;
}

/** A result of a server as the gateway gives it. Who answers is the gateway, which says so itself where the revision has it. */
export function ownResult(result: object): JsonObject {
  const said = withoutNull(result) as JsonObject;
  const { [serverKey]: server, ...rest } = isObject(said._meta) ? said._meta : {};
  if (server === undefined) return said;
  const { _meta: _, ...own } = said;
  return Object.keys(rest).length ? { ...own, _meta: rest as JsonObject } : own;
}

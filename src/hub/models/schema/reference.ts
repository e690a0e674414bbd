/**
 * References inside of a schema.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";

/** What a reference leads to: a JSON Pointer into the schema itself (RFC 6901). */
export function resolve(reference: string, root: JsonObject): JsonObject | undefined {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let found: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const key = decode(step)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (key === undefined || typeof found !== "object" || found === null || !Object.hasOwn(found, key)) {
      return undefined;
    }
    found = Reflect.get(found, key);
  }
  return isSchema(found) ? found : undefined;
}

function isSchema(value: unknown): value is JsonObject {
  return isObject(value);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

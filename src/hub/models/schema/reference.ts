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

/** The names of schemas (`$anchor`; before 2019 an `$id` that begins with "#"), as references say them, and the pointers to them. */
export function anchorsOf(
  value: unknown,
  pointer: string = "#",
  found: Map<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const deepest = 2_000;
  if (typeof value !== "object" || value === null || pointer.length > deepest) return found;
  const { $anchor, $id }: { $anchor?: unknown; $id?: unknown } = value;
  const name = typeof $anchor === "string" ? `#${$anchor}` : $id;
  // What several are called is nobody's name: schemas with an $id of their own may each have it.
  if (typeof name === "string" && /^#[^/]/.test(name)) found.set(name, found.has(name) ? name : pointer);
  for (const [key, held] of Object.entries(value)) {
    anchorsOf(held, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("%", "%25")}`, found);
  }
  return found;
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

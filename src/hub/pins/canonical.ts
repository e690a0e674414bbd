/**
 * One text for each JSON value: what is the same value has the same text, and what is another one has another.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";

const deepest = 256;

/**
 * Writes JSON in one way only: members in the order of the UTF-16 code units of their names, no blanks, numbers and texts as
 * `JSON.stringify` writes them (RFC 8785). Members that are undefined are left out.
 *
 * @throws {TypeError} When it is no JSON.
 * @throws {RangeError} When it is nested deeper than 256 levels.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (depth > deepest) throw new RangeError(`Cannot write JSON: it is nested deeper than ${deepest} levels`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => write(item, depth + 1)).join()}]`;
  if (!isObject(value)) throw new TypeError(`Cannot write JSON: ${String(value)} is none`);
  let members = "";
  for (const name of Object.keys(value).sort()) {
    if (value[name] === undefined) continue;
    members += `${members && ","}${JSON.stringify(name)}:${write(value[name], depth + 1)}`;
  }
  return `{${members}}`;
}

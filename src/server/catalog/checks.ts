/**
 * What is looked at when something is registered, so that a mistake shows where it was made.
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { type Fields, find, maybeObject, maybeText, text } from "../../protocol/shapes/shape.ts";
import type { CacheHints } from "../../protocol/types.ts";
import { writeJson } from "./json.ts";
import { readUrl } from "../../egress/url.ts";

const icons: Fields[string] = [{ src: text, mimeType: maybeText, sizes: [text, true], theme: maybeText }, true];

/** What may be said of everything. */
export const described: Fields = { title: maybeText, description: maybeText, icons, meta: maybeObject };

/** Says what cannot be registered and why. */
export function refuse(what: string, field: string, value: unknown, expected: string): never {
  throw new TypeError(`Cannot set up ${what}: "${field}" is ${show(value)}, expected ${expected}`);
}

/** A value as it may stand in a message. */
export function show(value: unknown): string {
  if (value === undefined || typeof value === "function") return value === undefined ? "missing" : "a function";
  try {
    return excerpt(JSON.stringify(value) ?? String(value), 200);
  } catch {
    return `no JSON (${typeof value})`;
  }
}

/**
 * Holds the options of a registration against their shape, and looks at the handler.
 *
 * @param what What is registered, for the message: `the tool "add"`.
 * @throws {TypeError} Naming what is wrong.
 */
export function checkOptions(what: string, options: unknown, shape: Fields, handler: unknown): void {
  checkObject(what, "options", options);
  const wrong = find(options, shape);
  if (wrong) throw new TypeError(`Cannot set up ${what}: "${wrong.slice(1)}`);
  const { cache } = options as { cache?: CacheHints };
  if (cache) checkCache(what, cache);
  if (typeof handler !== "function") refuse(what, "handler", handler, "a function");
}

/**
 * Looks whether an option has the name that others give it: passed over, any arguments would do, or none would reach anybody.
 *
 * @throws {TypeError} When it has.
 */
export function checkWord(what: string, options: object, ours: string, theirs: string): void {
  const { [ours]: named, [theirs]: passed } = options as Record<string, unknown>;
  if (passed && !named) refuse(what, ours, undefined, `it, not "${theirs}"`);
}

/**
 * Looks whether there is an object.
 *
 * @throws {TypeError} When it is something else.
 */
export function checkObject(what: string, field: string, value: unknown): void {
  if (!isObject(value)) refuse(what, field, value, "an object");
}

/**
 * Looks at hints for caches (specification 2026-07-28: caching).
 *
 * @throws {TypeError} When the time is no whole number of milliseconds, or the scope is unknown.
 */
export function checkCache(what: string, cache: CacheHints): void {
  const { ttlMs = 0, cacheScope = "private" } = cache;
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) refuse(what, "cache.ttlMs", ttlMs, "a whole number, 0 or more");
  if (cacheScope !== "private" && cacheScope !== "public") {
    refuse(what, "cache.cacheScope", cacheScope, '"private" or "public"');
  }
}

/**
 * Looks at the name of a tool (specification 2026-07-28: tools, Tool Names).
 *
 * @throws {TypeError} When it is none.
 */
export function checkToolName(name: unknown): void {
  if (typeof name === "string" && name.length <= 128 && /^[\w.-]+$/.test(name)) return;
  refuse("a tool", "name", name, '1 to 128 characters of "A-Za-z0-9_.-"');
}

/**
 * Looks at a name for which anything will do.
 *
 * @throws {TypeError} When it is none.
 */
export function checkName(what: string, field: string, name: unknown): void {
  if (typeof name !== "string" || !name || !name.isWellFormed()) refuse(what, field, name, "a text that is not empty");
}

/**
 * Looks at the URI of a resource.
 *
 * @throws {TypeError} When it is no absolute URI.
 */
export function checkUri(uri: unknown): void {
  // What RFC 3986 lets through and `URL` mends silently (spaces, line ends) is no URI either.
  if (typeof uri === "string" && /^[a-z][a-z0-9+.-]*:[^\s"<>\\^`{|}]+$/i.test(uri) && readUrl(uri)) return;
  refuse("a resource", "uri", uri, "an absolute URI");
}

/** How something is listed: its fields that have a value, copied, so that nobody else can change them. */
export function listing<Listed extends object>(
  what: string,
  fields: { readonly [Field in keyof Listed]?: Listed[Field] | undefined },
): Listed {
  const written = writeJson(fields);
  if (typeof written === "string") {
    throw new TypeError(`Cannot set up ${what}: what is said of it is no JSON, ${written}`);
  }
  return Object.freeze(JSON.parse(written.text));
}

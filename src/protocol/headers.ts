/**
 * Headers that mirror the body of a modern request (specification 2026-07-28: Streamable HTTP, Request Headers and
 * x-mcp-header), and the codec of their values.
 *
 * @module
 */
import type { McpErrorOptions } from "./errors.ts";
import { isObject } from "./json_rpc.ts";
import { own } from "./json_schema/node.ts";
import { checkLimit, coreLimits, defaultLimits } from "./limits.ts";
import type { Limits } from "./limits.ts";

/** One annotated argument of a tool, and the header that mirrors it. */
export interface HeaderRule {
  /** Where the argument is: the names of the properties that lead to it. */
  readonly path: readonly string[];
  /** The whole name of the header, with its prefix: `mcp-param-region`. */
  readonly header: string;
  readonly type: "string" | "integer" | "boolean";
}

/** What a schema says of headers; `invalid` is the reason why its tool must not be used over HTTP. */
export interface FoundRules {
  readonly rules: HeaderRule[];
  invalid?: string;
}

/** The limits of mirrored headers. */
export type HeaderLimits = Pick<Limits, "headerBytes"> & Partial<Limits>;

/** The keyword of a schema that names a header. */
export const annotation = "x-mcp-header";
/** Keywords with something else than a schema below them: true for an object with names for keys, false for data. */
const isMapBelow = {
  __proto__: null,
  patternProperties: true,
  $defs: true,
  definitions: true,
  dependentSchemas: true,
  dependencies: true,
  const: false,
  enum: false,
  default: false,
  examples: false,
  required: false,
  dependentRequired: false,
} as Readonly<Record<string, unknown>>;
const opening = "=?base64?";
const closing = "?=";
/** What does not stand in a header as it is. */
const special = /[^ -~]|^ | $|^=\?base64\?(.*\?)?=$/;
const notSent: McpErrorOptions = { delivery: "not-sent" };

/** Writes a text as it stands in a header. */
export type EncodeHeader = (text: string) => string;

/**
 * The texts that stand in a header as they are: all that most servers ever name anything.
 *
 * @throws {TypeError} When it is one that {@linkcode encodeHeaderValue} would have to encode.
 */
export const plainHeaderValue: EncodeHeader = (text) => {
  if (!special.test(text)) return text;
  throw new TypeError(`Cannot put ${JSON.stringify(text)} into a header without "features.mirror"`);
};

/**
 * Writes a value as it stands in a header: visible ASCII and inner spaces as they are, all else as `=?base64?…?=` over
 * UTF-8 (specification 2026-07-28: Value Encoding). Integers are decimal.
 *
 * @throws {TypeError} When a number is no safe integer, or a text has half a surrogate pair: no header can say the same as the body then.
 */
export function encodeHeaderValue(value: string | number | boolean): string {
  const text = String(value);
  if ((typeof value === "number" && !Number.isSafeInteger(value)) || !text.isWellFormed()) {
    throw new TypeError(`Cannot put ${JSON.stringify(value)} into a header: expected whole text or a safe integer`);
  }
  if (!special.test(text)) return text;
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return opening + btoa(binary) + closing;
}

/**
 * Reads a header's value back; undefined when it is marked as base64 and is not: padded, standard alphabet, UTF-8.
 */
export function decodeHeaderValue(text: string): string | undefined {
  if (!text.startsWith(opening) || !text.endsWith(closing)) return text;
  const payload = text.slice(opening.length, -closing.length);
  try {
    const binary = atob(payload);
    if (btoa(binary) !== payload || text.length < opening.length + closing.length) return undefined;
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The parameter that `Mcp-Name` mirrors, by method (specification 2026-07-28: Standard Request Headers; extension tasks: Routing Headers). */
const named: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** What `Mcp-Name` has to say about a request, not yet encoded; undefined when that method has no such header. */
export function mirroredName(method: string, params: Record<string, unknown> | undefined): string | undefined {
  const value = params?.[named[method] ?? ""];
  return typeof value === "string" ? value : undefined;
}

/**
 * The headers that every modern request carries: `MCP-Protocol-Version`, `Mcp-Method` and, where the method has one, `Mcp-Name`.
 *
 * @param encode Writes a value as it stands in a header: {@linkcode encodeHeaderValue} can write each.
 * @param limits `headerBytes` bounds each value (default: 4,096 characters).
 * @throws {LimitExceededError} When a value is longer than the limit.
 * @throws {TypeError} When the name cannot be encoded.
 */
export function modernHeaders(
  method: string,
  params: Record<string, unknown> | undefined,
  revision: string,
  encode: EncodeHeader,
  limits: Pick<Limits, "headerBytes"> = coreLimits,
): Record<string, string> {
  const headers: Record<string, string> = {
    "mcp-protocol-version": revision,
    "mcp-method": bounded(encode(method), limits),
  };
  const name = mirroredName(method, params);
  if (name !== undefined) headers["mcp-name"] = bounded(encode(name), limits);
  return headers;
}

/**
 * Reads the `x-mcp-header` annotations of a tool's input schema (specification 2026-07-28: Schema Extension): the rules,
 * or the reason why the tool must not be used over HTTP.
 */
export function readHeaderRules(inputSchema: unknown): FoundRules {
  const found: Finding = { rules: new Map() };
  if (isObject(inputSchema)) collect(inputSchema, [], false, found);
  return { ...found, rules: [...found.rules.values()] };
}

/**
 * The `Mcp-Param-…` headers of a tool call. Arguments that are null or absent have none; `""`, `false` and `0` have one.
 *
 * @param limits Bounds in characters for each value (default 4,096) and for all names and values together (default 16,384).
 * @throws {TypeError} When an argument is not of the type that its schema names, or cannot be put into a header.
 * @throws {LimitExceededError} When a value, or all together, are longer than the limit.
 */
export function parameterHeaders(
  rules: readonly HeaderRule[],
  args: unknown,
  limits: HeaderLimits = coreLimits,
): Record<string, string> {
  const headers: Record<string, string> = {};
  let total = 0;
  for (const { path, header, type } of rules) {
    let value = args;
    for (const key of path) value = isObject(value) ? own(value, key) : undefined;
    if (value === undefined || value === null) continue;
    // deno-lint-ignore valid-typeof
    if (type === "integer" ? !Number.isSafeInteger(value) : typeof value !== type) {
      throw new TypeError(`Cannot send the argument "${path.join(".")}": expected ${type}`);
    }
    total += header.length + (headers[header] = bounded(encodeHeaderValue(value as Primitive), limits)).length;
  }
  checkLimit("headersBytes", limits.headersBytes ?? defaultLimits.headersBytes, total, notSent);
  return headers;
}

type Primitive = string | number | boolean;

function bounded(text: string, { headerBytes }: Pick<Limits, "headerBytes">): string {
  checkLimit("headerBytes", headerBytes, text.length, notSent);
  return text;
}

/** What was found so far: the rules by their headers, since there may be very many. */
interface Finding {
  readonly rules: Map<string, HeaderRule>;
  invalid?: string;
}

/** Gathers what is below a schema, or below an object with names for keys. `path` is missing where `properties` alone do not lead. */
function collect(schema: object, path: string[] | undefined, isMap: boolean, found: Finding): void {
  // Far cheaper than a list of the keys; what was parsed has no others.
  for (const key in schema) {
    const value: unknown = schema[key as never];
    if (typeof value !== "object" || value === null) {
      if (key === annotation && !isMap) annotate(value, (schema as { type?: unknown }).type, path, found);
    } else if (isMap) {
      path?.push(key);
      collect(value, path, false, found);
      path?.pop();
    } else if (key === "properties") collect(value, path, true, found);
    else if (key === annotation) annotate(value, (schema as { type?: unknown }).type, path, found);
    else if (isMapBelow[key] !== false) collect(value, undefined, !!isMapBelow[key], found);
  }
}

function annotate(name: unknown, type: unknown, path: string[] | undefined, found: Finding): void {
  const header = typeof name === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(name) && "mcp-param-" + name.toLowerCase();
  const wrong = !path?.length
    ? 'is not below "properties" alone'
    : !header
    ? "is no header name"
    : type !== "string" && type !== "integer" && type !== "boolean"
    ? "is on no string, integer or boolean"
    : found.rules.has(header)
    ? "stands twice"
    : void found.rules.set(header, { path: [...path], header, type });
  if (wrong) found.invalid ??= `"${annotation}": ${JSON.stringify(name).slice(0, 99)} ${wrong}`;
}

/**
 * Headers by their names in small letters.
 *
 * @throws {TypeError} When one is missing, has several lines, or a character that no header takes. Its value is not told: some runtimes would.
 */
export function lowered(headers?: Readonly<Record<string, string>>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name in headers) {
    if (!/^[\t -\xff]*[\t-\r ]*$/.test(result[name.toLowerCase()] = headers[name] ?? "\0")) {
      throw new TypeError(`Cannot use the header "${name}": expected a line of Latin-1`);
    }
  }
  return result;
}

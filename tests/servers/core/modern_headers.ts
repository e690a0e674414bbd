/**
 * What 2026-07-28 says about headers, from the server's side (Streamable HTTP: Server Validation). Written apart from the
 * client's codec, so that the two can disagree.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonRpcRequest, objectAt, RpcFailure } from "./wire.ts";

/**
 * Compares the headers of a request with its body.
 *
 * @param tool The definition of the tool that is called, if it is known.
 * @throws {RpcFailure} -32020 with status 400.
 */
export function checkHeaders(headers: Headers, request: JsonRpcRequest, tool: JsonObject | undefined): void {
  const params = request.params ?? {};
  const version = objectAt(params, "_meta")["io.modelcontextprotocol/protocolVersion"];
  same(headers, "mcp-protocol-version", version);
  same(headers, "mcp-method", request.method);
  const name = nameOf(request.method, params);
  if (name !== undefined) same(headers, "mcp-name", name);
  if (request.method !== "tools/call" || tool === undefined) return;
  for (const { header, path } of annotations(objectAt(tool, "inputSchema"), [])) {
    compareParameter(headers, `mcp-param-${header.toLowerCase()}`, valueAt(objectAt(params, "arguments"), path));
  }
}

/** What `Mcp-Name` has to say for a method, or undefined when it says nothing. */
export function nameOf(method: string, params: JsonObject): unknown {
  switch (method) {
    case "tools/call":
    case "prompts/get":
      return params.name;
    case "resources/read":
      return params.uri;
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
      return params.taskId;
    default:
      return undefined;
  }
}

/**
 * Reads a header value: outer white space goes, `=?base64?…?=` is decoded.
 *
 * @throws {RpcFailure} -32020 when the base64 cannot be decoded or a character is not allowed.
 */
export function decodeHeader(value: string): string {
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, "");
  const match = /^=\?base64\?(.*)\?=$/.exec(trimmed);
  if (match === null) {
    if (/[^\x20-\x7e]/.test(trimmed)) throw mismatch("a header holds a character outside 0x20 to 0x7E");
    return trimmed;
  }
  const encoded = match[1] ?? "";
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) throw mismatch("base64 cannot be decoded");
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw mismatch("base64 cannot be decoded");
  }
}

function mismatch(reason: string): RpcFailure {
  return new RpcFailure(-32020, `Header mismatch: ${reason}`, { status: 400 });
}

function same(headers: Headers, name: string, wanted: unknown): void {
  const value = headers.get(name);
  if (value === null) throw mismatch(`${name} is missing`);
  if (decodeHeader(value) !== wanted) throw mismatch(`${name} differs from the body`);
}

function compareParameter(headers: Headers, name: string, wanted: unknown): void {
  const value = headers.get(name);
  if (wanted === undefined || wanted === null) {
    if (value !== null) throw mismatch(`${name} is there, the argument is not`);
    return;
  }
  if (value === null) throw mismatch(`${name} is missing`);
  const decoded = decodeHeader(value);
  const fits = typeof wanted === "number"
    ? /^-?\d+(\.0+)?$/.test(decoded) && Number(decoded) === wanted
    : decoded === String(wanted);
  if (!fits) throw mismatch(`${name} differs from the argument`);
}

function annotations(schema: JsonObject, path: string[]): { header: string; path: string[] }[] {
  return Object.entries(objectAt(schema, "properties")).flatMap(([key, property]) => {
    if (!isJsonObject(property)) return [];
    const header = property["x-mcp-header"];
    const own = typeof header === "string" ? [{ header, path: [...path, key] }] : [];
    return [...own, ...annotations(property, [...path, key])];
  });
}

function valueAt(args: JsonObject, path: string[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (!isJsonObject(value)) return undefined;
    value = value[key];
  }
  return value;
}

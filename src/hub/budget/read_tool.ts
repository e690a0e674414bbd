/**
 * The tool with which a model reads on in a result that was cut.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, ResourceContents } from "../../protocol/types.ts";
import type { CatalogTool, QualifiedName } from "../seam.ts";
import { boundary, type Budget, byteLength, fitting } from "./cut.ts";
import { parseResultUri, readResult, type ResultName, unknown } from "./result_resource.ts";

/** The name of the tool: without `__`, so that no tool of a server has it. */
export const readToolName = "read_result";

/** The tool as a model gets it: one of the hub itself. */
export function createReadTool(): CatalogTool {
  return {
    server: "",
    name: readToolName,
    qualifiedName: readToolName,
    tool: {
      name: readToolName,
      title: "Read a large result",
      description: "Reads on in a result that was too large to be shown as a whole. Its last line says what to give.",
      inputSchema: {
        type: "object",
        properties: {
          uri: { type: "string", description: "What the result calls itself: causeway://results/…" },
          from: { type: "integer", minimum: 0, description: "The character to begin at (0)" },
        },
        required: ["uri"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
  };
}

/** Whether the tool is meant. */
export function isReadTool(name: QualifiedName): boolean {
  return typeof name === "string" ? name === readToolName : name.server === "" && name.name === readToolName;
}

/**
 * Answers the model: the next piece of a text that fits, a picture, a sound or a file, or which parts there are.
 *
 * @param find Finds a kept result by its id.
 */
export async function runReadTool(
  { uri, from }: JsonObject,
  budget: Budget,
  find: (id: string) => Promise<CallToolResult | undefined>,
): Promise<CallToolResult> {
  if (typeof uri !== "string") return failure('"uri" is missing: expected what the result calls itself');
  if (from !== undefined && !(typeof from === "number" && Number.isSafeInteger(from) && from >= 0)) {
    return failure('"from" is not a whole number, 0 or more');
  }
  let asked: ResultName | undefined;
  try {
    asked = parseResultUri(uri);
  } catch {
    // Said below.
  }
  const result = asked && await find(asked.id);
  if (!asked || !result) return failure(unknown(uri).message);
  const { contents } = readResult(result, { ...asked, part: undefined }, uri);
  const parts = asked.part === undefined ? contents : contents.filter((one) => one.uri.endsWith(`/${asked.part}`));
  const [part] = parts;
  if (!part) return failure(unknown(uri).message);
  if (parts.length === 1) return show(part, from ?? asked.from, budget);
  const list = parts.map(describe).join("\n");
  const isWhole = !from && fitting(list, budget.limit, budget.unit) === list.length;
  return isWhole ? said(list) : show({ uri, text: list }, from ?? 0, budget);
}

function show(
  { uri, mimeType = "", text, blob }: ResourceContents,
  start: number,
  { limit, unit }: Budget,
): CallToolResult {
  if (text === undefined) {
    const data = blob ?? "";
    const type = mimeType.startsWith("image/") ? "image" : mimeType.startsWith("audio/") ? "audio" : undefined;
    const file = { uri, blob: data, ...(mimeType && { mimeType }) };
    return { content: [type ? { type, data, mimeType } : { type: "resource", resource: file }] };
  }
  const from = boundary(text, Math.min(start, text.length));
  // At least one character, so that it goes on.
  const end = boundary(text, from + Math.max(1, fitting(text.slice(from), limit, unit)));
  const piece = text.slice(from, end);
  if (end >= text.length) return said(piece, `[the end: characters ${from} to ${text.length} of ${text.length}]`);
  return said(piece, `[characters ${from} to ${end} of ${text.length}; read on with from ${end}]`);
}

function describe({ uri, mimeType = "unknown type", text, blob = "" }: ResourceContents): string {
  const size = text === undefined ? `${byteLength(blob)} bytes` : `${text.length} characters`;
  return `${uri} (${mimeType}, ${size})`;
}

function said(...texts: readonly string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

function failure(text: string): CallToolResult {
  return { ...said(text), isError: true };
}

/**
 * What a tool's handler gave, as the result that goes out.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import { block } from "../../protocol/shapes/content.ts";
import { isPlain } from "../../protocol/shapes/core.ts";
import { type Fields, find, maybeBoolean, maybeObject } from "../../protocol/shapes/shape.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { readJson, writeJson } from "./json.ts";
import type { ReadySchema } from "./schemas.ts";
import { after } from "../../protocol/promise.ts";

/** The fields of a tool's result. */
const fields = ["content", "structuredContent", "isError", "_meta"];
const shape: Fields = { content: [block], isError: maybeBoolean, _meta: maybeObject };

/** A result that says that the tool failed. */
export function failed(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/**
 * Turns what a handler returned into a result (specification 2026-07-28: tools, Tool Result).
 *
 * - undefined: nothing. A text: one text block. `{ error }`: a result with `isError`.
 * - `{ content: […] }`: as it is, once it is found to be right; where `content` is empty, or
 *   `structuredContent` is no object, that is added as text.
 * - Any other JSON: `structuredContent`, and the same as text. With an output schema, texts too.
 *
 * What is no JSON, no sound content, or does not fit the output schema, becomes a result with `isError` that says so.
 *
 * @param name The tool's name, for messages.
 */
export function toResult(
  name: string,
  returned: unknown,
  output: ReadySchema | undefined,
): CallToolResult | Promise<CallToolResult> {
  if (isObject(returned)) {
    const { error } = returned;
    if (typeof error === "string" && Object.keys(returned).length === 1) return failed(error);
    if (isResult(returned)) return ownResult(name, returned, output);
  }
  if (output) return structured(name, returned, output, {});
  if (returned === undefined) return { content: [] };
  if (typeof returned === "string") return { content: [{ type: "text", text: returned }] };
  return written(name, returned, {});
}

/** Whether an object is meant as a whole result: its fields are a result's, or its content is made of typed blocks. */
function isResult(value: Record<string, unknown>): boolean {
  const { content, structuredContent } = value;
  const isList = Array.isArray(content);
  if (content === undefined ? structuredContent === undefined : !isList) return false;
  return Object.keys(value).every((key) => fields.includes(key)) ||
    (isList && content.length > 0 && content.every((block) => isObject(block) && block.type));
}

function ownResult(
  name: string,
  returned: Record<string, unknown>,
  output: ReadySchema | undefined,
): CallToolResult | Promise<CallToolResult> {
  const { structuredContent, isError } = returned;
  const result: Record<string, unknown> = { ...returned, content: returned.content ?? [] };
  const wrong = isPlain(result) ? undefined : find(result, shape);
  if (wrong) return failed(`The tool "${name}" returned content that is not sound: "${wrong.slice(1)}`);
  const whole = readJson(result);
  if (typeof whole === "string") return noJson(name, whole);
  const sound = whole.value as unknown as CallToolResult;
  if (isError === true || (!output && structuredContent === undefined)) return sound;
  return output ? structured(name, structuredContent, output, sound) : written(name, sound.structuredContent, sound);
}

/** Holds a structured value against the output schema. */
function structured(
  name: string,
  value: unknown,
  output: ReadySchema,
  rest: Partial<CallToolResult>,
): CallToolResult | Promise<CallToolResult> {
  return after(output.check(value), (checking) => {
    if (!checking.problems) return written(name, checking.value, rest);
    // It may be right, only nobody can tell: it is the server's own.
    if (checking.isOpen) return written(name, value, rest);
    return failed(
      `The tool "${name}" returned what does not fit its output schema: ${checking.problems.join("; ")}`,
    );
  });
}

/**
 * A result with a structured value, and the same as text where there is no other content, or it is no object: older clients
 * have no place for that (SEP-2106).
 */
function written(name: string, value: unknown, rest: Partial<CallToolResult>): CallToolResult {
  const json = writeJson(value);
  if (typeof json === "string") return noJson(name, json);
  const { content = [] } = rest;
  const { text } = json;
  const isSaid = isObject(value) ? content[0] : content.find((block) => (block as { text?: unknown }).text === text);
  return {
    ...rest,
    content: isSaid ? content : [...content, { type: "text", text }],
    structuredContent: json.value,
  };
}

function noJson(name: string, why: string): CallToolResult {
  return failed(`The tool "${name}" returned what cannot be written as JSON: ${why}`);
}

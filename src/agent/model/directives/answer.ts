/**
 * What is said at the end of directives: the results as text, or as JSON for a schema.
 *
 * @module
 */
import { partsOfResult, textOf } from "../../../hub/models/parts.ts";
import { propertiesOf, requiredOf, typesOf } from "../../../protocol/arguments/schema.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../../protocol/types.ts";

/** A call and what it gave. */
export interface DirectiveResult {
  readonly name: string;
  readonly result: CallToolResult;
}

/** The most characters of one result in the answer. */
const longest = 4_000;

/** The results for people: one as it is, several with the names of their tools. */
export function reportResults(results: readonly DirectiveResult[]): string {
  const [only] = results;
  if (results.length === 1 && only) return said(only);
  return results.map((one) => {
    const text = said(one);
    return `${one.name}:${text.includes("\n") ? "\n" : " "}${text}`;
  }).join("\n");
}

/**
 * The answer for a schema, as JSON: what was said last where that is a JSON object, else the last result that did not fail.
 * What the schema does not know is left out where it is closed; a text that it requires and nothing has becomes the report.
 */
export function fitOutput(
  schema: JsonObject,
  results: readonly DirectiveResult[],
  says: readonly string[],
): string {
  const source = readObject(says.at(-1)) ?? objectOf(results.findLast(({ result }) => !result.isError)) ?? {};
  const isClosed = schema.additionalProperties === false && schema.patternProperties === undefined;
  const properties = new Map(propertiesOf(schema));
  const fitted = new Map(Object.entries(source).filter(([name]) => !isClosed || properties.has(name)));
  const text = [...says, ...results.length > 0 ? [reportResults(results)] : []].join("\n");
  for (const name of requiredOf(schema)) {
    if (!fitted.has(name) && typesOf(properties.get(name)).has("string")) fitted.set(name, text);
  }
  return JSON.stringify(Object.fromEntries(fitted));
}

function said({ result }: DirectiveResult): string {
  const text = textOf(partsOfResult(result, new Set()));
  return text.length > longest ? text.slice(0, longest).toWellFormed() + "…" : text;
}

function objectOf(last: DirectiveResult | undefined): Record<string, JsonValue | undefined> | undefined {
  if (!last) return undefined;
  const { structuredContent, content = [] } = last.result;
  if (isObject(structuredContent)) return structuredContent as JsonObject;
  for (const block of content) {
    const value = block.type === "text" ? readObject(block.text) : undefined;
    if (value) return value;
  }
  return undefined;
}

function readObject(text: string | undefined): JsonObject | undefined {
  if (!text?.trimStart().startsWith("{")) return undefined;
  try {
    const value: JsonValue = JSON.parse(text);
    return isObject(value) ? value as JsonObject : undefined;
  } catch {
    return undefined;
  }
}

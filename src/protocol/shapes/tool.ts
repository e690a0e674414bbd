/**
 * The shape of a tool in a list.
 *
 * @module
 */
import { find, maybeObject, maybeText, object, text } from "./shape.ts";
import type { Fields } from "./shape.ts";

const fields: Fields = {
  _meta: maybeObject,
  name: text,
  title: maybeText,
  description: maybeText,
  inputSchema: object,
  outputSchema: maybeObject,
  annotations: maybeObject,
  execution: maybeObject,
};

/** Says what is wrong with a tool, as `checkResult` does. */
export function checkTool(tool: unknown): string | undefined {
  const wrong = find(tool, fields);
  return wrong && `"${wrong.slice(1)}`;
}

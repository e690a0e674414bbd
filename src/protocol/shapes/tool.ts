/**
 * The shape of a tool in a list.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
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
export function checkTool(tool: Record<string, unknown>): string | undefined {
  const wrong = isUsual(tool) ? undefined : find(tool, fields);
  return wrong && `"${wrong.slice(1)}`;
}

/** One look by hand, a tenth of the table's work: what it does not know, the table judges. */
function isUsual(tool: Record<string, unknown>): boolean {
  const { name, title = name, description = name, inputSchema } = tool;
  const { outputSchema = inputSchema, annotations = inputSchema, execution = inputSchema, _meta = inputSchema } = tool;
  return typeof name === text && typeof title === text && typeof description === text && isObject(inputSchema) &&
    isObject(outputSchema) && isObject(annotations) && isObject(execution) && isObject(_meta);
}

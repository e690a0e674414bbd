/**
 * The shape of a tool in a list.
 *
 * @module
 */
import { checkResult } from "./core.ts";
import { maybeObject, maybeText, object, text } from "./shape.ts";
import type { Fields } from "./shape.ts";

const rules: Fields = {
  tool: {
    name: text,
    title: maybeText,
    description: maybeText,
    inputSchema: object,
    outputSchema: maybeObject,
    annotations: maybeObject,
    execution: maybeObject,
  },
};

/** Says what is wrong with a tool, as `checkResult` does. */
export function checkTool(tool: Record<string, unknown>): string | undefined {
  return checkResult("tool", tool, rules);
}

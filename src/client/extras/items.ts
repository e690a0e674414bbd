/**
 * Lists of resources, templates and prompts: an item that is none does not spoil the others.
 *
 * @module
 */
import { allRules, checkShape } from "../../protocol/shapes/all.ts";
import { list } from "../../protocol/shapes/shape.ts";
import type { Fields } from "../../protocol/shapes/shape.ts";
import type { ListResult } from "../../protocol/types.ts";
import { listOf } from "../lists.ts";
import { sift } from "../tools.ts";
import type { ListOptions, ToolParts } from "../tools.ts";

const anything = (): undefined => {};

/** All rules but those of items: whoever takes a list in looks at each. */
export const looseRules: Fields = {
  ...allRules,
  "resources/list": /* @__PURE__ */ list("resources", anything),
  "resources/templates/list": /* @__PURE__ */ list("resourceTemplates", anything),
  "prompts/list": /* @__PURE__ */ list("prompts", anything),
};

/** A list, whole or one raw page, without what is no item of it. */
export async function listItems<Result extends ListResult>(
  method: string,
  key: string,
  parts: ToolParts & { readonly options: ListOptions },
): Promise<Result> {
  const result: Result = await listOf(method, key, parts);
  return sift(result, key, parts.inputs?.logger, (item) => {
    return checkShape(method, { [key]: [item] })?.replace(key + "[0].", "");
  });
}

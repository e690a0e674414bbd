/**
 * The items of resources, templates and prompts: one that is none does not spoil the others of its list.
 *
 * @module
 */
import { allRules, checkShape } from "../../protocol/shapes/all.ts";
import { list } from "../../protocol/shapes/shape.ts";
import type { Fields } from "../../protocol/shapes/shape.ts";

const anything = (): undefined => {};

/** All rules but those of items: whoever takes a list in looks at each. */
export const looseRules: Fields = {
  ...allRules,
  "resources/list": /* @__PURE__ */ list("resources", anything),
  "resources/templates/list": /* @__PURE__ */ list("resourceTemplates", anything),
  "prompts/list": /* @__PURE__ */ list("prompts", anything),
};

/** Says what is wrong with an item, as `checkResult` does. */
export function checkItem(method: string, key: string, item: unknown): string | undefined {
  return checkShape(method, { [key]: [item] })?.replace(key + "[0].", "");
}

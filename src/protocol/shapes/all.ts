/**
 * The shapes of all results in full, beside what every client relies on.
 *
 * @module
 */
import { checkResult } from "./core.ts";
import { block, contents, named, resource } from "./content.ts";
import { find, list, maybeBoolean, maybeNumber, maybeObject, maybeText, oneOf, text } from "./shape.ts";
import type { Fields } from "./shape.ts";

/** Both kinds of tasks: 2025-11-25 has `ttl` and `pollInterval`, the extension `ttlMs` and `pollIntervalMs`. */
const task: Fields = {
  taskId: text,
  status: /* @__PURE__ */ oneOf("working|input_required|completed|failed|cancelled"),
  statusMessage: maybeText,
  createdAt: maybeText,
  lastUpdatedAt: maybeText,
  ttl: maybeNumber,
  ttlMs: maybeNumber,
  pollInterval: maybeNumber,
  pollIntervalMs: maybeNumber,
  result: maybeObject,
  error: maybeObject,
  inputRequests: maybeObject,
};

/** The rules for the methods beside those that every client meets, and for the result type `task`. */
export const allRules: Fields = {
  "tools/call": (value) => find(value, value.task === undefined ? { content: [block, true] } : { task }),
  "resources/list": /* @__PURE__ */ list("resources", resource),
  "resources/templates/list": /* @__PURE__ */ list("resourceTemplates", {
    ...named,
    uriTemplate: text,
    mimeType: maybeText,
  }),
  "resources/read": /* @__PURE__ */ list("contents", contents),
  "prompts/list": /* @__PURE__ */ list("prompts", {
    ...named,
    arguments: [{ ...named, required: maybeBoolean }, true],
  }),
  "prompts/get": {
    description: maybeText,
    messages: [{ role: /* @__PURE__ */ oneOf("user|assistant"), content: block }],
  },
  "completion/complete": { completion: { values: [text], total: maybeNumber, hasMore: maybeBoolean } },
  "tasks/get": task,
  "task": task,
  "tasks/list": /* @__PURE__ */ list("tasks", task),
};

/** As `checkResult`, by those rules. */
export function checkShape(method: string, result: Record<string, unknown>): string | undefined {
  return checkResult(method, result, allRules);
}

/**
 * The shape of every result, checked before it is used: the fields that code relies on, and nothing else.
 *
 * @module
 */
import { isObject } from "./json_rpc.ts";

/** Kinds are bits, so that a field may be one of several. */
const text = 1;
const number = 2;
const boolean = 4;
const object = 8;
const array = 16;
const nothing = 32;
const names: Readonly<Record<number, string>> = {
  [text]: "a string",
  [number]: "a number",
  [boolean]: "a boolean",
  [object]: "an object",
  [array]: "an array",
  [nothing]: "null",
};
const maybeText = text | nothing;
const maybeNumber = number | nothing;
const maybeBoolean = boolean | nothing;
const maybeObject = object | nothing;

/** Kinds, one of some words (`user|assistant`), a list of what the rule fits (1: or nothing), an object's fields, or a function for an object. */
type Rule = number | string | readonly [Rule, 1?] | Fields | Check;
type Fields = { readonly [field: string]: Rule };
type Check = (value: Record<string, unknown>) => string | undefined;

const named = { name: text, title: maybeText, description: maybeText };
const resource = { ...named, uri: text, mimeType: maybeText, size: maybeNumber };

const contents: Check = (value) =>
  find(value, {
    uri: text,
    mimeType: maybeText,
    text: maybeText,
    blob: typeof value.text === "string" ? maybeText : text,
  });

const blocks = new Map<unknown, Fields>([
  ["text", { text }],
  ["image", { data: text, mimeType: text }],
  ["audio", { data: text, mimeType: text }],
  ["resource", { resource: contents }],
  ["resource_link", resource],
]);

/** A type that is not known is let through: a newer server must not break an older client. */
const block: Check = (value) => find(value, blocks.get(value.type) ?? typed);
const typed = { type: text };

const inputRequests: Check = (value) =>
  find(value, Object.fromEntries(Object.keys(value).map((key) => [key, { method: text, params: maybeObject }])));

/** At least one of the two has to be there. */
const inputRequired: Check = ({ inputRequests: requests, requestState }) =>
  find(
    { inputRequests: requests, requestState },
    requests ? { inputRequests, requestState: maybeText } : { requestState: text },
  );

/** Both kinds of tasks: 2025-11-25 has `ttl` and `pollInterval`, the extension `ttlMs` and `pollIntervalMs`. */
const task: Fields = {
  taskId: text,
  status: "working|input_required|completed|failed|cancelled",
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

/** Without structured content there has to be some; a list may be empty. */
const unstructured: Fields = { content: [block], isError: maybeBoolean };
const structured: Fields = { content: [block, 1], isError: maybeBoolean };

const rules = new Map<string, Rule>([
  ["initialize", {
    protocolVersion: text,
    capabilities: object,
    serverInfo: { name: text, version: text },
    instructions: maybeText,
  }],
  ["server/discover", { supportedVersions: [text], capabilities: object, instructions: maybeText, ttlMs: maybeNumber }],
  [
    "tools/list",
    list("tools", {
      ...named,
      inputSchema: object,
      outputSchema: maybeObject,
      annotations: maybeObject,
      execution: maybeObject,
      _meta: maybeObject,
    }),
  ],
  ["tools/call", (value) => {
    if (value.content === undefined && isObject(value.task)) return find(value, { task });
    return find(value, value.structuredContent === undefined ? unstructured : structured);
  }],
  ["resources/list", list("resources", resource)],
  ["resources/templates/list", list("resourceTemplates", { ...named, uriTemplate: text, mimeType: maybeText })],
  ["resources/read", list("contents", contents)],
  ["prompts/list", list("prompts", { ...named, arguments: [{ ...named, required: maybeBoolean }, 1] })],
  ["prompts/get", { description: maybeText, messages: [{ role: "user|assistant", content: block }] }],
  ["completion/complete", { completion: { values: [text], total: maybeNumber, hasMore: maybeBoolean } }],
  ["tasks/get", task],
  ["task", task],
  ["input_required", inputRequired],
  ["tasks/list", list("tasks", task)],
]);

/**
 * Says what is wrong with a result: a sentence that names the field and what was expected, or undefined when it is right.
 * Extra fields are let through; null stands for "missing" where a field may be missing. Content of an unknown type passes.
 * A result of `tools/call` may leave `content` out when it has `structuredContent` or a `task`; the caller puts `[]` there.
 *
 * @param method The request's method, or the `resultType` (`input_required`, `task`) of a result that is not complete. A method
 * that is not known has no shape: everything passes.
 */
export function checkResult(method: string, result: Record<string, unknown>): string | undefined {
  const wrong = find(result, { _meta: maybeObject }) ?? find(result, rules.get(method) ?? {});
  return wrong && `"${wrong.slice(1)}`;
}

function list(field: string, item: Rule): Fields {
  return { [field]: [item], nextCursor: maybeText, ttlMs: maybeNumber };
}

/** The path to what is wrong (each step begins with a dot or a bracket), the closing quote, and what was expected. */
function find(value: unknown, rule: Rule): string | undefined {
  if (typeof rule === "number") return kind(value) & rule ? undefined : not(value, names[rule & ~nothing]);
  if (typeof rule === "string") return rule.split("|").includes(value as string) ? undefined : not(value, rule);
  if (Array.isArray(rule)) {
    if (rule[1] && (value ?? undefined) === undefined) return undefined;
    if (!Array.isArray(value)) return not(value, names[array]);
    for (let at = 0; at < value.length; at++) {
      const wrong = find(value[at], rule[0]);
      if (wrong) return `[${at}]${wrong}`;
    }
    return undefined;
  }
  if (!isObject(value)) return not(value, names[object]);
  if (typeof rule === "function") return rule(value);
  for (const field in rule) {
    const inner = (rule as Fields)[field] as Rule;
    // Most fields end here: the call below costs more than all that is checked.
    if (typeof inner === "number" && kind(value[field]) & inner) continue;
    const wrong = find(value[field], inner);
    if (wrong) return `.${field.slice(0, 99)}${wrong}`;
  }
  return undefined;
}

function not(value: unknown, expected: string | undefined): string {
  return `" is ${value === undefined ? "missing" : names[kind(value)]}: expected ${expected}`;
}

function kind(value: unknown): number {
  switch (typeof value) {
    case "string":
      return text;
    case "number":
      return number;
    case "boolean":
      return boolean;
  }
  return (value ?? undefined) === undefined ? nothing : Array.isArray(value) ? array : object;
}

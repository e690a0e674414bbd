/**
 * What every client relies on in results: how a server presents itself, and what its tools give. `all.ts` has the finer points.
 *
 * @module
 */
import { array, find, maybeBoolean, maybeNumber, maybeObject, maybeText, object, text } from "./shape.ts";
import type { Fields, Rule } from "./shape.ts";

const rules: Fields = {
  "initialize": {
    protocolVersion: text,
    capabilities: object,
    serverInfo: { name: text, version: text },
    instructions: maybeText,
  },
  "server/discover": { supportedVersions: [text], capabilities: object, instructions: maybeText, ttlMs: maybeNumber },
  // One tool that is none does not spoil the list: who takes the list in looks at each.
  "tools/list": { tools: array, nextCursor: maybeText, ttlMs: maybeNumber },
  // Without structured content there has to be some other; a list may be empty.
  "tools/call": (value) =>
    find(value, { isError: maybeBoolean, content: [{ type: text }, value.structuredContent !== undefined] }),
  // At least one of the two has to be there.
  "input_required": (value) =>
    find(value, { inputRequests: maybeObject, requestState: value.inputRequests ? maybeText : text }),
};

/** The usual result of a tool, text alone: right, and told at a glance. False says nothing: it is to be looked at. */
export function isPlain({ content, isError, task, _meta }: Record<string, unknown>): boolean {
  if ((isError ?? false) !== false || (_meta ?? task) !== undefined || !Array.isArray(content)) return false;
  for (let at = 0; at < content.length; at++) {
    const block = content[at];
    if (block?.type !== "text" || typeof block.text !== "string") return false;
  }
  return true;
}

/**
 * Says what is wrong with a result: a sentence that names the field and what was expected, or undefined when it is right.
 * Extra fields are let through; null stands for "missing" where a field may be missing. Content of an unknown type passes.
 * A result of `tools/call` may leave `content` out when it has `structuredContent`; the caller puts `[]` there.
 *
 * @param method The request's method, or `input_required`. A method that is not known has no shape: everything passes.
 * @param known The rules to go by.
 */
export function checkResult(
  method: string,
  result: Record<string, unknown>,
  known: Fields = rules,
): string | undefined {
  const wrong = find(result, { _meta: maybeObject }) ??
    find(result, Object.hasOwn(known, method) ? known[method] as Rule : {});
  return wrong && `"${wrong.slice(1)}`;
}

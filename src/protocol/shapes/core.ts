/**
 * The shapes of the results that every client meets: how a server presents itself, and its tools.
 *
 * @module
 */
import { anything, find, list, maybeBoolean, maybeNumber, maybeObject, maybeText, object, text } from "./shape.ts";
import type { Check, Fields, Rule } from "./shape.ts";

/** What has a name. */
export const named: Fields = { name: text, title: maybeText, description: maybeText };

/** A resource in a list. */
export const resource: Fields = { ...named, uri: text, mimeType: maybeText, size: maybeNumber };

/** The text or the bytes of a resource. */
export const contents: Check = (value) =>
  find(value, {
    uri: text,
    mimeType: maybeText,
    text: maybeText,
    blob: typeof value.text === "string" ? maybeText : text,
  });

const media: Fields = { data: text, mimeType: text };
const blocks: Fields = {
  text: { text },
  image: media,
  audio: media,
  resource: { resource: contents },
  resource_link: resource,
};

/** Content. A type that is not known is let through: a newer server must not break an older client. */
export const block: Check = (value) => {
  const { type } = value;
  return find(value, typeof type === "string" && Object.hasOwn(blocks, type) ? blocks[type] as Rule : { type: text });
};

const inputRequests: Check = (value) =>
  find(value, Object.fromEntries(Object.keys(value).map((key) => [key, { method: text, params: maybeObject }])));

const rules: Fields = {
  "initialize": {
    protocolVersion: text,
    capabilities: object,
    serverInfo: { name: text, version: text },
    instructions: maybeText,
  },
  "server/discover": { supportedVersions: [text], capabilities: object, instructions: maybeText, ttlMs: maybeNumber },
  // One tool that is none does not spoil the list: who takes the list in looks at each.
  "tools/list": list("tools", anything),
  "tool": {
    ...named,
    inputSchema: object,
    outputSchema: maybeObject,
    annotations: maybeObject,
    execution: maybeObject,
    _meta: maybeObject,
  },
  // Without structured content there has to be some other; a list may be empty.
  "tools/call": (value) =>
    find(value, { content: value.structuredContent === undefined ? [block] : [block, 1], isError: maybeBoolean }),
  // At least one of the two has to be there.
  "input_required": (value) =>
    find(value, {
      inputRequests: value.inputRequests ? inputRequests : maybeObject,
      requestState: value.inputRequests ? maybeText : text,
    }),
};

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
  const rule = Object.hasOwn(known, method) ? known[method] as Rule : {};
  const wrong = find(result, { _meta: maybeObject }) ?? find(result, rule);
  return wrong && `"${wrong.slice(1)}`;
}

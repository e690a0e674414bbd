/**
 * The shape of what a server asks for in the middle of a call.
 *
 * @module
 */
import { find, maybeObject, text } from "./shape.ts";
import type { Fields } from "./shape.ts";

/** One request. */
export const inputRequest: Fields = { method: text, params: maybeObject };

/** Says what is wrong with the requests for input of a result, as `checkResult` does. Of each many wait side by side: a thousand at most. */
export function checkInputs(result: Record<string, unknown>): string | undefined {
  const inputRequests = (result.inputRequests ?? {}) as Record<string, unknown>;
  const none = find(inputRequests, {});
  if (none) return `"inputRequests${none}`;
  let count = 0;
  for (const key in inputRequests) {
    const wrong = ++count > 1_000 ? '" is one of more than 1,000' : find(inputRequests[key], inputRequest);
    if (wrong) return `"inputRequests.${key.slice(0, 99)}${wrong}`;
  }
  return undefined;
}

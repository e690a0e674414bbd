/**
 * The shape of what a server asks for in the middle of a call.
 *
 * @module
 */
import { find, maybeObject, text } from "./shape.ts";
import type { Fields } from "./shape.ts";

/** One request. */
export const inputRequest: Fields = { method: text, params: maybeObject };

/** Says what is wrong with the requests for input of a result, as `checkResult` does. */
export function checkInputs(result: Record<string, unknown>): string | undefined {
  const inputRequests = (result.inputRequests ?? {}) as Record<string, unknown>;
  const none = find(inputRequests, {});
  if (none) return `"inputRequests${none}`;
  for (const key in inputRequests) {
    const wrong = find(inputRequests[key], inputRequest);
    if (wrong) return `"inputRequests.${key.slice(0, 99)}${wrong}`;
  }
  return undefined;
}

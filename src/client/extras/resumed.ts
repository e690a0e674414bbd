/**
 * Going on with a call that stopped for input.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { PendingInput } from "../../protocol/types.ts";
import type { ResumedInput } from "../session/request.ts";

/**
 * The next round of a call.
 *
 * @throws {TypeError} When an answer is missing.
 */
export function resumed(
  { inputRequests, requestState, round }: PendingInput,
  answers: Record<string, JsonObject>,
): ResumedInput {
  for (const key in inputRequests) {
    if (!answers[key]) throw new TypeError(`Cannot use the answers: "${key}" is missing`);
  }
  return { input: { inputResponses: answers, requestState }, round: round + 1 };
}

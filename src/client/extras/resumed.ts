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
  const missing = Object.keys(inputRequests).find((key) => answers[key] === undefined);
  if (missing !== undefined) throw new TypeError(`Cannot go on without the answer for "${missing}"`);
  return { input: { inputResponses: answers, requestState }, round: round + 1 };
}

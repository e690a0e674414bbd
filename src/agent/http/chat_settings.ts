/**
 * How the caller of an agent as a model wants to be answered: what can be heeded, and what has to be refused.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { ModelError } from "../api_agent.ts";
import type { AnswerSettings } from "../loop/seam.ts";
import { checkNumbers, isMissing } from "./chat_request.ts";

/** How many texts may end an answer: OpenAI takes no more. */
const mostStops = 4;

/** What would change the answer, and cannot be passed on; each with what may be sent all the same, since it changes nothing. */
const unheeded: Readonly<
  Record<string, { readonly isNothing: (value: unknown) => boolean; readonly expected: string }>
> = {
  top_p: { isNothing: (value) => value === 1, expected: "1, or none" },
  presence_penalty: { isNothing: (value) => value === 0, expected: "0, or none" },
  frequency_penalty: { isNothing: (value) => value === 0, expected: "0, or none" },
  logit_bias: { isNothing: (value) => isObject(value) && Object.keys(value).length === 0, expected: "none" },
  logprobs: { isNothing: (value) => value === false, expected: "false, or none" },
  top_logprobs: { isNothing: (value) => value === 0, expected: "none" },
  response_format: { isNothing: (value) => isObject(value) && value.type === "text", expected: "text, or none" },
  modalities: { isNothing: (value) => Array.isArray(value) && value.join() === "text", expected: "text alone" },
  audio: { isNothing: () => false, expected: "none" },
};

/**
 * Reads what a request for a chat completion says of its answer. Hints that promise nothing (`seed`, `user`, `reasoning_effort` and the
 * like) are left alone.
 *
 * @throws {ModelError} With status 400, naming what is wrong or cannot be heeded: tools of the caller's own, for one.
 */
export function readChatSettings(request: JsonObject): AnswerSettings {
  checkNumbers(request);
  checkTools(request);
  for (const [name, { isNothing, expected }] of Object.entries(unheeded)) {
    const value = request[name];
    if (isMissing(value) || isNothing(value)) continue;
    throw refused(name, `this model cannot heed it, expected ${expected}`, "unsupported_parameter");
  }
  const { temperature } = request;
  const bounds = [request.max_tokens, request.max_completion_tokens].filter((value) => typeof value === "number");
  const stopSequences = readStop(request.stop);
  return {
    ...(typeof temperature === "number" && { temperature }),
    ...(bounds.length > 0 && { maxOutputTokens: Math.min(...bounds) }),
    ...(stopSequences.length > 0 && { stopSequences }),
  };
}

function checkTools({ tools, functions, tool_choice: choice, function_call: called }: JsonObject): void {
  const own = "this model has tools of its own, and takes none";
  for (const [name, value] of Object.entries({ tools, functions })) {
    if (Array.isArray(value) && value.length > 0) throw refused(name, own);
  }
  for (const [name, value] of Object.entries({ tool_choice: choice, function_call: called })) {
    if (!isMissing(value) && value !== "auto" && value !== "none") throw refused(name, own);
  }
}

function readStop(stop: unknown): readonly string[] {
  if (isMissing(stop)) return [];
  const texts: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const isSound = texts.length <= mostStops && texts.every((text) => typeof text === "string" && text !== "");
  if (isSound) return texts as readonly string[];
  throw refused("stop", `expected a text, or ${mostStops} at most`);
}

function refused(param: string, why: string, code = "invalid_value"): ModelError {
  return new ModelError(`Invalid "${param}": ${why}`, { status: 400, param, code });
}

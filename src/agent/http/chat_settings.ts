/**
 * How the caller of an agent as a model wants to be answered: what can be heeded, and what has to be refused.
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { createSchemaValidator } from "../../protocol/json_schema/mod.ts";
import { findSchemaFault } from "../../server/catalog/schema_faults.ts";
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
  modalities: { isNothing: (value) => Array.isArray(value) && value.join() === "text", expected: "text alone" },
  audio: { isNothing: () => false, expected: "none" },
};

/** How an answer is wanted. */
export interface ChatAnswer {
  readonly settings: AnswerSettings;
  /** The JSON Schema that it has to fit: then it is one JSON text. Undefined where any text will do. */
  readonly output: JsonObject | undefined;
}

/**
 * Reads what a request for a chat completion says of its answer. Hints that promise nothing (`seed`, `user`, `reasoning_effort` and the
 * like) are left alone.
 *
 * @throws {ModelError} With status 400, naming what is wrong or cannot be heeded: tools of the caller's own, for one.
 */
export function readChatAnswer(request: JsonObject): ChatAnswer {
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
  const settings = {
    ...(typeof temperature === "number" && { temperature }),
    ...(bounds.length > 0 && { maxOutputTokens: Math.min(...bounds) }),
    ...(stopSequences.length > 0 && { stopSequences }),
  };
  return { settings, output: readFormat(request.response_format) };
}

function readFormat(format: unknown): JsonObject | undefined {
  if (isMissing(format)) return undefined;
  const { type, json_schema: named } = isObject(format) ? format : {};
  if (type === "text") return undefined;
  if (type === "json_object") return { type: "object" };
  if (type !== "json_schema") throw refused("response_format", "expected text, json_object or json_schema as its type");
  const schema = isObject(named) ? named.schema : undefined;
  const why = isObject(schema) ? faultOf(schema as JsonObject) : "expected a JSON Schema";
  if (why !== undefined) throw refused("response_format.json_schema.schema", excerpt(why, 300));
  return schema as JsonObject;
}

/** Why a schema cannot be used. A pattern that cannot be checked here may bind the model all the same. */
function faultOf(schema: JsonObject): string | undefined {
  const fault = findSchemaFault(schema, () => () => ({ valid: true }));
  if (fault) return `"${fault.path}" is ${JSON.stringify(fault.value)}, expected ${fault.expected}`;
  try {
    createSchemaValidator()(schema);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
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

/**
 * Agents as models, in OpenAI's form.
 *
 * @module
 */
import { defaultModelId, ModelError } from "../../agent/api_agent.ts";
import type { ApiAgentShape } from "../../agent/api_agent.ts";
import type { ChatRequest } from "../../agent/http/chat_request.ts";
import { ModelRoutes } from "../../agent/http/model_routes.ts";
import type { JsonSchema } from "../../protocol/types.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { nameIn } from "../access/types.ts";
import type { Effect } from "../access/types.ts";
import type { Call } from "../rest/call.ts";
import { Refusal } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";

const policy = { kind: "decided", actions: ["run"], about: "the model" } as const;
const text = { type: "string" } as const;
const count = { type: "integer" } as const;
const completion: JsonSchema = {
  type: "object",
  required: ["id", "object", "created", "model", "choices"],
  properties: {
    ...{ id: text, object: text, created: count, model: text },
    choices: {
      type: "array",
      items: {
        type: "object",
        required: ["index", "message", "finish_reason"],
        properties: { index: count, message: { type: "object" }, finish_reason: text },
      },
    },
    usage: {
      type: "object",
      properties: { prompt_tokens: count, completion_tokens: count, total_tokens: count },
    },
  },
};
const model: JsonSchema = {
  type: "object",
  required: ["id", "object", "created", "owned_by"],
  properties: { id: text, object: text, created: count, owned_by: text, description: text },
};
const list: JsonSchema = {
  type: "object",
  required: ["object", "data"],
  properties: { object: text, data: { type: "array", items: model } },
};

/** The routes of models. Errors have OpenAI's `error` beside the members of a problem. */
export const modelRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Asks an agent as a model (OpenAI's chat completions), whole or as a stream.",
    policy,
    body: {
      type: "object",
      required: ["model", "messages"],
      properties: {
        model: { type: "string" },
        messages: { type: "array", items: { type: "object" } },
        stream: { type: "boolean" },
      },
      additionalProperties: true,
    },
    replies: {
      200: {
        description: "The completion; a stream of chunks where `stream` is true",
        type: "application/json",
        schema: completion,
      },
    },
    answer,
  },
  {
    method: "GET",
    path: "/v1/models",
    summary: "The models that the caller may ask.",
    policy,
    replies: { 200: { description: "The models", type: "application/json", schema: list } },
    answer,
  },
  {
    method: "GET",
    path: "/v1/models/:id",
    summary: "One model.",
    policy,
    replies: { 200: { description: "The model", type: "application/json", schema: model } },
    answer,
  },
];

async function answer(call: Call): Promise<Response> {
  const can = await call.can();
  const { principal, tenant, parts } = call;
  const request = call.counted();
  const effects = new Map(parts.models(tenant).map((model) => [model, can("", idOf(model), "run")]));
  const allowed = [...effects].filter(([, effect]) => effect === "allow").map(([model]) => model);
  // What may not be run is not there, and was decided on all the same.
  const missing = async ({ model: id, body }: ChatRequest): Promise<void> => {
    const [, outcome] = [...effects].find(([model]) => idOf(model) === id) ?? [];
    if (outcome) await record(call, id, outcome, body);
  };
  const routes = new ModelRoutes(allowed.map((model) => recorded(model, call)), parts, missing);
  const { scopes, clientId, expiresAt } = principal;
  const auth = { principal: nameIn(principal, tenant), scopes, clientId, expiresAt, extra: { tenant } };
  const { pathname: path } = new URL(request.url);
  return await routes.answer({ request, path, auth });
}

function idOf(model: ApiAgentShape): string {
  return model.getModelId?.() ?? defaultModelId(model);
}

/** The same model: that it is asked is written down first. */
function recorded(model: ApiAgentShape, call: Call): ApiAgentShape {
  const id = idOf(model);
  return {
    getModelId: () => id,
    getModelInfo: () => ({ created: call.parts.since(), ...model.getModelInfo?.() }),
    async respond(messages, context) {
      await record(call, id, "allow", context.request);
      return await model.respond(messages, context);
    },
  };
}

async function record({ judge }: Call, tool: string, outcome: Effect, given: JsonObject): Promise<void> {
  try {
    await judge.record({ server: "", tool, action: "run", outcome, arguments: given });
  } catch (cause) {
    if (cause instanceof Refusal && cause.status < 500) {
      const { message, status, code } = cause;
      throw new ModelError(message, { status, code });
    }
    throw new ModelError("The audit log cannot be reached", { status: 503, code: "unavailable", cause });
  }
}

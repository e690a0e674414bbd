/**
 * JSON Schemas of what goes in and out.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { JsonSchema } from "../../protocol/types.ts";

const text = { type: "string" } as const;
const time = { type: "integer", description: "In milliseconds since 1970" } as const;
const anything = { type: "object" } as const;

/** Every refusal. */
export const problemSchema: JsonSchema = {
  type: "object",
  description: "Problem details (RFC 9457)",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: text,
    title: text,
    status: { type: "integer" },
    detail: text,
    code: { type: "string", description: "What is wrong, in one word" },
    requestId: text,
    errors: {
      type: "array",
      items: { type: "object", properties: { pointer: text, detail: text } },
    },
  },
};

/** What a run is started with. */
export const startSchema: JsonSchema = {
  type: "object",
  required: ["agent", "input"],
  additionalProperties: false,
  properties: {
    agent: { type: "string", minLength: 1, maxLength: 128, description: "The name of the agent" },
    input: {
      description: "What is wanted, or a conversation that ends with it",
      anyOf: [
        { type: "string", minLength: 1 },
        {
          type: "array",
          minItems: 1,
          maxItems: 1_000,
          items: {
            type: "object",
            required: ["role"],
            properties: {
              role: { enum: ["system", "user", "assistant", "tool"] },
              content: { anyOf: [text, { type: "array", items: anything }] },
              toolCalls: { type: "array", items: anything },
              id: text,
              name: text,
              result: anything,
              provider: anything,
            },
          },
        },
      ],
    },
    output: { type: "object", description: "A JSON Schema that the run's output has to fit" },
    settings: {
      type: "object",
      description: "How the model answers (as the agent says)",
      additionalProperties: false,
      properties: {
        temperature: { type: "number", minimum: 0, maximum: 2 },
        maxOutputTokens: { type: "integer", minimum: 1, description: "The most that the model writes in the run" },
        stopSequences: { type: "array", maxItems: 16, items: { type: "string", minLength: 1, maxLength: 1_000 } },
      },
    },
    deadline: { ...time, minimum: 0, description: "When it has to be over, in milliseconds since 1970" },
  },
};

/** A run. */
export const runSchema: JsonSchema = {
  type: "object",
  required: ["id", "agent", "principal", "state", "createdAt", "updatedAt", "steps", "usage", "questions", "unknown"],
  properties: {
    id: text,
    agent: text,
    principal: text,
    state: { enum: ["accepted", "running", "needs_input", "needs_decision", "succeeded", "failed", "cancelled"] },
    createdAt: time,
    updatedAt: time,
    endedAt: time,
    steps: { type: "integer" },
    usage: { type: "object", properties: { inputTokens: { type: "integer" }, outputTokens: { type: "integer" } } },
    questions: { type: "array", items: anything },
    closed: { type: "array", items: text, description: "The ids of questions that wait no more" },
    unknown: { type: "array", items: text },
    end: anything,
  },
};

/** The answer to a question of a run. */
export const inputSchema: JsonSchema = {
  type: "object",
  required: ["question", "answer"],
  additionalProperties: false,
  properties: {
    question: { type: "string", minLength: 1, maxLength: 512 },
    answer: {
      type: "object",
      required: ["action"],
      additionalProperties: false,
      properties: {
        action: { enum: ["accept", "decline", "cancel", "retry", "skip", "fail"] },
        content: { type: "object", description: "accept: what was filled in" },
        reason: { type: "string", maxLength: 2_000, description: "decline: what the model reads" },
      },
    },
  },
};

/** A server that is added. */
export const addServerSchema: JsonSchema = {
  type: "object",
  required: ["name", "url"],
  additionalProperties: false,
  properties: {
    name: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$" },
    url: { type: "string", minLength: 1, maxLength: 2_048, description: "https, on a public host" },
    headers: {
      type: "object",
      maxProperties: 20,
      propertyNames: { pattern: "^[A-Za-z0-9_-]{1,64}$" },
      additionalProperties: { type: "string", pattern: "^[ -~]{0,4096}$" },
      description: "Sent with each request; never shown again",
    },
  },
};

const serverFields: JsonObject = {
  name: text,
  state: { enum: ["disconnected", "connecting", "authorizing", "connected", "reconnecting", "failed"] },
  tools: { type: "integer" },
  resources: { type: "integer" },
  prompts: { type: "integer" },
  retries: { type: "integer" },
  active: { type: "integer" },
  queued: { type: "integer" },
  isOpen: { type: "boolean" },
  lastError: anything,
  added: { type: "boolean", description: "Whether the tenant has added it, and may remove it" },
};
const serverNeeds: JsonValue = ["name", "state", "tools", "resources", "prompts", "added"];

/** How a server does. */
export const serverSchema: JsonSchema = {
  type: "object",
  required: serverNeeds,
  properties: {
    ...serverFields,
    authorizationUrl: { type: "string", description: "Where a person signs in. Secret." },
  },
};

/** How a server does, and what it says about its use. */
export const serverDetailSchema: JsonSchema = {
  type: "object",
  required: serverNeeds,
  properties: {
    ...serverFields,
    instructions: { type: "string", description: "For models" },
    capabilities: { type: "object", description: "As MCP has them" },
  },
};

/** One tool of a list. */
export const toolSchema: JsonSchema = {
  type: "object",
  required: ["name", "server", "tool", "approval"],
  properties: {
    name: { type: "string", description: "What it is called by here" },
    server: text,
    tool: { type: "object", description: "As its server describes it" },
    approval: { type: "boolean", description: "Whether a call wants an approval" },
  },
};

/** What a tool gave, as MCP has it. */
export const toolResultSchema: JsonSchema = {
  type: "object",
  required: ["content"],
  properties: {
    content: { type: "array", items: anything },
    structuredContent: { description: "What fits the tool's output schema" },
    isError: { type: "boolean" },
  },
};

/** A call that waits for an approval. */
export const approvalSchema: JsonSchema = {
  type: "object",
  required: ["id", "principal", "server", "tool", "arguments", "argumentsHash"],
  properties: {
    id: text,
    principal: { type: "string", description: "Whose call it is" },
    server: text,
    tool: text,
    arguments: { type: "object", description: "Exactly what would be sent" },
    argumentsHash: text,
    toolHash: { type: "string", description: "Of the tool's definition" },
    expiresAt: time,
  },
};

/** An agent that runs are started of. */
export const agentSchema: JsonSchema = {
  type: "object",
  required: ["name"],
  properties: { name: text, description: text },
};

/** An answer to an approval. */
export const approvalAnswerSchema: JsonSchema = {
  type: "object",
  required: ["action"],
  additionalProperties: false,
  properties: { action: { enum: ["accept", "decline"] } },
};

/** What reads a resource. */
export const readResourceSchema: JsonSchema = {
  type: "object",
  required: ["uri"],
  additionalProperties: false,
  properties: {
    uri: { type: "string", minLength: 1, maxLength: 8_192 },
    server: { type: "string", maxLength: 128, description: "Needed where more than one server lists it, or none" },
  },
};

/** What fills a prompt in. */
export const getPromptSchema: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: { arguments: { type: "object", additionalProperties: text } },
};

/** What begins a session. */
export const beginSessionSchema: JsonSchema = {
  type: "object",
  required: ["token"],
  additionalProperties: false,
  properties: { token: { type: "string", minLength: 1, maxLength: 256, description: "Good once; or an API key" } },
};

/** An object with a list and, where there are more, what the next page begins after. */
export function pageOf(name: string, items: JsonSchema): JsonSchema {
  return {
    type: "object",
    required: [name],
    properties: { [name]: { type: "array", items }, next: { type: "string", description: "The next page: `after`" } },
  };
}

/**
 * Resources and prompts.
 *
 * @module
 */
import { findPrompt } from "../../hub/catalog/prompts.ts";
import { McpError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Call } from "../rest/call.ts";
import { withoutAsking } from "../rest/plain_call.ts";
import type { Route } from "../rest/route.ts";
import { getPromptSchema, readResourceSchema } from "../rest/schemas.ts";
import { missing, Refusal } from "../rest/problem.ts";

const json = "application/json";
const read = (about: string) => ({ kind: "decided", actions: ["read"], about } as const);
const result = { type: "object" } as const;
const items = { type: "array", items: { type: "object" } } as const;

/** The routes of resources and prompts. */
export const readingRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/resources",
    summary: "The resources and resource templates that the caller may read.",
    policy: read("each resource"),
    query: {},
    replies: {
      200: {
        description: "What there is",
        type: json,
        schema: { type: "object", properties: { resources: items, templates: items } },
      },
    },
    answer: async (call) => {
      const { scoped } = await call.hub();
      return call.json({ resources: scoped.resources(), templates: scoped.templates() });
    },
  },
  {
    method: "POST",
    path: "/api/resources/read",
    summary: "Reads a resource.",
    policy: read("the resource"),
    query: {},
    body: readResourceSchema,
    replies: { 200: { description: "Its contents, as MCP has them", type: json, schema: result } },
    answer: readResource,
  },
  {
    method: "GET",
    path: "/api/prompts",
    summary: "The prompts that the caller may read.",
    policy: read("each prompt"),
    query: {},
    replies: {
      200: { description: "What there is", type: json, schema: { type: "object", properties: { prompts: items } } },
    },
    answer: async (call) => {
      const { scoped } = await call.hub();
      const prompts = scoped.prompts().map(({ qualifiedName: name, server, prompt }) => ({ name, server, prompt }));
      return call.json({ prompts });
    },
  },
  {
    method: "POST",
    path: "/api/prompts/:name",
    summary: "A prompt with its arguments filled in.",
    policy: read("the prompt"),
    query: {},
    body: getPromptSchema,
    replies: { 200: { description: "Its messages, as MCP has them", type: json, schema: result } },
    answer: getPrompt,
  },
];

async function readResource(call: Call): Promise<Response> {
  const { scoped } = await call.hub();
  const { uri, server } = await call.body() as { uri: string; server?: string };
  const name = server === undefined ? uri : { server, uri };
  const { signal } = call.leaving;
  // Who has it twice is named.
  const owner = server ?? scoped.resources().find(({ resource }) => resource.uri === uri)?.server ?? "";
  const read = (meta?: JsonObject) => scoped.readResource(name, { signal, ...(meta && { meta }) });
  return call.json(await known("resource", uri, () => withoutAsking(call, { server: owner, signal }, read)));
}

async function getPrompt(call: Call): Promise<Response> {
  const { scoped } = await call.hub();
  const { name = "" } = call.params;
  const { arguments: given = {} } = await call.body() as { arguments?: Record<string, string> };
  const { signal } = call.leaving;
  const { server = "" } = findPrompt(scoped.prompts(), name) ?? {};
  const get = (meta?: JsonObject) => scoped.getPrompt(name, given, { signal, ...(meta && { meta }) });
  return call.json(await known("prompt", name, () => withoutAsking(call, { server, signal }, get)));
}

/** What is not there and what is hidden read the same. */
async function known<Value>(what: string, name: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof McpError) || error.code !== "invalid_params" || error.delivery === "answered") throw error;
    if (error.message.startsWith("Name the server")) throw new Refusal(409, "ambiguous", error.message);
    throw missing(what, name);
  }
}

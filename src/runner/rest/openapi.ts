/**
 * The table of routes as OpenAPI 3.1.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import { version } from "../../version.ts";
import { methodsOf } from "./route.ts";
import type { Route } from "./route.ts";
import { problemSchema } from "./schemas.ts";

/** Describes each route of a table, with the schemas that it is held against. */
export function describeRoutes(routes: readonly Route[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const item = paths[path] ??= {};
    for (const method of methodsOf(route)) item[method.toLowerCase()] = describe(route, method);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Causeway runner",
      version,
      description:
        "MCP servers of tenants by plain HTTP, agents as runs and as models. Each refusal is a problem (RFC 9457).",
    },
    paths,
    components: {
      schemas: { Problem: plain(problemSchema) },
      responses: {
        Problem: {
          description: "It was refused",
          content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key (`causeway_…`) or an access token" },
      },
    },
    security: [{ bearer: [] }],
  };
}

function describe(route: Route, method: string): JsonObject {
  const { policy, summary, query = {}, headers = {}, body, replies } = route;
  const responses: Record<string, JsonObject> = {};
  for (const [status, { description, type, schema }] of Object.entries(replies)) {
    const content = type === undefined ? undefined : { [type]: schema ? { schema: plain(schema) } : {} };
    responses[status] = { description, ...(content && { content }) };
  }
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, { description, schema }]) => ({
    name,
    in: "query",
    description,
    schema: plain(schema),
  }));
  const tenant = policy.kind === "public" ? {} : { "Causeway-Tenant": "Whose it is (the caller's own)" };
  const inHeader = Object.entries({ ...headers, ...tenant }).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  }));
  const actions = policy.kind === "decided" ? policy.actions.join("_") : policy.kind;
  return {
    operationId: `${method.toLowerCase()}${route.path.replace(/\W+(\w)/g, (_, first: string) => first.toUpperCase())}`,
    summary,
    ...(policy.kind === "public" && { security: [] }),
    "x-causeway-policy": policy.kind === "decided" ? `${actions} of ${policy.about}` : policy.why,
    parameters: [...inPath, ...inQuery, ...inHeader],
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: plain(body) } } } }),
    responses: { ...responses, default: { $ref: "#/components/responses/Problem" } },
  };
}

/** Schemas are plain JSON already; the type does not say so. What makes clients of them takes an object without members for an empty one. */
function plain(schema: object | boolean): JsonObject {
  const text = JSON.stringify(schema, (_, value) => isAny(value) ? { ...value, additionalProperties: true } : value);
  return JSON.parse(text) as Record<string, JsonValue>;
}

/** Whether a schema is one of any object. */
function isAny(value: unknown): value is JsonObject {
  return isObject(value) && value.type === "object" && !("properties" in value || "additionalProperties" in value);
}

/**
 * What the runner says of itself.
 *
 * @module
 */
import type { ProtectedResource } from "../../server/auth/options.ts";
import { isReply } from "../../server/http/guards.ts";
import type { JsonSchema } from "../../protocol/types.ts";
import { version } from "../../version.ts";
import { describeRoutes } from "../rest/openapi.ts";
import type { Route } from "../rest/route.ts";
import { agentSchema } from "../rest/schemas.ts";

const json = "application/json";
const agents: JsonSchema = {
  type: "object",
  required: ["agents"],
  properties: { agents: { type: "array", items: agentSchema } },
};

/**
 * The routes about the runner itself.
 *
 * @param routes All routes: looked at when the description is asked for.
 */
export function aboutRoutes(routes: () => readonly Route[]): readonly Route[] {
  let text: string | undefined;
  return [
    {
      method: "GET",
      path: "/healthz",
      summary: "Whether it is at work.",
      policy: { kind: "public", why: "it tells nothing but the version" },
      query: {},
      replies: { 200: { description: "It is", type: json, schema: { type: "object" } } },
      answer: () => Response.json({ status: "ok", version }),
    },
    {
      method: "GET",
      path: "/openapi.json",
      summary: "This description.",
      policy: { kind: "public", why: "it holds nothing of anybody" },
      query: {},
      replies: { 200: { description: "OpenAPI 3.1", type: json, schema: { type: "object" } } },
      answer: () => {
        text ??= JSON.stringify(describeRoutes(routes()));
        return new Response(text, { headers: { "content-type": json } });
      },
    },
    {
      method: "GET",
      path: "/api/agents",
      summary: "The agents that the caller may start runs of.",
      policy: { kind: "decided", actions: ["run"], about: "each agent" },
      query: {},
      replies: { 200: { description: "The agents", type: json, schema: agents } },
      async answer(call) {
        const can = await call.can();
        const allowed = call.parts.agents.filter(({ name }) => can("", name, "run") === "allow");
        // Nothing else that an operator may have put there.
        return call.json({ agents: allowed.map(({ name, description }) => ({ name, description })) });
      },
    },
  ];
}

/** Where the metadata of the runner as a protected resource is (RFC 9728). */
export function resourceRoutes(resource: ProtectedResource | undefined): readonly Route[] {
  return (resource?.paths ?? []).map((path) => ({
    method: "GET",
    path,
    summary: "The metadata of this runner as a protected resource (RFC 9728).",
    policy: { kind: "public", why: "whoever wants to sign in has to read it first" },
    replies: { 200: { description: "The metadata", type: json, schema: { type: "object" } } },
    async answer({ request }) {
      const reply = await resource?.(request);
      return isReply(reply) ? reply : new Response(null, { status: 404 });
    },
  }));
}

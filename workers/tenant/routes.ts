/**
 * What the Worker has beside the routes of a runner: the end of a tenant.
 *
 * @module
 */
import { missing } from "../../src/runner/rest/problem.ts";
import type { Route } from "../../src/runner/mod.ts";

/**
 * The routes.
 *
 * @param forget Ends the tenant whose object this is.
 */
export function tenantRoutes(forget: () => Promise<void>): readonly Route[] {
  return [{
    method: "DELETE",
    path: "/api/tenant",
    summary:
      "Ends the tenant: its runs are cancelled, tokens of servers that it added withdrawn, and all that is kept of it is deleted.",
    policy: { kind: "decided", actions: ["manage"], about: "the tenant as a whole (no server, no agent)" },
    query: {},
    replies: { 204: { description: "Nothing of it is left" } },
    async answer(call) {
      if (await call.decide("manage", {}) !== "allow") throw missing("tenant", call.tenant);
      await forget();
      return new Response(null, { status: 204 });
    },
  }];
}

/**
 * A runner that lets callers in and hands what they ask to where the tenant is: to its Durable Object.
 *
 * @module
 */
import type { Runs } from "../../agent/runs/seam.ts";
import type { Logger } from "../../ports.ts";
import { wantsSocket } from "../../protocol/web_socket.ts";
import { denyAll } from "../access/policy.ts";
import type { Call } from "../rest/call.ts";
import { checkPage } from "../rest/front.ts";
import { ask } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";

/** Answers a call elsewhere. */
export type ForwardCall = (call: Call) => Promise<Response>;

/** Where people come back to: nobody is known there but by what the URL says. */
const signInPath = "/oauth/callback";

/**
 * The same route, answered elsewhere where it is about a tenant. Whoever has no business in a tenant is answered here: nothing of it
 * is woken up.
 */
export function forwarded(
  route: Route,
  { forward, logger }: { readonly forward: ForwardCall; readonly logger: Logger | undefined },
): Route {
  const send = (call: Call): Promise<Response> => ask("What keeps this tenant", () => forward(call), logger);
  if (route.path === signInPath) return { ...route, answer: send };
  if (route.policy.kind !== "decided") return route;
  return {
    ...route,
    async answer(call) {
      if (call.way === "session" && wantsSocket(call.request)) checkPage(call.request);
      return await call.can() === denyAll ? await route.answer(call) : await send(call);
    },
  };
}

/** The runs of somebody who has no business there. */
export const noRuns: Runs = {
  start: () => Promise.reject(new TypeError("No runs are kept here")),
  get: () => Promise.resolve(undefined),
  list: () => Promise.resolve([]),
  async *events() {},
  answer: () => Promise.resolve("unknown"),
  cancel: () => Promise.resolve(undefined),
  resume: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

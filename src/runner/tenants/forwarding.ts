/**
 * A runner that lets callers in and hands what they ask to where the tenant is: to its Durable Object.
 *
 * @module
 */
import type { Runs } from "../../agent/runs/seam.ts";
import type { Logger } from "../../ports.ts";
import { wantsSocket } from "../../protocol/web_socket.ts";
import { denyAll } from "../access/policy.ts";
import type { Can } from "../access/types.ts";
import type { Call } from "../rest/call.ts";
import { checkPage } from "../rest/front.ts";
import { ask } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import type { Lease } from "./hub_pool.ts";
import { after } from "../../protocol/promise.ts";

/** Answers a call elsewhere. */
export type ForwardCall = (call: Call) => Promise<Response>;

/** Gives the hub that a call of a tool can be done with here; undefined when it is to be answered elsewhere. */
export type DirectCall = (call: Call) => Lease | undefined | Promise<Lease | undefined>;

/** What {@linkcode forwarded} works with. */
export interface ForwardingOptions {
  /** Answers elsewhere. */
  readonly forward: ForwardCall;
  /** Lets tools be called here (none are). */
  readonly direct: DirectCall | undefined;
  readonly logger: Logger | undefined;
}

/** Where people come back to: nobody is known there but by what the URL says. */
export const signInPath = "/oauth/callback";
const toolPath = "/api/tools/:name";

/**
 * The same route, answered elsewhere where it is about a tenant. Whoever has no business in a tenant is answered here: nothing of it
 * is woken up. A tool is called here where `direct` gives a hub for it.
 */
export function forwarded(route: Route, { forward, direct, logger }: ForwardingOptions): Route {
  const send = async (call: Call): Promise<Response> =>
    await ask("What keeps this tenant", () => forward(call), logger);
  if (route.path === signInPath) return { ...route, answer: send };
  if (route.policy.kind !== "decided") return route;
  const isTool = route.path === toolPath && route.method === "POST";
  const answerBy = (call: Call, can: Can): Response | Promise<Response> => {
    if (can === denyAll) return route.answer(call);
    const answerWith = (lease: Lease | undefined): Response | Promise<Response> => {
      if (!lease) return send(call);
      call.useHub(lease, can);
      return route.answer(call);
    };
    const lease = isTool ? direct?.(call) : undefined;
    return after(lease, answerWith);
  };
  return {
    ...route,
    // Each promise costs a turn: what is known is not waited for.
    answer(call) {
      if (call.way === "session" && wantsSocket(call.request)) checkPage(call.request);
      const can = call.can();
      return after(can, (opened) => answerBy(call, opened));
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

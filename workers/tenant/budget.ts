/**
 * What callers get of large results, whoever calls the tool.
 *
 * @module
 */
import { withResultBudget } from "../../src/hub/budget/result_budget.ts";
import type { HubLike } from "../../src/hub/seam.ts";
import type { Store } from "../../src/ports.ts";
import { logger } from "../operator/log.ts";

/** Results that callers get whole, in characters: what is longer is cut, and can be read as a resource. */
const callersLimit = 262_144;

/** Cuts what is too large for callers, and keeps the whole. */
export function forCallers(hub: HubLike, store: Store): HubLike {
  return withResultBudget(hub, { store, limit: callersLimit, onError: notKept });
}

/** Tells that a large result could not be kept. */
export function notKept(error: unknown): void {
  logger({ level: "error", message: "A large result could not be kept", fields: { error } });
}

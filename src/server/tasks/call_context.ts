/**
 * What the contexts of tasks have in common.
 *
 * @module
 */
import type { RequestContext } from "../definitions.ts";

/** What a task keeps of the call that it came of. */
export type KeptOfCall = Pick<RequestContext, "auth" | "client" | "era" | "revision" | "meta" | "can">;

/** Takes what is the same for the task as for its call. */
export function keptOfCall({ auth, client, era, revision, meta, can }: RequestContext): KeptOfCall {
  return { auth, client, era, revision, meta, can };
}

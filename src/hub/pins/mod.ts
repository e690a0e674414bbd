/**
 * Pinning: tools are called only as long as they are what somebody has approved.
 *
 * @module
 */
import type { HubLike } from "../seam.ts";
import { Pinned } from "./pinned_hub.ts";
import type { PinnedHub, PinOptions } from "./types.ts";

export { formatChanges } from "./changes.ts";
export type { ToolChange } from "./changes.ts";
export { hiddenIn } from "./definition.ts";
export type { HiddenIn, ServerIdentity } from "./definition.ts";
export { findHidden, restore, visible } from "./hidden.ts";
export type { Hidden, HiddenKind } from "./hidden.ts";
export type { PinnedHub, PinOptions, PinReport, PinStatus } from "./types.ts";

/**
 * Puts a guard in front of a hub: each tool is pinned by the SHA-256 of where its server is and of what a model sees of it
 * (name, title, description, schemas with `x-mcp-header`, annotations). What changes by one byte is blocked until somebody
 * approves it again: it is not listed any more, and a call of it is a result with `isError`; the server is not asked.
 *
 * @returns The hub, once the tools that are listed now were looked at.
 *
 * @example Approve what is seen first, block what changes
 * ```ts
 * import { formatChanges, withPins } from "@causeway/mcp/hub";
 * import type { HubLike } from "@causeway/mcp/hub";
 * import { createMemoryStore } from "@causeway/mcp/auth";
 *
 * export async function guard(hub: HubLike): Promise<HubLike> {
 *   const identities = { shop: { url: "https://shop.example/mcp" } };
 *   const pinned = await withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "trust" });
 *   for (const { qualifiedName, status, changes } of await pinned.report()) {
 *     if (status === "changed") console.log(qualifiedName, formatChanges(changes));
 *   }
 *   return pinned;
 * }
 * ```
 */
export async function withPins(hub: HubLike, options: PinOptions): Promise<PinnedHub> {
  const { store, onFirstSight } = options;
  // Without types a wrong word must not end in trust.
  if (onFirstSight !== "trust" && onFirstSight !== "ask") {
    throw new TypeError(`"onFirstSight" is ${JSON.stringify(onFirstSight)}, expected "trust" or "ask"`);
  }
  if (typeof store?.get !== "function") throw new TypeError('"store" is missing, expected a store');
  const pinned = new Pinned(hub, options);
  await pinned.check();
  return pinned;
}

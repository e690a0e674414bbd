/**
 * Lists that come in pages (specification: pagination). Only a missing cursor ends a list: an empty one does not, and
 * the same one twice may be right. Caps end what never ends; what was gathered by then is kept.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../protocol/json_rpc.ts";
import type { ListResult } from "../protocol/types.ts";
import type { Clock } from "../ports.ts";
import type { RequestOptions } from "./session/caller.ts";

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /** Gives one raw page: the one that this cursor names; `null` is the first. Without it all pages are gathered. */
  cursor?: string | null | undefined;
}

/** When a walk ends at the latest. */
export interface PageCaps {
  pages: number;
  items: number;
  milliseconds: number;
  clock: Clock;
}

/**
 * Gathers all pages of a list under caps; `truncated` names the cap that ended it early.
 *
 * @param key Where the items are in a page.
 * @param page Fetches one page.
 */
export async function walkPages(
  key: string,
  page: (cursor: string | undefined) => Promise<JsonObject>,
  caps: PageCaps,
): Promise<JsonObject> {
  const startedAt = caps.clock.monotonic();
  const items: JsonValue[] = [];
  const gathered = (last: JsonObject, truncated?: ListResult["truncated"]): JsonObject => {
    const { nextCursor: _, ...rest } = last;
    return { ...rest, [key]: items, ...(truncated && { truncated }) };
  };
  let cursor: string | undefined;
  for (let count = 1;; count++) {
    const result = await page(cursor);
    for (const item of result[key] as JsonValue[]) {
      if (items.length === caps.items) return gathered(result, "items");
      items.push(item);
    }
    const next = result.nextCursor as string | null | undefined;
    if (next == null) return gathered(result);
    if (count >= caps.pages) return gathered(result, "pages");
    if (caps.clock.monotonic() - startedAt >= caps.milliseconds) return gathered(result, "time");
    cursor = next;
  }
}

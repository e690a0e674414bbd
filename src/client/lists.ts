/**
 * Lists that come in pages (specification: pagination). Only a missing cursor ends a list: an empty one does not, and
 * the same one twice may be right. Caps end what never ends; what was gathered by then is kept.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../protocol/json_rpc.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import type { Clock } from "../ports.ts";
import type { RequestOptions } from "./session/caller.ts";

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /** Gives one raw page: the one that this cursor names; `null` is the first. Without it all pages are gathered. */
  cursor?: string | null | undefined;
}

/**
 * Gathers all pages of a list under caps; `truncated` names the cap that ended it early.
 *
 * @param key Where the items are in a page.
 * @param page Fetches one page.
 * @param parts `limits.pages`, `limits.items`, for tools `limits.tools`, and `timeouts.pages` are used.
 */
export async function walkPages(
  key: string,
  page: (cursor: string | undefined) => Promise<JsonObject>,
  { clock, limits, timeouts }: { clock: Clock; limits: Limits; timeouts: Pick<Timeouts, "pages"> },
): Promise<JsonObject> {
  const endsAt = clock.monotonic() + timeouts.pages;
  const most = key === "tools" ? Math.min(limits.tools, limits.items) : limits.items;
  let items: JsonValue[] = [];
  let cursor: string | undefined;
  for (let count = 1;; count++) {
    const { nextCursor, ...result } = await page(cursor);
    items = items.concat(result[key] as JsonValue[]);
    const more = nextCursor != null;
    const truncated = items.length > most || (more && items.length === most)
      ? "items"
      : more && (count >= limits.pages ? "pages" : clock.monotonic() >= endsAt && "time");
    if (truncated || !more) return { ...result, [key]: items.slice(0, most), ...(truncated && { truncated }) };
    cursor = nextCursor as string;
  }
}

/**
 * Lists that come in pages (specification: pagination). Only a missing cursor ends a list: an empty one does not, and
 * the same one twice may be right. Caps end what never ends; what was gathered by then is kept.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
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
 * @param limits `pages`, `items` and, for tools, `tools` are used.
 * @param time How long it may take.
 */
export async function walkPages(
  key: string,
  page: (cursor: string | undefined) => Promise<JsonObject>,
  limits: Limits,
  time: { clock: Clock; milliseconds: number },
): Promise<JsonObject> {
  const endsAt = time.clock.monotonic() + time.milliseconds;
  const most = key === "tools" ? Math.min(limits.tools, limits.items) : limits.items;
  const items: JsonValue[] = [];
  let cursor: string | undefined;
  for (let count = 1;; count++) {
    const { nextCursor, ...result } = await page(cursor);
    const found = result[key] as JsonValue[];
    for (const item of found) if (items.length < most) items.push(item);
    const more = nextCursor != null;
    const truncated = items.length === most && (more || items.at(-1) !== found.at(-1))
      ? "items"
      : more && count >= limits.pages
      ? "pages"
      : more && time.clock.monotonic() >= endsAt
      ? "time"
      : undefined;
    if (truncated || !more) return { ...result, [key]: items, ...(truncated && { truncated }) };
    cursor = nextCursor as string;
  }
}

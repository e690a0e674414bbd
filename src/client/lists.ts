/**
 * Lists that come in pages (specification: pagination). Only a missing cursor ends a list: an empty one does not, and
 * the same one twice may be right. Caps end what never ends; what was gathered by then is kept.
 *
 * @module
 */
import { TimeoutError } from "../protocol/errors.ts";
import type { JsonObject, JsonValue } from "../protocol/json_rpc.ts";
import { defaultLimits, fillIn } from "../protocol/limits.ts";
import type { Limits } from "../protocol/limits.ts";
import { pagesTime } from "../protocol/limits/times.ts";
import type { ListResult, ListToolsResult } from "../protocol/types.ts";
import type { Clock } from "../ports.ts";
import { takeTools } from "./tools.ts";
import type { ListFeature, ListOptions, ToolParts } from "./tools.ts";

/** Lists tools through the middleware of their client, and takes them in. */
export const listTools: ListFeature = async (parts, options) => {
  return takeTools(
    await listOf<ListToolsResult>("tools/list", "tools", { ...parts, options }),
    parts,
    options.cursor === undefined,
  );
};

/**
 * A list, whole or one raw page.
 *
 * @param key Where the items are in a page.
 */
export function listOf<Result>(
  method: string,
  key: string,
  { clock, limits, timeouts, client, options }: ToolParts & { options: ListOptions },
): Promise<Result> {
  const page = (cursor: string | null | undefined, left?: number): Promise<JsonObject> =>
    // Pages of a list without a time of its own may be shared with others who ask for the same.
    client().read(
      method,
      { cursor: cursor ?? undefined },
      left && options.timeout ? { ...options, timeout: left } : options,
    );
  if (options.cursor !== undefined) return page(options.cursor) as Promise<object> as Promise<Result>;
  const pages: Promise<object> = walkPages(key, page, {
    clock,
    limits: fillIn(defaultLimits, limits),
    milliseconds: Math.min(options.timeout ?? Infinity, timeouts.pages ?? pagesTime),
  });
  return pages as Promise<Result>;
}

/**
 * Gathers all pages of a list under caps; `truncated` names the cap that ended it early.
 *
 * @param key Where the items are in a page.
 * @param page Fetches one page.
 * @param parts `limits.pages`, `limits.items` and, for tools, `limits.tools` are used; `milliseconds` is what all pages may take.
 */
export async function walkPages(
  key: string,
  page: (cursor: string | undefined, left?: number) => Promise<JsonObject>,
  { clock, limits, milliseconds }: { clock: Clock; limits: Limits; milliseconds: number },
): Promise<JsonObject> {
  const endsAt = clock.monotonic() + milliseconds;
  const most = key === "tools" ? Math.min(limits.tools, limits.items) : limits.items;
  let items: JsonValue[] = [];
  let last: JsonObject = {};
  let truncated: ListResult["truncated"];
  for (let count = 1, more = true; more && !truncated; count++) {
    try {
      last = await page(last.nextCursor as string | undefined, count > 1 ? endsAt - clock.monotonic() : undefined);
      items = items.concat(last[key] as JsonValue[]);
      more = last.nextCursor != null;
      if (items.length + Number(more) > most) truncated = "items";
      else if (more && count >= limits.pages) truncated = "pages";
      else if (more && clock.monotonic() >= endsAt) truncated = "time";
    } catch (error) {
      // What was read until the time was over is something.
      if (count === 1 || !(error instanceof TimeoutError)) throw error;
      truncated = "time";
    }
  }
  const { nextCursor: _, ...rest } = last;
  return { ...rest, [key]: items.slice(0, most), ...(truncated && { truncated }) };
}

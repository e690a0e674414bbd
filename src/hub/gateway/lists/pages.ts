/**
 * Lists in pages, whatever comes and goes between two of them.
 *
 * @module
 */
import { InvalidParamsError } from "../../../protocol/errors.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";

/** One thing of a list: whose it is, what it is sorted by, and how it is listed. */
export interface Entry {
  readonly server: string;
  readonly key: string;
  readonly listed: object;
}

/** What a page is made of. */
export interface PageOptions {
  /** The list's name in a result: `tools`. */
  readonly kind: string;
  readonly size: number;
  /** The servers that are known, in the order of the list. Others may have things in it, too. */
  readonly servers: readonly string[];
}

/**
 * One page. A cursor names the last thing of the page before, not a count: what comes and goes in between neither doubles nor
 * hides anything else.
 *
 * @param entries In the order of their servers, and of their keys by code units.
 * @throws {InvalidParamsError} When the cursor is none of this list.
 */
export function pageOf(entries: readonly Entry[], cursor: unknown, { kind, size, servers }: PageOptions): JsonObject {
  let start = 0;
  if (cursor !== undefined && cursor !== null) {
    const [server, key] = readCursor(cursor, kind);
    const own = entries.findIndex((entry) => entry.server === server);
    const rank = servers.indexOf(server);
    if (own < 0 && rank < 0) throw wrongCursor(kind);
    const behind = new Set(servers.slice(rank + 1));
    const found = own < 0
      ? entries.findIndex((entry) => behind.has(entry.server))
      : entries.findIndex((entry, at) => at >= own && (entry.server !== server || entry.key > key));
    start = found < 0 ? entries.length : found;
  }
  const page = entries.slice(start, start + size);
  const last = page.at(-1);
  const more = last && start + size < entries.length && { nextCursor: writeCursor(kind, last) };
  return { [kind]: page.map(({ listed }) => listed) as JsonObject[], ...more };
}

function writeCursor(kind: string, { server, key }: Entry): string {
  const bytes = new TextEncoder().encode(JSON.stringify([kind, server, key]));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function readCursor(cursor: unknown, kind: string): [string, string] {
  try {
    const bytes = Uint8Array.from(atob(String(cursor)), (char) => char.charCodeAt(0));
    const [of, server, key]: unknown[] = JSON.parse(new TextDecoder().decode(bytes));
    if (of === kind && typeof server === "string" && typeof key === "string") return [server, key];
  } catch {
    // It is none of ours, whatever it is.
  }
  throw wrongCursor(kind);
}

function wrongCursor(kind: string): InvalidParamsError {
  return new InvalidParamsError(`Cannot list the ${kind}: "cursor" is none of this list`, { rpcCode: -32602 });
}

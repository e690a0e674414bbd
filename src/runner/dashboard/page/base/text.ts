/**
 * Numbers and times as people read them, and JSON that hides nothing.
 *
 * @module
 */
import { visible } from "../../../../hub/pins/hidden.ts";
import type { JsonValue } from "../../../../protocol/json_rpc.ts";

const units: readonly string[] = ["bytes", "KB", "MB", "GB"];

/** A number of bytes: `1 byte`, `3.2 KB`, `100 MB`. */
export function bytes(count: number): string {
  if (count === 1) return "1 byte";
  let size = count;
  let unit = 0;
  while (size >= 1_000 && unit < units.length - 1) {
    size /= 1_000;
    unit++;
  }
  return `${unit > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** A time span in milliseconds: `12 ms`, `3.4 s`, `2 min`. */
export function span(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`;
  return `${Math.round(milliseconds / 3_600_000)} h`;
}

/** How long ago something was: `just now`, `5 min ago`, or its date. */
export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < 10_000) return "just now";
  if (passed < 86_400_000) return `${span(Math.floor(passed / 1_000) * 1_000).replace(/\.\d/, "")} ago`;
  // Its day is the one that it was here.
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** One of something, or many: `1 tool`, `3 tools`. */
export function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** JSON on several lines, in which every character can be seen. */
export function shownJson(value: unknown): string {
  return visible(JSON.stringify(value, undefined, 2) ?? "");
}

/** A value of JSON, or undefined where a text is none. */
export function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An entry of a table by a name that comes from elsewhere: what every object inherits is none. */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * What has changed in a tool, for people: field by field, with all characters.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import { canonicalJson } from "./canonical.ts";
import { stepTo } from "./definition.ts";
import { visible } from "./hidden.ts";

/** One change. */
export interface ToolChange {
  /** Where: `description`, `inputSchema.properties.to.type`, or `server`. */
  readonly path: string;
  /** What was approved, with hidden characters as `\u{…}`; undefined where there was nothing. Long texts are cut around the change. */
  readonly before: string | undefined;
  /** What is there now. */
  readonly after: string | undefined;
}

const mostChanges = 50;
/** How much of a long text is shown around what changed, and of the change itself. */
const around = 40;
const most = 400;

/** Compares two definitions. After 50 changes the rest is one more, with the path `…`. */
export function changesBetween(before: unknown, after: unknown): ToolChange[] {
  const changes: ToolChange[] = [];
  let left = 0;
  const add = (path: string, one: unknown, other: unknown): void => {
    if (changes.length >= mostChanges) left++;
    else changes.push({ path, ...show(one, other) });
  };
  compare("", before, after, add);
  if (left > 0) changes.push({ path: "…", before: undefined, after: `${left} more` });
  return changes;
}

/** The changes as lines: `- before`, `+ after` below the path. */
export function formatChanges(changes: readonly ToolChange[]): string {
  return changes.flatMap(({ path, before, after }) => [
    path,
    ...(before === undefined ? [] : [`  - ${before}`]),
    ...(after === undefined ? [] : [`  + ${after}`]),
  ]).join("\n");
}

function compare(
  path: string,
  before: unknown,
  after: unknown,
  add: (path: string, before: unknown, after: unknown) => void,
): void {
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [one, other] = [own(before, name), own(after, name)];
      compare(stepTo(path, name), one, other, add);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    for (let at = 0; at < length; at++) compare(stepTo(path, at), before[at], after[at], add);
    return;
  }
  if (textOf(before) !== textOf(after)) add(path, before, after);
}

function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : typeof value === "string" ? `"${value}` : canonicalJson(value);
}

/** Both sides, cut to what is around the first and the last difference. */
function show(before: unknown, after: unknown): { before: string | undefined; after: string | undefined } {
  const [one, other] = [before, after].map((value) =>
    value === undefined ? undefined : typeof value === "string" ? value : canonicalJson(value)
  );
  if (one === undefined || other === undefined) return { before: cut(one, 0, 0), after: cut(other, 0, 0) };
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  const shorter = Math.min(one.length, other.length) - start;
  while (end < shorter && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return { before: cut(one, start, end), after: cut(other, start, end) };
}

/** @param start Characters at the beginning that did not change. @param end Those at the end. */
function cut(text: string | undefined, start: number, end: number): string | undefined {
  if (text === undefined || text.length <= most) return text === undefined ? undefined : visible(text);
  const from = Math.max(0, start - around);
  const to = Math.min(text.length, text.length - end + around);
  const middle = text.slice(from, Math.min(to, from + most));
  return `${from > 0 ? "…" : ""}${visible(middle)}${
    from + most < text.length && to > from + most ? "…" : to < text.length ? "…" : ""
  }`;
}

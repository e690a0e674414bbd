/**
 * JSON under limits: how deep it nests and how many values it holds.
 *
 * @module
 */
import { checkLimit } from "./limits.ts";
import type { Limits } from "./limits.ts";

/** The walk recurses, and stacks are small in some runtimes. */
const deepest = 1_000;

/**
 * Parses JSON that a peer sent. Depth counts arrays and objects inside each other (`[[]]` is 2); nodes are values of any
 * kind, not keys. Both limits are exact: what they name is still taken. A text that is too short to hold too many
 * values costs only `JSON.parse` and one walk. A `jsonDepth` above 1,000 counts as 1,000.
 *
 * @throws {SyntaxError} When the text is no JSON.
 * @throws {LimitExceededError} When it nests deeper than `jsonDepth` or holds more than `jsonNodes` values.
 */
export function parseJson(text: string, limits: Pick<Limits, "jsonDepth" | "jsonNodes">): unknown {
  const { jsonDepth, jsonNodes } = limits;
  // A value and what parts it from the next one take two characters.
  if (text.length > 2 * jsonNodes) countValues(text, jsonNodes);
  const root: unknown = JSON.parse(text);
  walk(root, 1, Math.min(jsonDepth, deepest));
  return root;
}

/** No copies, no list of keys: the many small messages cost nearly nothing. */
function walk(value: unknown, depth: number, limit: number): void {
  if (typeof value !== "object" || value === null) return;
  checkLimit("jsonDepth", limit, depth);
  if (Array.isArray(value)) { for (let at = 0; at < value.length; at++) walk(value[at], depth + 1, limit); }
  else for (const key in value) walk(value[key as never], depth + 1, limit);
}

/** Counts before parsing, as the memory is gone after it. What is no JSON is left to the parser. */
function countValues(text: string, limit: number): void {
  let count = 1;
  let empty = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      empty = 0;
      do at = text.indexOf('"', at + 1); while (isEscaped(text, at));
      if (at < 0) return;
    } else if (code === 44) count++;
    else if ((code | 32) === 123) {
      count++;
      empty = 1;
    } else if ((code | 32) === 125) {
      count -= empty;
      empty = 0;
    } else if (code > 32) empty = 0;
    checkLimit("jsonNodes", limit, count - empty);
  }
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === 92) first--;
  return ((at - first) & 1) > 0;
}

/**
 * JSON under limits: how deep it nests and how many values it holds.
 *
 * @module
 */
import { checkLimit } from "../limits.ts";
import type { Limits } from "../limits.ts";

/**
 * Parses JSON that a peer sent. Depth counts arrays and objects inside each other (`[[]]` is 2); nodes are values of any
 * kind, not keys. Both limits are exact: what they name is still taken. A text that is too short to hold too many
 * values costs only `JSON.parse` and one walk over its containers. A `jsonDepth` above 1,000 counts as 1,000.
 *
 * @throws {SyntaxError} When the text is no JSON.
 * @throws {LimitExceededError} When it nests deeper than `jsonDepth` or holds more than `jsonNodes` values.
 */
export function parseJson(text: string, { jsonDepth, jsonNodes }: Pick<Limits, "jsonDepth" | "jsonNodes">): unknown {
  // The walk recurses, and stacks are small in some runtimes.
  const deepest = 1_000;
  // A value and what parts it from the next one take two characters.
  if (text.length > 2 * jsonNodes) countValues(text, jsonNodes);
  const depth = Math.min(jsonDepth, deepest);
  const root: unknown = JSON.parse(text);
  // A container takes two characters: a short text, as most are, cannot nest too deep.
  if (text.length > 2 * depth) walk([root], 0, depth);
  return root;
}

/** Only containers are walked into. */
function walk(container: object, depth: number, limit: number): void {
  if (depth > limit) checkLimit("jsonDepth", limit, depth);
  if (Array.isArray(container)) {
    for (const item of container) if (typeof item === "object" && item) walk(item, depth + 1, limit);
    return;
  }
  for (const key in container) {
    const item: unknown = container[key as never];
    if (typeof item === "object" && item) walk(item, depth + 1, limit);
  }
}

/** Counts before parsing, as the memory is gone after it. What is no JSON is left to the parser. */
function countValues(text: string, limit: number): void {
  let count = 1;
  let empty = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      empty = 0;
      // From quote to quote: an odd number of backslashes before one makes it a part of the string.
      let first: number;
      do {
        first = at = text.indexOf('"', at + 1);
        if (at < 0) return;
        while (text.charCodeAt(first - 1) === 92) first--;
      } while ((at - first) & 1);
    } else if (code === 44) count++;
    else if ((code | 32) === 123) {
      count++;
      empty = 1;
    } else if ((code | 32) === 125) {
      count -= empty;
      empty = 0;
    } else if (code > 32) empty = 0;
    if (count - empty > limit) checkLimit("jsonNodes", limit, count - empty);
  }
}

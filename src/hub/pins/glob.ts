/**
 * Patterns of names in which `*` stands for any run of characters.
 *
 * @module
 */

/** Whether one of some names fits one of some patterns. */
export type Matcher = (names: readonly string[]) => boolean;

/**
 * Reads patterns.
 *
 * @throws {TypeError} When one is no text, or empty.
 */
export function createMatcher(patterns: readonly string[]): Matcher {
  if (!Array.isArray(patterns)) throw new TypeError("Cannot use the patterns: expected a list of texts");
  const wrong = patterns.findIndex((pattern) => typeof pattern !== "string" || pattern === "");
  if (wrong >= 0) {
    throw new TypeError(
      `Cannot use the pattern ${wrong}: it is ${
        JSON.stringify(patterns[wrong])
      }, expected a text such as "server.tool"`,
    );
  }
  const kept = patterns.map((pattern) => pattern.split("*"));
  return (names) => kept.some((pieces) => names.some((name) => fits(name, pieces)));
}

/** Whether a name holds the pieces between stars in their order, from its start to its end. */
function fits(name: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? "";
  if (pieces.length < 2) return name === first;
  const last = pieces.at(-1) ?? "";
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (let next = 1; next < pieces.length - 1; next++) {
    const piece = pieces[next] ?? "";
    const found = name.indexOf(piece, at);
    if (found < 0 || found + piece.length > name.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

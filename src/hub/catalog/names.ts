/**
 * Names for models: `<label>__<name>`, at most 64 of `[a-zA-Z0-9_-]`.
 *
 * The label stands for the server, what follows for its tool or prompt. Each is the name itself where that can be: a server's
 * of at most 32 characters, without `__` and without `_` at its ends (one that begins with no letter gets `_` in front, since
 * some models ask for that), and a tool's that fits into what is left of the 64. Any other is cut to what may stand there, and
 * ends in `-` (labels) or `_` (names) and ten hexadecimal digits of a hash of the whole; so does one that ends that way by
 * itself. Hence no label has `__` in it, what is written as it stands never meets what is hashed, and a name depends on
 * nothing but its server and itself. Only where two hashes meet, the later one in the order of code units is hashed anew.
 *
 * @module
 */

/** The most characters of a qualified name. */
const longest = 64;
/** The most characters of a server's label. */
const longestLabel = 32;

/** What parts the label and the name. */
export const separator = "__";

/**
 * Gives each server its label.
 *
 * @param servers Their names, each once, in any order.
 * @returns Names to labels. Which name gets which label does not depend on the order.
 */
export function labelServers(servers: readonly string[]): Map<string, string> {
  const labels = new Map<string, string>();
  const taken = new Set<string>();
  for (const server of [...servers].sort()) {
    let turn = 0;
    let label = labelOf(server, turn);
    while (taken.has(label)) label = labelOf(server, ++turn);
    taken.add(label);
    labels.set(server, label);
  }
  return labels;
}

/**
 * The qualified name of a tool or prompt.
 *
 * @param label The label of its server.
 * @param name Its name at the server.
 * @param taken Told whether the server has something else by a qualified name already.
 */
export function qualify(label: string, name: string, taken: (qualifiedName: string) => boolean): string {
  const before = label + separator;
  const most = longest - before.length;
  if (name.length <= most && /^[\w-]+$/.test(name) && !/_[\da-f]{10}$/.test(name)) return before + name;
  for (let turn = 0;; turn++) {
    const qualified = before + shorten(name, most - 11) + "_" + digest(name, turn);
    if (!taken(qualified)) return qualified;
  }
}

function labelOf(server: string, turn: number): string {
  const label = server.replace(/^(?![a-z])/i, "_");
  if (label.length <= longestLabel && /^_?(?:[a-z\d-]_?)*[a-z\d-]$/i.test(label) && !/-[\da-f]{10}$/.test(label)) {
    return label;
  }
  const short = shorten(server.replace(/^[^a-z\d]+/i, ""), longestLabel - 12);
  return short.replace(/^(?![a-z])/i, "_") + "-" + digest(server, turn);
}

/** The first characters, with `_` for each run that may not stand. */
function shorten(text: string, most: number): string {
  return text.slice(0, 2 * most).replace(/[^a-z\d-]+/gi, "_").slice(0, most);
}

/** Ten hexadecimal digits that stand for a text: two lanes, each with a multiplier of its own, 40 bits of both. No secret. */
function digest(text: string, turn: number): string {
  let low = 0x811c9dc5 ^ turn;
  let high = 0x41c6ce57 ^ turn;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ code, 0x5bd1e995);
    high ^= high >>> 13;
  }
  return ((high >>> 24) * 2 ** 32 + (low >>> 0)).toString(16).padStart(10, "0");
}

/**
 * Reading the frontmatter of a `SKILL.md`: the plain part of YAML, of which every reader makes the same. What one reader could
 * take for a text and another for a date is refused, since a client compares what it reads with what the server says.
 *
 * That is: `key: value` by lines, each key once. A value is plain text, text in quotes (`"…"` as in JSON, `'…'` with `''` for
 * `'`), a whole number, `true`, `false`, JSON on one line, nothing (null), or, indented below its key, one list, one level of
 * pairs, or one paragraph of text after `>-` or `|-` (`>` or `|` where another key follows). Lines that begin with `#` are
 * comments. No anchors, tags, dates, fractions, and no text over several lines without such a mark.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json_rpc.ts";

const block = /^\uFEFF?---\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const pair = /^([A-Za-z][\w./-]*):(?:[ \t]+((?![ \t]).*))?$/;
/** What some reader of YAML takes for nothing, a truth value or a number that not all write alike. */
const ambiguous = /^(?:~|null|y|n|yes|no|on|off|true|false|[-+]?\.?(?:inf|nan)|[-+.]?\d[\d_.,:+\-\sTZa-fox]*)$/i;
/** What begins something else than a plain text, or ends one. */
// deno-lint-ignore no-control-regex
const special = /^[-?:,[\]{}#&*!|>'"%@`]|:(?:[ \t]|$)|[ \t]#|[\0-\x08\x0b-\x1f\x7f\x85\u2028\u2029]/;

/**
 * Reads the frontmatter.
 *
 * @param bad Is told the line that is more than plain, or nothing when there is no frontmatter; it throws.
 */
export function readFrontmatter(markdown: string, bad: (line?: string) => never): JsonObject {
  const [, inner = bad()] = block.exec(markdown) ?? [];
  const lines = inner.split(/\r?\n/);
  const read = new Map<string, JsonValue>();
  for (let at = 0; at < lines.length; at++) {
    const line = withoutBlanks(lines[at]!);
    if (line === "" || line.startsWith("#")) continue;
    const [, key = bad(line), value = ""] = pair.exec(line) ?? [];
    if (read.has(key) || ambiguous.test(key)) bad(line);
    const inside: string[] = [];
    if (/^[|>]-?$/.test(value)) {
      while (/^ +\S/.test(lines[at + 1] ?? "")) inside.push(lines[++at]!);
      const isLast = !lines[at + 1] || !pair.test(lines[at + 1]!);
      read.set(key, isLast && !value.endsWith("-") ? bad(line) : readParagraph(value, inside, bad));
      continue;
    }
    while (value === "" && /^ +\S/.test(lines[at + 1] ?? "")) inside.push(withoutBlanks(lines[++at]!));
    read.set(
      key,
      inside.length > 0 ? readInside(inside, bad) : value === "" ? null : readScalar(value, () => bad(line)),
    );
  }
  return Object.fromEntries(read);
}

/** What is indented below a key: a list, or pairs. */
function readInside(lines: readonly string[], bad: (line: string) => never): JsonValue {
  const indent = lines[0]!.search(/\S/);
  const texts = lines.map((line) => line.search(/\S/) === indent ? line.slice(indent) : bad(line));
  if (texts.every((text) => text.startsWith("- "))) {
    return texts.map((text) => readScalar(text.slice(2).replace(/^[ \t]+/, ""), () => bad(text)));
  }
  const read = new Map<string, JsonValue>();
  for (const text of texts) {
    const [, key = bad(text), value = bad(text)] = pair.exec(text) ?? [];
    if (read.has(key) || ambiguous.test(key)) bad(text);
    read.set(key, readScalar(value, () => bad(text)));
  }
  return Object.fromEntries(read);
}

/** What is indented below a mark: lines of one paragraph, of which every reader makes the same. */
function readParagraph(mark: string, lines: readonly string[], bad: (line: string) => never): string {
  const indent = lines[0]?.search(/\S/) ?? bad(mark);
  const texts = lines.map((line) =>
    // deno-lint-ignore no-control-regex
    line.search(/\S/) === indent && !/\s$|[\0-\x1f\x7f\x85\u2028\u2029\ufeff]/.test(line)
      ? line.slice(indent)
      : bad(line)
  );
  return texts.join(mark.startsWith("|") ? "\n" : " ") + (mark.endsWith("-") ? "" : "\n");
}

function readScalar(text: string, bad: () => never): JsonValue {
  if (/^["[{]/.test(text)) {
    // JSON is YAML, too.
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      return bad();
    }
  }
  if (text.startsWith("'")) return /^'(?:[^']|'')*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : bad();
  if (/^(?:true|false|0|-?[1-9]\d{0,14})$/.test(text)) return JSON.parse(text) as JsonValue;
  // Other blanks at an end are part of the text for YAML, and nobody sees them.
  return ambiguous.test(text) || special.test(text) || text !== text.trim() ? bad() : text;
}

/** A line without the blanks at its end, as YAML knows blanks. */
function withoutBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " " || line[end - 1] === "\t") end--;
  return line.slice(0, end);
}

/**
 * Text of servers made harmless for a terminal: no escape sequences, no control characters, no turned writing direction.
 *
 * @module
 */

const escape = String.fromCharCode(27);
const bell = String.fromCharCode(7);
/** Whole sequences (colours, titles, links), so that their remains are not shown as text. */
const sequences = new RegExp(
  `${escape}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^${bell}${escape}]*(?:${bell}|${escape}\\\\)?|[ -/]*[0-~])`,
  "g",
);
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/gu;

/** The text without anything that steers a terminal. Line breaks and tabs stay. */
export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(sequences, "").replace(
    controls,
    (found) => found === "\n" || found === "\t" ? found : "",
  );
}

/** The same on one line: every run of white space becomes one space. */
export function oneLine(text: string): string {
  return plain(text.replace(/\s+/g, " ")).trim();
}

/** What a server says in a field that it could leave out: nothing for null, and for what is no text. */
export function said(text: unknown): string {
  return typeof text === "string" ? text : "";
}

/** The first line of a text that has something in it, cut to `most` characters. */
export function firstLine(text: string, most = 160): string {
  const line = oneLine(text.trim().split("\n", 1)[0] ?? "");
  return line.length > most ? line.slice(0, most - 1) + "…" : line;
}

/** A value as JSON that a terminal takes for text: what JSON leaves of control characters is escaped. */
export function plainJson(value: unknown): string {
  return escaped(JSON.stringify(value, undefined, 2) ?? "null");
}

/** The same on one line, with its end. */
export function jsonLine(value: unknown): string {
  return `${escaped(JSON.stringify(value) ?? "null")}\n`;
}

function escaped(json: string): string {
  return json.replace(
    controls,
    (found) => found === "\n" ? found : "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/**
 * `server.tool(arg: 1, other: "x")`: a call as programmers write it.
 *
 * @module
 */
import { refuseInexact } from "../../protocol/arguments/exact.ts";
import { readObject } from "../../protocol/arguments/piece.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { UsageError } from "../failure.ts";
import { asUsage } from "./values.ts";

/** A name, and what stands between the parentheses behind it. */
export interface CallForm {
  readonly name: string;
  /** The arguments; undefined where there are no parentheses. */
  readonly args: JsonObject | undefined;
}

/**
 * Reads `name` and `name(key: value, …)`. Keys may stand without quotes, texts in single quotes; all else is JSON.
 *
 * @throws {UsageError} When the parentheses hold something else, or a number that cannot be sent.
 */
export function readCallForm(text: string): CallForm {
  const open = text.indexOf("(");
  if (open < 1 || !text.trimEnd().endsWith(")")) return { name: text, args: undefined };
  const inside = text.trimEnd().slice(open + 1, -1);
  return { name: text.slice(0, open).trim(), args: readInside(inside, text) };
}

function readInside(inside: string, text: string): JsonObject {
  const isWhole = inside.trim().startsWith("{");
  let json = "";
  for (const [token, text, bare, other] of inside.matchAll(tokens)) {
    if (text !== undefined) json += text.startsWith("'") ? doubleQuoted(text) : text;
    else if (bare !== undefined) json += /^(true|false|null)$/.test(bare) ? bare : JSON.stringify(bare);
    else json += other ?? token;
  }
  asUsage(() => refuseInexact(json));
  try {
    return readObject(isWhole ? json : `{${json}}`, "the call");
  } catch {
    // What to write instead is the same for all that is wrong.
  }
  const shown = text.length > 200 ? text.slice(0, 199) + "…" : text;
  throw new UsageError(
    `Cannot read the call ${JSON.stringify(shown)}: write it like tool(key: 1, other: "text"), with JSON values`,
  );
}

/** A text, a bare key (a word before a colon), a bare word, or anything else. */
const tokens =
  /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_$][\w$-]*(?=\s*:)|true\b|false\b|null\b)|([\d.eE+-]+|[^"'A-Za-z_$\d]+|.)/gs;

function doubleQuoted(text: string): string {
  return JSON.stringify(text.slice(1, -1).replace(/\\(['"\\])/g, "$1"));
}

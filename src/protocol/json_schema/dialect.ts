/**
 * Dialects of JSON Schema: 2020-12, 2019-09 and draft-07 (which reads draft-06 too), and those that a supplied
 * metaschema puts together from their vocabularies.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonSchema } from "../types.ts";
import { type Dialect, HOLDERS, NAMED, own } from "./node.ts";

/** The dialects that are built in. */
export type DialectName = "2020-12" | "2019-09" | "draft-07";

/** Checks of `format`, by name. */
export type FormatChecks = Readonly<Record<string, (text: string) => boolean>>;

/** What dialects are looked up in. */
export interface DialectOptions {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly dialects: Readonly<Record<string, DialectName>>;
  /** Makes `format` decide. */
  readonly formats?: FormatChecks;
}

const STANDARD =
  /^https?:\/\/json-schema\.org\/(?:draft\/)?(2020-12|2019-09|draft-0[67])\/(?:schema|vocab\/([a-z-]+))$/;

/**
 * The dialect that `$schema` names.
 *
 * @param outer The dialect of the schema around it, for one that names none.
 * @throws {TypeError} When it is unknown, or needs a vocabulary that is unknown.
 */
export function dialectOf(uri: unknown, outer: Dialect | undefined, options: DialectOptions): Dialect {
  if (typeof uri !== "string") return outer ?? dialect("2020-12");
  const name = uri.replace(/#$/, "");
  const known = own(options.dialects, name) ?? STANDARD.exec(name)?.[1];
  if (known) return dialect(known);
  const metaschema = own(options.schemas, name) ?? refuse("the dialect ", uri, " is unknown");
  const vocabularies = isObject(metaschema) ? metaschema.$vocabulary : undefined;
  if (!isObject(vocabularies)) return dialect("2020-12");
  const used = new Set(["core"]);
  let base = "2020-12";
  for (const [vocabulary, required] of Object.entries(vocabularies)) {
    const [, release = base, name = ""] = STANDARD.exec(vocabulary) ?? [];
    if (required === true && (!name || (name === "format-assertion" && !options.formats))) {
      refuse("its dialect needs the vocabulary ", vocabulary);
    }
    base = release;
    used.add(name);
  }
  return dialect(base, used);
}

/** Ends the reading of a schema. */
export function refuse(before: string, name: string, after: string = ""): never {
  throw new TypeError(`Cannot use the schema: ${before}${JSON.stringify(name)}${after}`);
}

function dialect(name: string, vocabularies?: ReadonlySet<string>): Dialect {
  const year = parseInt(name) || 7;
  const later = year === 2020
    ? /^\$recursive/
    : year === 2019
    ? /^(?:\$dynamic|prefix)/
    : /^(?:\$[dra](?!ef)|prefix|dependent|m..Contains|unevaluated)/;
  return { year, knows: (keyword) => !later.test(keyword) && (vocabularies?.has(vocabularyOf(keyword, year)) ?? true) };
}

function vocabularyOf(keyword: string, year: number): string {
  if (keyword.startsWith("unevaluated") && year > 2019) return "unevaluated";
  if (HOLDERS.test(keyword) || NAMED.test(keyword)) return "applicator";
  return /^[$f]/.test(keyword) ? "core" : "validation";
}

/**
 * Dialects of JSON Schema: 2020-12, 2019-09 and draft-07 (which reads draft-06 too), and those that a supplied
 * metaschema puts together from their vocabularies.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonSchema } from "../types.ts";
import { KEYWORDS } from "./keywords.ts";
import { type Dialect, type FormatChecks, own, refuse } from "./node.ts";

/** The dialects that are built in. */
export type DialectName = "2020-12" | "2019-09" | "draft-07";

/** What dialects are looked up in. */
export interface DialectOptions {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly dialects: Readonly<Record<string, DialectName>>;
  /** Makes `format` decide. */
  readonly formats: FormatChecks;
}

const STANDARD =
  /^https?:\/\/json-schema\.org\/(?:draft\/)?(2020-12|2019-09|draft-0[67])\/(?:schema|vocab\/([a-z-]+))$/;

/** Keywords that a dialect does not have, by its year. */
const LATER: Readonly<Record<number, RegExp>> = {
  2020: /^\$recursive/,
  2019: /^(?:\$dynamic|prefix)/,
  7: /^(?:\$[dra](?!ef)|prefix|dependent|m..Contains|unevaluated)/,
};

/**
 * The dialect that `$schema` names.
 *
 * @param outer The dialect of the schema around it, for one that names none.
 * @throws {TypeError} When it is unknown, or needs a vocabulary that is unknown.
 */
export function dialectOf(uri: unknown, outer: Dialect | undefined, options: DialectOptions): Dialect {
  let base = "2020-12";
  const used = new Set<string>();
  if (typeof uri === "string") {
    const name = uri.replace(/#$/, "");
    const known = own(options.dialects, name) ?? STANDARD.exec(name)?.[1];
    const metaschema = known || (own(options.schemas, name) ?? refuse("the dialect ", uri, " is unknown"));
    const vocabularies = isObject(metaschema) && metaschema.$vocabulary;
    base = known || base;
    for (const [vocabulary, required] of Object.entries(vocabularies || {})) {
      const [, release, name = ""]: (string | undefined)[] = STANDARD.exec(vocabulary) ?? [];
      if (required === true && (!name || (name === "format-assertion" && !Object.keys(options.formats).length))) {
        refuse("it needs the vocabulary ", vocabulary);
      }
      base = release ?? base;
      used.add("core").add(name);
    }
  } else if (outer) return outer;
  const year = parseInt(base) || 7;
  return {
    year,
    knows: (keyword) => !LATER[year]?.test(keyword) && (!used.size || used.has(vocabularyOf(keyword, year))),
  };
}

function vocabularyOf(keyword: string, year: number): string {
  if (/^uneval/.test(keyword) && year > 2019) return "unevaluated";
  return /^[$f]/.test(keyword) ? "core" : Number(own(KEYWORDS, keyword)?.[1]) ? "applicator" : "validation";
}

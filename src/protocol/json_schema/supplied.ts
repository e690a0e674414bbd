/**
 * Dialects that the caller supplies: by name, or as metaschemas that put them together from vocabularies. A module of its own,
 * so that only who supplies some carries it.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonSchema } from "../types.ts";
import { type DialectName, dialectOf, type FindDialect, STANDARD } from "./dialect.ts";
import { KEYWORDS } from "./keywords.ts";
import { type FormatChecks, own, refuse } from "./node.ts";

/** What dialects are looked up in. */
export interface SuppliedDialects {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly dialects: Readonly<Record<string, DialectName>>;
  /** Makes `format` decide. */
  readonly formats: FormatChecks;
}

/** Finds those that are supplied, and those that are built in. A metaschema may need a vocabulary that is unknown: that is refused too. */
export function findAmong({ schemas, dialects, formats }: SuppliedDialects): FindDialect {
  return (uri, outer) => {
    if (typeof uri !== "string") return outer ?? dialectOf();
    const name = uri.replace(/#$/, "");
    const known = own(dialects, name) ?? STANDARD.exec(name)?.[1];
    if (known) return dialectOf(known);
    const metaschema = own(schemas, name) ?? refuse("the dialect ", uri, " is unknown");
    const vocabularies = isObject(metaschema) && metaschema.$vocabulary;
    const used = new Set<string>();
    let base: string | undefined;
    for (const [vocabulary, required] of Object.entries(vocabularies || {})) {
      const [, release, name = ""]: (string | undefined)[] = STANDARD.exec(vocabulary) ?? [];
      if (required === true && (!name || (name === "format-assertion" && !Object.keys(formats).length))) {
        refuse("it needs the vocabulary ", vocabulary);
      }
      base = release ?? base;
      used.add("core").add(name);
    }
    return dialectOf(base, (keyword, year) => !used.size || used.has(vocabularyOf(keyword, year)));
  };
}

function vocabularyOf(keyword: string, year: number): string {
  if (/^uneval/.test(keyword) && year > 2019) return "unevaluated";
  return /^[$f]/.test(keyword) ? "core" : Number(own(KEYWORDS, keyword)?.[1]) ? "applicator" : "validation";
}

/**
 * Dialects of JSON Schema: 2020-12, 2019-09 and draft-07 (which reads draft-06 too).
 *
 * @module
 */
import { type Dialect, refuse } from "./node.ts";

/** The dialects that are built in. */
export type DialectName = "2020-12" | "2019-09" | "draft-07";

/**
 * Finds the dialect that `$schema` names.
 *
 * @param outer The dialect of the schema around it, for one that names none.
 * @throws {TypeError} When it is unknown.
 */
export type FindDialect = (uri: unknown, outer: Dialect | undefined) => Dialect;

/** URIs of standard metaschemas and vocabularies: the release, and the vocabulary. */
export const STANDARD: RegExp =
  /^https?:\/\/json-schema\.org\/(?:draft\/)?(2020-12|2019-09|draft-0[67])\/(?:schema|vocab\/([a-z-]+))$/;

/** Keywords that a dialect does not have, by its year. */
const LATER: Readonly<Record<number, RegExp>> = {
  2020: /^\$recursive/,
  2019: /^(?:\$dynamic|prefix)/,
  7: /^(?:\$[dra](?!ef)|prefix|dependent|m..Contains|unevaluated)/,
};

/** Finds those that are built in. */
export const findStandard: FindDialect = (uri, outer) => {
  if (typeof uri !== "string") return outer ?? dialectOf();
  return dialectOf(STANDARD.exec(uri.replace(/#$/, ""))?.[1] ?? refuse("the dialect ", uri, " is unknown"));
};

/**
 * The dialect of a release.
 *
 * @param isUsed Whether a keyword that the release has is in force (all).
 */
export function dialectOf(
  release: string = "2020-12",
  isUsed: (keyword: string, year: number) => boolean = () => true,
): Dialect {
  const year = parseInt(release) || 7;
  return { year, knows: (keyword) => !LATER[year]?.test(keyword) && isUsed(keyword, year) };
}

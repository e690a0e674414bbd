/**
 * Checks a value against a schema that was made ready. Three answers: it fits, it does not, it cannot be judged. Every
 * piece of work is paid for from a budget of steps, and nesting is bounded, so that it always ends.
 *
 * @module
 */
import { excerpt } from "../excerpt.ts";
import type { Validation } from "../validation.ts";
import { ISSUES, NESTING, spend, STOP } from "./budget.ts";
import {
  FAIL,
  type Limits,
  type Marks,
  PASS,
  type Patterns,
  type Run,
  type SchemaNode,
  UNKNOWN,
  type Verdict,
} from "./node.ts";
import { Pattern } from "./pattern.ts";
import { ANY, LATE, TYPES } from "./types.ts";

/** Does the check. */
export function evaluate(node: SchemaNode, value: unknown, limits: Limits, patterns: Patterns): Validation {
  const issues: Run["issues"] = [];
  const unchecked = new Set<string>();
  const { steps } = limits;
  const run: Run = { steps, limits, patterns, quiet: false, scope: [], base: 0, path: [], issues, unchecked };
  let verdict: Verdict = UNKNOWN;
  try {
    verdict = visit(run, value, node);
  } catch (error) {
    if (run.steps < 0) unknown(run, `the check was ended after ${steps} steps`);
    else if (error instanceof RangeError) unknown(run, "the value nests too deep");
    else if (error !== STOP) throw error;
  }
  const result: Validation = issues.length ? { valid: false, issues } : { valid: true };
  return verdict !== PASS && unchecked.size ? { ...result, unchecked: [...unchecked] } : result;
}

/**
 * Applies a schema to a value. With a key: to a value inside.
 *
 * @param keyword Is named where the schema is `false`.
 */
export function visit(
  run: Run,
  value: unknown,
  node: SchemaNode,
  marks?: Marks,
  key?: string | number,
  keyword?: string,
): Verdict {
  const { types, rules } = node;
  const { base, scope } = run;
  const type = typeOf(value);
  const fits = types & type;
  let verdict: Verdict = PASS;
  if (--run.steps < 0) throw STOP;
  if (fits && !rules.length) return PASS;
  if (key !== undefined) {
    run.path.push(key);
    run.base = scope.length;
  }
  if (!fits) verdict = tell(run, types ? "type" : keyword ?? "false", node.words);
  else if (scope.length - run.base > run.limits.depth || scope.length > NESTING) {
    verdict = unknown(run, "schemas nest too deep");
  } else {
    scope.push(node.resource);
    verdict = judge(run, value, node, marks, type);
    scope.pop();
  }
  if (key !== undefined) run.path.pop();
  run.base = base;
  return verdict;
}

/** Applies the rules of a schema. */
function judge(run: Run, value: unknown, node: SchemaNode, outer: Marks | undefined, type: number): Verdict {
  const { rules } = node;
  const marks: Marks | undefined = node.types & LATE ? new Set() : outer;
  let verdict: Verdict = PASS;
  for (const { types, check, operand, keyword, words } of rules) {
    if (!(types & type)) continue;
    if (types & LATE && verdict !== PASS) break;
    const answer = check(run, value, operand, marks, node, keyword);
    if (answer === false) verdict = tell(run, keyword, words, node.schema[keyword]);
    else if (answer !== true) verdict &= answer;
    if (!verdict && run.quiet) break;
  }
  if (marks !== outer && outer) { for (const mark of marks as Marks) outer.add(mark); }
  return verdict;
}

/** Notes what cannot be judged. */
export function unknown({ unchecked }: Run, what: string): Verdict {
  if (unchecked.size < ISSUES) unchecked.add(what);
  return UNKNOWN;
}

/** Notes what does not fit; words that end with a space are followed by what was asked. */
export function tell({ quiet, path, issues }: Run, keyword: string, words: string, asked?: unknown): Verdict {
  if (quiet) return FAIL;
  const place = path.map((key) => "/" + `${key}`.replaceAll("~", "~0").replaceAll("/", "~1")).join("");
  if (/ $/.test(words)) {
    words += [asked].flat().slice(0, 16).map((item) => excerpt(JSON.stringify(item), 100)).join(", ");
  }
  if (issues.push({ path: place, keyword, message: "must " + excerpt(words, 400) }) >= ISSUES) throw STOP;
  return FAIL;
}

/** Applies a step to each of a list, until nothing more can change the verdict. */
export function each<Item>(run: Run, list: readonly Item[], step: (item: Item, index: number) => Verdict): Verdict {
  let verdict: Verdict = PASS;
  spend(run, list.length >> 2);
  for (let index = 0; index < list.length && (verdict || !run.quiet); index++) {
    verdict &= step(list[index] as Item, index);
  }
  return verdict;
}

/** Applies a quiet step to each of a list, and tells whether `least` to `most` of them fit. */
export function some<Item>(
  run: Run,
  list: readonly Item[],
  least: number,
  most: number,
  marks: Marks | undefined,
  step: (item: Item, marks: Marks | undefined, index: number) => Verdict,
): Verdict | false {
  const { quiet } = run;
  let passes = 0;
  let unsure = 0;
  run.quiet = true;
  for (let index = 0; index < list.length && passes <= most && (marks || passes < least || most < Infinity); index++) {
    const seen: Marks | undefined = marks && new Set();
    const verdict = step(list[index] as Item, seen, index);
    if (verdict === UNKNOWN) unsure++;
    if (verdict !== PASS) continue;
    passes++;
    if (seen) { for (const mark of seen) marks?.add(mark); }
  }
  run.quiet = quiet;
  return passes > most || passes + unsure < least
    ? false
    : unsure && (marks || passes < least || passes + unsure > most)
    ? UNKNOWN
    : PASS;
}

/** Looks for a pattern in a text. */
export function matches(run: Run, source: string, text: string): Verdict {
  const { patterns } = run;
  let pattern = patterns.known.get(source);
  if (pattern === undefined) {
    try {
      pattern = new Pattern(source, patterns);
    } catch {
      pattern = false;
    }
    patterns.known.set(source, pattern);
  }
  if (!pattern) return unknown(run, `pattern ${excerpt(source, 100)} cannot be checked in linear time`);
  return pattern.matches(text, run) ? PASS : FAIL;
}

/** True for a schema that everything fits. */
export function isFree({ types, rules }: SchemaNode): boolean {
  return types === ANY && !rules.length;
}

function typeOf(value: unknown): number {
  const type = typeof value;
  return type === "number"
    ? Number.isInteger(value) ? 4 : 2
    : value === null
    ? 16
    : Array.isArray(value)
    ? 64
    : TYPES[type] ?? 256;
}

/**
 * Checks a value against a schema that was made ready. Three answers: it fits, it does not, it cannot be judged. Every
 * piece of work is paid for from a budget of steps, and nesting is bounded, so that it always ends.
 *
 * @module
 */
import type { Validation, ValidationIssue } from "../validation.ts";
import { clip } from "./equality.ts";
import {
  FAIL,
  Marks,
  PASS,
  type PatternRule,
  type Rule,
  type Run,
  type SchemaNode,
  type Scope,
  UNKNOWN,
  type Verdict,
} from "./node.ts";

/** Bounds of one check. */
export interface EvaluationLimits {
  /** How much work: about one for each schema and value it is applied to. */
  readonly steps: number;
  /** How deep schemas may nest for one and the same value. */
  readonly depth: number;
}

const STOP = new Error();
const ISSUES = 20;
/** How deep schemas may nest over all values; keeps the stack of every host whole. */
const NESTING = 512;

/** One check of one value. */
export class Evaluation implements Run {
  /** Steps that are left. */
  steps: number;
  /** Only the verdict counts: no issues are gathered, and the first failure ends it. */
  quiet = false;
  scope: Scope | undefined;
  readonly #limits: EvaluationLimits;
  readonly #issues: ValidationIssue[] = [];
  readonly #unchecked: Set<string> = new Set();
  readonly #path: (string | number)[] = [];
  #depth = 0;
  #nesting = 0;

  constructor(limits: EvaluationLimits) {
    this.#limits = limits;
    this.steps = limits.steps;
  }

  /** Does the check; to be called once. */
  run(node: SchemaNode, value: unknown): Validation {
    let verdict: Verdict = UNKNOWN;
    try {
      verdict = this.#apply(node, value);
    } catch (error) {
      if (error instanceof RangeError) this.unknown("the value nests too deep");
      else if (error !== STOP) throw error;
    }
    const issues = this.#issues;
    const rest = verdict !== PASS && this.#unchecked.size ? { unchecked: [...this.#unchecked] } : {};
    return issues.length ? { valid: false, issues, ...rest } : { valid: true, ...rest };
  }

  /** Takes steps from the budget; ends the check when none are left. */
  readonly spend = (steps: number): void => {
    if ((this.steps -= steps) >= 0) return;
    this.unknown(`the check was ended after ${this.#limits.steps} steps`);
    throw STOP;
  };

  /** Applies a schema to the same value. */
  here(node: SchemaNode, value: unknown, marks?: Marks): Verdict {
    this.#depth++;
    const verdict = this.#apply(node, value, marks);
    this.#depth--;
    return verdict;
  }

  /** Applies a schema, to a value inside; `keyword` is named where the schema is `false`. */
  child(node: SchemaNode, value: unknown, key: string | number, keyword: string = ""): Verdict {
    const depth = this.#depth;
    this.#depth = 0;
    this.#path.push(key);
    const verdict = node.always === false ? this.told(keyword, "not be there") : this.#apply(node, value);
    this.#path.pop();
    this.#depth = depth;
    return verdict;
  }

  /** Looks for a pattern in a text. */
  matches({ source, matcher }: PatternRule, text: string): Verdict {
    if (matcher) return matcher.matches(text, this.spend) ? PASS : FAIL;
    return this.unknown(`pattern ${clip(source)} cannot be checked in linear time`);
  }

  /** Notes what cannot be judged. */
  unknown(what: string): Verdict {
    if (this.#unchecked.size < ISSUES) this.#unchecked.add(what);
    return UNKNOWN;
  }

  /** The verdict of a check; what does not fit is noted. */
  told(keyword: string, answer: Verdict | string | true): Verdict {
    if (typeof answer !== "string") return answer === true ? PASS : answer;
    if (this.quiet) return FAIL;
    const path = this.#path.map((key) => "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
    this.#issues.push({ path, keyword, message: "must " + clip(answer, 400) });
    if (this.#issues.length >= ISSUES) throw STOP;
    return FAIL;
  }

  #apply(node: SchemaNode, value: unknown, marks?: Marks): Verdict {
    if ((this.steps -= node.cost) < 0) this.spend(0);
    if (node.always !== undefined) return node.always ? PASS : this.told("false", "not be there");
    if (this.#depth > this.#limits.depth || this.#nesting > NESTING) return this.unknown("schemas nest too deep");
    const { scope } = this;
    this.#nesting++;
    if (scope?.resource !== node.resource) this.scope = { resource: node.resource, outer: scope };
    const verdict = this.#judge(node, value, marks);
    this.scope = scope;
    this.#nesting--;
    return verdict;
  }

  #judge({ types, typeNames, checks, late }: SchemaNode, value: unknown, outer: Marks | undefined): Verdict {
    const type = typeOf(value);
    if (!(types & type)) return this.told("type", "be of the type " + typeNames);
    const marks = late.length ? new Marks() : outer;
    let verdict: Verdict = PASS;
    for (let at = 0; at < checks.length; at++) {
      const { types, check, keyword } = checks[at] as Rule;
      if (types & type) verdict &= this.told(keyword, check(this, value, marks));
      if (!verdict && this.quiet) break;
    }
    if (verdict !== PASS || marks === outer) return verdict;
    for (const { types, check } of late) if (types & type) verdict &= check(this, value, marks) as Verdict;
    outer?.add(marks as Marks);
    return verdict;
  }
}

function typeOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return 1;
    case "number":
      return Number.isInteger(value) ? 4 : 2;
    case "boolean":
      return 8;
    case "object":
      return value === null ? 16 : Array.isArray(value) ? 64 : 32;
  }
  return 256;
}

/**
 * A schema made ready: a list of rules, so that a value only meets what its schema asks for.
 *
 * @module
 */
import type { ValidationIssue } from "../validation.ts";
import type { Budget } from "./budget.ts";
import type { Pattern, PatternBudget } from "./pattern.ts";

/** Checks of `format`, by name. */
export type FormatChecks = Readonly<Record<string, (text: string) => boolean>>;

/** The patterns of one schema: those that were read, false for one that cannot be checked. */
export interface Patterns extends PatternBudget {
  readonly known: Map<string, Pattern | false>;
}

/** How keywords are read. */
export interface Dialect {
  /** 2020, 2019, or 7 for draft-07 and draft-06. */
  readonly year: number;
  /** True for a keyword that is in force. */
  readonly knows: (keyword: string) => boolean;
}

/** A schema with a base URI of its own. */
export interface Resource extends Dialect {
  readonly uri: string;
  /** Its schemas by their anchors, itself by `""`; with "#" before the name: by their dynamic anchors. */
  readonly anchors: Map<string, SchemaNode>;
}

/** Three answers, such that `&` is "both". */
export type Verdict = number;
/** It does not fit. */
export const FAIL = 0;
/** It cannot be judged. */
export const UNKNOWN = 1;
/** It fits. */
export const PASS = 3;

/** What of an object or array a schema has looked at, for the `unevaluated…` keywords: names, places, or `ALL`. */
export type Marks = Set<string | number>;
/** Marks all there is. */
export const ALL = -1;

/** Bits for what holds schemas: one, a list, or an object; besides: it may hold lists of names, it is only looked up. */
export const ONE = 1;
export const LISTED = 2;
export const NAMED = 4;
export const NAMES = 8;
export const UNUSED = 16;

/** Bounds of one check, and what it uses. */
export interface Limits {
  /** How much work: about one for each schema and value it is applied to. */
  readonly steps: number;
  /** How deep schemas may nest for one and the same value. */
  readonly depth: number;
  readonly formats: FormatChecks;
}

/** The check of one value. */
export interface Run extends Budget {
  readonly limits: Limits;
  readonly patterns: Patterns;
  /** Only the verdict counts: no issues are gathered, and the first failure ends it. */
  quiet: boolean;
  /** The resources of the schemas that the check is in, the outermost first; and how many there were when the value at hand was reached. */
  readonly scope: Resource[];
  base: number;
  readonly path: (string | number)[];
  readonly issues: ValidationIssue[];
  readonly unchecked: Set<string>;
}

/**
 * What a keyword says about a value of a type that it looks at. False: it does not fit, and the words of the keyword
 * shall say so.
 */
export type Check = {
  // As a method: each names the type of value that its bits let through, and of the operand that was made ready for it.
  check(
    run: Run,
    value: unknown,
    operand: unknown,
    marks: Marks | undefined,
    node: SchemaNode,
    keyword: string,
  ): Verdict | boolean;
}["check"];

/** A sub-schema by its name, or names instead. */
export interface Named<Part = SchemaNode> {
  readonly name: string;
  readonly part: Part;
}

/** What the keywords of a schema hold, made ready: named are those that others look at. */
export interface Operands {
  [keyword: string]: unknown;
  properties?: Named[];
  patternProperties?: Named[];
  additionalProperties?: SchemaNode;
  items?: SchemaNode | SchemaNode[];
  prefixItems?: SchemaNode[];
  minContains?: number;
  maxContains?: number;
  then?: SchemaNode;
  else?: SchemaNode;
}

/** A keyword in force. */
export interface Rule {
  readonly keyword: string;
  /** The types that it looks at. */
  readonly types: number;
  readonly check: Check;
  readonly operand?: unknown;
  /** What it asks for; after a space comes its operand. */
  readonly words: string;
}

/** One schema. */
export interface SchemaNode {
  /** As it was written. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly resource: Resource;
  /** Allowed types, and what is said of others. */
  types: number;
  words: string;
  readonly rules: Rule[];
  /** What its keywords hold, made ready. */
  readonly operands: Operands;
}

/** The value of an own key. */
export function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Ends the reading of a schema. */
export function refuse(before: string, name: unknown, after: string = ""): never {
  throw new TypeError(`Cannot use the schema: ${before}${JSON.stringify(name)}${after}`);
}

/**
 * A schema made ready: a list of checks, so that a value only meets what its schema asks for.
 *
 * @module
 */
import type { Pattern } from "./pattern.ts";

/** Bits for the type of a value; an integer has its own, `number` is both. */
export const TYPES: Readonly<Record<string, number>> = {
  string: 1,
  number: 6,
  integer: 4,
  boolean: 8,
  null: 16,
  object: 32,
  array: 64,
};

/** All types. */
export const ANY = -1;

/** Keywords that hold a schema or a list of schemas. */
export const HOLDERS: RegExp =
  /^(?:i(?:tems|f)|additional.*|cont.*|prop.*Names|uneval.*|not|then|else|prefixItems|(?:all|any|one)Of)$/;

/** Keywords that hold schemas by name. */
export const NAMED: RegExp = /^(?:properties|patternProperties|depend.*(?:s|ies)|\$defs|definitions)$/;

/** The value of an own key. */
export function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A schema with a base URI of its own. */
export interface Resource {
  readonly uri: string;
  readonly root: unknown;
  readonly dialect: Dialect;
  readonly anchors: Map<string, Record<string, unknown>>;
  readonly dynamic: Map<string, SchemaNode>;
}

/** How keywords are read. */
export interface Dialect {
  /** 2020, 2019, or 7 for draft-07 and draft-06. */
  readonly year: number;
  /** True for a keyword that is in force. */
  readonly knows: (keyword: string) => boolean;
}

/** A pattern; without `matcher` it cannot be checked. */
export interface PatternRule {
  readonly source: string;
  readonly matcher: Pattern | undefined;
}

/** Three answers, such that `&` is "both". */
export type Verdict = number;
/** It does not fit. */
export const FAIL = 0;
/** It cannot be judged. */
export const UNKNOWN = 1;
/** It fits. */
export const PASS = 3;

/** What of an object or array a schema has looked at: for the `unevaluated…` keywords. */
export class Marks {
  /** Names of properties, or places in an array. */
  readonly seen: Set<string | number> = new Set();
  /** So many items at the start of an array. */
  items = 0;

  /** Takes over what another has seen. */
  add(other: Marks): void {
    for (const key of other.seen) this.seen.add(key);
    this.items = Math.max(this.items, other.items);
  }
}

/** The resources that the check is in, the innermost first. */
export interface Scope {
  readonly resource: Resource;
  readonly outer: Scope | undefined;
}

/** The check of one value, as keywords see it. */
export interface Run {
  /** Only the verdict counts: no issues are gathered, and the first failure ends it. */
  quiet: boolean;
  readonly scope: Scope | undefined;
  /** Takes steps from the budget; ends the check when none are left. */
  readonly spend: (steps: number) => void;
  /** Applies a schema to the same value. */
  here(node: SchemaNode, value: unknown, marks?: Marks): Verdict;
  /** Applies a schema to a value inside; `keyword` is named where the schema is `false`. */
  child(node: SchemaNode, value: unknown, key: string | number, keyword?: string): Verdict;
  /** Looks for a pattern in a text. */
  matches(rule: PatternRule, text: string): Verdict;
  /** Notes what cannot be judged. */
  unknown(what: string): Verdict;
  /** The verdict of a check; what does not fit is noted. */
  told(keyword: string, answer: Verdict | string | true): Verdict;
}

/** What one keyword says about a value of a type that it looks at; a text or `true` instead of a verdict: what the value must, or that it does. */
// deno-lint-ignore no-explicit-any
export type Check = (run: Run, value: any, marks: Marks | undefined) => Verdict | string | true;

/** The check of a keyword, and the types that it looks at. */
export interface Rule {
  readonly keyword: string;
  readonly types: number;
  readonly check: Check;
}

/** One schema. */
export class SchemaNode {
  readonly resource: Resource;
  /** Set for `true` and `false`. */
  readonly always: boolean | undefined;
  /** Steps that it costs each time. */
  cost = 1;
  /** Allowed types. */
  types: number = ANY;
  typeNames = "";
  /** What its keywords check, and for values of which types. */
  readonly checks: Rule[] = [];
  /** What is checked last: the `unevaluated…` keywords. */
  readonly late: Rule[] = [];

  constructor(resource: Resource, always?: boolean) {
    this.resource = resource;
    this.always = always;
  }
}

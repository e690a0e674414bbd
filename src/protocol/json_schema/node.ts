/**
 * A schema made ready: a list of checks, so that a value only meets what its schema asks for.
 *
 * @module
 */
import type { Evaluation, Marks, Verdict } from "./evaluate.ts";
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

/** What one keyword says about a value of a type that it looks at; a text or `true` instead of a verdict: what the value must, or that it does. */
// deno-lint-ignore no-explicit-any
export type Check = (run: Evaluation, value: any, marks: Marks | undefined) => Verdict | string | true;

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

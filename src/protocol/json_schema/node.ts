/**
 * A schema made ready: one flat record, so that a check only looks at what is there.
 *
 * @module
 */
import type { ValueSet } from "./equality.ts";
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

/** The bit for keywords that look at values of all types. */
export const ANY = 128;

/** Keywords that hold a schema; 128 stands for `ANY`. */
export const SCHEMAS = {
  items: 64,
  additionalItems: 64,
  contains: 64,
  propertyNames: 32,
  additionalProperties: 32,
  unevaluatedItems: 0,
  unevaluatedProperties: 0,
  not: 128,
  if: 128,
  then: 128,
  else: 128,
} as const;

/** Keywords that hold a list of schemas. */
export const LISTS = { prefixItems: 64, allOf: 128, anyOf: 128, oneOf: 128 } as const;

/** Keywords that hold schemas by name. */
export const NAMED = { properties: 32, patternProperties: 32, dependentSchemas: 32 } as const;

/** The value of an own key. */
export function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** True for a key of a table. */
export function isKey<Table extends object>(table: Table, key: string): key is Extract<keyof Table, string> {
  return Object.hasOwn(table, key);
}

/** Keywords that hold a number; `NaN` where one is missing, so that no comparison with it holds. */
export class Limits {
  readonly minimum: number = NaN;
  readonly maximum: number = NaN;
  readonly exclusiveMinimum: number = NaN;
  readonly exclusiveMaximum: number = NaN;
  readonly multipleOf: number = NaN;
  readonly minLength: number = NaN;
  readonly maxLength: number = NaN;
  readonly minItems: number = NaN;
  readonly maxItems: number = NaN;
  readonly minContains: number = NaN;
  readonly maxContains: number = NaN;
  readonly minProperties: number = NaN;
  readonly maxProperties: number = NaN;
}

/** No limits at all. */
export const UNLIMITED: Limits = new Limits();

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

/** Check of a format, and its name. */
export interface FormatRule {
  readonly name: string;
  readonly check: (text: string) => boolean;
}

const NONE: readonly never[] = Object.freeze<never[]>([]);

/** One schema. Fields with a keyword's name hold what it says. */
export class SchemaNode {
  readonly resource: Resource;
  /** Set for `true` and `false`. */
  readonly always: boolean | undefined;
  /** Keywords that were not understood. */
  malformed: readonly string[] = NONE;
  /** Steps that its lists cost each time. */
  cost = 1;
  /** Allowed types; 0: all. */
  types = 0;
  typeNames = "";
  /** Types of values that its other keywords look at. */
  rules = 0;
  limits: Limits = UNLIMITED;
  const: ValueSet | undefined = undefined;
  enum: ValueSet | undefined = undefined;

  pattern: PatternRule | undefined = undefined;
  format: FormatRule | undefined = undefined;

  uniqueItems = false;
  prefixItems: readonly SchemaNode[] = NONE;
  items: SchemaNode | undefined = undefined;
  additionalItems: SchemaNode | undefined = undefined;
  contains: SchemaNode | undefined = undefined;
  unevaluatedItems: SchemaNode | undefined = undefined;

  required: readonly string[] = NONE;
  properties: ReadonlyMap<string, SchemaNode> | undefined = undefined;
  /** The same as a list. */
  entries: readonly (readonly [string, SchemaNode])[] = NONE;
  patterns: readonly (readonly [PatternRule, SchemaNode])[] = NONE;
  additionalProperties: SchemaNode | undefined = undefined;
  propertyNames: SchemaNode | undefined = undefined;
  dependentRequired: readonly (readonly [string, readonly string[]])[] = NONE;
  dependentSchemas: readonly (readonly [string, SchemaNode])[] = NONE;
  unevaluatedProperties: SchemaNode | undefined = undefined;
  /** Whether each key of an object has to be looked at. */
  walk = false;

  /** What `$ref` and a `$dynamicRef` that is not dynamic refer to. */
  refs: readonly SchemaNode[] = NONE;
  dynamic: { readonly name: string; readonly target: SchemaNode } | undefined = undefined;
  allOf: readonly SchemaNode[] = NONE;
  anyOf: readonly SchemaNode[] | undefined = undefined;
  oneOf: readonly SchemaNode[] | undefined = undefined;
  not: SchemaNode | undefined = undefined;
  if: SchemaNode | undefined = undefined;
  then: SchemaNode | undefined = undefined;
  else: SchemaNode | undefined = undefined;

  constructor(resource: Resource, always?: boolean) {
    this.resource = resource;
    this.always = always;
  }
}

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

/** Keywords that hold a number, by the bits of the types that they look at. */
export const NUMBERS = [
  [6, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
  [1, ["minLength", "maxLength"]],
  [64, ["minItems", "maxItems", "minContains", "maxContains"]],
  [32, ["minProperties", "maxProperties"]],
] as const;

/** Keywords that hold a schema; 128 stands for `ANY`. */
export const SCHEMAS = [
  [64, ["items", "contains"]],
  [32, ["propertyNames", "additionalProperties"]],
  [128, ["not", "if", "then", "else"]],
  [0, ["unevaluatedItems", "unevaluatedProperties"]],
] as const;

/** Keywords that hold a list of schemas. */
export const LISTS = [[64, ["prefixItems"]], [128, ["allOf", "anyOf", "oneOf"]]] as const;

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

/** One schema. Fields with a keyword's name hold what it says: a number is `NaN` where the keyword is missing. */
export class SchemaNode {
  readonly resource: Resource;
  /** Set for `true` and `false`. */
  readonly always: boolean | undefined;
  /** Keywords that were not understood. */
  readonly malformed: string[] = [];
  /** Steps that its lists cost each time. */
  cost = 1;
  /** Allowed types; 0: all. */
  types = 0;
  /** Types of values that its other keywords look at. */
  rules = 0;

  declare const: ValueSet | undefined;
  declare enum: ValueSet | undefined;

  declare minimum: number;
  declare maximum: number;
  declare exclusiveMinimum: number;
  declare exclusiveMaximum: number;
  declare multipleOf: number;

  declare minLength: number;
  declare maxLength: number;
  declare pattern: PatternRule | undefined;
  declare format: FormatRule | undefined;

  declare minItems: number;
  declare maxItems: number;
  declare minContains: number;
  declare maxContains: number;
  declare uniqueItems: boolean;
  declare prefixItems: readonly SchemaNode[] | undefined;
  declare items: SchemaNode | undefined;
  declare contains: SchemaNode | undefined;
  declare unevaluatedItems: SchemaNode | undefined;

  declare minProperties: number;
  declare maxProperties: number;
  declare required: readonly string[];
  declare properties: ReadonlyMap<string, SchemaNode>;
  /** The same as a list. */
  declare entries: readonly (readonly [string, SchemaNode])[];
  declare patterns: readonly (readonly [PatternRule, SchemaNode])[];
  declare additionalProperties: SchemaNode | undefined;
  declare propertyNames: SchemaNode | undefined;
  declare dependentRequired: readonly (readonly [string, readonly string[]])[];
  declare dependentSchemas: readonly (readonly [string, SchemaNode])[];
  declare unevaluatedProperties: SchemaNode | undefined;
  /** Whether each key of an object has to be looked at. */
  declare walk: boolean;

  /** What `$ref` and a `$dynamicRef` that is not dynamic refer to. */
  declare refs: readonly SchemaNode[];
  declare dynamic: { readonly name: string; readonly target: SchemaNode } | undefined;
  declare allOf: readonly SchemaNode[] | undefined;
  declare anyOf: readonly SchemaNode[] | undefined;
  declare oneOf: readonly SchemaNode[] | undefined;
  declare not: SchemaNode | undefined;
  declare if: SchemaNode | undefined;
  declare then: SchemaNode | undefined;
  declare else: SchemaNode | undefined;

  constructor(resource: Resource, always?: boolean) {
    this.resource = resource;
    this.always = always;
  }
}

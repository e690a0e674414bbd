/**
 * The validator that this library brings along: an interpreter, for hosts without `eval`.
 *
 * @module
 */
import type { JsonSchema } from "../types.ts";
import type { SchemaValidator } from "../validation.ts";
import { STATES } from "./budget.ts";
import { Compiler } from "./compile.ts";
import { type DialectName, type FindDialect, findStandard } from "./dialect.ts";
import { evaluate } from "./evaluate.ts";
import type { FormatChecks, Patterns } from "./node.ts";
import { findAmong } from "./supplied.ts";

const DEFAULTS = {
  schemas: {},
  formats: {},
  subschemas: 2_000,
  bytes: 262_144,
  steps: 100_000,
  depth: 32,
};

/** How schemas are read, and how much work they may make. */
export interface SchemaValidatorOptions {
  /** Schemas that others may refer to or name as their metaschema, by absolute URI. Nothing is ever fetched. */
  schemas?: Readonly<Record<string, JsonSchema>>;
  /** Further values of `$schema`, and which dialect each stands for. */
  dialects?: Readonly<Record<string, DialectName>>;
  /** Makes `format` decide, by these checks (see `formatChecks`). Without them it is a mere note. */
  formats?: FormatChecks;
  /** Work that one check may take: about one step for each schema and value it is applied to (100,000). */
  steps?: number;
  /** How deep schemas may nest for one and the same value (32). */
  depth?: number;
  /** How many sub-schemas a schema may have (2,000). */
  subschemas?: number;
  /** How large a schema may be, as JSON (262,144). */
  bytes?: number;
}

/**
 * Makes a validator for JSON Schema 2020-12 (the default), 2019-09, draft-07 and draft-06 (specification 2026-07-28:
 * basic, section JSON Schema Usage).
 *
 * It never runs code made from a schema, never fetches, and always ends. What it cannot judge is named in `unchecked`:
 * `valid: true` without it is a proof.
 *
 * @param options Supplied schemas and limits.
 * @returns A function that makes a schema ready. It throws a TypeError when the schema cannot be used.
 *
 * @example Checking a value
 * ```ts
 * import { createSchemaValidator } from "@causeway/mcp/protocol";
 *
 * const check = createSchemaValidator()({ type: "object", required: ["name"] });
 * console.assert(check({ name: "Ada" }).valid);
 * console.assert(!check({}).valid);
 * ```
 */
export function createSchemaValidator(options: SchemaValidatorOptions = {}): SchemaValidator {
  return validatorWith(findAmong({ ...DEFAULTS, dialects: {}, ...options }), options);
}

/** Makes the same for schemas to which nothing is supplied: it does not carry what reads metaschemas. */
export function createPlainValidator(): SchemaValidator {
  return validatorWith(findStandard);
}

function validatorWith(findDialect: FindDialect, options?: SchemaValidatorOptions): SchemaValidator {
  const settings = { ...DEFAULTS, ...options, findDialect };
  return (schema) => {
    const root = new Compiler(settings).compile(schema);
    const patterns: Patterns = { states: STATES, classes: new Map(), known: new Map() };
    return (value) => evaluate(root, value, settings, patterns);
  };
}

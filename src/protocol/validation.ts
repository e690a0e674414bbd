/**
 * The seam between the client and whatever checks values against JSON Schemas.
 *
 * @module
 */
import type { JsonSchema } from "./types.ts";

/** One place where a value does not fit. */
export interface ValidationIssue {
  /** Where in the value: a JSON Pointer, `""` for the whole. */
  path: string;
  /** Which keyword of the schema it breaks. */
  keyword: string;
  /** What was expected, in one sentence without the value itself. */
  message: string;
}

/**
 * What a check says. `unchecked` names what could not be judged (a pattern that is not linear, a budget that ran out, an
 * unknown dialect); such a value is neither right nor wrong.
 */
export type Validation =
  | { readonly valid: true; readonly unchecked?: readonly string[] }
  | { readonly valid: false; readonly issues: readonly ValidationIssue[]; readonly unchecked?: readonly string[] };

/** A schema made ready. Never throws, never fetches, always ends. */
export type ValidateFunction = (value: unknown) => Validation;

/**
 * Makes a schema ready.
 *
 * @throws {TypeError} When the schema cannot be used at all: an external `$ref` that nobody supplied, no JSON Schema, too large.
 */
export type SchemaValidator = (schema: JsonSchema) => ValidateFunction;

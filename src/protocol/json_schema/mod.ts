/**
 * JSON Schema without `eval` and without surprises.
 *
 * @module
 */
export { createSchemaValidator, type SchemaValidatorOptions } from "./validator.ts";
export type { FormatChecks } from "./compile.ts";
export type { DialectName } from "./dialect.ts";
export { formatChecks } from "./formats.ts";

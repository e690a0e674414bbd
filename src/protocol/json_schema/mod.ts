/**
 * JSON Schema without `eval` and without surprises.
 *
 * @module
 */
export { createSchemaValidator, type SchemaValidatorOptions } from "./validator.ts";
export type { DialectName, FormatChecks } from "./dialect.ts";
export { formatChecks } from "./formats.ts";

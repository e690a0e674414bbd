/**
 * JSON Schema without `eval` and without surprises.
 *
 * @module
 */
export { createPlainValidator, createSchemaValidator, type SchemaValidatorOptions } from "./validator.ts";
export type { DialectName } from "./dialect.ts";
export type { FormatChecks } from "./node.ts";
export { formatChecks } from "./formats.ts";

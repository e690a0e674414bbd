/**
 * What is said: types, errors, limits, codecs and the JSON Schema interpreter. Pure data and functions.
 *
 * @module
 */
export { createSchemaValidator } from "./json_schema/mod.ts";
export type { DialectName, FormatChecks, SchemaValidatorOptions } from "./json_schema/mod.ts";
export type { SchemaValidator, ValidateFunction, Validation, ValidationIssue } from "./validation.ts";
export type * from "./types.ts";
export * from "./errors.ts";
export type { ConstantItem, ConstantJson } from "./json_rpc.ts";
export type { JsonRpcError, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from "./json_rpc.ts";
export { defaultLimits, defaultTimeouts, workersLimits } from "./limits.ts";
export type { Limits, Timeouts } from "./limits.ts";
export { legacyRevisions, modernRevisions } from "./revisions.ts";
export type { Era, Revision } from "./revisions.ts";
export { decodeHeaderValue, encodeHeaderValue } from "./headers.ts";
export { expandUriTemplate, matchUriTemplate } from "./uri_template.ts";
export type { TemplateScalar, TemplateValue } from "./uri_template.ts";

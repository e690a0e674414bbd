/**
 * The library's own interpreter, as a server needs it: an isolate that starts reads no schema before a value comes.
 *
 * @module
 */
import { createPlainValidator } from "../../protocol/json_schema/mod.ts";
import type { SchemaValidator, ValidateFunction } from "../../protocol/validation.ts";

/**
 * Makes a validator that reads a schema when a first value is held against it, where reading cannot fail any more: the
 * schema has no fault (`findSchemaFault`), no reference, no dialect of its own, and is short. All others are read at once.
 */
export function createLateValidator(): SchemaValidator {
  // Characters of JSON: a schema that has no more cannot have too many parts.
  const long = 4_096;
  let validator: SchemaValidator | undefined;
  return (schema) => {
    const read = (): ValidateFunction => (validator ??= createPlainValidator())(schema);
    const text = JSON.stringify(schema);
    if (text.length > long || text.includes('"$')) return read();
    let validate: ValidateFunction | undefined;
    return (value) => (validate ??= read())(value);
  };
}

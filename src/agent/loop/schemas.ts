/**
 * The schemas that a program gives an agent: JSON Schemas, or those of a library that tells the JSON Schema of its own.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { isStandard, listedStandard, type SchemaRole } from "../../server/catalog/schemas.ts";
import type { AnySchema } from "../../server/definitions.ts";

/**
 * A schema as the JSON Schema that models and checks are given.
 *
 * @param what Whose schema it is, for the message: `the tool "add"`.
 * @throws {TypeError} When its library tells no JSON Schema of it.
 */
export function toJsonSchema(what: string, role: SchemaRole, schema: AnySchema): JsonObject {
  if (!isStandard(schema)) return schema as JsonObject;
  const listed = listedStandard(what, role, schema);
  if (listed) return { type: "object", ...listed };
  throw new TypeError(
    `Cannot set up ${what}: the library of its ${role} tells no JSON Schema of it, give one in its place`,
  );
}

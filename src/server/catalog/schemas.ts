/**
 * The schemas of an author, made ready: how each is listed, and how values are held against it.
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import { annotation, readHeaderRules } from "../../protocol/headers.ts";
import { isObject, type JsonObject } from "../../protocol/json_rpc.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";
import type { AnySchema, StandardIssue, StandardSchema } from "../definitions.ts";
import { refuse } from "./checks.ts";
import { writeJson } from "./json.ts";
import { findSchemaFault, isPlain } from "./schema_faults.ts";
import { after } from "../../protocol/promise.ts";

/** What a check says: the value as the schema lets it through, or what does not fit, a line each. */
export type Checking = { readonly value: unknown; readonly problems?: undefined } | {
  readonly problems: readonly string[];
  /** Nothing is known to be wrong, but not all could be judged. */
  readonly isOpen?: boolean;
};

/** A schema made ready. */
export interface ReadySchema {
  /** How it is listed; undefined when its library does not tell. */
  readonly listed: JsonObject | undefined;
  /** Holds a value against it. */
  check(value: unknown): Checking | Promise<Checking>;
}

/** Which of a tool's two schemas it is. */
export type SchemaRole = "input" | "output";

/** What a tool without arguments takes (specification 2026-07-28: tools, Tool). */
const nothing: JsonObject = { type: "object", additionalProperties: false };

/**
 * Makes the schema of a tool's arguments ready; without one the tool takes none.
 *
 * @param what Which tool it is, for messages.
 * @throws {TypeError} When it cannot be used, is not about an object, or its `x-mcp-header` annotations break the rules.
 */
export function readyInput(
  what: string,
  schema: AnySchema | undefined,
  validator: SchemaValidator,
): ReadySchema & { readonly listed: JsonObject } {
  const ready = readySchema(what, "input", schema === undefined ? nothing : schema, validator);
  const isForeign = schema !== undefined && isStandard(schema);
  const listed: JsonObject = isForeign ? { type: "object", ...ready.listed } : ready.listed ?? {};
  if (listed.type !== "object") refuse(what, "input.type", listed.type, '"object"');
  const invalid = JSON.stringify(listed).includes(annotation) && readHeaderRules(listed).invalid;
  if (invalid) {
    throw new TypeError(`Cannot set up ${what}: its input has an annotation that cannot be used, ${invalid}`);
  }
  // No arguments where none are taken: nothing to be looked at.
  const isFree = (value: unknown) => !schema && isObject(value) && Object.keys(value).length === 0;
  return { listed, check: (value) => isFree(value) ? { value } : ready.check(value) };
}

/**
 * Makes the schema of a tool's structured result ready.
 *
 * @param what Which tool it is, for messages.
 * @throws {TypeError} When it cannot be used.
 */
export function readyOutput(
  what: string,
  schema: AnySchema,
  validator: SchemaValidator,
): ReadySchema {
  return readySchema(what, "output", schema, validator);
}

function readySchema(what: string, role: SchemaRole, schema: AnySchema, validator: SchemaValidator): ReadySchema {
  if (isStandard(schema)) {
    return { listed: listedStandard(what, role, schema), check: (value) => checkStandard(schema, value) };
  }
  const listed = copyOf(what, role, schema);
  const fault = isPlain(listed) ? undefined : findSchemaFault(listed, validator);
  if (fault) refuse(what, role + fault.path, fault.value, fault.expected);
  try {
    const validate = validator(listed);
    return { listed, check: (value) => judge(validate(value), value) };
  } catch (error) {
    throw new TypeError(`Cannot set up ${what}: its ${role} is no usable schema, ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Whether it is a schema of a library that speaks Standard Schema. */
export function isStandard(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false;
  const standard = (schema as Partial<StandardSchema>)["~standard"];
  return isObject(standard) && typeof standard.validate === "function";
}

/** What the schema's own library says it is as JSON Schema. */
export function listedStandard(what: string, role: SchemaRole, schema: StandardSchema): JsonObject | undefined {
  const { jsonSchema } = schema["~standard"];
  if (typeof jsonSchema?.[role] !== "function") return undefined;
  let made: unknown;
  try {
    made = jsonSchema[role]({ target: "draft-2020-12" });
  } catch (error) {
    throw new TypeError(`Cannot set up ${what}: its ${role} gives no JSON Schema, ${messageOf(error)}`, {
      cause: error,
    });
  }
  return copyOf(what, role, made);
}

/** A copy that nobody else can change. */
function copyOf(what: string, role: SchemaRole, schema: unknown): JsonObject {
  const written = isObject(schema) ? writeJson(schema) : "";
  if (!written) return refuse(what, role, schema, "a JSON Schema object or a Standard Schema");
  if (typeof written === "string") throw new TypeError(`Cannot set up ${what}: its ${role} is no JSON, ${written}`);
  return JSON.parse(written.text);
}

function judge(verdict: ReturnType<ReturnType<SchemaValidator>>, value: unknown): Checking {
  if (!verdict.valid) return { problems: verdict.issues.map(({ path, message }) => line(path, message)) };
  // What could not be judged has not been checked: it must not pass for right.
  return verdict.unchecked?.length ? { problems: verdict.unchecked, isOpen: true } : { value };
}

/** Holds a value against the schema of a library. */
export function checkStandard(schema: StandardSchema, value: unknown): Checking | Promise<Checking> {
  return after(schema["~standard"].validate(value), readVerdict);
}

function readVerdict(verdict: { issues?: readonly StandardIssue[] | undefined; value?: unknown }): Checking {
  if (!verdict.issues) return { value: verdict.value };
  return { problems: verdict.issues.slice(0, 20).map(({ path, message }) => line(pointer(path), message)) };
}

/** A path as a JSON Pointer. */
function pointer(path: StandardIssue["path"] = []): string {
  return path.map((step) => {
    const key = typeof step === "object" ? step.key : step;
    return "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1");
  }).join("");
}

function line(path: string, message: string): string {
  return excerpt(path ? `"${path}" ${message}` : message, 500);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The fields of a form, from a JSON Schema. What no field can show is a field for JSON.
 *
 * @module
 */
import { asSeen } from "../../../../agent/loop/calls/look_alikes.ts";
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../../protocol/json_rpc.ts";

/** How deep a form goes before it turns to JSON, and how many fields it has. */
const deepest = 4;
const mostFields = 400;
const mostChoices = 500;

/** A value to choose, and what it is called. */
export interface Choice {
  readonly value: JsonValue;
  readonly label: string;
}

/** One field of a form. */
export interface Field {
  /** Its key in the object; empty for an item of a list. */
  readonly name: string;
  readonly kind: "text" | "number" | "switch" | "choice" | "choices" | "group" | "list" | "json";
  /** What it is called for people, where the schema says so. */
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** Whether `null` is a value too. */
  readonly isNullable: boolean;
  /** What it holds at first. */
  readonly start: JsonValue | undefined;
  /** What is expected, in a few words. */
  readonly hint: string;
  /** `text`: how it looks (`email`, `uri`, `date`, …). */
  readonly format: string | undefined;
  /** `text`: whether it is likely to have several lines. */
  readonly isLong: boolean;
  /** `number`: whether it is a whole one. */
  readonly isInteger: boolean;
  /** `choice` and `choices`. */
  readonly choices: readonly Choice[];
  /** `group`. */
  readonly fields: readonly Field[];
  /** `list`. */
  readonly item: Field | undefined;
}

interface Reading {
  readonly root: JsonObject;
  left: number;
}

/** The fields of a schema of an object; undefined where JSON alone fits it. */
export function fieldsOf(schema: JsonValue | undefined): readonly Field[] | undefined {
  if (!isObject(schema)) return undefined;
  const reading = { root: schema, left: mostFields };
  const resolved = resolve(schema, reading);
  if (hasBranches(resolved)) return undefined;
  const fields = groupOf(resolved, 0, reading);
  return reading.left < 0 ? undefined : fields;
}

/** Whether a form may not ask for this: what the specification keeps out of forms, by its name, title or format. */
export function isSecret(name: string, schema: unknown): boolean {
  const { title, description, format, writeOnly } = isObject(schema) ? schema : {};
  if (format === "password" || writeOnly === true) return true;
  const words = [name, title].filter((text) => typeof text === "string").join(" ")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2").normalize("NFKD").replace(/[\p{M}\p{Cf}]/gu, "").replace(/[\s_.-]+/g, " ");
  const secret =
    /pass ?(word|phrase|wd|code)|passwort|contrase|mot de passe|\bsecrets?\b|credential|\bapi ?key|\b(access|auth|bearer|refresh|session|api|id) ?tokens?\b|\btoken\b|private ?key|\bpin\b|\botp\b|one time code|2fa|mfa|\bcv[cv]2?\b|security code|card ?number|credit ?card|\bssn\b|seed ?phrase|\biban\b/;
  return secret.test(asSeen(words)) ||
    (typeof description === "string" && /\b(your|the) (password|passphrase|pin)\b/i.test(description));
}

function groupOf(schema: JsonObject, depth: number, reading: Reading): readonly Field[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: Field[] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (reading.left-- < 0) break;
    fields.push(fieldOf(name, property, { isRequired: required.includes(name), depth, reading }));
  }
  // What is needed comes first; else the order is the schema's.
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

function fieldOf(
  name: string,
  given: JsonValue | undefined,
  { isRequired, depth, reading }: { readonly isRequired: boolean; readonly depth: number; readonly reading: Reading },
): Field {
  const { schema, isNullable } = withoutNull(resolve(isObject(given) ? given : {}, reading), reading);
  const own = isObject(given) ? given : {};
  const text = (key: string): string | undefined => {
    const value = own[key] ?? schema[key];
    return typeof value === "string" ? value : undefined;
  };
  const shared: Omit<Field, "kind"> = {
    name,
    title: text("title"),
    description: text("description"),
    isRequired,
    isNullable,
    start: own.default ?? schema.default,
    hint: hintOf(schema),
    format: text("format"),
    isLong: false,
    isInteger: false,
    choices: [],
    fields: [],
    item: undefined,
  };
  const choices = choicesOf(schema);
  if (choices) return { ...shared, kind: "choice", choices };
  if (depth >= deepest || hasBranches(schema)) return { ...shared, kind: "json" };
  return { ...shared, ...shapeOf(schema, depth, reading) };
}

function shapeOf(schema: JsonObject, depth: number, reading: Reading): Pick<Field, "kind"> & Partial<Field> {
  switch (typeOf(schema)) {
    case "string": {
      const most = typeof schema.maxLength === "number" ? schema.maxLength : Infinity;
      const isText = schema.format === undefined && schema.pattern === undefined;
      const hasManyLines = isText && most > 200 &&
        /text|content|body|message|prompt|query|code|markdown|description/i.test(String(schema.description ?? ""));
      return { kind: "text", isLong: hasManyLines };
    }
    case "number":
      return { kind: "number" };
    case "integer":
      return { kind: "number", isInteger: true };
    case "boolean":
      return { kind: "switch" };
    case "array": {
      const items = resolve(isObject(schema.items) ? schema.items : {}, reading);
      const many = choicesOf(items) ?? choicesOf({ oneOf: items.anyOf });
      if (many) return { kind: "choices", choices: many };
      if (!isObject(schema.items) || Array.isArray(schema.prefixItems)) return { kind: "json" };
      const item = fieldOf("", schema.items, { isRequired: true, depth: depth + 1, reading });
      return item.kind === "json" ? { kind: "json" } : { kind: "list", item };
    }
    case "object":
      if (!isObject(schema.properties) || Object.keys(schema.properties).length === 0) return { kind: "json" };
      return { kind: "group", fields: groupOf(schema, depth + 1, reading) };
    default:
      return { kind: "json" };
  }
}

/** Follows references within the schema, a few steps far; others are left, and become JSON. */
function resolve(schema: JsonObject, { root }: Reading): JsonObject {
  let found = schema;
  for (let steps = 0; steps < 8 && typeof found.$ref === "string"; steps++) {
    const { $ref, ...beside } = found;
    let place: JsonValue | undefined = $ref.startsWith("#") ? root : undefined;
    for (const part of $ref.slice(1).split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
    }
    if (!isObject(place)) return {};
    found = { ...place, ...beside };
  }
  return typeof found.$ref === "string" ? {} : found;
}

/** The schema without the `null` that it allows beside another type. */
function withoutNull(
  schema: JsonObject,
  reading: Reading,
): { readonly schema: JsonObject; readonly isNullable: boolean } {
  const { type } = schema;
  if (Array.isArray(type) && type.includes("null") && type.length === 2) {
    return { schema: { ...schema, type: type.find((one) => one !== "null") }, isNullable: true };
  }
  for (const key of ["anyOf", "oneOf"] as const) {
    const branches = schema[key];
    if (!Array.isArray(branches) || branches.length !== 2) continue;
    const [other, ...more] = branches.filter((branch) => !(isObject(branch) && branch.type === "null"));
    if (!isObject(other) || more.length) continue;
    const { [key]: _, ...rest } = schema;
    return { schema: { ...rest, ...resolve(other, reading) }, isNullable: true };
  }
  return { schema, isNullable: false };
}

function choicesOf(schema: JsonObject): readonly Choice[] | undefined {
  const { enum: values, enumNames: names, oneOf } = schema;
  if (Array.isArray(values) && values.length > 0 && values.length <= mostChoices) {
    const named = Array.isArray(names) ? names : [];
    return values.map((value, at) => ({ value: value ?? null, label: labelOf(value ?? null, named[at]) }));
  }
  if (schema.const !== undefined) return [{ value: schema.const, label: labelOf(schema.const, schema.title) }];
  if (!Array.isArray(oneOf) || oneOf.length === 0 || oneOf.length > mostChoices) return undefined;
  const choices: Choice[] = [];
  for (const one of oneOf) {
    if (!isObject(one) || one.const === undefined) return undefined;
    choices.push({ value: one.const, label: labelOf(one.const, one.title) });
  }
  return choices;
}

function labelOf(value: JsonValue, name: unknown): string {
  if (typeof name === "string" && name !== "") return name;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function hasBranches(schema: JsonObject): boolean {
  return ["anyOf", "oneOf", "allOf", "if", "not", "$dynamicRef", "dependentSchemas"].some((key) =>
    schema[key] !== undefined
  );
}

function typeOf({ type, properties }: JsonObject): unknown {
  return type ?? (isObject(properties) ? "object" : undefined);
}

function hintOf(schema: JsonObject): string {
  const { minimum, maximum, minLength, maxLength, pattern, format } = schema;
  const hints: string[] = [];
  if (typeof minimum === "number" && typeof maximum === "number") hints.push(`${minimum} to ${maximum}`);
  else if (typeof minimum === "number") hints.push(`${minimum} or more`);
  else if (typeof maximum === "number") hints.push(`at most ${maximum}`);
  if (typeof maxLength === "number") hints.push(`at most ${maxLength} characters`);
  else if (typeof minLength === "number" && minLength > 1) hints.push(`at least ${minLength} characters`);
  if (typeof format === "string") hints.push(format);
  if (typeof pattern === "string") hints.push(`as ${pattern.slice(0, 80)}`);
  return hints.join(", ");
}

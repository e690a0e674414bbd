/**
 * What is written in a field, as JSON, and back.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonValue } from "../../../../protocol/json_rpc.ts";
import type { Field } from "./fields.ts";

/** What was read of a field: its value (undefined: it is left out), or what is wrong with what stands there. */
export interface ReadValue {
  readonly value?: JsonValue | undefined;
  readonly problem?: string | undefined;
}

/** Reads the text of a field of one line, a number or JSON. */
export function readField(
  field: Pick<Field, "kind" | "isRequired" | "isInteger" | "isNullable">,
  text: string,
): ReadValue {
  if (field.kind === "text") {
    return text === "" ? absent(field) : { value: text };
  }
  const trimmed = text.trim();
  if (trimmed === "") return absent(field);
  if (field.kind === "number") {
    // To one reader it parts thousands, to another a fraction.
    if (/^[+-]?[1-9]\d{0,2}(,\d{3})+$/.test(trimmed)) return { problem: "Write it without a comma: 1500, or 1.5." };
    const number = Number(trimmed.replace(",", "."));
    if (!Number.isFinite(number)) return { problem: "Expected a number." };
    if (field.isInteger && !Number.isInteger(number)) return { problem: "Expected a whole number." };
    if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
      return { problem: "This number is too large to be exact." };
    }
    return { value: number };
  }
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return { problem: `Expected JSON, such as "text", 1, true, [1, 2] or {"key": 1}.` };
  }
}

/** The text that stands for a value; undefined where the field cannot show it. */
export function writeField(field: Pick<Field, "kind">, value: JsonValue | undefined): string | undefined {
  if (value === undefined) return "";
  if (field.kind === "text") return typeof value === "string" ? value : undefined;
  if (field.kind === "number") return typeof value === "number" ? String(value) : undefined;
  return JSON.stringify(value, undefined, 2);
}

/** Whether two values of JSON are the same. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => isSame(item, right[at]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]));
}

function absent({ isRequired, isNullable }: Pick<Field, "isRequired" | "isNullable">): ReadValue {
  if (!isRequired) return {};
  return isNullable ? { value: null } : { problem: "This is needed." };
}

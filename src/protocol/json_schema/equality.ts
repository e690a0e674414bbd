/**
 * Equality and arithmetic as JSON Schema means them.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import { type Budget, DEPTH, spend } from "./budget.ts";

/**
 * What is the same for equal JSON values, and only for them: numbers by value, objects without regard to the
 * order of their keys.
 *
 * @param budget Lowered by the steps that the value takes.
 * @throws {RangeError} When the value nests too deep.
 */
export function keyOf(budget: Budget, value: unknown, depth = 0): string | number {
  spend(budget, 1);
  if (typeof value === "number") return value;
  if (typeof value === "string") {
    spend(budget, value.length >> 6);
    return value.length + '"' + value;
  }
  if (depth > DEPTH) throw new RangeError();
  if (Array.isArray(value)) return `[${value.map((item) => keyOf(budget, item, depth + 1))}]`;
  if (!isObject(value)) return String(value);
  const keys = Object.keys(value);
  let text = "{";
  spend(budget, 2 + (keys.length >> 1));
  for (const key of keys.sort()) {
    const item = value[key];
    if (item !== undefined) text += keyOf(budget, key) + ":" + keyOf(budget, item, depth + 1) + ",";
  }
  return text;
}

/** The keys of an object that JSON would keep: those whose value is not `undefined`. Takes one step for each. */
export function keysOf(budget: Budget, value: Record<string, unknown>): string[] {
  const keys = Object.keys(value);
  spend(budget, keys.length);
  return keys.filter((key) => value[key] !== undefined);
}

/** True when a number is a multiple of another, in decimal arithmetic: 0.3 is one of 0.1. */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const [digits, exponent] = decimal(value);
  const [parts, power] = decimal(divisor);
  const shift = Math.min(exponent, power);
  return digits * 10n ** BigInt(exponent - shift) % (parts * 10n ** BigInt(power - shift)) === 0n;
}

/** A finite number as digits and a power of ten. */
function decimal(value: number): [bigint, number] {
  const [digits = "", power] = value.toExponential().split("e");
  return [BigInt(digits.replace(".", "")), Number(power) - digits.replace(/.*\.|.*/, "").length];
}

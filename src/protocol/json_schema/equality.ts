/**
 * Equality and arithmetic as JSON Schema means them.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { Spend } from "./pattern.ts";

const DEPTH = 256;

/**
 * What is the same for equal JSON values, and only for them: numbers by value, objects without regard to the order of
 * their keys.
 *
 * @param spend Is told how many steps the value takes.
 * @throws {RangeError} When the value nests too deep.
 */
export function keyOf(value: unknown, spend: Spend): unknown {
  return typeof value === "string" ? '"' + value : typeof value === "object" ? canonical(value, spend, 0) : value;
}

/** The keys of an object that JSON would keep: those whose value is not `undefined`. Takes one step for each. */
export function keysOf(value: Record<string, unknown>, spend: Spend): string[] {
  const keys = Object.keys(value);
  spend(keys.length);
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

/** Cuts a text for a message. */
export function clip(text: string, length = 100): string {
  return text.length > length ? text.slice(0, length) + "…" : text;
}

function canonical(value: unknown, spend: Spend, depth: number): string {
  if (depth > DEPTH) throw new RangeError();
  const inner = (item: unknown): string => canonical(item, spend, depth + 1);
  spend(1);
  if (typeof value === "string") {
    spend(value.length >> 6);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(inner).join()}]`;
  if (!isObject(value)) return String(value);
  return `{${keysOf(value, spend).sort().map((key) => inner(key) + ":" + inner(value[key])).join()}}`;
}

/** A finite number as digits and a power of ten. */
function decimal(value: number): [bigint, number] {
  const [digits = "0", power = "0"] = value.toExponential().split("e");
  const [whole = "0", part = ""] = digits.split(".");
  return [BigInt(whole + part), Number(power) - part.length];
}

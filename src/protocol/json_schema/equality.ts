/**
 * Equality and arithmetic as JSON Schema means them.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { Spend } from "./pattern.ts";

const DEPTH = 256;

/** A set of JSON values: numbers by value, objects without regard to the order of their keys. */
export class ValueSet {
  readonly #plain: Set<unknown> = new Set();
  readonly #deep: Set<string> = new Set();
  /** The first values as JSON text, for a message. */
  readonly shown: string;

  /** @param shown The values that messages tell of. */
  constructor(shown: readonly unknown[] = []) {
    this.shown = clip(shown.slice(0, 16).map((value) => clip(JSON.stringify(value))).join(", "), 400);
  }

  /**
   * Adds a value.
   *
   * @param spend Is told how many steps the value takes.
   * @returns Whether it was not there yet.
   * @throws {RangeError} When the value nests too deep.
   */
  add(value: unknown, spend: Spend): boolean {
    const set = isPlain(value) ? this.#plain : this.#deep;
    return set.size < set.add(isPlain(value) ? value : canonical(value, spend, 0)).size;
  }

  /**
   * True when the value is in the set.
   *
   * @throws {RangeError} When the value nests too deep.
   */
  has(value: unknown, spend: Spend): boolean {
    if (isPlain(value)) return this.#plain.has(value);
    return this.#deep.size > 0 && this.#deep.has(canonical(value, spend, 0));
  }
}

/** The keys of an object that JSON would keep: those whose value is not `undefined`. Takes one step for each. */
export function keysOf(value: Record<string, unknown>, spend: Spend): string[] {
  const keys = Object.keys(value);
  spend(keys.length);
  return keys.some((key) => value[key] === undefined) ? keys.filter((key) => value[key] !== undefined) : keys;
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

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function text(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function canonical(value: unknown, spend: Spend, depth: number): string {
  if (depth > DEPTH) throw new RangeError();
  spend(1 + (typeof value === "string" ? value.length >> 6 : 0));
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, spend, depth + 1)).join()}]`;
  if (!isObject(value)) return text(value);
  const keys = keysOf(value, spend).sort();
  return `{${keys.map((key) => text(key) + ":" + canonical(value[key], spend, depth + 1)).join()}}`;
}

/** A finite number as digits and a power of ten. */
function decimal(value: number): [bigint, number] {
  const [digits = "0", power = "0"] = value.toExponential().split("e");
  const [whole = "0", part = ""] = digits.split(".");
  return [BigInt(whole + part), Number(power) - part.length];
}

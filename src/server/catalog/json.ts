/**
 * Whether what an author's code gave can be written as JSON, and which place cannot.
 *
 * @module
 */
import { isObject, type JsonObject, type JsonValue } from "../../protocol/json_rpc.ts";
import { defaultLimits } from "../../protocol/limits.ts";
import { checkShape } from "../../protocol/shapes/all.ts";

/** A value as JSON: the value itself, and its text. */
export interface WrittenJson {
  readonly value: JsonValue;
  readonly text: string;
}

/** What a walk has seen so far. */
interface Walk {
  nodes: number;
  /** Something says itself how it is written (`toJSON`), or is left out: the value is not what is written. */
  differs: boolean;
}

/**
 * Looks whether a value is JSON.
 *
 * @param value Anything. Objects with a `toJSON` (dates, URLs) are what they say they are, undefined properties are left out.
 * @returns The value as it would be read again, or a sentence that names the place that is no JSON: it nests deeper than
 * 128 levels (a cycle does too), holds more than 1,000,000 values, a bigint, a function, a symbol, a number that is not
 * finite, a map, a set, a promise, bytes.
 */
export function readJson(value: unknown): { readonly value: JsonValue } | string {
  return writeJson(value, false);
}

/** As `readJson`, with the text of it, unless that is not `wanted`. */
export function writeJson(value: unknown, wanted = true): WrittenJson | string {
  const walk: Walk = { nodes: defaultLimits.jsonNodes, differs: false };
  try {
    const wrong = judge(value, walk, defaultLimits.jsonDepth);
    if (wrong) return wrong.startsWith(" ") ? `it is${wrong}` : `its ${wrong}`;
    const text = wanted || walk.differs ? JSON.stringify(value) : "";
    return { value: walk.differs ? JSON.parse(text) : value as JsonValue, text };
  } catch (error) {
    // A getter or a `toJSON` of the author's threw, or the text is longer than the runtime can hold.
    return `it cannot be read, ${error instanceof Error ? error.message : "it threw"}`;
  }
}

/**
 * A whole result of the author's own making: sound, and JSON.
 *
 * @param what Begins the message.
 * @throws {TypeError} When it is not.
 */
export function soundResult(method: string, result: unknown, what: string): JsonObject {
  const wrong = isObject(result) ? checkShape(method, result) : "it is no object";
  const read = wrong ?? readJson(result);
  if (typeof read === "string") throw new TypeError(`${what}, ${read}`);
  return read.value as JsonObject;
}

/** The path to what is wrong, and what it is: `"a.b" is a bigint`. Of the value itself only ` a bigint`. */
function judge(value: unknown, walk: Walk, depth: number, isSaid?: boolean): string | undefined {
  if (--walk.nodes < 0) return ` more than ${defaultLimits.jsonNodes} values`;
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : ` ${value}`;
  if (typeof value !== "object") return value === undefined ? " undefined" : ` a ${typeof value}`;
  if (depth === 0) return ` nested deeper than ${defaultLimits.jsonDepth} levels, or holds itself`;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const wrong = judge(value[at], walk, depth - 1);
      if (wrong) return within(`${at}`, wrong);
    }
    return undefined;
  }
  // What it says is not asked again: it may be the very object.
  if (!isSaid && typeof (value as { toJSON?: unknown }).toJSON === "function") {
    walk.differs = true;
    return judge((value as { toJSON(): unknown }).toJSON(), walk, depth - 1, true);
  }
  const kind = Object.getPrototypeOf(value) === Object.prototype ? "Object" : classOf(value);
  if (kind !== "Object") return ` of the class ${kind}`;
  for (const key of Object.keys(value)) {
    const inner: unknown = value[key as never];
    if (inner === undefined) walk.differs = true;
    else {
      const wrong = judge(inner, walk, depth - 1);
      if (wrong) return within(key, wrong);
    }
  }
  return undefined;
}

function classOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Puts a step before a path. Long paths, as those of cycles, are cut. */
function within(key: string, wrong: string): string {
  if (wrong.startsWith(" ")) return `"${key.slice(0, 99)}" is${wrong}`;
  return wrong.length > 400 ? wrong : `"${key.slice(0, 99)}.${wrong.slice(1)}`;
}

/**
 * Assertions with the names and meaning of `@std/assert`, over `node:assert/strict`, which every runtime has.
 * JSR cannot be reached offline, so `deno.json` and `tsconfig.json` map `@std/assert` to this file.
 */
import strict, { AssertionError } from "node:assert/strict";

export { AssertionError };

/** A class, also an abstract one or one with a private constructor signature. */
// deno-lint-ignore no-explicit-any
export type AnyClass<Instance> = abstract new (...parameters: any[]) => Instance;

/** Passes when `condition` is truthy. */
export function assert(condition: unknown, message?: string): asserts condition {
  if (!condition) raise(message ?? "expected a truthy value", condition, true, assert);
}

/** Passes when both are deeply equal; as in std, `0` equals `-0` and an object without a prototype equals a plain one. */
export function assertEquals<Value>(actual: Value, expected: Value, message?: string): void {
  strict.deepStrictEqual(levelled(actual), levelled(expected), ...given(message));
}

/** Passes when both are not deeply equal, by the meaning of `assertEquals`. */
export function assertNotEquals<Value>(actual: Value, expected: Value, message?: string): void {
  strict.notDeepStrictEqual(levelled(actual), levelled(expected), ...given(message));
}

/** Passes when both are the same value, as `Object.is` sees it. */
export function assertStrictEquals<Value>(actual: unknown, expected: Value, message?: string): asserts actual is Value {
  strict.strictEqual(actual, expected, ...given(message));
}

/** Passes when both are not the same value, as `Object.is` sees it. */
export function assertNotStrictEquals(actual: unknown, expected: unknown, message?: string): void {
  strict.notStrictEqual(actual, expected, ...given(message));
}

/** Runs `run` and returns what it threw; the class and a part of the message are checked when given. */
export function assertThrows(run: () => unknown): unknown;
export function assertThrows<Thrown extends Error>(
  run: () => unknown,
  ErrorClass: AnyClass<Thrown>,
  messageIncludes?: string,
  message?: string,
): Thrown;
export function assertThrows(
  run: () => unknown,
  ErrorClass?: AnyClass<Error>,
  messageIncludes?: string,
  message?: string,
): unknown {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
    return checkThrown(thrown, ErrorClass, messageIncludes, message, assertThrows);
  }
  return raise(message ?? "expected the function to throw", undefined, ErrorClass?.name, assertThrows);
}

/** Runs `run`, awaits its rejection and returns the reason; a synchronous throw does not count as one. */
export function assertRejects(run: () => PromiseLike<unknown>): Promise<unknown>;
export function assertRejects<Thrown extends Error>(
  run: () => PromiseLike<unknown>,
  ErrorClass: AnyClass<Thrown>,
  messageIncludes?: string,
  message?: string,
): Promise<Thrown>;
export async function assertRejects(
  run: () => PromiseLike<unknown>,
  ErrorClass?: AnyClass<Error>,
  messageIncludes?: string,
  message?: string,
): Promise<unknown> {
  let pending: PromiseLike<unknown>;
  try {
    pending = run();
  } catch (error) {
    return raise(
      message ?? `expected a rejection, but it threw at once: ${describe(error)}`,
      error,
      undefined,
      assertRejects,
    );
  }
  try {
    await pending;
  } catch (error) {
    return checkThrown(error, ErrorClass, messageIncludes, message, assertRejects);
  }
  return raise(message ?? "expected the promise to reject", undefined, ErrorClass?.name, assertRejects);
}

/** Passes when `actual` is an instance of the class. */
export function assertInstanceOf<Instance>(
  actual: unknown,
  ExpectedClass: AnyClass<Instance>,
  message?: string,
): asserts actual is Instance {
  if (actual instanceof ExpectedClass) return;
  raise(
    message ?? `expected an instance of ${ExpectedClass.name}, got ${describe(actual)}`,
    actual,
    ExpectedClass.name,
    assertInstanceOf,
  );
}

/** Passes when the text matches the pattern. */
export function assertMatch(actual: string, pattern: RegExp, message?: string): void {
  if (actual.search(pattern) >= 0) return;
  raise(message ?? `expected ${JSON.stringify(actual)} to match ${pattern}`, actual, pattern, assertMatch);
}

/** Passes when the text holds the part. */
export function assertStringIncludes(actual: string, part: string, message?: string): void {
  if (actual.includes(part)) return;
  raise(
    message ?? `expected ${JSON.stringify(actual)} to include ${JSON.stringify(part)}`,
    actual,
    part,
    assertStringIncludes,
  );
}

/** Passes when `actual > bound`. */
export function assertGreater<Value>(actual: Value, bound: Value, message?: string): void {
  if (!(actual > bound)) {
    raise(message ?? `expected ${describe(actual)} > ${describe(bound)}`, actual, bound, assertGreater);
  }
}

/** Passes when `actual >= bound`. */
export function assertGreaterOrEqual<Value>(actual: Value, bound: Value, message?: string): void {
  if (actual >= bound) return;
  raise(message ?? `expected ${describe(actual)} >= ${describe(bound)}`, actual, bound, assertGreaterOrEqual);
}

/** Passes when `actual < bound`. */
export function assertLess<Value>(actual: Value, bound: Value, message?: string): void {
  if (!(actual < bound)) {
    raise(message ?? `expected ${describe(actual)} < ${describe(bound)}`, actual, bound, assertLess);
  }
}

/** Passes when `actual <= bound`. */
export function assertLessOrEqual<Value>(actual: Value, bound: Value, message?: string): void {
  if (actual <= bound) return;
  raise(message ?? `expected ${describe(actual)} <= ${describe(bound)}`, actual, bound, assertLessOrEqual);
}

/** Passes when the value is neither `null` nor `undefined`. */
export function assertExists<Value>(actual: Value, message?: string): asserts actual is NonNullable<Value> {
  if (actual !== undefined && actual !== null) return;
  raise(message ?? `expected a value, got ${describe(actual)}`, actual, undefined, assertExists);
}

/** Passes when every property of `expected` is in `actual`, deeply; as in std, an array may hold more entries at its end. */
export function assertObjectMatch(actual: object, expected: object, message?: string): void {
  const path = firstDifference(actual, expected, "", new Map());
  if (path === undefined) return;
  throw new AssertionError({
    message: message ??
      `objects differ at ${path === "" ? "the root" : path}:\n${describe(actual)}\n${describe(expected)}`,
    actual,
    expected,
    operator: "assertObjectMatch",
    stackStartFn: assertObjectMatch,
  });
}

/** Fails always. */
export function fail(message?: string): never {
  return raise(`failed${message === undefined ? "." : `: ${message}`}`, undefined, undefined, fail);
}

/** Fails when code is reached that must not be. */
export function unreachable(reason?: string): never {
  return raise(`unreachable${reason === undefined ? "." : `: ${reason}`}`, undefined, undefined, unreachable);
}

/** Node 26 takes no message that is undefined. */
function given(message: string | undefined): [] | [string] {
  return message === undefined ? [] : [message];
}

// deno-lint-ignore ban-types
function raise(message: string, actual: unknown, expected: unknown, stackStartFn: Function): never {
  throw new AssertionError({ message, actual, expected, operator: stackStartFn.name, stackStartFn });
}

function checkThrown(
  thrown: unknown,
  ErrorClass: AnyClass<Error> | undefined,
  messageIncludes: string | undefined,
  message: string | undefined,
  // deno-lint-ignore ban-types
  stackStartFn: Function,
): unknown {
  if (ErrorClass !== undefined && !(thrown instanceof ErrorClass)) {
    raise(
      message ?? `expected an error of class ${ErrorClass.name}, got ${describe(thrown)}`,
      thrown,
      ErrorClass.name,
      stackStartFn,
    );
  }
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (messageIncludes !== undefined && !text.includes(messageIncludes)) {
    raise(
      message ??
        `expected the error message to include ${JSON.stringify(messageIncludes)}, got ${JSON.stringify(text)}`,
      text,
      messageIncludes,
      stackStartFn,
    );
  }
  return thrown;
}

function firstDifference(
  actual: unknown,
  expected: unknown,
  path: string,
  seen: Map<object, object>,
): string | undefined {
  if (typeof expected !== "object" || expected === null || expected instanceof Date || expected instanceof RegExp) {
    return sameDeep(actual, expected) ? undefined : path;
  }
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(expected)) return path;
  if (expected instanceof Map || expected instanceof Set || ArrayBuffer.isView(expected)) {
    return sameDeep(actual, expected) ? undefined : path;
  }
  if (seen.get(expected) === actual) return undefined;
  seen.set(expected, actual);
  for (const key of Reflect.ownKeys(expected)) {
    if (key === "length" && Array.isArray(expected)) continue;
    const here = `${path}.${String(key)}`;
    if (!(key in actual)) return here;
    const difference = firstDifference(Reflect.get(actual, key), Reflect.get(expected, key), here, seen);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function sameDeep(actual: unknown, expected: unknown): boolean {
  try {
    strict.deepStrictEqual(levelled(actual), levelled(expected));
    return true;
  } catch {
    return false;
  }
}

/** Copies plain data so that what std does not tell apart is the same for `node:assert` too; all else stays itself. */
function levelled(value: unknown, seen: Map<object, object> = new Map()): unknown {
  if (value === 0) return 0;
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isArray = Array.isArray(value) && prototype === Array.prototype;
  if (!isArray && prototype !== null && prototype !== Object.prototype) return value;
  const copy: object = isArray ? new Array(value.length) : {};
  seen.set(value, copy);
  for (const key of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property?.enumerable !== true) continue;
    const entry = levelled(Reflect.get(value, key), seen);
    Object.defineProperty(copy, key, { value: entry, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

function describe(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

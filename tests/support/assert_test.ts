import { describe, test } from "node:test";
import {
  assert,
  assertEquals,
  assertExists,
  assertGreater,
  assertGreaterOrEqual,
  assertInstanceOf,
  AssertionError,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertNotEquals,
  assertNotStrictEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  fail,
  unreachable,
} from "@std/assert";

/** Runs what must fail and returns the message; it does not use the functions under test to judge them. */
function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof AssertionError) return error.message;
    throw error;
  }
  throw new Error(`nothing was thrown by ${run}`);
}

async function messageOfAsync(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
  } catch (error) {
    if (error instanceof AssertionError) return error.message;
    throw error;
  }
  throw new Error(`nothing was rejected by ${run}`);
}

describe("the assertions mean what @std/assert means", () => {
  test("equality is deep, and blind to a missing prototype and to the sign of zero", () => {
    const bare: Record<string, unknown> = Object.create(null);
    bare["a"] = [1, { b: -0 }];
    assertEquals<unknown>(bare, { a: [1, { b: 0 }] });
    assertEquals(new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]]));
    messageOf(() => assertEquals<unknown>({ a: 1 }, { a: "1" }));
    messageOf(() => assertEquals<unknown>({ a: undefined }, {}));
    messageOf(() => assertEquals<unknown>([1, 2], [1, 2, 3]));
    messageOf(() => assertNotEquals<unknown>(bare, { a: [1, { b: 0 }] }));
    assertNotEquals(new Date(0), new Date(1));
  });

  test("equality ends on cycles", () => {
    const left: Record<string, unknown> = { name: "loop" };
    left["self"] = left;
    const right: Record<string, unknown> = { name: "loop" };
    right["self"] = right;
    assertEquals(left, right);
    right["name"] = "other";
    messageOf(() => assertEquals(left, right));
  });

  test("strict equality is identity", () => {
    const value = {};
    assertStrictEquals(value, value);
    assertNotStrictEquals(value, {});
    messageOf(() => assertStrictEquals(value, {}));
    messageOf(() => assertNotStrictEquals(value, value));
  });

  test("assertThrows returns the error and checks class and message", () => {
    const thrown = assertThrows(
      () => {
        throw new RangeError("too far");
      },
      RangeError,
      "far",
    );
    assertStrictEquals(thrown.message, "too far");
    const text = assertThrows(() => {
      throw "bare text";
    });
    assertStrictEquals(text, "bare text");
    const boom = (): never => {
      throw new TypeError("boom");
    };
    assertMatch(messageOf(() => assertThrows(() => 1)), /to throw/);
    assertMatch(messageOf(() => assertThrows(boom, RangeError)), /class RangeError, got TypeError: boom/);
    assertMatch(messageOf(() => assertThrows(boom, TypeError, "bang")), /include "bang", got "boom"/);
  });

  test("assertRejects returns the reason and does not take a synchronous throw for one", async () => {
    const reason = await assertRejects(() => Promise.reject(new RangeError("late")), RangeError, "late");
    assertStrictEquals(reason.name, "RangeError");
    assertStrictEquals(await assertRejects(() => Promise.reject("text")), "text");
    assertMatch(await messageOfAsync(() => assertRejects(() => Promise.resolve(1))), /to reject/);
    assertMatch(
      await messageOfAsync(() => assertRejects(() => Promise.reject(new Error("x")), TypeError)),
      /class TypeError/,
    );
    const atOnce = await messageOfAsync(() =>
      assertRejects(() => {
        throw new Error("now");
      })
    );
    assertMatch(atOnce, /threw at once: Error: now/);
  });

  test("assertObjectMatch looks only at what is expected", () => {
    assertObjectMatch({ a: { b: 1, c: 2 }, d: [1, 2] }, { a: { b: 1 }, d: [1] });
    assertStringIncludes(messageOf(() => assertObjectMatch({ a: { b: 1 } }, { a: { b: 2 } })), ".a.b");
    assertStringIncludes(messageOf(() => assertObjectMatch({ a: 1 }, { a: 1, z: undefined })), ".z");
    assertStringIncludes(messageOf(() => assertObjectMatch({ a: [1] }, { a: [1, 2] })), ".a.1");
    assertStringIncludes(messageOf(() => assertObjectMatch({ a: [1] }, { a: { 0: 1 } })), ".a");
  });

  test("the small ones pass and fail", () => {
    assert(1);
    messageOf(() => assert(0));
    assertInstanceOf(new TypeError("x"), Error);
    messageOf(() => assertInstanceOf({}, Error));
    assertMatch("abc", /b/);
    messageOf(() => assertMatch("abc", /z/));
    assertStringIncludes("abc", "bc");
    messageOf(() => assertStringIncludes("abc", "cb"));
    assertGreater(2, 1);
    messageOf(() => assertGreater(1, 1));
    assertGreaterOrEqual(1, 1);
    messageOf(() => assertGreaterOrEqual(0, 1));
    assertLess(1, 2);
    messageOf(() => assertLess(1, 1));
    assertLessOrEqual(1, 1);
    messageOf(() => assertLessOrEqual(2, 1));
    assertExists(0);
    messageOf(() => assertExists(null));
    messageOf(() => assertExists(undefined));
    assertStringIncludes(messageOf(() => fail("why")), "why");
    assertStringIncludes(messageOf(() => unreachable("here")), "here");
  });
});

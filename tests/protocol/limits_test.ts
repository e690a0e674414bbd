import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { defaultLimits, fillIn, type Limits } from "../../src/protocol/limits.ts";

describe("defaults", () => {
  test("what is given takes their place, what is undefined or left out does not", () => {
    const given = { strays: 5, messageBytes: undefined, pages: 0 } as unknown as Partial<Limits>;
    const filled = fillIn(defaultLimits, given);
    assertEquals(filled, { ...defaultLimits, strays: 5, pages: 0 });
    assertEquals(fillIn(defaultLimits, undefined), { ...defaultLimits });
    assertEquals(defaultLimits.strays, 10_000);
  });
});

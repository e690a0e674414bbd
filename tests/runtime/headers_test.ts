/** Headers that cannot be sent: the error names the header, and never its value. */
import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { readHeaders } from "../../src/runtime/headers.ts";

describe("headers that are about to be sent", () => {
  test("are read in each form", () => {
    const given = { "X-Key": "k3y", accept: "text/plain" };
    for (const form of [given, Object.entries(given), new Headers(given)] as const) {
      assertEquals([...readHeaders(form)].sort(), [["accept", "text/plain"], ["x-key", "k3y"]]);
    }
    assertEquals([...readHeaders(undefined)], []);
  });

  test("one that cannot be is named, without a word of its value", () => {
    const wrong: [name: string, value: string][] = [
      ["authorization", "Bearer first-half\nsecond-half"],
      ["x-key", "first-half\0second-half"],
      ["x key", "first-half"],
    ];
    for (const [name, value] of wrong) {
      const others = [["accept", "text/plain"], [name, value], ["x-last", "last"]] as [string, string][];
      for (const form of [others, Object.fromEntries(others)]) {
        const error = assertThrows(() => readHeaders(form), TypeError);
        const why = "its name or its value has a character that no header takes";
        assertEquals([error.message, error.cause], [`Cannot send the header "${name}": ${why}`, undefined]);
      }
    }
  });
});

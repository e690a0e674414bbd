import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { classify, classifyReceived, isObject, isRequestId } from "../../src/protocol/json_rpc.ts";
import type { MessageKind } from "../../src/protocol/json_rpc.ts";

const jsonrpc = "2.0";
const error = { code: -32600, message: "no" };

describe("envelopes", () => {
  const cases: [expected: MessageKind, value: unknown, why: string][] = [
    ["request", { jsonrpc, id: 1, method: "ping" }, "a number as id"],
    ["request", { jsonrpc, id: "", method: "" }, "empty texts are texts"],
    ["request", { jsonrpc, id: 0, method: "a", params: {}, extra: 1 }, "unknown fields are let through"],
    ["notification", { jsonrpc, method: "a", params: { a: 1 } }, "no id"],
    ["response", { jsonrpc, id: 1, result: {} }, "a result"],
    ["response", { jsonrpc, id: "1", error }, "an error"],
    ["response", { jsonrpc, error }, "an error whose request could not be read has no id"],
    ["response", { jsonrpc, id: null, error: { ...error, data: null } }, "or null"],
    [undefined, { jsonrpc, id: null, method: "a" }, "a request's id is never null"],
    [undefined, { jsonrpc, id: 1.5, method: "a" }, "nor a fraction"],
    [undefined, { jsonrpc, id: 2 ** 53, method: "a" }, "nor beyond the safe integers"],
    [undefined, { jsonrpc, id: {}, method: "a" }, "nor an object"],
    [undefined, { jsonrpc, id: 1, method: 5 }, "a method is text"],
    [undefined, { jsonrpc, id: 1, method: null, result: {} }, "also beside a result"],
    [undefined, { jsonrpc, id: 1, method: "a", params: [] }, "parameters are an object"],
    [undefined, { jsonrpc, method: "a", params: null }, "and not null"],
    [undefined, { jsonrpc, id: 1, method: "a", result: {} }, "never two kinds at once"],
    [undefined, { jsonrpc, method: "a", error }, "never two kinds at once"],
    [undefined, { jsonrpc, id: 1, result: {}, error }, "a result and an error"],
    [undefined, { jsonrpc, id: 1, result: null, error }, "also when the result is null"],
    [undefined, { jsonrpc, id: 1 }, "neither a result nor an error"],
    [undefined, { jsonrpc, result: {} }, "a result without an id belongs nowhere"],
    [undefined, { jsonrpc, id: null, result: {} }, "nor with null"],
    [undefined, { jsonrpc, id: true, error }, "an id of a wrong type"],
    [undefined, { jsonrpc, id: 1, result: [] }, "a result is an object"],
    [undefined, { jsonrpc, id: 1, error: "no" }, "an error is an object"],
    [undefined, { jsonrpc, id: 1, error: { code: 1.5, message: "" } }, "its code is an integer"],
    [undefined, { jsonrpc, id: 1, error: { code: 1 } }, "its message is text"],
    [undefined, { id: 1, method: "a" }, "the version is missing"],
    [undefined, { jsonrpc: 2, id: 1, method: "a" }, "the version is text"],
    [undefined, { jsonrpc: "1.0", id: 1, method: "a" }, "another version"],
    [undefined, { jsonrpc, ID: 1, Method: "a" }, "keys are exact"],
    [undefined, { jsonrpc, id: 1, Result: {} }, "keys are exact"],
    [undefined, { JSONRPC: "2.0", id: 1, reſult: {} }, "no case folding"],
    [undefined, [{ jsonrpc, id: 1, method: "a" }], "a batch is no message"],
    [undefined, null, "null"],
    [undefined, "text", "text"],
    [undefined, undefined, "nothing"],
  ];
  test("what a server sends may have `params: null` where there are none", () => {
    const note = { jsonrpc, method: "a", params: null };
    assertEquals([classifyReceived(note), note], ["notification", { jsonrpc, method: "a" } as typeof note]);
    assertEquals([{ jsonrpc, method: "a", params: [] }, null].map(classifyReceived), [undefined, undefined]);
  });

  test("what a server sends may have `result: []` where an empty object is meant, as PHP and Zig write it", () => {
    const answer = { jsonrpc, id: 1, result: [] };
    assertEquals([classifyReceived(answer), answer as unknown], ["response", { jsonrpc, id: 1, result: {} }]);
    const others = [[1], [[]], "", "[]", 0, null, false].map((result) => ({ jsonrpc, id: 1, result }));
    assertEquals(others.map(classifyReceived), others.map(() => undefined));
    const counted = { jsonrpc, id: 1, result: { length: 0 } };
    assertEquals([classifyReceived(counted), counted.result.length], ["response", 0]);
  });

  for (const [expected, value, why] of cases) {
    test(`${JSON.stringify(value)} is ${expected ?? "no message"}: ${why}`, () =>
      assertEquals(classify(value), expected));
  }

  test("any JSON value is of one kind or none, as the rules say it one by one", () => {
    const ids = fc.constantFrom<unknown>(undefined, null, 1, 0, -1, 1.5, 2 ** 53, "", "a", true, {}, []);
    const some = fc.constantFrom<unknown>(undefined, null, "a", "", 7, {}, [], { a: 1 });
    const errors = fc.constantFrom<unknown>(undefined, null, error, {}, [], "x", { code: "1", message: "" }, {
      code: 1,
      message: 1,
    });
    const envelope = fc.record({
      jsonrpc: fc.constantFrom("2.0", "2.0", "2.0", 2, undefined),
      id: ids,
      method: some,
      params: some,
      result: some,
      error: errors,
    });
    fc.assert(
      fc.property(fc.oneof(envelope, fc.jsonValue()), (value) => {
        const message = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
        const plain = (inner: unknown): boolean => typeof inner === "object" && inner !== null && !Array.isArray(inner);
        const id = typeof message.id === "string" ||
          (typeof message.id === "number" && Number.isSafeInteger(message.id));
        const call = typeof message.method === "string" && message.result === undefined &&
          message.error === undefined &&
          (message.params === undefined || plain(message.params));
        const failure = message.error as { code?: unknown; message?: unknown };
        const failed = plain(failure) && Number.isInteger(failure.code) && typeof failure.message === "string";
        const kinds: MessageKind[] = [];
        if (!Array.isArray(value) && message.jsonrpc === "2.0") {
          if (call && id) kinds.push("request");
          if (call && message.id === undefined) kinds.push("notification");
          if (message.method === undefined && message.error === undefined && id && plain(message.result)) {
            kinds.push("response");
          }
          const nameless = message.id === undefined || message.id === null;
          if (message.method === undefined && message.result === undefined && (id || nameless) && failed) {
            kinds.push("response");
          }
        }
        assert(kinds.length <= 1);
        assertEquals(classify(value), kinds[0]);
        assertEquals(classify(JSON.parse(JSON.stringify(value) ?? "null")), kinds[0]);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("small checks", () => {
  test("an object is neither null nor an array", () => {
    assertEquals([{}, { a: 1 }].map(isObject), [true, true]);
    assertEquals([null, [], "", 0, undefined, true].map(isObject), [false, false, false, false, false, false]);
  });

  test("an id is a text or a safe integer", () => {
    assertEquals(["", "1", 0, -5, 2 ** 53 - 1].map(isRequestId), [true, true, true, true, true]);
    assertEquals([null, undefined, 1.5, 2 ** 53, NaN, {}, []].map(isRequestId), Array(7).fill(false));
  });
});

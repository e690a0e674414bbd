/** Fourteen schemas that freeze or break validators (CVE-2025-69873 and its kin), each with a value that sets it off. */
import { createSchemaValidator } from "../../src/protocol/json_schema/mod.ts";
import type { JsonSchema } from "../../src/protocol/types.ts";
import type { Figures } from "../task.ts";

/** Milliseconds that each bomb stops the event loop, from the schema to the verdict, in a process that has just begun. */
export function checkBombs(): Promise<Figures> {
  const validator = createSchemaValidator();
  const figures: Record<string, number> = {};
  for (const [name, make] of Object.entries(bombs)) {
    const [schema, value] = make();
    const started = performance.now();
    try {
      validator(schema)(value);
    } catch (error) {
      // Schemas that cannot be used are refused so.
      if (!(error instanceof TypeError)) throw error;
    }
    figures[name] = performance.now() - started;
  }
  return Promise.resolve({
    ...figures,
    worst: Math.max(...Object.values(figures)),
  });
}

const long = `${"a".repeat(5_000)}!`;

const bombs: Readonly<Record<string, () => readonly [JsonSchema, unknown]>> = {
  nested_quantifiers: () => [{ pattern: "^(a+)+$" }, long],
  alternatives: () => [{ pattern: "^(a|a|aa)*$" }, long],
  back_reference: () => [{ pattern: "^(a+)\\1+$" }, long],
  all_of_doubling: () => [ladder(34, (next) => ({ allOf: [next, next] })), 1],
  self_reference: () => [{ allOf: [{ $ref: "#" }, { $ref: "#" }] }, 1],
  dynamic_loop: () => [
    {
      $dynamicAnchor: "x",
      anyOf: [{ $dynamicRef: "#x" }, { $dynamicRef: "#x" }],
    },
    1,
  ],
  deep_value: () => [{ items: { $ref: "#" } }, JSON.parse("[".repeat(20_000) + "]".repeat(20_000))],
  million_enum: () => [{ enum: numbers(1_000_000) }, -1],
  pattern_properties: () => [
    {
      patternProperties: Object.fromEntries(numbers(900).map((index) => [`(a|b|k)*${index}`, true])),
    },
    keys(5_000),
  ],
  dependent_schemas: () => [
    {
      dependentSchemas: Object.fromEntries(numbers(600).map((index) => [`k${index}`, { $ref: "#" }])),
    },
    keys(600),
  ],
  unevaluated: () => [
    {
      allOf: new Array(100).fill({
        anyOf: [{ properties: { a: true } }, { additionalProperties: true }],
      }),
      unevaluatedProperties: false,
    },
    keys(5_000),
  ],
  contains: () => [
    { contains: { contains: { contains: { contains: { const: 1 } } } } },
    new Array(40).fill(new Array(40).fill(new Array(40).fill(new Array(40).fill(0)))),
  ],
  huge_numbers: () => [{ minItems: 1e308, uniqueItems: true }, numbers(30_000).map((index) => ({ index }))],
  remote_reference: () => [{ $ref: "http://127.0.0.1:9/schema.json" }, 1],
};

function ladder(rungs: number, rung: (next: JsonSchema) => JsonSchema): JsonSchema {
  const $defs: Record<string, JsonSchema> = {
    [`d${rungs}`]: { type: "string" },
  };
  for (let index = 0; index < rungs; index++) {
    $defs[`d${index}`] = rung({ $ref: `#/$defs/d${index + 1}` });
  }
  return { $defs, $ref: "#/$defs/d0" };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function keys(count: number): Record<string, number> {
  return Object.fromEntries(numbers(count).map((index) => [`k${index}`, index]));
}

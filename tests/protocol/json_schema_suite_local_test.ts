/**
 * The JSON Schema Test Suite, draft 2020-12: all of it, the optional part with format checks. The suite is data
 * beside the repository; without it the tests are skipped and say so.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { assertEquals } from "@std/assert";
import {
  createSchemaValidator,
  formatChecks,
  type SchemaValidatorOptions,
} from "../../src/protocol/json_schema/mod.ts";
import type { JsonSchema } from "../../src/protocol/types.ts";
import { metaschemas } from "../support/metaschema.ts";

interface Group {
  description: string;
  schema: JsonSchema;
  tests: { description: string; data: unknown; valid: boolean }[];
}

const suite = fileURLToPath(new URL("../../../shared/data/json-schema-test-suite/", import.meta.url));
const required = suite + "draft2020-12/";
const skip = existsSync(required) ? false : `the JSON Schema Test Suite is not at ${suite}`;

if (skip) test("JSON Schema Test Suite 2020-12", { skip }, () => {});
else {describe("JSON Schema Test Suite 2020-12", () => {
    const options: SchemaValidatorOptions = { schemas: { ...remotes(), ...metaschemas } };
    const files = readdirSync(required).filter((name) => name.endsWith(".json"));

    for (const file of files) {
      test(`required: ${file}`, () => assertEquals(run(required + file, options).wrong, []));
    }

    test("required: 1,299 cases", () => {
      assertEquals(files.reduce((sum, file) => sum + run(required + file, options).count, 0), 1_299);
    });

    test("optional: 162 cases", () => {
      const folder = required + "optional/";
      const results = readdirSync(folder).map((file) => run(folder + file, { ...options, formats: formatChecks }));
      assertEquals(results.flatMap((result) => result.wrong), []);
      assertEquals(results.reduce((sum, result) => sum + result.count, 0), 162);
    });
  });}

function run(path: string, options: SchemaValidatorOptions): { count: number; wrong: string[] } {
  const groups: Group[] = JSON.parse(readFileSync(path, "utf8"));
  const wrong: string[] = [];
  let count = 0;
  for (const { description, schema, tests } of groups) {
    const check = prepare(schema, options);
    for (const { description: what, data, valid } of tests) {
      count++;
      const result = check(data);
      const seen = result.unchecked ? "unchecked" : result.valid;
      if (seen !== valid) wrong.push(`${description}: ${what}: ${JSON.stringify(result)}`);
    }
  }
  return { count, wrong };
}

function prepare(
  schema: JsonSchema,
  options: SchemaValidatorOptions,
): (value: unknown) => object & { valid?: boolean; unchecked?: unknown } {
  try {
    return createSchemaValidator(options)(schema);
  } catch (error) {
    return () => ({ error: String(error) });
  }
}

function remotes(): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = {};
  const root = suite + "remotes/";
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".json")) found["http://localhost:1234/" + name] = JSON.parse(readFileSync(root + name, "utf8"));
  }
  return found;
}

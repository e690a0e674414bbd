/**
 * Arguments against the tool's input schema, before the tool is called.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { createSchemaValidator } from "../../protocol/json_schema/mod.ts";
import type { Tool, ValidateFunction, ValidationIssue } from "../../protocol/mod.ts";
import { UsageError } from "../failure.ts";
import { didYouMean } from "../../hub/config/nearest.ts";
import { propertiesOf, requiredOf } from "../../protocol/arguments/schema.ts";

const mostIssues = 3;
/** Longer values are not repeated. */
const shortest = 60;

/**
 * Checks the arguments. A schema that cannot be used is left to the server.
 *
 * @throws {UsageError} When they do not fit; the message names what and where.
 */
export function checkArguments(tool: Tool, args: JsonObject): void {
  const { name, inputSchema } = tool;
  let validate: ValidateFunction;
  try {
    validate = createSchemaValidator()(inputSchema);
  } catch {
    return;
  }
  const checked = validate(args);
  if (checked.valid) return;
  const keys = propertiesOf(inputSchema).map(([key]) => key);
  const unknown = Object.keys(args).filter((key) => !keys.includes(key));
  const missing = requiredOf(inputSchema).filter((key) => !Object.hasOwn(args, key) || args[key] === undefined);
  const problems = [
    ...missing.map((key) => `"${key}" is missing`),
    ...unknown.map((key) => `there is no "${key}"${didYouMean(key, keys)}`),
    ...checked.issues.filter(({ path, keyword }) => !(path === "" && covered.has(keyword))).map((issue) =>
      issueText(issue, args)
    ),
  ];
  const shown = problems.slice(0, mostIssues).join("; ") + (problems.length > mostIssues ? "; …" : "");
  throw new UsageError(
    `The arguments of "${name}" do not fit: ${shown || "see its schema"}; causeway tools shows what it takes`,
  );
}

/** Keywords at the top that the lists of missing and unknown keys tell better. */
const covered: ReadonlySet<string> = new Set(["required", "additionalProperties"]);

function issueText({ path, message }: ValidationIssue, args: JsonObject): string {
  const keys = path.split("/").slice(1);
  if (keys.length === 0) return message;
  const [key = ""] = keys;
  const value = keys.length === 1 ? args[key] : undefined;
  const isShort = ["string", "number", "boolean"].includes(typeof value) && String(value).length <= shortest;
  return `"${keys.join(".")}" ${message}${isShort ? `, and is ${JSON.stringify(value)}` : ""}`;
}

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
 * @returns What to warn of, although they fit: a name that the schema does not have, and says nothing of.
 * @throws {UsageError} When they do not fit; the message names what and where.
 */
export function checkArguments(tool: Tool, args: JsonObject): string | undefined {
  const { name, inputSchema } = tool;
  let validate: ValidateFunction;
  try {
    validate = createSchemaValidator()(inputSchema);
  } catch {
    return undefined;
  }
  const checked = validate(args);
  const keys = propertiesOf(inputSchema).map(([key]) => key);
  const refused = new Set(checked.valid ? [] : checked.issues.map(refusedName));
  // Where a schema says nothing of others, a name that it does not have is most likely a wrong one.
  const isPlain = !aboutOthers.some((keyword) => keyword in inputSchema);
  const unknown = Object.keys(args).filter((key) => !keys.includes(key) && (isPlain || refused.has(key)));
  const strange = unknown.slice(0, mostIssues + 1).map((key) => `there is no "${key}"${didYouMean(key, keys)}`);
  if (checked.valid) {
    // Without any property it is the schema of a tool that takes what it is given.
    const isWrong = keys.length > 0 && strange.length > 0;
    return isWrong ? `among the arguments of "${name}" ${joined(strange)}; it is called all the same` : undefined;
  }
  const missing = requiredOf(inputSchema).filter((key) => !Object.hasOwn(args, key) || args[key] === undefined);
  // As the check says it.
  const told = new Set(missing.map((key) => `must have the property ${JSON.stringify(key)}`));
  const named = new Set<string | undefined>(unknown);
  const rest = checked.issues.filter((issue) =>
    !(issue.path === "" && told.has(issue.message)) && !named.has(refusedName(issue))
  );
  const problems = [
    ...missing.map((key) => `"${key}" is missing`),
    ...strange,
    ...rest.map((issue) => issueText(issue, args)),
  ];
  throw new UsageError(
    `The arguments of "${name}" do not fit: ${
      joined(problems) || "see its schema"
    }; causeway tools shows what it takes`,
  );
}

function joined(problems: readonly string[]): string {
  return problems.slice(0, mostIssues).join("; ") + (problems.length > mostIssues ? "; …" : "");
}

/** What may allow a name beside the properties. */
const aboutOthers: readonly string[] = [
  "additionalProperties",
  "unevaluatedProperties",
  "patternProperties",
  "$ref",
  "$dynamicRef",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
];

/** The name of an argument, where that it is there is what is wrong. */
function refusedName({ path, keyword }: ValidationIssue): string | undefined {
  const [key, ...more] = keysOf(path);
  return /^(additional|unevaluated)Properties$/.test(keyword) && more.length === 0 ? key : undefined;
}

/** The names in a JSON Pointer. */
function keysOf(path: string): string[] {
  return path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function issueText({ path, message }: ValidationIssue, args: JsonObject): string {
  const keys = keysOf(path);
  if (keys.length === 0) return message;
  const [key = ""] = keys;
  const value = keys.length === 1 ? args[key] : undefined;
  const isShort = ["string", "number", "boolean"].includes(typeof value) && String(value).length <= shortest;
  return `"${keys.join(".")}" ${message}${isShort ? `, and is ${JSON.stringify(value)}` : ""}`;
}

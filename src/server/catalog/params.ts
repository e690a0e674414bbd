/**
 * How the parameters of a request are read, and what is said when they are wrong.
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../../protocol/json_rpc.ts";
import { find, type Rule } from "../../protocol/shapes/shape.ts";

/**
 * The error for parameters that are wrong.
 *
 * @param wrong What `find` of `shapes/shape.ts` says.
 */
export function badParams(wrong: string): InvalidParamsError {
  return invalidParams(`Cannot read the parameters: "${wrong.slice(1)}`);
}

/** An error with the code -32602. */
export function invalidParams(message: string, data?: JsonValue): InvalidParamsError {
  return new InvalidParamsError(message, { rpcCode: -32602, ...(data === undefined ? {} : { data }) });
}

/**
 * Holds parameters against a shape.
 *
 * @throws {InvalidParamsError} Naming the field that is wrong.
 */
export function checkParams(params: JsonObject, shape: Rule): void {
  const wrong = find(params, shape);
  if (wrong) throw badParams(wrong);
}

/**
 * Reads an object whose values are all texts; a missing one is empty.
 *
 * @param field How it is called in messages.
 * @throws {InvalidParamsError} When it is no object, or a value is no text.
 */
export function readTexts(value: unknown, field: string): Record<string, string> {
  if (value === undefined || value === null) return {};
  const wrong = isObject(value)
    ? Object.entries(value).map(([key, inner]) => {
      const found = inner === undefined ? undefined : find(inner, "string");
      return found && `.${key.slice(0, 99)}${found}`;
    }).find(Boolean)
    : find(value, "object");
  if (wrong) throw badParams(`.${field}${wrong}`);
  return Object.fromEntries(Object.entries(value as Record<string, string>).filter(([, text]) => text !== undefined));
}

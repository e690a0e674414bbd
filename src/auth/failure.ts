/**
 * Errors with words of servers in them.
 *
 * @module
 */
import { AuthorizationError, type McpErrorOptions } from "../protocol/errors.ts";
import { isObject } from "../protocol/json_rpc.ts";
import { plain } from "../egress/redact.ts";

/**
 * An error that is fit for a terminal, whatever a server had to say in it: at most 500 characters, none that controls. A long one
 * loses its middle: its end says what to do.
 */
export function failure(
  message: string,
  { error, ...more }: McpErrorOptions & { readonly error?: unknown } = {},
): AuthorizationError {
  const code = typeof error === "string" ? plain(error, 100) : undefined;
  return new AuthorizationError(plain(message.replace(/^(.{400}).{2,}(.{98})$/s, "$1…$2")), { ...more, error: code });
}

/** What a refusal says, as its status and in its words: many servers have other fields for them than RFC 6749. */
export function wordsOf(status: number, answer: Readonly<Record<string, unknown>>): string {
  const { error, error_description: description, detail, message, msg } = answer;
  const told = [status, isObject(error) ? error["message"] : error, description ?? detail ?? message ?? msg];
  return told.filter((one) => one && typeof one !== "object").join(" ");
}

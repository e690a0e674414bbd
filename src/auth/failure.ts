/**
 * Errors with words of servers in them.
 *
 * @module
 */
import { AuthorizationError, type McpErrorOptions } from "../protocol/errors.ts";
import { plain } from "../egress/redact.ts";

/** An error that is fit for a terminal, whatever a server had to say in it: at most 500 characters, none that controls. */
export function failure(
  message: string,
  { error, ...more }: McpErrorOptions & { readonly error?: unknown } = {},
): AuthorizationError {
  const code = typeof error === "string" ? plain(error, 100) : undefined;
  return new AuthorizationError(plain(message), { ...more, error: code });
}

/**
 * Any failure as the house's own error, and any reason as text.
 *
 * @module
 */
import { ConnectionClosedError, McpError, ProtocolViolationError } from "../protocol/errors.ts";

/** The reason of a failure or a cancellation as others may be told it: an error's words, or a text; nothing else is shown. */
export function reasonText(reason: unknown): string {
  const text = (reason as Error | undefined)?.message || reason;
  return typeof text === "string" ? text.slice(0, 200) : "unknown";
}

/** Any thrown value as an McpError, so that no foreign error leaves a transport. */
export function asMcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  // The runtime's own words hold what was read.
  if (error instanceof SyntaxError) return new ProtocolViolationError("The message is no JSON");
  return new ConnectionClosedError(`The connection broke: ${reasonText(error)}`, {
    cause: error,
    retryable: true,
  });
}

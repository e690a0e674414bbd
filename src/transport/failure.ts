/**
 * Any failure as the house's own error, and any reason as text.
 *
 * @module
 */
import { ConnectionClosedError, McpError, ProtocolViolationError } from "../protocol/errors.ts";

/** The reason of a cancellation as it may be told to the other side. */
export function reasonText(reason: unknown): string {
  return textOf(reason ?? "cancelled").slice(0, 200);
}

function textOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/** Any thrown value as an McpError, so that no foreign error leaves a transport. */
export function asMcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  if (error instanceof SyntaxError) return new ProtocolViolationError("The message is no JSON", { cause: error });
  return new ConnectionClosedError(`The connection broke: ${textOf(error)}`, { cause: error, retryable: true });
}

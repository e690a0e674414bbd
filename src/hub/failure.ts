/**
 * Calls that failed, as results that say so.
 *
 * @module
 */
import {
  ConnectError,
  ConnectionClosedError,
  HttpStatusError,
  McpError,
  PeerExitedError,
  SpawnError,
  TimeoutError,
} from "../protocol/errors.ts";
import type { CallToolResult } from "../protocol/types.ts";

/** Under this key of `_meta` a result says what is known of a call that failed: `server`, `code`, `delivery`, `retryable`. */
export const failureKey = "dev.causeway/error";

/** Whether the way to a server failed, and not the server or one of its tools. */
export function isTransportFailure(error: unknown): boolean {
  if (error instanceof HttpStatusError) return error.status >= 500;
  return error instanceof ConnectError || error instanceof TimeoutError || isBroken(error);
}

/** Whether a pipe is broken, and only another one helps. */
export function isBroken(error: unknown): boolean {
  return error instanceof ConnectionClosedError || error instanceof PeerExitedError || error instanceof SpawnError;
}

/** The error that is behind a call of which nobody knows whether it ran. */
export function origin(error: McpError): unknown {
  return error.code === "outcome_unknown" ? error.cause : error;
}

/** An error as a result for the model that called: it names the server, where there is one, and says what is known. */
export function failedResult(error: unknown, called: string | undefined): CallToolResult {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const { server = called, code, delivery, retryable } = error instanceof McpError ? error : new McpError(message);
  const text = server === undefined || message.includes(`"${server}"`) ? message : `The server "${server}": ${message}`;
  return {
    content: [{ type: "text", text }],
    isError: true,
    _meta: { [failureKey]: { ...(server !== undefined && { server }), code, delivery, retryable } },
  };
}

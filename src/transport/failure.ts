/**
 * Any failure as the house's own error, and any reason as text.
 *
 * @module
 */
import { ConnectionClosedError, McpError, ProtocolViolationError } from "../protocol/errors.ts";
import type { JsonRpcError, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from "../protocol/json_rpc.ts";

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

/**
 * A message, where it is an error, or tells of a task that failed of one, without the secrets in its texts. What it asks a
 * person to visit stays as it is.
 */
export function withoutSecrets(
  message: JsonRpcMessage,
  keeper: { redact(text: string): string } | undefined,
): JsonRpcMessage {
  const { error, result, params = result } = message as Partial<JsonRpcResponse & JsonRpcRequest>;
  const failed = error ?? params?.error as JsonRpcError | undefined;
  return failed && keeper && failed.code !== -32042
    ? JSON.parse(JSON.stringify(message), (_, item) => typeof item === "string" ? keeper.redact(item) : item)
    : message;
}

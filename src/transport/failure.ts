/**
 * Any failure as the house's own error, and any reason as text.
 *
 * @module
 */
import { readErrorText } from "../egress/body.ts";
import {
  ConnectionClosedError,
  errorFromAnswer,
  HttpStatusError,
  McpError,
  ProtocolViolationError,
  SessionLostError,
  UnauthorizedError,
} from "../protocol/errors.ts";
import { excerpt } from "../protocol/excerpt.ts";
import { isRpcError } from "../protocol/json_rpc.ts";
import type { JsonRpcError, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from "../protocol/json_rpc.ts";
import type { Clock } from "../ports.ts";

/** The reason of a failure or a cancellation as others may be told it: an error's words, or a text; nothing else is shown. */
export function reasonText(reason: unknown): string {
  const text = (reason as Error | undefined)?.message || reason;
  return typeof text === "string" ? text.slice(0, 200) : "unknown";
}

/** Any thrown value as an McpError, so that no foreign error leaves a transport. */
export function asMcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  // The runtime's own words hold what was read.
  if (error instanceof SyntaxError) return new ProtocolViolationError("The message is not JSON");
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

/** Whose reply it is. */
interface Replying {
  readonly label: string;
  readonly clock: Clock;
  redact(text: string): string;
}

/** What a reply that is no answer says, without secrets. */
export async function errorText(response: Response, { redact, clock }: Replying): Promise<string> {
  return redact(await readErrorText(response, clock)).trim();
}

/**
 * Turns a status that is no success into the error that says what it means.
 *
 * @param session The legacy session that the request was sent in.
 */
export async function statusError(response: Response, server: Replying, session?: string): Promise<McpError> {
  const { headers, status } = response;
  const text = await errorText(response, server);
  const message = `"${server.label}" answered ${status}${text && ": " + excerpt(text, 200)}`;
  // To a session that they have forgotten many servers say 400, as examples of the official SDKs do, and older ones of Rust 401.
  if (
    session &&
    /^40(4|0.*((server|session) not init|session exp|(id|ing|ive) session)|[01].*session not f)/is.test(status + text)
  ) {
    // Its own words may hold the id.
    return new SessionLostError("The session is lost");
  }
  if (status === 401 || status === 403) {
    return new UnauthorizedError(message, { status, challenge: server.redact(headers.get("www-authenticate") ?? "") });
  }
  let error: unknown;
  try {
    error = JSON.parse(text).error;
  } catch {
    // Most are no JSON.
  }
  // Who is busy has not run it, whatever its body says.
  const busy = status === 429;
  if (isRpcError(error) && !busy && status !== 503) return errorFromAnswer(error, { status });
  const again = headers.get("retry-after") as string;
  // Seconds or a date, clamped.
  const wait = Math.max(Number(again) * 1_000 || Date.parse(again) - server.clock.now(), 0);
  return new HttpStatusError(message, {
    status,
    body: excerpt(text),
    retryAfter: wait >= 0 ? Math.min(wait, 60_000) : undefined,
    retryable: busy || status > 499,
    delivery: busy ? "not-sent" : status > 499 ? "unknown" : "answered",
  });
}

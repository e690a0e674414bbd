/**
 * Replies of the routes beside MCP: JSON, and errors in OpenAI's shape.
 *
 * @module
 */
import { InvalidRequestError } from "../../protocol/errors.ts";
import type { Logger } from "../../ports.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import { ModelError } from "../api_agent.ts";

/** The body of an error. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/**
 * A reply with JSON for its body.
 *
 * @param most The most characters that it may have.
 * @throws {TypeError} When it has more.
 */
export function reply(body: object, most: number = Infinity): Response {
  const text = JSON.stringify(body);
  if (text.length > most) throw new TypeError(`Cannot send a reply of more than ${most} characters`);
  return json(text, 200);
}

/** The same reply without its body, which says how long that is: hosts would say that there is none. */
export function headOf(body: object): Response {
  const { length } = new TextEncoder().encode(JSON.stringify(body));
  return new Response(null, { headers: { "content-type": "application/json", "content-length": `${length}` } });
}

function json(text: string, status: number, headers?: Readonly<Record<string, string>>): Response {
  return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
}

/** The body of an error that the caller may be told. */
export function errorBody({ message, type, param, code }: ModelError): ErrorBody {
  return { error: { message, type, param, code } };
}

/** A reply that refuses. */
export function refuse(
  status: number,
  message: string,
  options: { param?: string; code?: string; headers?: Readonly<Record<string, string>> } = {},
): Response {
  return json(JSON.stringify(errorBody(new ModelError(message, { status, ...options }))), status, options.headers);
}

/** 405: there is no such method at this address. */
export function notAllowed(allow: string): Response {
  return refuse(405, `Only ${allow} can be used here`, { code: "method_not_allowed", headers: { allow } });
}

/**
 * What the caller is told of an error: what was thrown for them as it is, all else only as a failure, with the error in
 * the operator's log.
 */
export function toModelError(error: unknown, logger: Logger | undefined, message: string): ModelError {
  if (error instanceof ModelError) return error;
  // Scopes that a handler demanded; what another server refused is not the caller's to know.
  if (error instanceof InvalidRequestError && error.status === 403 && !error.server && !error.method) {
    return new ModelError(error.message, { status: 403, code: "insufficient_scope" });
  }
  createSafeLogger(logger)?.({ level: "error", message, fields: { error } });
  // What it had done by then is not known.
  return new ModelError("The agent could not answer", { status: 500, code: "internal_error", retryable: false });
}

/** The reply for an error. */
export function errorReply(error: ModelError): Response {
  const { status, retryable } = error;
  const isError = Number.isInteger(status) && status >= 400 && status < 600;
  return json(JSON.stringify(errorBody(error)), isError ? status : 500, {
    // Programs of OpenAI's library ask again after most errors of servers, unless they are told not to.
    ...(retryable !== undefined && { "x-should-retry": `${retryable}` }),
  });
}

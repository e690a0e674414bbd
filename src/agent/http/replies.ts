/**
 * Replies of the routes beside MCP: JSON, and errors in OpenAI's shape.
 *
 * @module
 */
import { InvalidParamsError, InvalidRequestError } from "../../protocol/errors.ts";
import type { Logger } from "../../ports.ts";
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

/** A reply with JSON for its body. */
export function reply(body: object, status: number = 200, headers?: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
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
  return reply(errorBody(new ModelError(message, { status, ...options })), status, options.headers);
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
  if (error instanceof InvalidParamsError) return new ModelError(error.message, { status: 400 });
  if (error instanceof InvalidRequestError && error.status === 403) {
    return new ModelError(error.message, { status: 403, code: "insufficient_scope" });
  }
  logger?.({ level: "error", message, fields: { error } });
  return new ModelError("The agent could not answer", { status: 500, code: "internal_error" });
}

/** The reply for an error. */
export function errorReply(error: ModelError): Response {
  const { status } = error;
  return reply(errorBody(error), Number.isInteger(status) && status >= 400 && status < 600 ? status : 500);
}

/**
 * Refusals as problem details (RFC 9457).
 *
 * @module
 */
import { ModelError } from "../../agent/api_agent.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import type { Logger } from "../../ports.ts";
import {
  AuthorizationRequiredError,
  EgressDeniedError,
  HttpStatusError,
  LimitExceededError,
  McpError,
  OutcomeUnknownError,
  OverloadedError,
  RpcError,
  TimeoutError,
  UnauthorizedError,
} from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import type { JsonValue } from "../../protocol/json_rpc.ts";
import { isPromise } from "../../protocol/promise.ts";

/** What a refusal says beside its status and code. */
export interface RefusalOptions {
  /** Headers of the reply. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Further members of the body. */
  readonly more?: Readonly<Record<string, JsonValue | undefined>> | undefined;
  /** What is behind it, for the operator alone. */
  readonly cause?: unknown;
}

/** What a caller is told in the place of an answer. */
export class Refusal extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** What is wrong, in one word: safe to switch on. */
  readonly code: string;
  /** Headers of the reply. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly more: Readonly<Record<string, JsonValue | undefined>>;

  /** Makes a refusal: thrown by a route, it becomes the reply. */
  constructor(status: number, code: string, message: string, options: RefusalOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.more = options.more ?? {};
  }
}

/** There is no such thing, or it is not this caller's: both say the same. */
export function missing(what: string, name: string): Refusal {
  return new Refusal(404, "not_found", `There is no ${what} "${excerpt(name, 200)}"`);
}

/** A field of the body, query or path is wrong. */
export function wrongField(pointer: string, detail: string): Refusal {
  return new Refusal(400, "invalid_request", `${pointer === "" ? "The body" : `"${pointer}"`}: ${detail}`, {
    more: { errors: [{ pointer, detail }] },
  });
}

/** The longest that anybody is told to wait, in seconds: nobody knows when a quota of nothing becomes another one. */
const longestWait = 86_400;

/** Too much of something: come back later. */
export function tooMuch(code: string, detail: string, seconds: number): Refusal {
  const wait = Math.max(1, Math.min(Math.ceil(seconds), longestWait));
  return new Refusal(429, code, detail, { headers: { "retry-after": String(wait) } });
}

/** It is longer than what is kept: sending it again will not help. */
export function tooLong({ value }: LimitExceededError): Refusal {
  return new Refusal(413, "too_large", `It is too long to be kept: expected at most ${value} characters as JSON`);
}

/**
 * Asks something that may be down (a store, a policy, what keeps runs): when it fails, nothing was done, and the caller may try again.
 *
 * @returns What it says, at once where it does: each promise costs a turn.
 * @throws {Refusal} 503.
 */
export function ask<Value>(
  what: string,
  work: () => Value | Promise<Value>,
  logger?: Logger,
): Value | Promise<Value> {
  try {
    const said = work();
    return isPromise(said) ? Promise.resolve(said).catch((error) => failed(what, error, logger)) : said;
  } catch (error) {
    return failed(what, error, logger);
  }
}

function failed(what: string, error: unknown, logger: Logger | undefined): never {
  if (error instanceof Refusal) throw error;
  createSafeLogger(logger)?.({ level: "error", message: `${what} failed`, fields: { error } });
  throw unavailable(what, error);
}

/** 503: what would answer is about to end, and another one takes its place. */
export function closing(what = "The runner is closing"): Refusal {
  return new Refusal(503, "closing", what, { headers: { "retry-after": "1" } });
}

/** 503: something that is needed is down, and nothing was done. */
function unavailable(what: string, cause?: unknown): Refusal {
  return new Refusal(503, "unavailable", `${what} cannot be reached: nothing was done`, {
    headers: { "retry-after": "5" },
    cause,
  });
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not signed in",
  403: "Not allowed",
  404: "Not found",
  405: "Wrong method",
  406: "Not acceptable",
  408: "Too slow",
  409: "Conflict",
  413: "Too large",
  415: "Wrong content type",
  422: "Cannot be processed",
  428: "Approval required",
  429: "Too much",
  499: "The caller is gone",
  500: "Internal error",
  502: "The server behind failed",
  503: "Not available",
  504: "The server behind is too slow",
};

/** The members of a problem. */
export function problemBody(refusal: Refusal, requestId: string | undefined): Record<string, JsonValue | undefined> {
  const { status, code, message, more } = refusal;
  return {
    type: `urn:causeway:problem:${code}`,
    title: titles[status] ?? "Refused",
    status,
    detail: message,
    code,
    ...(requestId !== undefined && { requestId }),
    ...more,
  };
}

/** A refusal as a reply. */
export function problemReply(refusal: Refusal, requestId: string | undefined): Response {
  return new Response(JSON.stringify(problemBody(refusal, requestId)), {
    status: refusal.status,
    headers: { "content-type": "application/problem+json", ...refusal.headers },
  });
}

/** A refusal as a sentence, for a person at a browser. */
export function wordsOf({ status, message, headers }: Refusal): Response {
  return new Response(`${message}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
  });
}

/** What the caller is told of whatever was thrown. What was not meant for them is in the operator's log alone. */
export function refusalOf(error: unknown, logger: Logger | undefined): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ModelError) return modelRefusal(error);
  if (error instanceof McpError) return behind(error);
  if (error instanceof DOMException && error.name === "AbortError") {
    return new Refusal(499, "caller_gone", "The caller is gone");
  }
  createSafeLogger(logger)?.({ level: "error", message: "A request could not be answered", fields: { error } });
  return new Refusal(500, "internal_error", "The request could not be answered", { cause: error });
}

/** In OpenAI's form too: their programs look for `error`. */
function modelRefusal({ status, message, type, param, code, retryable }: ModelError): Refusal {
  const sound = Number.isInteger(status) && status >= 400 && status < 600 ? status : 500;
  return new Refusal(sound, code ?? "invalid_request", message, {
    headers: {
      ...((sound === 503 || sound === 429) && { "retry-after": "5" }),
      ...(retryable !== undefined && { "x-should-retry": `${retryable}` }),
    },
    more: { error: { message, type, param, code } },
  });
}

/** The same refusal with OpenAI's `error` beside it. */
export function asModelError(refusal: Refusal): Refusal {
  const { status, code, message, headers, more } = refusal;
  if (more.error !== undefined) return refusal;
  const { type } = new ModelError(message, { status });
  return new Refusal(status, code, message, {
    // What an agent had done before it failed unexpectedly is not known.
    headers: { ...headers, ...(status === 500 && { "x-should-retry": "false" }) },
    more: { ...more, error: { message, type, param: null, code } },
    cause: refusal.cause,
  });
}

/** What went wrong at a server behind. */
function behind(error: McpError): Refusal {
  const { server, delivery, retryable, code } = error;
  const more = { ...(server !== undefined && { server }), cause: code, delivery, retryable };
  const [status, word, headers] = statusOf(error);
  return new Refusal(status, word, excerpt(error.message), { more, headers, cause: error });
}

function statusOf(error: McpError): readonly [number, string, Readonly<Record<string, string>>?] {
  if (error.code === "invalid_params") {
    return error.delivery === "answered" ? [400, "invalid_arguments"] : [404, "not_found"];
  }
  if (error instanceof OverloadedError) return [503, "overloaded", { "retry-after": "1" }];
  if (error instanceof OutcomeUnknownError) return [502, "outcome_unknown"];
  if (error instanceof TimeoutError) return [504, "timeout"];
  if (error instanceof AuthorizationRequiredError) return [409, "sign_in_required"];
  if (error instanceof UnauthorizedError) return [502, "refused_behind"];
  if (error instanceof EgressDeniedError) return [400, "egress_denied"];
  if (error instanceof LimitExceededError) return [502, "limit_exceeded"];
  if (error instanceof HttpStatusError && error.retryAfter !== undefined) {
    return [503, "overloaded", { "retry-after": String(Math.ceil(error.retryAfter / 1_000)) }];
  }
  return error instanceof RpcError ? [502, "error_behind"] : [502, "server_unavailable"];
}

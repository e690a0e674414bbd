/**
 * Every error that this library throws on purpose. Catch by class or switch on `code`; messages are for people.
 * Wrong use of the API itself is a `TypeError` or `RangeError`; a user's abort rejects with the signal's own reason;
 * a tool that ran and failed is a result with `isError: true`.
 *
 * @module
 */
import type { JsonRpcError, JsonValue } from "./json_rpc.ts";

/**
 * Whether the server may have acted on the request: `not-sent` (certainly not executed), `unknown` (it may have run),
 * `answered` (the server itself said no).
 */
export type Delivery = "not-sent" | "unknown" | "answered";

/** The closed list of error codes. */
export type McpErrorCode =
  | "rpc_error"
  | "parse_error"
  | "invalid_request"
  | "method_not_found"
  | "invalid_params"
  | "internal_error"
  | "header_mismatch"
  | "missing_capability"
  | "unsupported_version"
  | "url_elicitation_required"
  | "connect_failed"
  | "connection_closed"
  | "timeout"
  | "session_lost"
  | "peer_exited"
  | "spawn_failed"
  | "http_status"
  | "limit_exceeded"
  | "overloaded"
  | "protocol_violation"
  | "egress_denied"
  | "redirect_refused"
  | "unauthorized"
  | "authorization_required"
  | "authorization_failed"
  | "outcome_unknown"
  | "input_required";

/** What an error may be told beside its message. */
export interface McpErrorOptions {
  /** The error or value behind this one. */
  cause?: unknown;
  /** The server's name or address, as the caller knows it. */
  server?: string | undefined;
  /** The JSON-RPC method that failed. */
  method?: string | undefined;
  /** Whether the server may have acted on it; the class has a default. */
  delivery?: Delivery | undefined;
  /** Whether sending the same request again may help; the class has a default. */
  retryable?: boolean | undefined;
}

/** The base of them all: `error instanceof McpError` means that this library says so. */
export class McpError extends Error {
  override name = "McpError";
  /** What happened, as one word of a closed list: safe to switch on. */
  readonly code: McpErrorCode = "internal_error";
  /** The server's name or address, as the caller knows it. Filled in on the way up. */
  server: string | undefined;
  /** The JSON-RPC method that failed. Filled in on the way up. */
  method: string | undefined;
  /** Whether the server may have acted on the request. */
  delivery: Delivery;
  /** Whether sending the same request again may help. Sending it again may also run it twice: see `delivery`. */
  retryable: boolean;

  constructor(message: string, options: McpErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.server = options.server;
    this.method = options.method;
    this.delivery = options.delivery ?? "unknown";
    this.retryable = options.retryable ?? false;
  }
}

/** What an error answer of the peer carries. */
export interface RpcErrorOptions extends McpErrorOptions {
  /** The JSON-RPC error code on the wire. */
  rpcCode?: number | undefined;
  /** The `data` of the error, as it came: not trusted, not checked. */
  data?: JsonValue | undefined;
  /** The HTTP status of the reply that carried it. */
  status?: number | undefined;
}

/** The server answered with a JSON-RPC error that has no class of its own. */
export class RpcError extends McpError {
  override name = "RpcError";
  override readonly code: McpErrorCode = "rpc_error";
  /** The JSON-RPC error code on the wire. */
  readonly rpcCode: number;
  /** The `data` of the error, as it came: not trusted, not checked. */
  readonly data: JsonValue | undefined;
  /** The HTTP status of the reply that carried it, where there was one. */
  readonly status: number | undefined;

  constructor(message: string, options: RpcErrorOptions = {}) {
    super(message, { ...options, delivery: options.delivery ?? "answered" });
    this.rpcCode = options.rpcCode ?? -32603;
    this.data = options.data;
    this.status = options.status;
  }
}

/** -32700: the server could not parse what it got. */
export class ParseError extends RpcError {
  override name = "ParseError";
  override readonly code = "parse_error";
}

/** -32600: the server does not take this for a request. */
export class InvalidRequestError extends RpcError {
  override name = "InvalidRequestError";
  override readonly code = "invalid_request";
}

/** -32601: the server has no such method. */
export class MethodNotFoundError extends RpcError {
  override name = "MethodNotFoundError";
  override readonly code = "method_not_found";
}

/** -32602 (and -32002 of older servers): unknown tool, prompt, resource, cursor or task, or malformed parameters. */
export class InvalidParamsError extends RpcError {
  override name = "InvalidParamsError";
  override readonly code = "invalid_params";
}

/** -32603: the server failed inside. */
export class InternalError extends RpcError {
  override name = "InternalError";
  override readonly code = "internal_error";
}

/** -32020: headers and body disagree (specification 2026-07-28: Streamable HTTP, Server Validation). */
export class HeaderMismatchError extends RpcError {
  override name = "HeaderMismatchError";
  override readonly code = "header_mismatch";
}

/** -32021: the request needs a client capability that was not declared; `data.requiredCapabilities` lists it. */
export class MissingCapabilityError extends RpcError {
  override name = "MissingCapabilityError";
  override readonly code = "missing_capability";
}

/** -32022, or no revision in common: `supported` is what the server speaks. */
export class UnsupportedVersionError extends RpcError {
  override name = "UnsupportedVersionError";
  override readonly code = "unsupported_version";
  /** The revisions that the server named; empty when it named none. */
  get supported(): string[] {
    const data = this.data as { supported?: unknown } | null | undefined;
    return Array.isArray(data?.supported)
      ? data.supported.filter((item): item is string => typeof item === "string")
      : [];
  }
}

/** -32042 of 2025-11-25 servers: the user has to visit the URLs in `data.elicitations` first. */
export class UrlElicitationRequiredError extends RpcError {
  override name = "UrlElicitationRequiredError";
  override readonly code = "url_elicitation_required";
}

/** No connection came about: refused, unknown host, bad certificate. Nothing was sent. */
export class ConnectError extends McpError {
  override name = "ConnectError";
  override readonly code = "connect_failed";
}

/** The connection or the reply's stream ended before the answer came. */
export class ConnectionClosedError extends McpError {
  override name = "ConnectionClosedError";
  override readonly code = "connection_closed";
  /** How long the server asked to wait before the stream is opened again, in milliseconds (SSE `retry`), unclamped. */
  retryAfter: number | undefined;
}

/** Which clock ran out. */
export type TimeoutKind = "headers" | "idle" | "total" | "start";

/** A time-out option ran out; `timeout` names it. */
export class TimeoutError extends McpError {
  override name = "TimeoutError";
  override readonly code = "timeout";
  /** The option under `timeouts` that ran out. */
  readonly timeout: TimeoutKind;
  /** Its value, in milliseconds. */
  readonly milliseconds: number;

  constructor(timeout: TimeoutKind, milliseconds: number, options?: McpErrorOptions) {
    super(`No answer within ${milliseconds} ms: raise "timeouts.${timeout}" if the server needs longer`, options);
    this.timeout = timeout;
    this.milliseconds = milliseconds;
  }
}

/** The server forgot the session, and a new one did not help. */
export class SessionLostError extends McpError {
  override name = "SessionLostError";
  override readonly code = "session_lost";
}

/** The server's process ended. */
export class PeerExitedError extends McpError {
  override name = "PeerExitedError";
  override readonly code = "peer_exited";
  /** The exit code, or null when a signal ended it. */
  readonly exitCode: number | null;
  /** The signal's name, or null. */
  readonly signal: string | null;
  /** The last of what it wrote to its standard error: at most 2 KiB, redacted. */
  readonly stderr: string;

  constructor(
    message: string,
    options: McpErrorOptions & { exitCode?: number | null; signal?: string | null; stderr?: string } = {},
  ) {
    super(message, options);
    this.exitCode = options.exitCode ?? null;
    this.signal = options.signal ?? null;
    this.stderr = options.stderr ?? "";
  }
}

/** The server's process could not be started. Nothing was sent. */
export class SpawnError extends McpError {
  override name = "SpawnError";
  override readonly code = "spawn_failed";
  constructor(message: string, options: McpErrorOptions = {}) {
    super(message, { ...options, delivery: "not-sent" });
  }
}

/** The server answered with an HTTP status that is no MCP answer. */
export class HttpStatusError extends McpError {
  override name = "HttpStatusError";
  override readonly code = "http_status";
  /** The HTTP status. */
  readonly status: number;
  /** The start of the reply's body: at most 2 KiB, redacted. */
  readonly body: string;
  /** `Retry-After` in milliseconds, clamped to 0…60,000; undefined when absent or unreadable. */
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    options: McpErrorOptions & { status: number; body?: string; retryAfter?: number | undefined },
  ) {
    super(message, options);
    this.status = options.status;
    this.body = options.body ?? "";
    this.retryAfter = options.retryAfter;
  }
}

/** Something grew past a limit; `limit` is the option that raises it. */
export class LimitExceededError extends McpError {
  override name = "LimitExceededError";
  override readonly code = "limit_exceeded";
  /** The option that raises the limit, such as `limits.messageBytes`. */
  readonly limit: string;
  /** The limit in force. */
  readonly value: number;
  /** What was seen when it was refused (a lower bound). */
  readonly seen: number;

  constructor(limit: string, value: number, seen: number, options?: McpErrorOptions) {
    super(`"${limit}" is ${value} and at least ${seen} was seen: raise the option if the server is trusted`, options);
    this.limit = limit;
    this.value = value;
    this.seen = seen;
  }
}

/** Too much is waiting already. Nothing was sent. */
export class OverloadedError extends McpError {
  override name = "OverloadedError";
  override readonly code = "overloaded";
}

/** The server sent what the protocol does not allow. */
export class ProtocolViolationError extends McpError {
  override name = "ProtocolViolationError";
  override readonly code = "protocol_violation";
}

/** An address that the egress policy does not allow. Nothing was sent. */
export class EgressDeniedError extends McpError {
  override name = "EgressDeniedError";
  override readonly code = "egress_denied";
  constructor(message: string, options: McpErrorOptions = {}) {
    super(message, { ...options, delivery: "not-sent" });
  }
}

/** The server redirected to where this request must not go. */
export class RedirectRefusedError extends McpError {
  override name = "RedirectRefusedError";
  override readonly code = "redirect_refused";
}

/** HTTP 401 or 403 and no way to answer it. `challenges` are the reply's `WWW-Authenticate` values. */
export class UnauthorizedError extends McpError {
  override name = "UnauthorizedError";
  override readonly code = "unauthorized";
  /** 401 or 403. */
  readonly status: number;
  /** The `WWW-Authenticate` header as it came, or an empty string. */
  readonly challenge: string;

  constructor(message: string, options: McpErrorOptions & { status?: number; challenge?: string } = {}) {
    super(message, { ...options, delivery: options.delivery ?? "answered" });
    this.status = options.status ?? 401;
    this.challenge = options.challenge ?? "";
  }
}

/** A person has to sign in at `authorizationUrl` first; `pending` (plain JSON) finishes the sign-in later, elsewhere if need be. */
export class AuthorizationRequiredError extends McpError {
  override name = "AuthorizationRequiredError";
  override readonly code = "authorization_required";
  /** Where the person has to go. */
  readonly authorizationUrl: string;
  /** What the finish needs: plain JSON, secret. */
  readonly pending: JsonValue;

  constructor(message: string, options: McpErrorOptions & { authorizationUrl: string; pending: JsonValue }) {
    super(message, { ...options, delivery: options.delivery ?? "not-sent" });
    this.authorizationUrl = options.authorizationUrl;
    this.pending = options.pending;
  }
}

/** Signing in failed. */
export class AuthorizationError extends McpError {
  override name = "AuthorizationError";
  override readonly code = "authorization_failed";
}

/** A tool call broke off after it was sent: it may or may not have run, and it is not sent again by itself. */
export class OutcomeUnknownError extends McpError {
  override name = "OutcomeUnknownError";
  override readonly code = "outcome_unknown";
}

/**
 * A call waits for input that no handler gave. With `pending` it can be gone on with, in another process if need be;
 * without it the user refused.
 */
export class InputRequiredError extends McpError {
  override name = "InputRequiredError";
  override readonly code = "input_required";
  /** Plain JSON for `client.resume`; undefined when the input was refused. Holds the server's state: secret. */
  readonly pending: unknown;

  constructor(message: string, options: McpErrorOptions & { pending?: unknown } = {}) {
    super(message, { ...options, delivery: options.delivery ?? "answered" });
    this.pending = options.pending;
  }
}

const answers: Readonly<Record<number, typeof RpcError>> = {
  [-32700]: ParseError,
  [-32600]: InvalidRequestError,
  [-32601]: MethodNotFoundError,
  [-32602]: InvalidParamsError,
  [-32603]: InternalError,
  [-32002]: InvalidParamsError,
  [-32020]: HeaderMismatchError,
  [-32021]: MissingCapabilityError,
  [-32022]: UnsupportedVersionError,
  [-32042]: UrlElicitationRequiredError,
};

const longestMessage = 2048;

/** Turns the error part of an answer into the class that stands for its code. The message is kept to 2 KiB. */
export function errorFromAnswer(error: JsonRpcError, options: RpcErrorOptions = {}): RpcError {
  const message = error.message.length > longestMessage ? error.message.slice(0, longestMessage) + "…" : error.message;
  const Class = answers[error.code] ?? RpcError;
  return new Class(message, { ...options, rpcCode: error.code, data: error.data });
}

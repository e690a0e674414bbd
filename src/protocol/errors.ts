/**
 * Every error that this library throws on purpose. Catch by class or switch on `code`; messages are for people.
 * Wrong use of the API itself is a `TypeError` or `RangeError`; a user's abort rejects with the signal's own reason;
 * a tool that ran and failed is a result with `isError: true`.
 *
 * @module
 */
import { excerpt } from "./excerpt.ts";
import type { JsonRpcError, JsonValue } from "./json_rpc.ts";
import type { PendingInput } from "./types/input.ts";

/**
 * Whether the server may have acted on the request: `not-sent` (certainly not executed), `unknown` (it may have run),
 * `answered` (the server itself said no).
 */
export type Delivery = "not-sent" | "unknown" | "answered";

/** The closed list of error codes: the class names in other clothes (`http_status` is `HttpStatusError`). */
export type McpErrorCode =
  | "mcp"
  | "rpc"
  | "parse"
  | "invalid_request"
  | "method_not_found"
  | "invalid_params"
  | "internal"
  | "header_mismatch"
  | "missing_capability"
  | "unsupported_version"
  | "url_elicitation_required"
  | "connect"
  | "connection_closed"
  | "timeout"
  | "session_lost"
  | "peer_exited"
  | "spawn"
  | "http_status"
  | "limit_exceeded"
  | "overloaded"
  | "protocol_violation"
  | "egress_denied"
  | "redirect_refused"
  | "unauthorized"
  | "authorization_required"
  | "authorization"
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
  delivery?: Delivery;
  /** Whether sending the same request again may help (false). */
  retryable?: boolean;
}

/**
 * The base of them all: `error instanceof McpError` means that this library says so.
 *
 * @typeParam Details The further fields that a class takes.
 */
export class McpError<Details extends object = object> extends Error {
  /** What happened, as one word of a closed list: safe to switch on. */
  readonly code: McpErrorCode = "mcp";
  /** The server's name or address, as the caller knows it. Filled in on the way up. */
  declare server: string | undefined;
  /** The JSON-RPC method that failed. Filled in on the way up. */
  declare method: string | undefined;
  /** Whether the server may have acted on the request. */
  delivery: Delivery = "unknown";
  /** Whether sending the same request again may help. Sending it again may also run it twice: see `delivery`. */
  retryable = false;

  /**
   * Makes an error.
   *
   * @param message What failed, for people: action first, the value in quotes, the wanted state.
   * @param options What else is known.
   */
  constructor(message: string, options?: McpErrorOptions & Details) {
    super(message, options);
    Object.assign(this, options);
  }

  /** The class's name, also where a bundler has renamed the class. */
  override get name(): string {
    return `_${this.code}Error`.replace(/_(.)/g, (_, first: string) => first.toUpperCase());
  }
}

/** Errors of requests that certainly did not reach the server. */
export class NotSentError<Details extends object = object> extends McpError<Details> {
  /** It was not sent. */
  override delivery: Delivery = "not-sent";
}

/** Errors that the server itself gave as its answer. */
export class AnsweredError<Details extends object = object> extends McpError<Details> {
  /** The server answered. */
  override delivery: Delivery = "answered";
}

/** What an error answer of the peer carries. */
export interface RpcErrorDetails {
  /** The JSON-RPC error code on the wire. */
  rpcCode?: number;
  /** The `data` of the error, as it came: not trusted, not checked. */
  data?: JsonValue | undefined;
  /** The HTTP status of the reply that carried it. */
  status?: number;
}

/** The server answered with a JSON-RPC error that has no class of its own. */
export class RpcError extends AnsweredError<RpcErrorDetails> {
  /** The word for this class. */
  override readonly code: McpErrorCode = "rpc";
  /** The JSON-RPC error code on the wire. */
  declare readonly rpcCode: number;
  /** The `data` of the error, as it came: not trusted, not checked. */
  declare readonly data: JsonValue | undefined;
  /** The HTTP status of the reply that carried it, where there was one. */
  declare readonly status: number | undefined;
}

/** -32700: the server could not parse what it got. */
export class ParseError extends RpcError {
  /** The word for this class. */
  override readonly code = "parse";
}

/** -32600: the server does not take this for a request. */
export class InvalidRequestError extends RpcError {
  /** The word for this class. */
  override readonly code = "invalid_request";
}

/** -32601: the server has no such method. */
export class MethodNotFoundError extends RpcError {
  /** The word for this class. */
  override readonly code = "method_not_found";
}

/** -32602 (and -32002 of older servers): unknown tool, prompt, resource, cursor or task, or malformed parameters. */
export class InvalidParamsError extends RpcError {
  /** The word for this class. */
  override readonly code = "invalid_params";
}

/** -32603: the server failed inside. */
export class InternalError extends RpcError {
  /** The word for this class. */
  override readonly code = "internal";
}

/** -32020: headers and body disagree (specification 2026-07-28: Streamable HTTP, Server Validation). */
export class HeaderMismatchError extends RpcError {
  /** The word for this class. */
  override readonly code = "header_mismatch";
}

/** -32021: the request needs a client capability that was not declared; `data.requiredCapabilities` lists it. */
export class MissingCapabilityError extends RpcError {
  /** The word for this class. */
  override readonly code = "missing_capability";
}

/** -32022, or no revision in common: `supported` is what the server speaks. */
export class UnsupportedVersionError extends RpcError {
  /** The word for this class. */
  override readonly code = "unsupported_version";
  /** The revisions that the server named; empty when it named none. */
  get supported(): string[] {
    const { supported } = this.data as { supported?: unknown } ?? {};
    return [supported].flat().filter((item) => typeof item === "string");
  }
}

/** -32042 of 2025-11-25 servers: the user has to visit the URLs in `data.elicitations` first. */
export class UrlElicitationRequiredError extends RpcError {
  /** The word for this class. */
  override readonly code = "url_elicitation_required";
}

/** No connection came about: refused, unknown host, bad certificate. Nothing was sent. */
export class ConnectError extends NotSentError {
  /** The word for this class. */
  override readonly code = "connect";
}

/** The connection or the reply's stream ended before the answer came. */
export class ConnectionClosedError
  extends McpError<{ retryAfter?: number | undefined; lastEventId?: string | undefined; blocked?: boolean }> {
  /** The word for this class. */
  override readonly code = "connection_closed";
  /** How long the server asked to wait before the stream is opened again, in milliseconds (SSE `retry`), unclamped. */
  declare readonly retryAfter: number | undefined;
  /** The id of the last event of a stream that ended: it goes on behind that one. */
  declare readonly lastEventId: string | undefined;
  /** In a browser: there was no reply, and the browser does not say whether it refused the request (CORS) or nobody answered. */
  declare readonly blocked: boolean | undefined;
}

/** Which clock ran out. */
export type TimeoutKind = "headers" | "idle" | "total" | "start" | "call";

/** A time-out option ran out; `timeout` names it. */
export class TimeoutError extends McpError<{ timeout: TimeoutKind; milliseconds: number }> {
  /** The word for this class. */
  override readonly code = "timeout";
  /** The option under `timeouts` that ran out; `call` is the option `timeout` of the call itself. */
  declare readonly timeout: TimeoutKind;
  /** Its value, in milliseconds. */
  declare readonly milliseconds: number;

  /** Made by the library. */
  constructor(timeout: TimeoutKind, milliseconds: number, options?: McpErrorOptions) {
    super(`No answer within ${milliseconds} ms: raise "${timeout === "call" ? "timeout" : "timeouts." + timeout}"`, {
      ...options,
      timeout,
      milliseconds,
    });
  }
}

/** The server forgot the session, and a new one did not help. The request was not run. */
export class SessionLostError extends NotSentError {
  /** The word for this class. */
  override readonly code = "session_lost";
}

/** The server's process ended. */
export class PeerExitedError extends McpError<{ exitCode?: number | null; signal?: string | null; stderr?: string }> {
  /** The word for this class. */
  override readonly code = "peer_exited";
  /** The exit code; null or missing when a signal ended it. */
  declare readonly exitCode: number | null | undefined;
  /** The signal's name; null or missing when there was none. */
  declare readonly signal: string | null | undefined;
  /** The last of what it wrote to its standard error, of one that never served the first too: at most 2 KiB, redacted. */
  declare readonly stderr: string | undefined;
}

/** The server's process could not be started. Nothing was sent. */
export class SpawnError extends NotSentError {
  /** The word for this class. */
  override readonly code = "spawn";
}

/** The server answered with an HTTP status that is no MCP answer. */
export class HttpStatusError extends McpError<{ status: number; body?: string; retryAfter?: number | undefined }> {
  /** The word for this class. */
  override readonly code = "http_status";
  /** The HTTP status. */
  declare readonly status: number;
  /** The start of the reply's body: at most 2 KiB, redacted. */
  declare readonly body: string | undefined;
  /** `Retry-After` in milliseconds, clamped to 0…60,000; undefined when absent or unreadable. */
  declare readonly retryAfter: number | undefined;
}

/** Something grew past a limit; `limit` is the option that raises it. */
export class LimitExceededError extends McpError<{ limit: string; value: number; seen: number }> {
  /** The word for this class. */
  override readonly code = "limit_exceeded";
  /** The option that raises the limit, such as `limits.messageBytes`. */
  declare readonly limit: string;
  /** The limit in force. */
  declare readonly value: number;
  /** What was seen when it was refused (a lower bound). */
  declare readonly seen: number;

  /** Made by the library. */
  constructor(limit: string, value: number, seen: number, options?: McpErrorOptions) {
    super(`"${limit}" is ${value}, ${seen} was seen: raise it`, { ...options, limit, value, seen });
  }
}

/** Too much is waiting already. Nothing was sent. */
export class OverloadedError extends NotSentError {
  /** The word for this class. */
  override readonly code = "overloaded";
}

/** The server sent what the protocol does not allow. */
export class ProtocolViolationError extends McpError {
  /** The word for this class. */
  override readonly code = "protocol_violation";
}

/** An address that the egress policy does not allow. Nothing was sent. */
export class EgressDeniedError extends NotSentError {
  /** The word for this class. */
  override readonly code = "egress_denied";
}

/** The server redirected to where this request must not go. */
export class RedirectRefusedError extends AnsweredError {
  /** The word for this class. */
  override readonly code = "redirect_refused";
}

/** HTTP 401 or 403 and no way to answer it. */
export class UnauthorizedError extends AnsweredError<{ status: number; challenge: string }> {
  /** The word for this class. */
  override readonly code = "unauthorized";
  /** 401 or 403. */
  declare readonly status: number;
  /** The `WWW-Authenticate` header, redacted, or an empty string. */
  declare readonly challenge: string;
}

/** A sign-in that waits for a person: plain JSON, without secrets. What finishes it is in the store. */
export interface PendingAuthorization {
  /** Names it. */
  readonly id: string;
  /** The MCP server. */
  readonly server: string;
  /** The authorization server. */
  readonly issuer: string;
  /** What is asked for. */
  readonly scopes: readonly string[];
  /** Until when it can be finished, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A person has to sign in at `authorizationUrl` first; `pending` names the sign-in, which can be finished elsewhere too. */
export class AuthorizationRequiredError extends NotSentError<{ pending: PendingAuthorization }> {
  /** The word for this class. */
  override readonly code = "authorization_required";
  /** What is waited for: plain JSON, without secrets. */
  declare readonly pending: PendingAuthorization;
  readonly #authorizationUrl: string;

  /** Made by the library. */
  constructor(
    message: string,
    { authorizationUrl, ...options }: McpErrorOptions & { authorizationUrl: string; pending: PendingAuthorization },
  ) {
    super(message, options);
    this.#authorizationUrl = authorizationUrl;
  }

  /** Where the person has to go. Secret, as it holds the state: it is shown in no log and no JSON. */
  get authorizationUrl(): string {
    return this.#authorizationUrl;
  }
}

/** Signing in failed. */
export class AuthorizationError extends NotSentError<{ error?: string | undefined }> {
  /** The word for this class. */
  override readonly code = "authorization";
  /** The code that the authorization server gave (RFC 6749, section 5.2), such as `invalid_grant`, where it gave one. */
  declare readonly error: string | undefined;
}

/** A tool call broke off after it was sent: it may or may not have run, and it is not sent again by itself. */
export class OutcomeUnknownError extends McpError {
  /** The word for this class. */
  override readonly code = "outcome_unknown";
}

/**
 * A call waits for input that no handler gave. With `pending` it can be gone on with, in another process if need be;
 * without it the user refused.
 */
export class InputRequiredError extends AnsweredError<{ pending?: PendingInput }> {
  /** The word for this class. */
  override readonly code = "input_required";
  /** Plain JSON for `client.resume`; undefined when the input was refused. Holds the server's state: secret. */
  declare readonly pending: PendingInput | undefined;
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

/** Turns the error part of an answer into the class that stands for its code. The message is kept to 2 KiB. */
export function errorFromAnswer(error: JsonRpcError, options?: McpErrorOptions & RpcErrorDetails): RpcError {
  const { code, message, data } = error;
  return new (answers[code] ?? RpcError)(excerpt(message), { ...options, rpcCode: code, data });
}

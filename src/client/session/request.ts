/**
 * One request, as it runs from its caller down to the session, and what is known of the server it goes to.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { TimeoutKind } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Implementation, Progress, ServerCapabilities } from "../../protocol/types.ts";
import type { CallTimeouts } from "./deadlines.ts";

/** What the server said about itself at the start. Not trusted, not for decisions. */
export interface ServerInfo {
  /** Its name and version; missing when it did not say. */
  readonly server: Implementation | undefined;
  /** What it can do. */
  readonly capabilities: ServerCapabilities;
  /** What it tells a model about its use. */
  readonly instructions: string | undefined;
  /** The revisions it said it speaks (modern). */
  readonly supportedVersions?: readonly string[] | undefined;
}

/** One request as it runs down the middleware to the session. */
export interface ClientRequest {
  /** What is asked for, or told. */
  readonly method: string;
  /** The details; their shape depends on the method. */
  readonly params: JsonObject;
  /** What the caller said about it. */
  readonly options: SessionRequestOptions;
}

/** What a caller may say about one request. */
export interface RequestOptions {
  /** Calls the request off: it rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole request: stands for all of `timeouts.headers`, `timeouts.idle` and `timeouts.total`. */
  timeout?: number | undefined;
  /**
   * Milliseconds, one by one.
   *
   * @internal
   */
  timeouts?: Partial<CallTimeouts> | undefined;
  /**
   * Wakes for the deadlines of this request, where each has a timer of its own (the client's).
   *
   * @internal
   */
  timer?: Pick<Clock, "schedule"> | undefined;
  /** Called for each sign of progress, at most 1,000 times a second. Progress extends the idle time in any case. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Your word that doing it twice is the same as doing it once: then it may be sent again after a failure. */
  idempotent?: boolean | undefined;
  /** Further `_meta` of the request. */
  meta?: JsonObject | undefined;
  /** Further headers of the request; bindings without headers ignore them. */
  headers?: Record<string, string> | undefined;
}

/** Request options with what only the client itself sets. */
export interface SessionRequestOptions extends RequestOptions {
  /** What to call the clock when `timeout` runs out. */
  named?: TimeoutKind;
  /** When the whole request is over, by the monotonic clock, where an earlier attempt began it. */
  endsAt?: number | undefined;
  /** Goes on with a call that stopped for input (modern). */
  resume?: ResumedInput | undefined;
  /** Told of the id, which is the token of its progress too, each time that it is sent. When it throws, it is not sent, and comes to that. */
  sent?: ((id: number) => void) | undefined;
  /** The result types beside `complete` and `input_required` that are allowed here. */
  resultTypes?: readonly string[] | undefined;
}

/** Where a call that stopped for input goes on. */
export interface ResumedInput {
  /** `inputResponses` and `requestState`, as they travel. */
  input: JsonObject;
  /** Which round it is: one more than there were. */
  round: number;
}

/** Who asked for a public request, and tries again where that is right. */
export interface RequestOwner {
  /**
   * What becomes of a request that the session could not save.
   *
   * @param sent What was sent.
   */
  failed(error: unknown, sent: FailedRequest): Promise<JsonObject>;
}

/** A public request that the session could not save. */
export interface FailedRequest {
  readonly request: ClientRequest;
  /** When its time is over, by the monotonic clock. */
  readonly totalAt: number;
  /** What was known of the server when it was sent. */
  readonly known?: ServerInfo | undefined;
}

/**
 * What a client needs of a session, whichever era it speaks.
 *
 * @module
 */
import type { TimeoutKind } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Limits, Timeouts } from "../../protocol/limits.ts";
import type { Era, Revision } from "../../protocol/revisions.ts";
import type { Change, ClientCapabilities, Implementation, Progress, ServerCapabilities } from "../../protocol/types.ts";
import type { Clock, Logger, Random } from "../../ports.ts";
import type { Transport } from "../../transport/transport.ts";
import type { Handlers, InputAnswers } from "../input/seam.ts";
import type { LegacyListening, ListenFeature } from "../listen/seam.ts";
import type { Call, CallHost, CallTimeouts } from "./call.ts";

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
  /** Goes on with a call that stopped for input (modern). */
  resume?: ResumedInput | undefined;
  /** The result types beside `complete` and `input_required` that are allowed here. */
  resultTypes?: readonly string[] | undefined;
  /** Mirrored headers of a tool's arguments. */
  mirrored?: Record<string, string> | undefined;
}

/** Where a call that stopped for input goes on. */
export interface ResumedInput {
  /** `inputResponses` and `requestState`, as they travel. */
  input: JsonObject;
  /** How many rounds there were. */
  round: number;
}

/** One way of speaking to one server. */
export interface Session {
  readonly era: Era;
  readonly revision: Revision;
  readonly info: ServerInfo;
  /** Sends a request and gives its checked result. */
  request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject>;
  /** Sends a notification; resolves when it is on its way. */
  notify(method: string, params: JsonObject): Promise<void>;
  /** Sends a request whose answer may be long in coming, and gives its call. */
  start(method: string, params: JsonObject, host: CallHost): Call;
  /** Legacy: what the server sends on its own account. */
  readonly stream?: LegacyListening | undefined;
  /** Stops its timers; the transport is closed by its owner. */
  stop(): void;
}

/** What both sessions are made of. */
export interface SessionParts {
  transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly clientInfo: Implementation;
  readonly handlers: Handlers;
  readonly capabilities: ClientCapabilities;
  /** What answers the server's requests, where that feature is there. */
  readonly inputs: InputAnswers | undefined;
  readonly listening: ListenFeature | undefined;
  readonly logger: Logger | undefined;
  /** Legacy HTTP: whether the GET stream is opened as soon as there are handlers that may hear something on it. */
  readonly stream: boolean;
  /** Something changed at the server. */
  changed(change: Change): void;
  /** A legacy session was opened anew: what hung on the old one has to be made again. */
  reopened(session: Session): Promise<void> | void;
}

/** What is known of a server that has not said anything yet. */
export const unknownServer: ServerInfo = { server: undefined, capabilities: {}, instructions: undefined };

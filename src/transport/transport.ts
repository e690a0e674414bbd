/**
 * The shape everything travels in: one request goes out, everything that comes back belongs to it, its response is last.
 *
 * @module
 */
import type { McpError } from "../protocol/errors.ts";
import type { JsonRpcMessage } from "../protocol/json_rpc.ts";

/**
 * What one request brings back. Only the binding calls it; there is one per round (an `input_required` retry is a new
 * exchange).
 */
export interface Exchange {
  /** Takes a message that belongs to this request: notifications (and, legacy, server requests), then the response. */
  message(message: JsonRpcMessage): void;
  /** The reply has begun (HTTP: its headers are there). */
  begin?(): void;
  /**
   * Nothing more will come. May be called more than once and also after the response, where it means nothing;
   * without a response before it the call fails at once with `reason`.
   */
  end(reason?: McpError): void;
}

/** What a session says about one message. */
export interface SendOptions {
  /** Headers beside the transport's own; a binding without headers ignores them. */
  headers?: Record<string, string> | undefined;
  /** The message belongs to a handshake session: session id, resumption and posted cancel notices apply. */
  legacy?: boolean | undefined;
  /** Is given the text of each message that comes back, where the binding has one. */
  read?: ((text: string) => void) | undefined;
}

/** Calls a request off, in the way of its binding and era. Harmless when it is over. */
export type Cancel = (reason?: unknown) => void;

/** How messages travel to one server. `Channel`s and HTTP fill it; a custom transport may too. */
export interface Transport {
  /** `http` has headers and one reply per request; a `channel` is one pipe that all share. */
  readonly kind: "http" | "channel";
  /** What names the server to people: its URL without query, or its command. */
  readonly label: string;
  /** The whole address, where `connect` can use it again. May hold secrets. */
  readonly address?: string | undefined;
  /**
   * Sends one message. A request needs an exchange; for a notification or an answer it is optional and only told of its
   * end. `exchange.end` may be called before `send` returns.
   */
  send(message: JsonRpcMessage, exchange?: Exchange, options?: SendOptions): Cancel;
  /** Legacy: opens the stream that belongs to no request (HTTP: GET; a channel: the channel itself). */
  open?(exchange: Exchange, options?: SendOptions): Cancel;
  /** True once it has broken or was closed: what has broken {@linkcode restart} brings back. */
  readonly ended?: boolean | undefined;
  /** Legacy 2025-03-26: arrays of messages are taken apart. Set by the session. */
  batches?: boolean;
  /** Legacy HTTP: what the session says of messages that are the transport's own. Set by a session that sends none at first. */
  legacy?: SendOptions;
  /** The session's id on the wire, where there is one (legacy HTTP). Secret. */
  sessionId?: string | undefined;
  /** Starts anew what has broken: a stdio transport its process. What has no need of that leaves it out. */
  restart?(): Promise<void>;
  /** Ends the transport and every exchange on it. Idempotent. */
  close(reason?: McpError): Promise<void>;
}

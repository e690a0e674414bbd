/**
 * The seam between the client and its streams of changes, so that a client without them does not carry their code.
 *
 * @module
 */
import type { JsonObject, JsonRpcMessage } from "../../protocol/json_rpc.ts";
import type { McpError } from "../../protocol/errors.ts";
import type { Change, ListenFilter } from "../../protocol/types.ts";
import type { Clock, Random } from "../../ports.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { ServerInfo, Session, SessionParts } from "../session/session.ts";
import type { Subscription } from "./subscription.ts";

/** Hears what one stream brings. */
export interface ListenSink {
  /** It is open; the part of the filter that the server honours. */
  open(honoured: ListenFilter): void;
  change(change: Change): void;
  /** It has ended; `graceful` when the server said so. */
  end(reason: McpError | undefined, graceful: boolean): void;
}

/** What a subscription is made of. */
export interface SubscriptionParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Opens the stream once; the returned function ends it. */
  open(filter: ListenFilter, sink: ListenSink): Promise<() => void>;
  /** Something changed. */
  changed(change: Change): void;
}

/** The legacy session that a stream belongs to. */
export interface StreamHost {
  readonly info: ServerInfo;
  request(method: string, params: JsonObject, options: Record<never, never>): Promise<JsonObject>;
  /** Takes a message that belongs to no request. */
  take(message: JsonRpcMessage): void;
}

/** The stream of a legacy session. */
export interface LegacyListening {
  /** The session is open: opens the stream where handlers may hear something on it, and waits for its head, but not for long. */
  ready(): Promise<void>;
  listen(filter: ListenFilter, sink: ListenSink): () => void;
  /** Takes a notification that may tell of a change. */
  notified(method: string, params: JsonObject | undefined): void;
  /** The session was opened anew. */
  reopened(): Promise<void>;
  /** The channel that everything came over is gone. */
  lost(reason: McpError | undefined): void;
  stop(): void;
}

/** What the client calls. */
export interface ListenFeature {
  subscribe(parts: SubscriptionParts, filter: ListenFilter, signal: AbortSignal | undefined): Subscription;
  /** Opens one modern stream. */
  modern(session: Session, filter: ListenFilter, sink: ListenSink): () => void;
  legacy(parts: SessionParts, session: StreamHost, send: () => SendOptions): LegacyListening;
}

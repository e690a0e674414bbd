/**
 * The seam between the client and its streams of changes, so that a client without them does not carry their code.
 *
 * @module
 */
import type { JsonObject, JsonRpcMessage } from "../../protocol/json_rpc.ts";
import type { McpError } from "../../protocol/errors.ts";
import type { Change, ListenFilter, ServerCapabilities } from "../../protocol/types.ts";
import type { Clock, Random } from "../../ports.ts";
import type { SendOptions, Transport } from "../../transport/transport.ts";
import type { Handlers } from "../input/seam.ts";
import type { Call, CallHost } from "../session/call.ts";
import type { ClientRequest } from "../session/request.ts";

/** Hears what one stream brings. */
export interface ListenSink {
  /** It is open; the part of the filter that the server honours. */
  open(honoured: ListenFilter): void;
  change(change: Change): void;
  /** It has ended; `graceful` when the server said so. */
  end(reason: McpError | undefined, graceful?: boolean): void;
}

/** What a subscription is made of. */
export interface SubscriptionParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Opens the stream once; the returned function ends it. */
  open(filter: ListenFilter, sink: ListenSink): Promise<() => void>;
  /** Is told what changed. */
  client(): { changed?(change: Change): void };
  /** The stream broke; it may be opened again. */
  readonly broke: ((reason: unknown) => void) | undefined;
}

/** The legacy session that a stream belongs to. */
export interface StreamHost {
  readonly parts: LegacyListenParts;
  readonly info: { readonly capabilities: ServerCapabilities };
  request(request: ClientRequest): Promise<JsonObject>;
  /** Takes a message that belongs to no request. */
  take(message: JsonRpcMessage): void;
  /** The calls that wait for answers. */
  all(): { readonly id: number | undefined; message(message: JsonRpcMessage): void }[];
  /** The headers and marks of a message. */
  dress(): SendOptions;
}

/** The stream of a legacy session. */
export interface LegacyListening {
  /** The session is open: opens the stream where handlers may hear something on it, and waits for its head, but not for long. */
  ready(): Promise<void>;
  listen(filter: ListenFilter, sink: ListenSink): () => void;
  /** Sees to it that what the server tells of is heard. */
  hear(): void;
  /** Takes a notification that may tell of a change. */
  notified(method: string, params: JsonObject | undefined): void;
  /** The session was opened anew. */
  reopened(): Promise<void>;
  /** The channel that everything came over is gone. */
  lost(reason: McpError | undefined): void;
  stop(): void;
}

/** What a legacy session gives to its stream. */
export interface LegacyListenParts {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly inputs: { readonly handlers: Handlers } | undefined;
  /** Whether the stream is opened as soon as there are handlers that may hear something on it. */
  readonly stream: boolean | undefined;
  /** Is told what changed, and asks the server whether it is there. */
  client(): { changed?(change: Change): void; request(method: string): Promise<unknown> };
}

/** Starts a request whose answer may be long in coming. */
export interface ModernHost {
  start(request: ClientRequest, host: CallHost): Call;
}

/** A stream of changes at a server. */
export interface Subscription extends AsyncIterableIterator<Change>, AsyncDisposable {
  /** What the server really sends, told when the stream is first open. */
  readonly acknowledged: Promise<ListenFilter>;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends it. Idempotent. */
  close(): void;
}

/** What the client calls. */
export interface ListenFeature {
  /**
   * Makes a subscription of a client.
   *
   * @internal
   */
  subscribe(parts: SubscriptionParts, filter: ListenFilter, signal: AbortSignal | undefined): Subscription;
  /**
   * Opens one modern stream.
   *
   * @internal
   */
  modern(session: ModernHost, filter: ListenFilter, sink: ListenSink): () => void;
  /**
   * Makes the stream of a legacy session.
   *
   * @internal
   */
  legacy(session: StreamHost): LegacyListening;
}

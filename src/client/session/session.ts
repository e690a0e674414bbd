/**
 * What a client needs of a session, whichever era it speaks.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CoreLimits, CoreTimeouts } from "../../protocol/limits.ts";
import type { Era, Revision } from "../../protocol/revisions.ts";
import type { Change, ClientCapabilities, Implementation } from "../../protocol/types.ts";
import type { Clock, Random } from "../../ports.ts";
import type { Transport } from "../../transport/transport.ts";
import type { InputAnswers } from "../input/seam.ts";
import type { LegacyListening, ListenFeature } from "../listen/seam.ts";
import type { TaskRunner } from "../task_support.ts";
import type { ListFeature, Mirror } from "../tools.ts";
import type { Call, CallHost } from "./call.ts";
import type { ClientRequest, RequestOptions, RequestOwner, ServerInfo } from "./request.ts";

/** One way of speaking to one server. */
export interface Session {
  readonly era: Era;
  readonly revision: Revision;
  readonly info: ServerInfo;
  /**
   * Sends a request and gives its checked result. Never throws.
   *
   * @param now By the monotonic clock.
   */
  request(request: ClientRequest, owner?: RequestOwner, now?: number): Promise<JsonObject>;
  /** Sends a notification; resolves when it is on its way. */
  notify(method: string, params: JsonObject): Promise<void>;
  /** Sends a request whose answer may be long in coming, and gives its call. */
  start(request: ClientRequest, host: CallHost): Call;
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
  readonly limits: CoreLimits;
  readonly timeouts: CoreTimeouts;
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
  /** What answers the server's requests, where that feature is there. */
  readonly inputs: InputAnswers | undefined;
  readonly listen?: ListenFeature | undefined;
  /** Legacy HTTP: whether the GET stream is opened as soon as there are handlers that may hear something on it. */
  readonly stream: boolean | undefined;
  /** Mirrors arguments as headers, where that feature is there. */
  readonly mirror: Mirror | undefined;
  /** Hears of what goes on in tasks, where there are any. */
  tasks?: TaskRunner | undefined;
  /** Lists tools, where that feature is there. */
  readonly lists?: ListFeature | undefined;
  /** Whose session it is; a function, so that a client can be written as JSON. */
  client(): SessionClient;
}

/** What a session tells its client, and asks of it. */
export interface SessionClient {
  /** Whether it was closed: then nothing is opened any more. */
  readonly closed: boolean | undefined;
  /**
   * Takes a result in, before anybody gets it.
   *
   * @param shape What it should look like: as its method says, or its type; empty where it may be a task.
   * @throws {McpError} When it is not what was promised.
   */
  accepted(request: ClientRequest, result: JsonObject, shape: string): void;
  /** The era that is spoken, once that is known. */
  readonly era: Era | undefined;
  /** Sends a request that only reads. */
  read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>;
  /** Lists the tools anew. */
  listTools(options: RequestOptions): Promise<unknown>;
  /** Something changed at the server. */
  changed?(change: Change): void;
  /** A session was opened: the first one, or one in the place of another, on which hung what has to be made again. */
  opened?(session: Session): Promise<void>;
  /** Sends a request as its caller would. */
  request(method: string): Promise<JsonObject>;
}

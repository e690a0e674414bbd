/**
 * The options of a client.
 *
 * @module
 */
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import type { ClientCapabilities, Implementation, LoggingLevel } from "../protocol/types.ts";
import type { SchemaValidator } from "../protocol/validation.ts";
import type { Clock, Logger, Random } from "../ports.ts";
import type { Transport } from "../transport/transport.ts";
import type { Features } from "./features.ts";
import type { Handlers } from "./input/seam.ts";
import type { Verdict } from "./negotiate.ts";
import type { RetryOptions } from "./retry.ts";
import type { ClientRequest } from "./session/request.ts";
import type { TaskSupport } from "./task_support.ts";

/** Sends one request and gives its result: what a middleware wraps. */
export type RequestHandler = (request: ClientRequest) => Promise<JsonObject>;

/** One layer around every request: `(next) => async (request) => { … return await next(request); }`. */
export type Middleware = (next: RequestHandler) => RequestHandler;

/** Options of a client. */
export interface ClientOptions {
  /** What answers when a server asks for input. */
  handlers?: Handlers | undefined;
  /**
   * Capabilities to declare beside those of the handlers. A call that needs input of a kind that is declared here and has
   * no handler rejects with an `InputRequiredError`, whose `pending` goes into `client.resume`.
   */
  capabilities?: ClientCapabilities | undefined;
  /** Who the client says it is (`causeway` and this package's version). */
  clientInfo?: Implementation | undefined;
  /** Upper bounds. */
  limits?: Partial<Limits> | undefined;
  /** Times in milliseconds. */
  timeouts?: Partial<Timeouts> | undefined;
  /** What is known of the server already: saves the question for its era. */
  verdict?: Verdict | undefined;
  /**
   * Checks forms that the user filled in before they are sent; in `Client` also structured results against the tools' output
   * schemas, once the tools were listed.
   */
  validator?: SchemaValidator | undefined;
  /** Layers around every request, the outermost first. */
  middleware?: readonly Middleware[] | undefined;
  /** How often what may be sent again is sent. */
  retry?: RetryOptions | undefined;
  /** Keeps results as long as the server's `ttlMs` allows (true). */
  cache?: boolean | undefined;
  /** Legacy HTTP: opens the GET stream as soon as handlers may hear something on it (true); else `listen` and `onProgress` do. */
  stream?: boolean | undefined;
  /** Starts a process or socket that has died anew with the next request (true). */
  reconnect?: boolean | undefined;
  /** Sends a ping after this many idle milliseconds (off). It never keeps a process alive. */
  keepAlive?: number | undefined;
  /** Told each time that a stream of changes breaks, whether it is opened again or not. */
  onBreak?: ((reason: unknown) => void) | undefined;
  /** How much a server should log to `handlers.log`. */
  logLevel?: LoggingLevel | undefined;
  /** Tasks: `taskSupport`. Off unless given. */
  tasks?: TaskSupport | undefined;
  /** Takes the library's own log lines. */
  logger?: Logger | undefined;
  /** Time (the system's). */
  clock?: Clock | undefined;
  /** Chance (the system's). */
  random?: Random | undefined;
  /** Parts that a small bundle may leave out: filled in by every entry but `./client`. */
  features?: Features | undefined;
  /** Another transport to try when the first one turns out to be the wrong binding: HTTP+SSE of 2024-11-05. */
  fallback?: (() => Transport) | undefined;
}

/**
 * The client's side: spans and durations of requests.
 *
 * @module
 */
import { SpanKind, trace } from "@opentelemetry/api";
import type { Middleware } from "../client/options.ts";
import type { ClientRequest } from "../client/session/request.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { isObject } from "../protocol/json_rpc.ts";
import { attempt } from "../egress/attempt.ts";
import { describe, describePlace, failureOf, outcomeOf } from "./attributes.ts";
import type { Context, OpenTelemetryOptions, TransportName } from "./options.ts";
import { activeContext, read, within, write } from "./propagation.ts";
import { Durations, type Operation, Recorder } from "./recorder.ts";

/** Options of {@linkcode openTelemetry}. */
export interface ClientTelemetryOptions extends OpenTelemetryOptions {
  /** The server's URL: tells `server.address`, `server.port` and `network.…`. Nothing else of it is recorded. */
  server?: string | URL | undefined;
  /** How messages travel, where the URL does not say it. */
  transport?: TransportName | undefined;
  /** The caller's context, asked for at each request. Default: the active one, which needs a registered context manager. */
  context?: (() => Context | undefined) | undefined;
  /** Whether the context goes to the server, in `_meta` (true). Baggage goes too: a server of strangers reads it. */
  propagate?: boolean | undefined;
  /** Sends the context as HTTP headers too (false): for gateways that do not read bodies. */
  headers?: boolean | undefined;
}

/** What {@linkcode ClientTelemetry.watch} needs of a client. */
export interface WatchedClient {
  /** The revision that is spoken; undefined before the connection. */
  readonly revision: string | undefined;
  /** Ends it; may be called more than once. */
  close(): Promise<void>;
}

/** A middleware that records, for `middleware: [ … ]`. */
export interface ClientTelemetry extends Middleware {
  /**
   * Follows a client: from now on spans say which revision is spoken, and when the client is closed, how long it was there is
   * recorded as `mcp.client.session.duration`. Its `close` is wrapped. For one client at a time.
   *
   * @returns The client.
   */
  watch<Client extends WatchedClient>(client: Client): Client;
}

const headerNames = ["traceparent", "tracestate", "baggage"];

/**
 * Records every request of a client by OpenTelemetry's conventions for MCP: a span of kind CLIENT (`tools/call get_weather`),
 * which is active while the request is under way, and its duration in the histogram `mcp.client.operation.duration`. The
 * context goes to the server in `_meta` (SEP-414), so that its spans belong to the same trace.
 *
 * As a middleware it sees requests: retries and rounds of input belong to the one that they serve; the handshake,
 * notifications and streams of changes run beside it. The caller's span is the parent; a context in a request's own `meta`
 * goes before it, unless both are of one trace. Without a registered SDK nothing is recorded and nothing is sent.
 *
 * Session ids are credentials and never recorded; arguments, results and messages only by `sanitize`. What the SDK throws
 * is dropped. In the place of `telemetry`, not beside it: each makes a span of its own.
 *
 * @example Record what a client does
 * ```ts ignore with=example
 * import { connect } from "@causeway/mcp";
 * import { openTelemetry } from "@causeway/mcp/otel";
 *
 * const url = "https://example.com/mcp";
 * const watch = openTelemetry({ server: url });
 * await using client = watch.watch(await connect(url, { middleware: [watch] }));
 * ```
 */
export function openTelemetry(options: ClientTelemetryOptions = {}): ClientTelemetry {
  const { meterProvider, propagate = true } = options;
  const place = describePlace(options.server, options.transport);
  const requests = new Durations(
    meterProvider,
    "mcp.client.operation.duration",
    "The duration of a request of a client",
  );
  const sessions = new Durations(meterProvider, "mcp.client.session.duration", "How long a client was connected");
  const recorder = new Recorder(options, requests, place);
  let watched: WatchedClient | undefined;
  const revision = () => watched?.revision === undefined ? {} : { "mcp.protocol.version": watched.revision };
  const middleware: Middleware = (next) => async (request) => {
    const { method, params, options: { signal } } = request;
    const described = describe(method, params);
    const operation = recorder.begin({ described, kind: SpanKind.CLIENT, parent: parentOf(request, options) });
    operation.content("arguments", params.arguments);
    try {
      const sent = propagate ? carrying(request, operation, options) : request;
      const result = await within(operation.context, () => next(sent));
      if (result.isError !== true) operation.content("result", result);
      operation.end(outcomeOf(result), revision());
      return result;
    } catch (error) {
      operation.end(failureOf(error, signal), revision());
      throw error;
    }
  };
  return Object.assign(middleware, {
    watch<Client extends WatchedClient>(client: Client): Client {
      watched = client;
      const startedAt = recorder.clock.monotonic();
      const close = client.close.bind(client);
      let isOpen = true;
      client.close = async () => {
        const wasOpen = isOpen && client.revision !== undefined;
        isOpen = false;
        const ended = (more = {}): void => {
          if (!wasOpen) return;
          sessions.record(recorder.clock.monotonic() - startedAt, { ...recorder.place, ...revision(), ...more });
        };
        try {
          await close();
          ended();
        } catch (error) {
          ended(failureOf(error, undefined).attributes);
          throw error;
        }
      };
      return client;
    },
  });
}

/** The context that a request's span begins in. */
function parentOf({ params, options: { meta } }: ClientRequest, options: ClientTelemetryOptions): Context {
  const active = (options.context && attempt(options.context)) ?? activeContext();
  const given = { ...(isObject(params._meta) ? params._meta : {}), ...meta } as JsonObject;
  const { traceparent } = given;
  const traceId = trace.getSpanContext(active)?.traceId;
  const isNearer = traceId !== undefined && typeof traceparent === "string" && traceparent.includes(traceId);
  return isNearer ? active : read(active, given, options.propagator);
}

/** A request with the context of its span. */
function carrying(request: ClientRequest, { context }: Operation, options: ClientTelemetryOptions): ClientRequest {
  const carrier = write(context, options.propagator);
  if (Object.keys(carrier).length === 0) return request;
  const { meta, headers } = request.options;
  // What the parent had and the span has not must not travel on.
  const old = Object.fromEntries(headerNames.map((name) => [name, undefined]));
  return {
    ...request,
    options: {
      ...request.options,
      meta: { ...meta, ...old, ...carrier },
      ...(options.headers && { headers: { ...headers, ...carrier } }),
    },
  };
}

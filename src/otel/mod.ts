/**
 * Spans and metrics of clients and servers through OpenTelemetry's API, by its conventions for MCP: {@linkcode openTelemetry}
 * is a middleware for clients, {@linkcode traceServer} goes around a server. The SDK is the program's own; without one all
 * of this does nothing.
 *
 * @module
 */
export { openTelemetry } from "./client.ts";
export type { ClientTelemetry, ClientTelemetryOptions, WatchedClient } from "./client.ts";
export type {
  ContentAbout,
  Context,
  MeterProvider,
  OpenTelemetryOptions,
  Propagator,
  TracerProvider,
  TransportName,
} from "./options.ts";
export { activeTrace } from "./propagation.ts";
export { traceServer } from "./server.ts";
export type { ServerTelemetryOptions } from "./server.ts";
export type { TraceContext } from "../client/telemetry/telemetry.ts";
export type { Methods, Servable } from "../server/seam.ts";

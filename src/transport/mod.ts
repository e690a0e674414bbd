/**
 * How messages travel: the {@linkcode Transport} contract, Streamable HTTP, and channels (stdio, WebSocket, memory, HTTP+SSE).
 *
 * @module
 */
export type { Cancel, Exchange, SendOptions, Transport } from "./transport.ts";
export { HttpTransport } from "./http.ts";
export type { HttpTransportOptions } from "./http.ts";
export { ChannelTransport } from "./channel.ts";
export type { Channel, ChannelReceiver, ChannelStats, ChannelTransportOptions } from "./channel.ts";
export { createMemoryPair } from "./memory.ts";
export { createStdioChannel } from "./stdio.ts";
export type { StdioChannel, StdioCommand, StdioPorts } from "./stdio.ts";
export { createWebSocketChannel } from "./websocket.ts";
export type { WebSocketOptions } from "./websocket.ts";
export { createLegacySseChannel } from "./legacy_sse.ts";
export type {
  Authorizer,
  Clock,
  ExitStatus,
  Fetch,
  Logger,
  LogRecord,
  OpenWebSocket,
  ProcessEvents,
  Random,
  Resolve,
  Spawn,
  SpawnCommand,
  SpawnedProcess,
  Store,
  WebSocketEvent,
  WebSocketLike,
} from "../ports.ts";
export { systemClock, systemRandom } from "../ports.ts";

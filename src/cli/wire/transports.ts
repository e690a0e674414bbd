/**
 * Transports by hand: what `connect` makes by itself, for who wants to see what travels.
 *
 * @module
 */
import type { ConnectOptions } from "../../entry/targets.ts";
import { ChannelTransport } from "../../transport/channel.ts";
import { HttpTransport } from "../../transport/http.ts";
import { createLegacySseChannel } from "../../transport/legacy_sse.ts";
import { createStdioChannel } from "../../transport/stdio.ts";
import type { StdioCommand } from "../../transport/stdio.ts";
import type { Transport } from "../../transport/transport.ts";
import { createWebSocketChannel } from "../../transport/websocket.ts";
import type { RuntimePorts } from "./ports.ts";

/** The transport to a target, and over HTTP the one for servers that only know HTTP+SSE of 2024-11-05. */
export interface MadeTransport {
  readonly transport: Transport;
  readonly fallback?: () => Transport;
}

/** Makes it; nothing is sent yet. */
export function makeTransport(
  target: string | StdioCommand,
  given: Pick<ConnectOptions, "auth" | "headers" | "redact" | "timeouts" | "logger">,
  ports: RuntimePorts,
): MadeTransport {
  const { environment, ...rest } = ports;
  const options = { ...given, ...rest };
  if (typeof target !== "string") {
    const { auth: _, ...plain } = options;
    const made = () => createStdioChannel(target, { ...plain, baseEnvironment: environment });
    return { transport: new ChannelTransport(made) };
  }
  if (/^wss?:/i.test(target)) {
    const { headers, ...others } = options;
    const opened = { ...others, headers: { ...headers } };
    return { transport: new ChannelTransport(() => createWebSocketChannel(target, opened), opened) };
  }
  return {
    transport: new HttpTransport(target, options),
    fallback: () => new ChannelTransport(() => createLegacySseChannel(target, options), options),
  };
}

/**
 * What can be connected to, and how it is reached.
 *
 * @module
 */
import { Client } from "../client/client.ts";
import { opened, withoutAuth } from "../client/connect.ts";
import type { CoreConnectOptions } from "../client/connect.ts";
import type { ClientOptions } from "../client/options.ts";
import { isSnapshot } from "../client/snapshot.ts";
import type { Snapshot } from "../client/snapshot.ts";
import type { OpenWebSocket, Spawn } from "../ports.ts";
import { isObject } from "../protocol/json_rpc.ts";
import { readUrl } from "../egress/url.ts";
import { HttpTransport } from "../transport/http.ts";
import type { StdioCommand } from "../transport/stdio.ts";
import type { Transport } from "../transport/transport.ts";

/** What can be connected to. */
export type Target = string | URL | StdioCommand | Transport | Snapshot;

/** Bindings beside HTTP, so that a program carries only what it uses. */
export interface Bindings {
  /** `ws:` and `wss:` targets. */
  webSocket?: ((url: string, options: ConnectOptions) => Transport) | undefined;
  /** `{ command }` targets. */
  stdio?: ((command: StdioCommand, options: ConnectOptions) => Transport) | undefined;
  /** Servers that only know HTTP+SSE of 2024-11-05. */
  legacySse?: ((url: string, options: ConnectOptions) => Transport) | undefined;
}

/** Options of `connect`: those of the client, and what reaches the server. */
export interface ConnectOptions extends ClientOptions, CoreConnectOptions {
  /** Starts processes: filled in by `./bun`, `./deno`, `./node` and `./local`. */
  spawn?: Spawn | undefined;
  /** The environment that children get before `env` of the command: filled in by the same. */
  environment?: ((extra: Readonly<Record<string, string>>) => Record<string, string>) | undefined;
  /** Opens WebSockets: filled in by every entry point. */
  openWebSocket?: OpenWebSocket | undefined;
  /** Bindings beside HTTP: filled in by every entry point. */
  bindings?: Bindings | undefined;
}

/**
 * Connects to a target with what `options` bring, and nothing that they do not: for a `connect` or a hub of one's own whose
 * bundle holds only what is named. HTTP is always there.
 *
 * @param target A URL, a transport, or a snapshot; a command or a `ws:` URL where `options.bindings` can.
 * @param Kind What is made; for our own entries.
 * @throws {TypeError} When the target is none of these.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 *
 * @example A hub over HTTP that checks outputs, hears of changes, and has nothing else
 * ```ts
 * import { connectTarget, createOpenHub, createSchemaValidator, listenFeature } from "@causeway/mcp";
 *
 * const parts = { features: { listen: listenFeature }, validator: createSchemaValidator(), handlers: undefined };
 * const openHub = createOpenHub((target, options) => connectTarget(target, { ...options, ...parts }));
 * await using hub = await openHub({});
 * if (hub.tools().length) throw new Error("it has tools without servers");
 * ```
 */
export async function connectTarget(
  target: Target,
  options: ConnectOptions,
  Kind: typeof Client = Client,
): Promise<Client> {
  options.signal?.throwIfAborted();
  const restored = isSnapshot(target) ? target : undefined;
  const reached = reach(restored?.target ?? target as Exclude<Target, Snapshot>, options, restored);
  const client = new Kind(reached.transport, { ...options, ...reached });
  if (restored) client.restore(restored);
  return await opened(client, options);
}

function reach(
  target: Exclude<Target, Snapshot>,
  options: ConnectOptions,
  restored: Snapshot | undefined,
): { transport: Transport; fallback?: (() => Transport) | undefined } {
  const {
    bindings: { stdio, webSocket, legacySse } = {},
    fallback = legacySse && (() => legacySse(url, options)),
  } = options;
  // It may be null, where nothing was kept.
  if (isObject(target) && "send" in target) return { transport: withoutAuth(target as Transport, options) };
  if (isObject(target) && "command" in target) {
    if (stdio) return { transport: stdio(withoutAuth(target as StdioCommand, options), options) };
    throw new TypeError(`Cannot start "${target.command as string}" here: import connect from "@causeway/mcp/local"`);
  }
  const url = String(target);
  warnOfPlainText(url, options);
  if (/^wss?:/i.test(url) && webSocket) return { transport: webSocket(url, options) };
  return { transport: new HttpTransport(url, { ...options, sessionId: restored?.sessionId }), fallback };
}

/** What is sent in plain text can be read on the way, unless there is no way: loopback. */
function warnOfPlainText(url: string, { logger }: ConnectOptions): void {
  const { protocol = "", hostname = "", host } = readUrl(url) ?? {};
  // This machine, as `URL` writes it.
  if (
    !logger || !/^(http|ws):$/.test(protocol) || /^(([\w-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  ) return;
  logger({
    level: "warning",
    message: `"${host}" is reached without encryption: use ${protocol.replace(":", "s:")}`,
  });
}

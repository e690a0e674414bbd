/**
 * From a target to a connected client.
 *
 * @module
 */
import type { Fetch, OpenWebSocket, Spawn } from "../ports.ts";
import { HttpTransport } from "../transport/http.ts";
import type { StdioCommand } from "../transport/stdio.ts";
import type { Transport } from "../transport/transport.ts";
import { Client } from "./client.ts";
import type { ClientOptions } from "./options.ts";
import { isSnapshot } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";

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

/** Options of {@linkcode connect}: those of the client, and what reaches the server. */
export interface ConnectOptions extends ClientOptions {
  /** Gives up connecting: rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Sends HTTP requests (the global `fetch`). */
  fetch?: Fetch | undefined;
  /** Headers of every HTTP request and WebSocket handshake, such as `Authorization`. Never sent to another origin. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Starts processes: filled in by `./bun`, `./deno`, `./node` and `./local`. */
  spawn?: Spawn | undefined;
  /** The environment that children get before `env` of the command: filled in by the same. */
  environment?: Readonly<Record<string, string>> | undefined;
  /** Opens WebSockets: filled in by every entry point. */
  openWebSocket?: OpenWebSocket | undefined;
  /** Takes secrets out of what a server's text brings into an error. */
  redact?: ((text: string) => string) | undefined;
  /** Bindings beside HTTP: filled in by `mod.ts` and the entry points. */
  bindings?: Bindings | undefined;
}

/**
 * Connects to one MCP server, of whichever revision.
 *
 * @param target A URL (`https:`, `http:`, `wss:`, `ws:`), a command `{ command, args, env, cwd }`, a transport, or a
 * snapshot of another client.
 * @returns A connected client: close it, or use `await using`.
 * @throws {TypeError} When the target is none of these, or this entry point has no binding for it.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
  options.signal?.throwIfAborted();
  const restored = isSnapshot(target) ? target : undefined;
  const { transport, fallback } = reach(
    restored ? restored.target : target as Exclude<Target, Snapshot>,
    options,
    restored,
  );
  const client = new Client(transport, { ...options, fallback: options.fallback ?? fallback });
  if (restored) client.restore(restored);
  try {
    return await client.connect(options);
  } catch (error) {
    await client.close();
    throw error;
  }
}

function reach(
  target: Exclude<Target, Snapshot>,
  options: ConnectOptions,
  restored: Snapshot | undefined,
): { transport: Transport; fallback?: () => Transport } {
  if (typeof target === "object" && "send" in target) return { transport: target };
  const { bindings = {} } = options;
  if (typeof target === "object" && "command" in target) {
    const { stdio } = bindings;
    if (!stdio) {
      throw new TypeError(
        `Cannot start "${target.command}": no processes can be started here. Import connect from "@causeway/mcp/local", "/bun", "/deno" or "/node"`,
      );
    }
    return { transport: stdio(target, options) };
  }
  const url = String(target);
  const scheme = URL.canParse(url) ? new URL(url).protocol : "";
  if (scheme === "ws:" || scheme === "wss:") {
    const { webSocket } = bindings;
    if (!webSocket) throw new TypeError(`Cannot connect to a ${scheme} URL: import connect from "@causeway/mcp"`);
    return { transport: webSocket(url, options) };
  }
  if (scheme !== "http:" && scheme !== "https:") {
    throw new TypeError(
      `Cannot connect to "${url}": expected an http:, https:, ws: or wss: URL, a command { command, args }, a transport or a snapshot`,
    );
  }
  const { legacySse } = bindings;
  const fallback = legacySse && (() => legacySse(url, options));
  const old = (restored?.verdict ?? options.verdict)?.binding === "http+sse";
  if (old && fallback) return { transport: fallback() };
  const transport = new HttpTransport(url, { ...options, sessionId: restored?.sessionId });
  return fallback ? { transport, fallback } : { transport };
}

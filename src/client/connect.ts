/**
 * From a URL or a transport to a connected client, with nothing that is not asked for.
 *
 * @module
 */
import { HttpTransport } from "../transport/http.ts";
import type { HttpTransportOptions } from "../transport/http.ts";
import type { Transport } from "../transport/transport.ts";
import { CoreClient } from "./core_client.ts";
import type { CoreClientOptions } from "./core_client.ts";

/** Options of the small `connect`: those of the client, those of HTTP, and when to give up. */
export interface CoreConnectOptions extends CoreClientOptions, Omit<HttpTransportOptions, "sessionId"> {
  /** Gives up connecting: rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Connects to one MCP server over HTTP, of whichever revision. What is not passed in `options` is not in the bundle:
 * handlers and the GET stream come with `features`; what `Client` does beyond {@linkcode CoreClient} is not there.
 *
 * @param target An `http:` or `https:` URL, or a transport.
 * @returns A connected client: close it, or use `await using`.
 * @throws {TypeError} When the target is neither, or a transport with `auth`.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export async function connect(target: string | URL | Transport, options: CoreConnectOptions = {}): Promise<CoreClient> {
  const isTransport = typeof target === "object" && "send" in target;
  const transport = isTransport ? withoutAuth(target, options) : new HttpTransport(target, options);
  return await opened(new CoreClient(transport, options), options);
}

/** The target itself, where it carries no credentials and none are to be put on it. */
export function withoutAuth<Target>(target: Target, { auth }: CoreConnectOptions): Target {
  if (auth) throw new TypeError('Cannot use "auth" without a URL');
  return target;
}

/** Opens a client, or closes it when that fails. */
export async function opened<Opened extends CoreClient>(
  client: Opened,
  options: { signal?: AbortSignal | undefined },
): Promise<Opened> {
  try {
    return await client.connect(options);
  } catch (error) {
    await client.close();
    throw error;
  }
}

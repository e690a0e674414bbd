/**
 * From a config to a hub that is connected.
 *
 * @module
 */
import { Hub } from "./hub.ts";
import type { HubOptions, OpenHubOptions } from "./options.ts";
import type { ConnectServer, HubConfig, ServerConfig } from "./seam.ts";

/** Opens a hub. */
export type OpenHub = (config?: HubConfig, options?: OpenHubOptions) => Promise<Hub>;

/**
 * Makes an `openHub` that connects with the `connect` of a runtime.
 *
 * @param defaults What holds where the caller says nothing.
 *
 * @example With a connect of one's own
 * ```ts
 * import { connect } from "@causeway/mcp";
 * import { createOpenHub } from "@causeway/mcp/hub";
 *
 * const openHub = createOpenHub(connect, { concurrency: 8 });
 * await using hub = await openHub({});
 * if (hub.tools().length) throw new Error("it has tools without servers");
 * ```
 */
export function createOpenHub(connect: ConnectServer, defaults: HubOptions = {}): OpenHub {
  return async (config = {}, { signal, ...options } = {}) => {
    signal?.throwIfAborted();
    const hub = new Hub(connect, { ...defaults, ...options });
    const close = (): void => void hub.close();
    signal?.addEventListener("abort", close);
    try {
      const servers = Object.entries(serversOf(config)) as [string, ServerConfig][];
      await Promise.all(servers.map(([name, server]) => hub.add(name, server)));
    } catch (error) {
      // Of what one config says wrong the servers of the others are not left behind.
      await hub.close();
      throw error;
    } finally {
      signal?.removeEventListener("abort", close);
    }
    if (signal?.aborted) await hub.close();
    signal?.throwIfAborted();
    return hub;
  };
}

function serversOf(config: HubConfig): Readonly<Record<string, unknown>> {
  return "mcpServers" in config ? { ...config.mcpServers } : config;
}

/**
 * From a config to a hub that is connected.
 *
 * @module
 */
import { unlessAborted } from "../client/core_client.ts";
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
    try {
      const servers: object = "mcpServers" in config ? { ...config.mcpServers } : config;
      const added = Object.entries(servers).map(([name, server]) => hub.add(name, server as ServerConfig));
      await unlessAborted(Promise.all(added), signal);
      return hub;
    } catch (error) {
      await hub.close();
      throw error;
    }
  };
}

/**
 * A hub with layers around it, as a runner takes it: servers come and go at the hub inside.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import type { RequestOptions } from "../../client/session/request.ts";
import type { Hub } from "../../hub/hub.ts";
import { HubLayer } from "../../hub/layer.ts";
import type { HubLike, ServerConfig } from "../../hub/seam.ts";
import type { TenantHub } from "../../runner/mod.ts";

/** Calls go through the layers; servers are added to, and removed from, the hub inside. */
export class RoomHub extends HubLayer implements TenantHub {
  readonly #inside: Hub;

  /**
   * Joins them.
   *
   * @param layers What is put around `inside`.
   * @param inside The hub; it stays its owner's.
   */
  constructor(layers: HubLike, inside: Hub) {
    super(layers);
    this.#inside = inside;
  }

  add(name: string, config: ServerConfig): Promise<void> {
    return this.#inside.add(name, config);
  }

  remove(name: string): Promise<boolean> {
    return this.#inside.remove(name);
  }

  client(server: string, options?: RequestOptions): Promise<Client> {
    return this.#inside.client(server, options);
  }

  close(): Promise<void> {
    return this.#inside.close();
  }
}

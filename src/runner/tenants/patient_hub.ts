/**
 * Calls of many runs at once, which wait for their turn.
 *
 * @module
 */
import { Limiter } from "../../hub/connection/limiter.ts";
import { HubLayer } from "../../hub/layer.ts";
import type { HubLike } from "../../hub/seam.ts";
import { systemClock } from "../../ports.ts";
import type { Clock } from "../../ports.ts";
import type { CallToolResult } from "../../protocol/types.ts";

/** As many as a hub takes for one server before it refuses further ones: those that it makes, and those that wait in it. */
const most = 64;
/** How long a call waits at most, in milliseconds: then it was not made. */
const patience = 600_000;

/**
 * A hub for agents. Where a hub alone refuses calls when too many wait for one server, here they wait: a run that is kept has the time, and its
 * model could do nothing with the refusal.
 */
export class PatientHub extends HubLayer {
  readonly #clock: Clock;
  /** By server, where calls are under way: one that is slow holds up none at the others. */
  readonly #places = new Map<string, Limiter>();

  constructor(hub: HubLike, clock: Clock = systemClock) {
    super(hub);
    this.#clock = clock;
  }

  override async callTool(...[name, args, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    options?.signal?.throwIfAborted();
    const server = typeof name === "object" ? name.server : this.hub.findTool(name)?.server ?? "";
    const places = this.#places.get(server) ?? new Limiter({ clock: this.#clock, most, queue: Infinity });
    this.#places.set(server, places);
    if (!places.take()) await places.wait({ milliseconds: patience, signal: options?.signal });
    try {
      return await this.hub.callTool(name, args, options);
    } finally {
      places.release();
      // Who waited has a place by now.
      if (places.active === 0) this.#places.delete(server);
    }
  }
}

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
  readonly #places: Limiter;

  constructor(hub: HubLike, clock: Clock = systemClock) {
    super(hub);
    this.#places = new Limiter({ clock, most, queue: Infinity });
  }

  override async callTool(...[name, args, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    options?.signal?.throwIfAborted();
    if (!this.#places.take()) await this.#places.wait({ milliseconds: patience, signal: options?.signal });
    try {
      return await this.hub.callTool(name, args, options);
    } finally {
      this.#places.release();
    }
  }
}

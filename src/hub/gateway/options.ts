/**
 * What a gateway is made of.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import type { RequestOptions } from "../../client/session/request.ts";
import type { Clock, Logger, Random } from "../../ports.ts";
import type { Implementation } from "../../protocol/types.ts";
import type { RequestContext } from "../../server/definitions.ts";
import type { HubLike } from "../seam.ts";
import type { Relay } from "./relay.ts";

/** What a gateway needs of a hub. */
export interface GatewayHub extends HubLike {
  /** The client of a server: for watching its resources. Without it only what the hub itself tells of is passed on. */
  client?(server: string, options?: RequestOptions): Promise<Client>;
}

/** Options of a gateway. */
export interface GatewayOptions extends Partial<Implementation> {
  /** Advice for models that comes before what the servers say. */
  readonly instructions?: string | undefined;
  /**
   * Takes what the servers ask to the callers: the one whose `handlers` and `features` are the hub's options. Without one the
   * hub's own handlers answer.
   */
  readonly relay?: Relay | undefined;
  /**
   * Names who calls: what a server asks on no request of its own goes to a caller only where all calls at that server are of
   * one. Default: the verified principal; a caller without one is nobody that is known.
   */
  readonly caller?: ((context: RequestContext) => string | undefined) | undefined;
  /**
   * What tools and prompts are called: `<server>__<name>` ("qualified"), or "own": as their server calls them, wherever it is
   * the only one that has something of that name.
   */
  readonly names?: "qualified" | "own" | undefined;
  /** How many items a page of a list has (100). */
  readonly pageSize?: number | undefined;
  /** How long a call at a legacy server waits for the answers of a modern caller, in milliseconds (300,000). */
  readonly answerTime?: number | undefined;
  /** Hears of what failed here. */
  readonly logger?: Logger | undefined;
  /** Time (the system's). */
  readonly clock?: Clock | undefined;
  /** Chance (the system's). */
  readonly random?: Random | undefined;
}

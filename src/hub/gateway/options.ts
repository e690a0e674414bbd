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
import type { Relay } from "./calls/relay.ts";

/** What a gateway needs of a hub. */
export interface GatewayHub extends HubLike {
  /** The client of a server: for watching its resources. Without it only what the hub itself tells of is passed on. */
  client?(server: string, options?: RequestOptions): Promise<Client>;
  /** Whether a resource may be watched: asked when somebody wants to, and with each change. Without it all may. */
  mayWatch?(server: string, uri: string): boolean;
  /** Looks anew at what may be used: awaited before a list, before something is said not to be there, and before a change is told. */
  renew?(): Promise<void>;
}

/** Options of a gateway. */
export interface GatewayOptions extends Partial<Implementation> {
  /** Advice for models that comes before what the servers say. */
  readonly instructions?: string | undefined;
  /**
   * Takes what the servers ask to the callers, and follows tasks for them: the one whose `handlers`, `features`, `middleware` and
   * `tasks` are the hub's options. Without one the hub's own handlers answer.
   */
  readonly relay?: Relay | undefined;
  /**
   * Names who calls: what a server asks on no request of its own goes to a caller only where all calls at that server are of
   * one. Default: the verified principal; a caller without one is nobody that is known.
   */
  readonly caller?: ((context: RequestContext) => string | undefined) | undefined;
  /**
   * Has callers take turns at servers of the older era that are no Streamable HTTP (false): these do not say whose call a
   * question belongs to, and with calls of several callers under way it goes to nobody. Calls of one caller (`caller`) go side
   * by side; others wait until they are over, and so does a call that an unknown caller makes before its own first one is over.
   */
  readonly takesTurns?: boolean | undefined;
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

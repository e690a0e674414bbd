/**
 * The options of a hub.
 *
 * @module
 */
import type { RequestOptions } from "../client/session/request.ts";
import type { Authorizer } from "../ports.ts";
import type { Tool } from "../protocol/types.ts";
import type { Catalog, ClientSettings } from "./seam.ts";

/** What holds for all servers of a hub; what the config says of one comes first. */
export interface HubOptions extends Omit<ClientSettings, "headers" | "retry" | "verdict"> {
  /**
   * What was known of the servers: those in it are connected with the first call, and not before. It is used as it is: what was
   * stored goes through `readCatalog` first, which looks at each field.
   */
  readonly catalog?: Catalog | undefined;
  /** Connects each server with its first call (false). */
  readonly lazy?: boolean | undefined;
  /** Credentials for servers that are reached by URL: for all of them, or by name. */
  readonly auth?: Authorizer | ((server: string) => Authorizer | undefined) | undefined;
  /** Which tools there are, beside `tools` of a server's config. */
  readonly filter?: ((tool: Tool, server: string) => boolean) | undefined;
  /** Hears of changes at the servers, and lists again what changed (true; false on Workers). */
  readonly listen?: boolean | undefined;
  /** Calls under way at one server at most (32; 4 on Workers); 100 more wait. */
  readonly concurrency?: number | undefined;
  /** Servers that are connected at one time (64; 6 on Workers). */
  readonly parallel?: number | undefined;
  /** How often a request is sent at most that may be sent again (3). */
  readonly retry?: ClientSettings["retry"];
}

/** Options of `openHub`. */
export interface OpenHubOptions extends HubOptions {
  /** Gives up opening: rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of one tool call. */
export interface HubCallOptions extends RequestOptions {
  /** Rejects with what went wrong, in the place of a result with `isError` (false). */
  readonly throws?: boolean | undefined;
}

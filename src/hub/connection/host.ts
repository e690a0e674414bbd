/**
 * What a connection and its hub know of each other.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import type { RequestOptions } from "../../client/session/request.ts";
import type { Authorizer, Clock, Random } from "../../ports.ts";
import type { Tool } from "../../protocol/types.ts";
import type { CatalogServer, ClientSettings, ConnectServer, HubEvent } from "../seam.ts";
import type { Limiter } from "./limiter.ts";

/** What a connection needs of its hub. */
export interface ConnectionHost {
  readonly connect: ConnectServer;
  readonly clock: Clock;
  readonly random: Random;
  /** What all clients are given. */
  readonly shared: ClientSettings;
  /** How many calls one server gets at a time. */
  readonly concurrency: number;
  /** Whether changes are listened to. */
  readonly listen: boolean;
  /** Places for those that connect at one time. */
  readonly connecting: Limiter;
  /** The hub's credentials for a server. */
  auth(server: string): Authorizer | undefined;
  /** Whether a tool belongs into the catalog. */
  keeps(tool: Tool, server: string): boolean;
  emit(event: HubEvent): void;
  /** Something new is known of a server. */
  listed(server: CatalogServer): void;
}

/** What is done with a client that is connected. */
export type Work<Value> = (client: Client, options: RequestOptions) => Promise<Value>;

/**
 * What the kinds of things that a server offers have in common.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { ServerCapabilities } from "../../protocol/types.ts";
import type { RequestContext } from "../definitions.ts";
import type { ServerChange } from "../seam.ts";

/** One kind of things that a server offers. */
export interface Kind {
  /** What is there, or was: a client that was told of it may go on asking. */
  capabilities(): ServerCapabilities;
  /** Answers one of its methods; undefined for any other, and where nothing of its kind was ever there. */
  run(method: string, params: JsonObject, context: RequestContext): JsonObject | Promise<JsonObject> | undefined;
}

/** The kinds of things that one server offers. */
export interface Kinds {
  /** How many items a page of a list has. */
  readonly pageSize: number;
  /** Offers one more kind. */
  add<Added extends Kind>(kind: Added): Added;
  /** Tells all who listen that something changed. */
  tell(change: ServerChange): void;
}

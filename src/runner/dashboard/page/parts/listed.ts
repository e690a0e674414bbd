/**
 * Tools, as the API lists them.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { objectOf, textOf } from "../base/api.ts";

/** One tool. */
export interface ListedTool {
  /** What it is called by here. */
  readonly name: string;
  readonly server: string;
  /** Whether a call wants an approval. */
  readonly approval: boolean;
  /** As its server describes it. */
  readonly tool: JsonObject;
}

/** Reads what the API lists. */
export function listed(item: JsonObject): ListedTool {
  const { name, server, approval, tool } = item;
  return { name: textOf(name), server: textOf(server), approval: approval === true, tool: objectOf(tool) };
}

/**
 * Which notifications tell of changes.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Change } from "../../protocol/types.ts";

/** The lists that may change. */
export const lists = ["tools", "prompts", "resources"] as const;

/** The change that a notification tells of, in either era. */
export function changeOf(method: string, params: JsonObject | undefined): Change | undefined {
  const list = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1];
  if (list) return { type: list as "tools" };
  if (method === "notifications/resources/updated" && typeof params?.uri === "string") {
    return { type: "resource", uri: params.uri };
  }
  if (method.startsWith("notifications/tasks") && typeof params?.taskId === "string") {
    return { type: "task", task: params } as Change;
  }
  return undefined;
}

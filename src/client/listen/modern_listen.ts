/**
 * One `subscriptions/listen` stream (specification 2026-07-28: subscriptions).
 *
 * @module
 */
import { ConnectionClosedError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import type { ListenFilter } from "../../protocol/types.ts";
import type { Call } from "../session/call.ts";
import { changeOf, lists } from "./change.ts";
import type { ListenSink, ModernHost } from "./seam.ts";

/** Opens a stream: nothing counts before the server has acknowledged it, and everything on it is tagged with its id. */
export function modernListen(session: ModernHost, filter: ListenFilter, sink: ListenSink): () => void {
  let opened: boolean | undefined;
  const take = (message: JsonRpcNotification | JsonRpcRequest, call: Call): void => {
    if ("id" in message) return;
    const { method, params } = message;
    if (method === "notifications/cancelled") {
      return call.end(new ConnectionClosedError("The server ended the subscription", { retryable: true }));
    }
    const owner = (params?._meta as JsonObject | undefined)?.[metaPrefix + "subscriptionId"] ?? call.id;
    if (owner !== call.id) return;
    if (method === "notifications/subscriptions/acknowledged") {
      opened = true;
      call.expiresAt = Infinity;
      return sink.open(filterFromWire((params?.notifications ?? {}) as JsonObject));
    }
    const change = changeOf(method, params);
    if (change && opened) sink.change(change);
  };
  const call = session.start({
    method: "subscriptions/listen",
    params: { notifications: filterToWire(filter) },
    options: {},
  }, { take });
  call.result.then(() => sink.end(undefined, true), sink.end);
  return () => call.abort(new ConnectionClosedError("The subscription was closed"));
}

function filterToWire({ resourceUris, taskIds, ...filter }: ListenFilter): JsonObject {
  const wire: JsonObject = {};
  for (const list of lists) if (filter[list]) wire[list + "ListChanged"] = true;
  if (resourceUris?.length) wire.resourceSubscriptions = resourceUris;
  if (taskIds?.length) wire.taskIds = taskIds;
  return wire;
}

function filterFromWire(wire: JsonObject): ListenFilter {
  const texts = (value: unknown): string[] => [value].flat().filter((item) => typeof item === "string");
  const filter: ListenFilter = {};
  for (const list of lists) filter[list] = wire[list + "ListChanged"] === true;
  filter.resourceUris = texts(wire.resourceSubscriptions);
  if (wire.taskIds) filter.taskIds = texts(wire.taskIds);
  return filter;
}

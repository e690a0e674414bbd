/**
 * What a server on a channel works with.
 *
 * @module
 */
import type { JsonRpcError, JsonRpcRequest, JsonRpcResponse, RequestId } from "../protocol/json_rpc.ts";
import { isObject } from "../protocol/json_rpc.ts";
import type { AuthInfo } from "./definitions.ts";
import type { Methods, ModernServing, ServerParts } from "./seam.ts";
import { withRun } from "./common/other_run.ts";
import { capabilitiesKey, versionKey } from "./common/meta_keys.ts";
import type { ServingOptions } from "./serving.ts";
import { isPromise } from "../protocol/promise.ts";

/** Options of `serveChannel`; of the limits `jsonDepth`, `jsonNodes`, `outboxBytes`, `strays` and `items` are used. */
export interface ChannelServerOptions extends ServingOptions {
  /** Who is at the other end, where that is known. */
  auth?: AuthInfo | undefined;
  /** How many requests may be in work at once. Default: 256. Further ones are refused. */
  maxRequests?: number | undefined;
  /** How long requests in work may go on when the other side has ended, in milliseconds. Default: 0, they are aborted. */
  drainTimeout?: number | undefined;
  /**
   * Makes the modern era in another way.
   *
   * @internal
   */
  modern?: ((parts: ServerParts) => ModernServing) | undefined;
}

/** Methods that tell when a handler starts and ends: one that does not heed its signal outlives its request. */
export function countedMethods(methods: Methods, count: (by: 1 | -1) => void): Methods {
  return withRun(methods, (method, params, context) => {
    const running = methods.run(method, params, context);
    if (!isPromise(running)) return running;
    count(1);
    // Beside the result, not before it.
    const ended = (): void => count(-1);
    running.then(ended, ended);
    return running;
  });
}

/** Whether a request says that it is of the modern era: by its `_meta`, or by a method that only that era has. */
export function claimsModern({ method, params }: JsonRpcRequest): boolean {
  if (method === "server/discover" || method === "subscriptions/listen") return true;
  const meta = params?._meta;
  return isObject(meta) && (versionKey in meta || capabilitiesKey in meta);
}

/** An error answer of the channel itself. */
export function refusal(
  id: RequestId | null,
  code: number,
  message: string,
): JsonRpcResponse & { error: JsonRpcError } {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

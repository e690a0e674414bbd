/**
 * Calls by plain HTTP, as a relay knows them.
 *
 * @module
 */
import { isLate } from "../../hub/relayed_call.ts";
import type { RelayedCall } from "../../hub/relayed_call.ts";
import { MethodNotFoundError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Call } from "./call.ts";

/** Where a call goes, and how its caller leaves. */
export interface PlainCall {
  readonly server: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs a call whose caller cannot be asked. The relay has to know of it all the same: what the server asks would go to whoever
 * else has a call there.
 */
export async function withoutAsking<Result>(
  { tenant, parts: { relay: relayOf, clock } }: Pick<Call, "tenant" | "parts">,
  { server, signal }: PlainCall,
  send: (meta: JsonObject | undefined) => Promise<Result>,
): Promise<Result> {
  const relay = relayOf?.(tenant);
  if (!relay) return await send(undefined);
  const call: RelayedCall = {
    server,
    caller: undefined,
    meta: {},
    isUnattended: true,
    // In the words that the Worker has for its own calls (workers/direct).
    ask: ({ method }) =>
      Promise.reject(new MethodNotFoundError(`"${method}" cannot be answered: it is not known whom to ask`)),
  };
  relay.begin(call);
  let isGivenUp = false;
  try {
    return await send(call.meta);
  } catch (error) {
    isGivenUp = isLate(error);
    throw error;
  } finally {
    relay.finish(call, isGivenUp || signal?.aborted === true, clock);
  }
}

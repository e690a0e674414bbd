/**
 * Requests of several principals to several runners.
 *
 * @module
 */
import type { VirtualClock } from "../../support/virtual_clock.ts";

/** Who answers. */
interface Answering {
  fetch(request: Request): Promise<Response>;
}

/** A request, by the place of its key. */
interface Asked {
  readonly who?: number;
  readonly method?: string;
  readonly body?: string;
}

/** Asks with one of these keys, lets what that brings about go its way, and tells the status. */
export function createAsk(
  keys: readonly { readonly key: string }[],
  clock: VirtualClock,
): (runner: Answering, path: string, asked?: Asked) => Promise<number> {
  return async (runner, path, { who = 0, method = "GET", body } = {}) => {
    const headers = { authorization: `Bearer ${keys[who]?.key}`, "content-type": "application/json" };
    const response = await runner.fetch(
      new Request(`http://localhost${path}`, { method, headers, body: body ?? null }),
    );
    await response.body?.cancel();
    await clock.settle();
    return response.status;
  };
}

/**
 * States between rounds that are good once.
 *
 * @module
 */
import { systemClock } from "../../ports.ts";
import type { Clock } from "../../ports.ts";
import type { StateSealer } from "../seam.ts";
import { sha256 } from "../../protocol/web_crypto.ts";

/** Options of {@linkcode createSingleUseSealer}. */
export interface SingleUseOptions {
  /**
   * Claims a name: false when it was claimed before. Where more than one process serves, it has to ask what they share (a
   * database, a Durable Object), in one step. A name may be forgotten when its state is too old. Default: in memory.
   */
  claim?: ((name: string) => boolean | Promise<boolean>) | undefined;
  /** How long a name is kept in memory, in milliseconds (600,000): at least as long as a state is good. */
  ttl?: number | undefined;
  /** How many names are kept in memory (100,000); with more, the oldest go. */
  max?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
}

/**
 * Makes a sealer whose states open once: who sends the same round again is refused, also the caller that it belongs to
 * (specification 2026-07-28: multi round-trip requests, replay). A client that lost the answer to a round has to begin
 * the call anew. So it is by default, within one process; where several serve with one `secret`, give them a `claim`.
 *
 * @param sealer What seals and opens: `createStateSealer`.
 * @returns For the option `state` of `createHandler` and the like.
 * @throws {RangeError} When a number is no positive one.
 *
 * @example Two processes whose calls with questions cannot be played again
 * ```ts
 * import { createHandler, createSingleUseSealer, createStateSealer, McpServer } from "@causeway/mcp/server";
 *
 * const claimed = new Set<string>(); // In their database, in one step.
 * const claim = (name: string) => !claimed.has(name) && claimed.add(name).size > 0;
 * const state = createSingleUseSealer(createStateSealer({ secret: "the same for both of them" }), { claim });
 *
 * const server = new McpServer({ name: "bank", version: "1.0.0" });
 * const handler = createHandler(server, { state });
 * handler.close();
 * ```
 */
export function createSingleUseSealer(sealer: StateSealer, options: SingleUseOptions = {}): StateSealer {
  const { ttl = 600_000, max = 100_000, clock = systemClock } = options;
  for (const [name, value] of Object.entries({ ttl, max })) {
    if (!(value > 0)) throw new RangeError(`"${name}" is ${value}: expected a positive number`);
  }
  const { claim = claimInMemory(ttl, max, clock) } = options;
  return {
    seal: (state, bound) => sealer.seal(state, bound),
    async open(sealed, bound) {
      // What is not ours claims nothing. The name says nothing of the state, and is as long for each.
      const state = await sealer.open(sealed, bound);
      return state && await claim(await sha256(sealed)) ? state : undefined;
    },
  };
}

function claimInMemory(ttl: number, max: number, clock: Clock): (name: string) => boolean {
  /** When each may be forgotten, in the order in which they came. */
  const claimed = new Map<string, number>();
  return (name) => {
    const now = clock.monotonic();
    for (const [oldest, until] of claimed) {
      if (until > now && claimed.size < max) break;
      claimed.delete(oldest);
    }
    if (claimed.has(name)) return false;
    claimed.set(name, now + ttl);
    return true;
  };
}

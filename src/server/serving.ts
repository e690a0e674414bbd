/**
 * Both eras of one server, put together from the options that every way to serve shares.
 *
 * @module
 */
import { systemClock, systemRandom } from "../ports.ts";
import type { Era } from "../protocol/revisions.ts";
import { legacyRevisions } from "../protocol/revisions.ts";
import type { CallerServers } from "./callers/seam.ts";
import { createLegacySession } from "./legacy/mod.ts";
import { createModern } from "./modern/mod.ts";
import { createSingleUseSealer } from "./common/single_use.ts";
import { createParts } from "./parts.ts";
import type { PartsOptions } from "./parts.ts";
import type {
  LegacyOutlet,
  LegacyServing,
  Methods,
  Servable,
  Served,
  ServerParts,
  StateSealer,
  TaskSupport,
} from "./seam.ts";
import { createStateSealer } from "./state.ts";

export type { Servable } from "./seam.ts";

/** Options that every way to serve shares. */
export interface ServingOptions extends Omit<PartsOptions, "state"> {
  /** The eras that are served. Default: both. */
  eras?: readonly Era[] | undefined;
  /**
   * What seals the state of calls that ask for input (modern), at least 16 bytes: give it where more than one process or
   * isolate serves. Default: a random one, good for this process alone.
   */
  secret?: string | Uint8Array | undefined;
  /** How long such a state is good, in milliseconds (600,000). */
  stateTtl?: number | undefined;
  /**
   * Seals such states in another way. Default: `createStateSealer` with `secret` and `stateTtl`, each state good once in this
   * process; `createSingleUseSealer` with a `claim` makes them good once for several.
   */
  state?: StateSealer | undefined;
  /** How long a legacy client may take to answer what it is asked, in milliseconds (300,000). */
  askTimeout?: number | undefined;
  /** Tasks, made by `createTasks`. Default: none, tools of every kind are called as usual. */
  tasks?: TaskSupport | undefined;
}

/** What makes each era; what is not named here is not in the bundle. */
export interface EraMakers {
  readonly modern?: typeof createModern;
  readonly legacy?: typeof createLegacySession;
}

/**
 * Puts both eras of a server, or of the servers of callers, together.
 *
 * @throws {TypeError} When there is no era, or no server.
 * @throws {RangeError} When the secret is too short or a time makes no sense.
 */
export function createServing(server: Servable | CallerServers, options: ServingOptions = {}): Served {
  return createServingOf({ modern: createModern, legacy: createLegacySession }, server, options);
}

/** As {@linkcode createServing}, for the eras that are handed in. */
export function createServingOf(
  makers: EraMakers,
  server: Servable | CallerServers,
  { eras = ["modern", "legacy"], ...options }: ServingOptions = {},
): Served {
  const { secret, stateTtl: ttl, askTimeout, tasks, ...rest } = options;
  if (!eras.includes("modern") && !eras.includes("legacy")) {
    throw new TypeError(`Cannot serve the eras ${JSON.stringify(eras)}: expected "modern", "legacy" or both`);
  }
  const createLegacy = eras.includes("legacy") ? makers.legacy : undefined;
  const { clock = systemClock, random = systemRandom } = rest;
  let sealer = rest.state;
  const state = (): StateSealer =>
    sealer ??= createSingleUseSealer(createStateSealer({ secret, ttl, clock, random }), { ttl, clock });
  // What may be wrong is found out now; else it waits for a call that asks: an isolate starts without compiling it.
  if ((secret ?? ttl) !== undefined) state();
  const open = (methods: Methods): Served => {
    const plain = createParts(methods, { ...rest, clock, random, state });
    const parts: ServerParts = tasks ? { ...plain, tasks: tasks.open(plain) } : plain;
    const legacy = createLegacy &&
      ((outlet: LegacyOutlet): LegacyServing => createLegacy(parts, outlet, { askTimeout }));
    const modern = eras.includes("modern") ? makers.modern?.(parts, legacy && { legacyRevisions }) : undefined;
    return { parts, modern, legacy };
  };
  if ("open" in server) return server.open(open);
  if (!server.methods) throw new TypeError(`Cannot serve ${typeof server}: expected a server, or perCaller(…)`);
  return open(server.methods);
}

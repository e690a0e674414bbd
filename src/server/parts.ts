/**
 * What every part of the serving side works with, filled from the options of a binding.
 *
 * @module
 */
import { systemClock, systemRandom } from "../ports.ts";
import type { Clock, Logger, Random } from "../ports.ts";
import { defaultLimits, fillIn } from "../protocol/limits.ts";
import type { Limits } from "../protocol/limits.ts";
import { createSafeLogger } from "../egress/safe_logger.ts";
import type { Methods, ServerParts, StateSealer } from "./seam.ts";

/** Options that every way to serve shares. */
export interface PartsOptions {
  /** Bounds of what is taken and kept. Default: {@linkcode defaultLimits}. */
  limits?: Partial<Limits> | undefined;
  /** Takes the operator's log lines. Default: none. */
  logger?: Logger | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
  /** Chance, for ids and keys. Default: the runtime's. */
  random?: Random | undefined;
  /** Gives what seals what a client carries between the rounds of one call. */
  state: () => StateSealer;
}

/**
 * Puts together what the eras and bindings of one server share.
 *
 * @param methods What the server can do: `methods` of a `McpServer`.
 */
export function createParts(methods: Methods, options: PartsOptions): ServerParts {
  const { limits, logger, clock = systemClock, random = systemRandom, state } = options;
  // What is not called is not compiled: most isolates start without either.
  const bounds = limits ? fillIn(defaultLimits, limits) : defaultLimits;
  return { methods, clock, random, limits: bounds, logger: logger && createSafeLogger(logger), state };
}

/**
 * The names of the agents that the Worker offers; what they are made of is in `agents.ts`, which is loaded with the first run.
 *
 * @module
 */
import type { OfferedAgent } from "../src/runner/mod.ts";

/** What runs can be started of, and asked as models. */
export const offered: readonly OfferedAgent[] = [
  { name: "helper", description: "Does what it is asked, with the tools of the tenant's servers" },
];

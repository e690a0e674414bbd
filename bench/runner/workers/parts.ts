/** What the Workers of the bench have in common: where the server behind is, whose key is good, and quotas that are in nobody's way. */
import type { AccessRule, RunnerOptions } from "../../../src/runner/mod.ts";
import { createKeyList, createPolicy } from "../../../src/runner/mod.ts";
import { openHub } from "../../../src/entry/workers.ts";
import type { Hub } from "../../../src/hub/hub.ts";

/** What the bench sets. */
export interface Env {
  /** The MCP server behind. */
  readonly UPSTREAM: string;
  /** The hash of the one API key. */
  readonly KEY_HASH: string;
}

/** The hub with the one server. */
export async function openUpstream({ UPSTREAM }: Env): Promise<Hub> {
  const hub = await openHub({ up: { url: UPSTREAM } });
  for (const error of hub.errors.values()) throw error;
  return hub;
}

/** A policy of a few rules, as a real one has. */
export const rules: readonly AccessRule[] = [
  { actions: ["see", "read", "call", "run"], effect: "allow" },
  { tools: ["delete_*"], actions: ["call"], effect: "ask" },
  { servers: ["secret*"], effect: "deny" },
];

/** In nobody's way. */
export const quotas = { runs: 10_000, requestsPerMinute: 1e9, bytesPerMinute: 1e12, concurrent: 10_000 } as const;

/** Options of the runner: a key, a policy, an audit log, as a real one has. */
export function runnerOptions(env: Env): Omit<RunnerOptions, "hub"> {
  let rows = 0;
  return {
    access: {
      keys: createKeyList([{ hash: env.KEY_HASH, principal: "ada", tenant: "acme" }]),
      policy: createPolicy(rules),
      audit: { write: () => void rows++ },
    },
    quotas,
    hubs: () => openUpstream(env),
  };
}

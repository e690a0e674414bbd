/** What the Workers of the bench have in common: where the server behind is, whose key is good, and quotas that are in nobody's way. */
import type { RunnerOptions } from "../../../src/runner/mod.ts";
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

/** Options of the runner: a key, a policy of a few rules, an audit log, as a real one has. */
export function runnerOptions(env: Env): Omit<RunnerOptions, "hub"> {
  let rows = 0;
  return {
    access: {
      keys: createKeyList([{ hash: env.KEY_HASH, principal: "ada", tenant: "acme" }]),
      policy: createPolicy([
        { actions: ["see", "read", "call", "run"], effect: "allow" },
        { tools: ["delete_*"], actions: ["call"], effect: "ask" },
        { servers: ["secret*"], effect: "deny" },
      ]),
      audit: { write: () => void rows++ },
    },
    quotas: {
      runs: 10_000,
      requestsPerMinute: 1e9,
      bytesPerMinute: 1e12,
      concurrent: 10_000,
    },
    hubs: () => openUpstream(env),
  };
}

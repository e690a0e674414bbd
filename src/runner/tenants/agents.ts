/**
 * Agents of a tenant: each run has the tenant's hub as whoever started it may use it.
 *
 * @module
 */
import { RunCancelledError } from "../../agent/loop/seam.ts";
import type { AgentEnd, RunnableAgent, RunWorld } from "../../agent/loop/seam.ts";
import type { FindAgent } from "../../agent/runs/options.ts";
import { scopeHub } from "../access/scoped_hub.ts";
import { principalOf } from "../access/types.ts";
import type { OfferedAgent, RunnerParts } from "../parts.ts";
import { Refusal } from "../rest/problem.ts";
import { PatientHub } from "./patient_hub.ts";

/** How long a run waits before it tries again what it needs to begin, in milliseconds: at first, and at most. */
const patience = { first: 250, most: 10_000 } as const;

/** What a run has used that did not begin. */
const nothing = { usage: { inputTokens: 0, outputTokens: 0 }, steps: 0 } as const;

/** What of a runner agents work with. */
type AgentWorld = Pick<RunnerParts, "access" | "agents" | "pool" | "relay" | "clock">;

/** Finds the agents of a tenant, for what keeps its runs. Those without `create` are not there. */
export function agentsOf(tenant: string, world: AgentWorld): FindAgent {
  return (name, { id, principal }) => {
    const offered = world.agents.find((agent) => agent.name === name);
    return offered?.create && agentBegunBy(name, () => begin(offered, { id, principal, tenant, world }));
  };
}

interface Running {
  readonly id: string;
  readonly principal: string;
  readonly tenant: string;
  readonly world: AgentWorld;
}

/**
 * An agent that is made when its run begins, and ends with it.
 *
 * @param begin Makes it; while what it needs is down (a `Refusal` of 503), it is tried again. Its place is held as long as it works.
 */
export function agentBegunBy(name: string, begin: () => Promise<Begun>): RunnableAgent {
  return {
    execute: async (task, world) => {
      let begun: Begun;
      try {
        begun = await patiently(world, begin);
      } catch (error) {
        if (error instanceof RunCancelledError) {
          return told(world, { type: "cancelled", reason: error.message, ...nothing });
        }
        throw error;
      }
      try {
        return await begun.agent?.execute(task, world) ?? told(world, forbidden(name));
      } finally {
        begun.release();
      }
    },
  };
}

/** An agent at its place. */
export interface Begun {
  /** Undefined: its principal may not run it, or it is not there. */
  readonly agent: RunnableAgent | undefined;
  /** Lets go of its hub. */
  release(): void;
}

async function begin(
  { name, create }: OfferedAgent,
  { id, principal: owner, tenant, world: { access, pool, relay, clock } }: Running,
): Promise<Begun> {
  const principal = principalOf(owner, tenant);
  const judge = access.judge(principal, tenant);
  const can = await judge.open();
  if (can("", name, "run") === "deny") return { agent: undefined, release: () => {} };
  const { hub, part, release } = await pool.lease(tenant);
  try {
    // Its places are for all runs of the tenant together.
    const { patient } = part("agents", () => ({ patient: new PatientHub(hub, clock), close: () => {} }));
    const own = await scopeHub(patient, judge, "run");
    return { agent: await create?.({ hub: own, tenant, principal, run: id, relay: relay?.(tenant) }), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Does what a run needs to begin; while that is down (503), it is tried again until the run is cancelled or left. */
export async function patiently<Value>({ clock, signal }: RunWorld, work: () => Promise<Value>): Promise<Value> {
  for (let pause: number = patience.first;; pause = Math.min(pause * 2, patience.most)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 503) throw error;
    }
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      const over = (): void => {
        stop();
        signal.removeEventListener("abort", over);
        resolve();
      };
      const stop = clock.schedule(over, pause);
      signal.addEventListener("abort", over);
    });
    signal.throwIfAborted();
  }
}

/** How a run ends whose owner may not run the agent any more. */
function forbidden(agent: string): AgentEnd {
  const error = { code: "forbidden", message: `Whose run it is may not run the agent "${agent}" any more` };
  return { type: "failed", error, ...nothing };
}

function told(world: RunWorld, end: AgentEnd): AgentEnd {
  world.emit("end", end);
  return end;
}

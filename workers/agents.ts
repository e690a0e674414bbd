/**
 * The agents that the Worker offers: put your own in their place, and their names into `offered.ts`.
 *
 * @module
 */
import { Agent } from "../src/agent/loop/agent.ts";
import type { AgentOptions } from "../src/agent/loop/options.ts";
import type { RunnableAgent } from "../src/agent/loop/seam.ts";
import { chooseModel } from "../src/entry/runner/chosen_model.ts";
import type { HubLike } from "../src/hub/seam.ts";
import type { RunnerEnv } from "./env.ts";

/** What the operator says of agents, for all tenants or for one. */
export interface AgentSettings
  extends Pick<AgentOptions, "readOnly" | "trustHintsOf" | "idempotent" | "instructions" | "onUnknown"> {
  /** What becomes of calls that may change something (a person is asked). */
  readonly approve?: "ask" | "deny" | "allow" | undefined;
}

/** What an agent is made of. */
export interface AgentParts extends Pick<AgentOptions, "relay"> {
  /** The servers of the tenant, as the principal of the run may use them. */
  readonly hub: HubLike;
  readonly settings: AgentSettings;
  readonly env: RunnerEnv;
}

/** Makes an agent for one run; undefined when there is none of this name. */
export async function createAgent(
  name: string,
  { hub, relay, settings, env }: AgentParts,
): Promise<RunnableAgent | undefined> {
  if (name !== "helper") return undefined;
  return new Agent({ name, hub, relay, model: await chooseModel(env), ...settings });
}

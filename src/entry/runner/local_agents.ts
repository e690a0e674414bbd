/**
 * Agents on this machine, and their runs in an SQLite file.
 *
 * @module
 */
import { Agent } from "../../agent/loop/agent.ts";
import type { LanguageModel } from "../../agent/model/seam.ts";
import { createRuns } from "../../agent/runs/durable_runs.ts";
import type { DurableRuns } from "../../agent/runs/options.ts";
import { withResultBudget } from "../../hub/budget/result_budget.ts";
import type { ServerNotes } from "../../hub/config/types.ts";
import type { Relay } from "../../hub/gateway/mod.ts";
import type { HubLike } from "../../hub/seam.ts";
import type { Clock, Logger, Random, SqlDatabase, Store } from "../../ports.ts";
import type { OfferedAgent } from "../../runner/mod.ts";
import { PatientHub } from "../../runner/tenants/patient_hub.ts";

/** What a config says of tools. */
export type ToolNotes = Readonly<Record<string, Pick<ServerNotes, "approved" | "idempotent">>>;

/** What agents on this machine are made of. */
export interface LocalAgentParts {
  /** Where their runs are kept. It stays its owner's. */
  readonly database: SqlDatabase;
  readonly hub: HubLike;
  readonly relay: Relay;
  readonly model: LanguageModel;
  readonly notes: ToolNotes;
  /** Where results that are too large for the model are kept. */
  readonly results: Store;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly logger?: Logger | undefined;
}

const helper: OfferedAgent = {
  name: "helper",
  description: "Does what it is asked, with the tools of all servers; a call that may change something waits for a yes",
};

/**
 * Makes them, and goes on with the runs that a process before has left. Tools that the config lists as approved are called without a
 * question, those that it calls idempotent may be called again.
 */
export async function startLocalAgents(
  parts: LocalAgentParts,
): Promise<{ readonly agents: readonly OfferedAgent[]; readonly runs: DurableRuns }> {
  const { database, relay, model, notes, results, clock, random, logger } = parts;
  const hub = withResultBudget(new PatientHub(parts.hub, clock), { store: results, readTool: true, clock, random });
  const agent = new Agent({
    name: helper.name,
    ...{ hub, relay, model, clock, random },
    idempotent: Object.entries(notes).flatMap(([server, { idempotent = [] }]) =>
      idempotent.map((tool) => `${server}.${tool}`)
    ),
    approve: ({ server, name }) => {
      const { approved } = (Object.hasOwn(notes, server) ? notes[server] : undefined) ?? {};
      return approved === true || approved?.includes(name) ? true : undefined;
    },
  });
  const runs = createRuns({ database, agents: { [helper.name]: agent }, clock, random, logger });
  await runs.resume();
  return { agents: [helper], runs };
}

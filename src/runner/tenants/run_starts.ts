/**
 * Starting runs within what a tenant may use.
 *
 * @module
 */
import type { RunRecord, Runs, RunState, StartRun } from "../../agent/runs/seam.ts";
import { LimitExceededError } from "../../protocol/errors.ts";
import type { RunnerParts } from "../parts.ts";
import { ask, Refusal, tooMuch } from "../rest/problem.ts";

/** The states of runs that have not ended. */
export const activeStates: readonly RunState[] = ["accepted", "running", "needs_input", "needs_decision"];

/**
 * Starts a run. To be called in the tenant's turn (`Quotas.inTurn`), so that what was counted still holds.
 *
 * @throws {Refusal} 429 when there are too many, or too much is stored; 422 when it cannot be started; 503 when it cannot be kept.
 */
export async function beginRun(
  parts: RunnerParts,
  { tenant, runs }: { readonly tenant: string; readonly runs: Runs },
  run: StartRun,
): Promise<RunRecord> {
  const { quotas, logger } = parts;
  const most = quotas.of(tenant).runs;
  let count = 0;
  for (const state of activeStates) {
    const found = await ask("What keeps runs", () => runs.list({ state, limit: most + 1 }), logger);
    count += found.length;
    if (count >= most) throw tooMuch("too_many_runs", `This tenant has ${most} runs that have not ended`, 5);
  }
  await checkStored(parts, tenant, 0);
  return await ask("What keeps runs", async () => {
    try {
      return await runs.start(run);
    } catch (error) {
      if (error instanceof LimitExceededError) throw tooMuch("too_many_runs", "Too many runs are under way", 5);
      if (error instanceof TypeError) throw new Refusal(422, "invalid_run", error.message);
      throw error;
    }
  }, logger);
}

/**
 * Looks whether a tenant may keep so many bytes more.
 *
 * @throws {Refusal} 429.
 */
export async function checkStored(parts: RunnerParts, tenant: string, bytes: number): Promise<void> {
  const { quotas, stored, servers, logger } = parts;
  const most = quotas.of(tenant).storedBytes;
  const elsewhere = stored ? await ask("The size of what is stored", () => stored(tenant), logger) : 0;
  const kept = await servers.list.size(tenant) + elsewhere;
  if (kept + bytes > most) throw tooMuch("too_much_stored", `This tenant may keep ${most} bytes`, 60);
}

/**
 * Starting runs within what a tenant may use.
 *
 * @module
 */
import type { RunRecord, Runs, RunState, StartRun } from "../../agent/runs/seam.ts";
import { LimitExceededError } from "../../protocol/errors.ts";
import type { RunnerParts } from "../parts.ts";
import { ask, closing, Refusal, tooLong, tooMuch } from "../rest/problem.ts";

/** The states of runs that have not ended. */
export const activeStates: readonly RunState[] = ["accepted", "running", "needs_input", "needs_decision"];

/** How many runs one list holds at most. */
export const mostListed = 1_000;

/**
 * Starts a run. To be called in the tenant's turn (`Quotas.inTurn`), so that what was counted still holds.
 *
 * @throws {Refusal} 429 when there are too many, or too much is stored; 413 when it is too long; 422 when it cannot be started; 503 when
 * it cannot be kept, or the runner is closing.
 */
export async function beginRun(
  parts: RunnerParts,
  { tenant, runs }: { readonly tenant: string; readonly runs: Runs },
  run: StartRun,
): Promise<RunRecord> {
  const { quotas, logger } = parts;
  const most = quotas.of(tenant).runs;
  const open = await ask("What keeps runs", () => runs.countOpen?.() ?? countOpen(runs, most), logger);
  if (open >= most) throw tooMuch("too_many_runs", `This tenant has ${most} runs that have not ended`, 5);
  await checkStored(parts, tenant, 0);
  return await ask("What keeps runs", async () => {
    try {
      return await runs.start(run);
    } catch (error) {
      if (error instanceof LimitExceededError) {
        if (error.limit === "limits.valueBytes") throw tooLong(error);
        throw tooMuch("too_many_runs", "Too many runs are under way", 5);
      }
      // What keeps runs may be closed with the runner: then the run may be as it should be.
      if (parts.pool.isClosed) throw closing();
      if (error instanceof TypeError) throw new Refusal(422, "invalid_run", error.message);
      throw error;
    }
  }, logger);
}

/** Counts runs that have not ended by listing them, until there are `most`. */
async function countOpen(runs: Runs, most: number): Promise<number> {
  const ids = new Set<string>();
  const limit = Math.min(Math.ceil(most), mostListed);
  for (const state of activeStates) {
    let before: number | undefined;
    while (ids.size < most) {
      const found = await runs.list({ state, limit, before });
      const size = ids.size;
      for (const { id } of found) ids.add(id);
      const last = found.at(-1);
      if (!last || found.length < limit) break;
      // Others of that very time may be left: they are looked at again, unless all were of it.
      before = ids.size === size ? last.createdAt : last.createdAt + 1;
    }
  }
  return ids.size;
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

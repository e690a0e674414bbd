/**
 * The end of a tenant: nothing of it is left here.
 *
 * @module
 */
import type { RunnerParts } from "../parts.ts";
import { ask } from "../rest/problem.ts";
import { activeStates } from "./run_starts.ts";

/** How many runs are cancelled at a time. */
const batch = 100;

/**
 * Cancels the runs of a tenant, withdraws the tokens of its servers, forgets those and all records, and closes its hub. To be called in
 * the tenant's turns (`Quotas.inTurn`), so that nothing is begun meanwhile.
 *
 * @throws {Refusal} 503 when a store is down: then it is to be called again.
 */
export async function forgetTenant(parts: RunnerParts, tenant: string): Promise<void> {
  await cancelRuns(parts, tenant);
  const { servers, sharedHub, oauth, logger } = parts;
  for (const { name, url } of await servers.list.read(tenant)) {
    if (sharedHub) await servers.remove(tenant, sharedHub, name);
    try {
      await oauth?.(tenant, name).signOut(url);
    } catch (error) {
      logger?.({ level: "warning", message: "Tokens could not be withdrawn", fields: { server: name, error } });
    }
  }
  await servers.list.clear(tenant);
  await parts.approvals.clear(tenant);
  await parts.starts.clear(tenant);
  await parts.signIns.clear(tenant);
  await parts.pool.drop(tenant);
}

async function cancelRuns({ runs: open, logger }: RunnerParts, tenant: string): Promise<void> {
  if (!open) return;
  const runs = await ask("What keeps runs", () => open(tenant), logger);
  let last: string | undefined;
  for (;;) {
    const seen: string[] = [];
    for (const state of activeStates) {
      const found = await ask("What keeps runs", () => runs.list({ state, limit: batch }), logger);
      for (const { id } of found) await ask("What keeps runs", () => runs.cancel(id, "The tenant is gone"), logger);
      seen.push(...found.map(({ id }) => id));
    }
    const key = seen.join();
    // None twice, since a run may pass from one state to another meanwhile; or those that cannot be cancelled.
    if (key === last) return;
    last = key;
  }
}

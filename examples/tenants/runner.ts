/**
 * A runner for tenants, each with servers of its own behind one address: a key opens its own tenant and no other, and runs of
 * agents outlive the process that began them. `try.ts` beside it tells the story.
 */
import { Agent, createRuns, directiveModel, type DurableRuns } from "@causeway/mcp/agent";
import type { HubConfig } from "@causeway/mcp/hub";
import { type HttpHost, openDatabase, openHub, serveHttp } from "@causeway/mcp/local";
import { createRunner, type KeyStore, type Policy } from "@causeway/mcp/runner";
import { join } from "node:path";

/** What the operator says. */
export interface Settings {
  /** The servers of each tenant. */
  readonly tenants: Readonly<Record<string, HubConfig>>;
  /** Who may come in. */
  readonly keys: KeyStore;
  /** What they may do. */
  readonly policy: Policy;
  /** Where runs are kept: a file for each tenant. */
  readonly folder: string;
}

/** Starts it on a free port of this machine. What a process before has left goes on. */
export async function startRunner(settings: Settings): Promise<{ url: string; close(): Promise<void> }> {
  const { tenants, keys, policy, folder } = settings;
  const kept = new Map<string, DurableRuns>();
  const runner = createRunner({
    access: { keys, policy },
    hubs: (tenant) => openHub(tenants[tenant] ?? {}),
    agents: [{
      name: "clerk",
      description: "Does what it is told, with the servers of its tenant",
      // The tenant's servers, as whoever has started the run may use them. It follows directives, until there is a key: openAiModel({ … }).
      create: ({ hub }) => new Agent({ hub, model: directiveModel(), readOnly: ["bank.balance"] }),
    }],
    runs: (tenant) => kept.get(tenant)!,
  });
  for (const tenant of Object.keys(tenants)) {
    const database = await openDatabase(join(folder, `${tenant}.db`));
    const runs = createRuns({ database, agents: runner.agentsOf(tenant) });
    kept.set(tenant, runs);
    await runs.resume();
  }
  const host: HttpHost = await serveHttp((request) => runner.fetch(request), { port: 0 });
  return {
    url: host.url,
    async close() {
      // What is under way is kept before its servers are gone.
      for (const part of [host, ...kept.values(), runner]) await part[Symbol.asyncDispose]();
    },
  };
}

/**
 * A runner for tenants, each with servers of its own behind one address: a key opens its own tenant and no other, and runs of
 * agents outlive the process that began them. `try.ts` beside it tells the story.
 */
import { Agent, createRuns, directiveModel, type DurableRuns } from "@causeway/mcp/agent";
import type { Hub, HubConfig } from "@causeway/mcp/hub";
import { type HttpHost, openDatabase, openHub, serveHttp } from "@causeway/mcp/local";
import { createJudge, createRunner, type KeyStore, type Policy } from "@causeway/mcp/runner";
import { principalOf, scopeHub } from "@causeway/mcp/runner";
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

/** Starts it on a free port of this machine. */
export async function startRunner(settings: Settings): Promise<{ url: string; close(): Promise<void> }> {
  const { tenants, keys, policy } = settings;
  const rooms = new Map<string, Room>();
  for (const tenant of Object.keys(tenants)) rooms.set(tenant, await openRoom(tenant, settings));
  const runner = createRunner({
    access: { keys, policy },
    hubs: (tenant) => openHub(tenants[tenant] ?? {}),
    agents: [{ name: "clerk", description: "Does what it is told, with the servers of its tenant" }],
    runs: (tenant) => rooms.get(tenant)!.runs,
  });
  const host: HttpHost = await serveHttp((request) => runner.fetch(request), { port: 0 });
  return {
    url: host.url,
    async close() {
      const parts = [...rooms.values()].flatMap(({ runs, hub }) => [runs, hub]);
      for (const part of [host, runner, ...parts]) await part[Symbol.asyncDispose]();
    },
  };
}

/** The runs of a tenant, and the hub that their agents use. */
interface Room {
  readonly runs: DurableRuns;
  readonly hub: Hub;
}

/** Opens it. What a process before has left goes on. */
async function openRoom(tenant: string, { tenants, policy, folder }: Settings): Promise<Room> {
  const hub = await openHub(tenants[tenant] ?? {});
  const agents = async (_agent: string, run: { readonly principal: string }) => {
    // An agent may do what the person may for whom it runs. It follows directives, until there is a key: openAiModel({ … }).
    const judge = createJudge({ policy, principal: principalOf(run.principal, tenant), tenant });
    return new Agent({ hub: await scopeHub(hub, judge, "run"), model: directiveModel(), readOnly: ["bank.balance"] });
  };
  const runs = createRuns({ database: await openDatabase(join(folder, `${tenant}.db`)), agents });
  await runs.resume();
  return { runs, hub };
}

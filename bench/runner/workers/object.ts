/** The runner in a Durable Object of its tenant, as it is deployed: its hub, its runs and its connections live there. */
import { Agent, createObjectRuns, directiveModel } from "../../../src/agent/mod.ts";
import type { AgentEnd, ObjectAlarm, ObjectRuns, RunnableAgent, RunWorld } from "../../../src/agent/mod.ts";
import { createObjectDatabase, type ObjectSqlStorage } from "../../../src/entry/workers.ts";
import { createRunner } from "../../../src/runner/mod.ts";
import type { Runner } from "../../../src/runner/mod.ts";
import { type Env, openUpstream, runnerOptions } from "./parts.ts";

interface Objects extends Env {
  readonly TENANTS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

interface State {
  readonly storage: ObjectSqlStorage & ObjectAlarm;
}

interface Opened {
  readonly runner: Runner;
  readonly agents: Readonly<Record<string, RunnableAgent>>;
}

/** The object. */
export class TenantObject {
  readonly #runs: ObjectRuns;
  readonly #env: Env;
  #opened: Promise<Opened> | undefined;

  constructor({ storage }: State, env: Env) {
    this.#env = env;
    this.#runs = createObjectRuns({
      database: createObjectDatabase(storage),
      storage,
      agents: async (name) => (await this.#open()).agents[name],
    });
  }

  async fetch(request: Request): Promise<Response> {
    return await (await this.#open()).runner.fetch(request);
  }

  alarm(): Promise<void> {
    return this.#runs.alarm();
  }

  #open(): Promise<Opened> {
    return this.#opened ??= (async () => {
      const options = { model: directiveModel(), hub: await openUpstream(this.#env), approve: "allow" } as const;
      const agents = { helper: new Agent(options), steps: { execute: steps } };
      const runner = createRunner({
        ...runnerOptions(this.#env),
        agents: Object.keys(agents).map((name) => ({ name })),
        models: [new Agent({ ...options, name: "plain" })],
        runs: () => this.#runs,
      });
      return { runner, agents };
    })();
  }
}

/** As many steps as the task says, each done once: two commits. */
async function steps({ input }: { readonly input: unknown }, world: RunWorld): Promise<AgentEnd> {
  world.emit("begin", { type: "step", step: 1 });
  for (let at = 0; at < Number(input); at++) {
    await world.steps.do(`step:${at}`, {}, () => Promise.resolve({ at, text: "a result of some length" }));
  }
  return { type: "succeeded", text: "", usage: { inputTokens: 0, outputTokens: 0 }, steps: 0 };
}

export default {
  fetch(request: Request, { TENANTS }: Objects): Promise<Response> {
    return TENANTS.get(TENANTS.idFromName("acme")).fetch(request);
  },
};

/** A Worker whose object keeps runs, for the bench: `/steps` for many steps in a row, `/crowd` for many runs at once. */
import { createObjectRuns } from "../../src/agent/mod.ts";
import type { AgentEnd, ObjectAlarm, ObjectRuns, RunnableAgent, RunWorld } from "../../src/agent/mod.ts";
import { createObjectDatabase, type ObjectSqlStorage } from "../../src/runtime/sql/object_database.ts";

interface Env {
  readonly RUNS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

/** The object. */
export class RunsObject {
  readonly #runs: ObjectRuns;

  constructor({ storage, id }: { readonly storage: ObjectSqlStorage & ObjectAlarm; readonly id: { name?: string } }) {
    this.#runs = createObjectRuns({
      ...id.name === "sealed" ? { secret: "the secret of the bench" } : {},
      database: createObjectDatabase(storage),
      storage,
      agents: {
        once: agentOf((world) => doSteps(world, false)),
        again: agentOf((world) => doSteps(world, true)),
        small: agentOf(small),
      },
    });
  }

  /** Runs an agent so many times at once, to its end. */
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const agent = searchParams.get("agent") ?? "";
    await Promise.all(Array.from({ length: Number(searchParams.get("count")) }, () => this.#finish(agent)));
    return new Response("done");
  }

  alarm(): Promise<void> {
    return this.#runs.alarm();
  }

  async #finish(agent: string): Promise<void> {
    const { id } = await this.#runs.start({ agent, principal: "bench", input: "400" });
    for await (const { event } of this.#runs.events(id)) {
      if (event.type === "failed") throw new Error(event.error.message);
    }
  }
}

export default {
  fetch(request: Request, { RUNS }: Env): Promise<Response> {
    return RUNS.get(RUNS.idFromName(new URL(request.url).pathname.slice(1))).fetch(request);
  },
};

function agentOf(work: (world: RunWorld) => Promise<void>): RunnableAgent {
  return {
    async execute(_, world): Promise<AgentEnd> {
      await work(world);
      return { type: "succeeded", text: "", usage: { inputTokens: 0, outputTokens: 0 }, steps: 0 };
    },
  };
}

async function doSteps(world: RunWorld, repeatable: boolean): Promise<void> {
  for (let at = 0; at < 400; at++) {
    await world.steps.do(`step:${at}`, { repeatable }, () => Promise.resolve({ at, text: "a result of some length" }));
  }
}

async function small(world: RunWorld): Promise<void> {
  world.emit("step:1", { type: "step", step: 1 });
  for (let round = 1; round <= 5; round++) {
    await world.steps.do(`model:${round}`, { repeatable: true }, pause);
    await world.steps.do(`tool:${round}`, {}, pause);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/**
 * An agent without a model: the same steps each time, so that it can be killed anywhere and begun again.
 *
 * @module
 */
import { StepUnknownError } from "../../../../src/agent/mod.ts";
import type { AgentAnswer, AgentEnd, RunnableAgent, RunWorld } from "../../../../src/agent/mod.ts";

/** How the agent works. */
export interface Script {
  /** Rounds of a model's step and a tool's. */
  readonly rounds: number;
  /** Calls the tool; the key is unique for each call of each run. */
  call(key: string, signal: AbortSignal): Promise<string>;
  /** After which round a person is asked (never). */
  readonly askAfter?: number;
  /** Whether it does one step more in the end, as a newer version of it would (false). */
  readonly isLonger?: boolean;
  /** What the model's step waits for. */
  think?(round: number): Promise<void>;
}

/** What became of each call, round by round: the text of the end, as JSON. */
export type Outcomes = readonly string[];

/** An agent that follows a script. */
export function createScriptedAgent({ rounds, call, askAfter, isLonger, think }: Script): RunnableAgent {
  let pieces = 0;
  return {
    async execute(_task, world): Promise<AgentEnd> {
      const { steps, signal } = world;
      const outcomes: string[] = [];
      for (let round = 1; round <= rounds; round++) {
        world.emit(`step:${round}`, { type: "step", step: round });
        await steps.do(`model:${round}`, { repeatable: true }, async () => {
          // Pieces of what begins again have keys of their own.
          for (const text of ["I ", "think"]) {
            world.emit(`text:${pieces++}:${round}`, { type: "text", step: round, text });
          }
          await think?.(round);
          return `thought ${round}`;
        });
        const outcome = await tool(world, `tool:${round}`, () => call(`${world.id}/${round}`, signal));
        outcomes.push(outcome);
        const progress = { type: "progress", step: round, id: `tool:${round}`, progress: 1, message: outcome } as const;
        world.emit(`progress:${round}`, progress);
        world.emit(`usage:${round}`, {
          type: "usage",
          step: round,
          usage: { inputTokens: 3 * round, outputTokens: round },
        });
        if (round === askAfter) outcomes.push((await ask(world, `go on after ${round}?`)).action);
      }
      if (isLonger) {
        await steps.do("farewell", {}, () => Promise.resolve("farewell"));
        world.emit("farewell", { type: "step", step: rounds + 1 });
      }
      const usage = { inputTokens: 3 * rounds, outputTokens: rounds };
      return { type: "succeeded", text: JSON.stringify(outcomes), usage, steps: rounds };
    },
  };
}

/** Asks for an approval. */
export function ask(
  world: RunWorld,
  message: string,
  options: { live?: boolean; expiresAt?: number } = {},
): Promise<AgentAnswer> {
  const { live, expiresAt } = options;
  const call = { id: "c", server: "s", tool: "t", name: "s_t", arguments: {}, argumentsHash: "00" };
  const question = { id: message, server: "s", message, askedAt: 0, kind: "approval", call } as const;
  return world.ask(expiresAt === undefined ? question : { ...question, expiresAt }, live === undefined ? {} : { live });
}

/** An agent that does as it is told, and ends with the text that it is given. */
export function agentOf(work: (world: RunWorld) => Promise<string>): RunnableAgent {
  const usage = { inputTokens: 0, outputTokens: 0 };
  return { execute: async (_, world) => ({ type: "succeeded", text: await work(world), usage, steps: 0 }) };
}

async function tool({ steps }: RunWorld, name: string, work: () => Promise<string>): Promise<string> {
  try {
    return await steps.do(name, { argumentsHash: name }, work);
  } catch (error) {
    if (error instanceof StepUnknownError) return "unknown";
    throw error;
  }
}

/**
 * One run from where it is to its end, or to where it has to wait.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { AgentEnd } from "../../loop/seam.ts";
import { endFrom } from "../changes.ts";
import { HeldWorld } from "./world.ts";
import type { Holding } from "./holding.ts";
import type { FindAgent } from "../options.ts";
import { RunLeftError, StepUnknownError } from "../steps.ts";
import { readTask, type RunRow } from "../tables/runs.ts";

/** Runs a run that this process holds. Never rejects: afterwards the run has ended, or was left. */
export async function execute(holding: Holding, run: RunRow, findAgent: FindAgent): Promise<void> {
  try {
    const end = await Promise.race([work(holding, run, findAgent), holding.left]);
    if (end instanceof RunLeftError || holding.isLeft) return;
    const sound = checkEnd(end);
    holding.end((now) =>
      sound ? withSpent(sound, now) : endFrom(now, { code: "internal", message: "The agent gave no end" })
    );
  } catch (error) {
    if (holding.isLeft) return;
    const isUnknown = error instanceof StepUnknownError;
    const code = isUnknown ? "unknown_outcome" : "internal";
    const message = error instanceof Error ? error.message : String(error);
    holding.keeping.logger?.({ level: "error", message: "An agent threw", fields: { run: run.id, reason: message } });
    holding.end((now) => endFrom(now, { code, message }));
  } finally {
    // An end that could not be kept: whoever comes next tries again.
    holding.leave("failed");
  }
}

async function work(holding: Holding, run: RunRow, findAgent: FindAgent): Promise<AgentEnd> {
  const agent = await findAgent(run.agent, run);
  if (!agent) {
    return endFrom(run, { code: "internal", message: `There is no agent "${run.agent}" any more` });
  }
  const task = holding.attempt(() => readTask(holding.keeping.database, run.id));
  return await agent.execute(task, new HeldWorld(holding));
}

/** An end with what was used: one that comes while all that was done is gone through again has not counted it to its end. */
function withSpent(end: AgentEnd, run: RunRow): AgentEnd {
  const inputTokens = Math.max(end.usage.inputTokens, run.inputTokens);
  const outputTokens = Math.max(end.usage.outputTokens, run.outputTokens);
  return { ...end, usage: { ...end.usage, inputTokens, outputTokens }, steps: Math.max(end.steps, run.steps) };
}

/** An end as it is kept; undefined where it is none. */
function checkEnd(end: unknown): AgentEnd | undefined {
  if (!isObject(end) || !isObject(end.usage) || typeof end.steps !== "number") return undefined;
  const { inputTokens, outputTokens } = end.usage;
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  const isKnown = (end.type === "succeeded" && typeof end.text === "string") ||
    (end.type === "failed" && isObject(end.error)) || (end.type === "cancelled" && typeof end.reason === "string");
  return isKnown ? end as AgentEnd : undefined;
}

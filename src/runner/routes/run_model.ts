/**
 * An agent that runs are started of, as a model: asking it is a run.
 *
 * @module
 */
import { ModelError } from "../../agent/api_agent.ts";
import type { ApiAgentShape, ChatMessage, ModelContext, ReplyEnd } from "../../agent/api_agent.ts";
import { textOfMessage } from "../../agent/api_agent.ts";
import { readUserContent } from "../../agent/http/chat_content.ts";
import { readChatAnswer } from "../../agent/http/chat_settings.ts";
import type { AgentTask } from "../../agent/loop/seam.ts";
import { Texts } from "../../agent/loop/texts.ts";
import type { RunRecord, Runs, StartRun } from "../../agent/runs/seam.ts";
import type { OfferedAgent } from "../parts.ts";
import { Refusal } from "../rest/problem.ts";

const refusal = "There is nobody to ask here: start it as a run (POST /api/runs) to be asked";

/** The runs of a tenant, as a model uses them. */
export interface ModelRuns {
  /** Opens what keeps them. */
  open(): Promise<Runs>;
  /** Starts one, within what the tenant may use. */
  start(runs: Runs, run: StartRun): Promise<RunRecord>;
}

/**
 * Makes a model of an agent. What a run would ask a person is declined: a caller of a model cannot be asked.
 *
 * @param runs The runs of the caller's tenant.
 */
export function createRunModel(agent: OfferedAgent, runs: ModelRuns): ApiAgentShape {
  return {
    getModelId: () => agent.name,
    getModelInfo: () => ({ ...(agent.description !== undefined && { description: agent.description }) }),
    respond: (messages, context) => respond(agent.name, messages, { context, runs }),
  };
}

async function* respond(
  agent: string,
  messages: readonly ChatMessage[],
  { context, runs: kept }: { readonly context: ModelContext; readonly runs: ModelRuns },
): AsyncGenerator<string, ReplyEnd, undefined> {
  const principal = context.auth?.principal ?? "";
  const { settings, output } = readChatAnswer(context.request);
  const [runs, { id }] = await begun(kept, {
    agent,
    principal,
    input: inputOf(messages),
    settings,
    ...(output && { output }),
  });
  let isOver = false;
  const texts = new Texts(context.request.stream === true);
  try {
    for await (const { event } of runs.events(id, { signal: context.signal })) {
      if (event.type === "text") {
        // With a shape only the last answer counts, once it fits.
        if (output) continue;
        yield* texts.say(event.step, event.text);
      } else if (event.type === "restarted") {
        if (texts.take(event.step)) continue;
        throw ended("The agent had to begin its answer anew: ask again", 503, "restarted");
      } else if (event.type === "question") {
        const { id: question, kind } = event.question;
        const answer = kind === "decision"
          ? { action: "skip" as const }
          : { action: "decline" as const, reason: refusal };
        // What keeps it may be closing: its steps come to their end, and no answer is taken any more.
        if (!await runs.answer(id, question, answer).then(() => true, () => false)) break;
      } else if (event.type === "succeeded") {
        isOver = true;
        // What was not streamed piece by piece is still the answer.
        const text = output ? JSON.stringify(event.output) : event.text;
        if (!texts.isEmpty) yield texts.gathered;
        else if (text) yield text;
        return { usage: event.usage, finishReason: event.finish === "length" ? "length" : "stop" };
      } else if (event.type === "failed") {
        isOver = true;
        const isLength = event.error.code === "token_budget" || event.error.code === "step_budget";
        const isBounded = settings.maxOutputTokens !== undefined && event.error.code === "token_budget";
        if (isLength && (!texts.isEmpty || isBounded)) {
          yield texts.gathered;
          return { usage: event.usage, finishReason: "length" };
        }
        throw ended(event.error.message, 502, event.error.code);
      } else if (event.type === "cancelled") {
        isOver = true;
        throw ended("The run was cancelled", 409, "cancelled");
      }
    }
    throw ended("The run goes on elsewhere", 503, "moved");
  } finally {
    // What keeps it may be closed: then it goes on elsewhere.
    if (!isOver) await runs.cancel(id, "The caller of the model is gone").catch(() => {});
  }
}

/** A run that was begun: asked again, it would make its calls again. */
function ended(message: string, status: number, code: string): ModelError {
  return new ModelError(message, { status, code, retryable: false });
}

/** What is refused to who starts a run is refused to who asks a model. */
async function begun(kept: ModelRuns, run: StartRun): Promise<readonly [Runs, RunRecord]> {
  try {
    const runs = await kept.open();
    return [runs, await kept.start(runs, run)];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { message, status, code, cause } = error;
    throw new ModelError(message, { status, code, cause });
  }
}

/** The conversation in the words of agents. Tools of the caller's own are not the agent's: what they gave is told as text. */
function inputOf(messages: readonly ChatMessage[]): AgentTask["input"] {
  return messages.map((message, at) => {
    const content = textOfMessage(message);
    const hasMore = Array.isArray(message.content) && message.content.some(({ type }) => type !== "text");
    if (message.role === "user" && hasMore) return { role: "user", content: readUserContent(message, at) };
    if (message.role === "system" || message.role === "developer") return { role: "system", content };
    if (message.role === "assistant") return { role: "assistant", content };
    return { role: "user", content: message.role === "tool" ? `A tool gave: ${content}` : content };
  });
}

/// <reference types="./cloudflare.d.ts" />
/**
 * A Worker in which runs of an agent are Cloudflare Workflows: for those who have them already. Its tools are those of one MCP server, which may
 * be the gateway of a runner (`https://runner.example.com/mcp` with an API key). What the runner keeps of its runs itself
 * (`tenant_object.ts`) resumes sooner, and has events; here there are only the question that waits, of several the oldest, and the end.
 *
 * `POST /runs` with `{ "input": "…" }` starts one, `GET /runs/<id>` shows it, `POST /runs/<id>/input` answers what it asks with
 * `{ "question": "…", "answer": { "action": "accept" } }`. Callers need the token (`ACCESS_TOKEN`).
 *
 * @module
 */
import { WorkflowEntrypoint } from "cloudflare:workers";
import { Agent } from "../src/agent/loop/agent.ts";
import type { AgentAnswer, AgentEnd, RunWorld } from "../src/agent/loop/seam.ts";
import { createStoreMarker, workflowSteps } from "../src/agent/runs/workflow_steps.ts";
import type { WorkflowStepLike } from "../src/agent/runs/workflow_steps.ts";
import { chooseModel } from "../src/entry/runner/chosen_model.ts";
import type { ModelSettings } from "../src/entry/runner/chosen_model.ts";
import { openHub } from "../src/entry/workers.ts";
import { withResultBudget } from "../src/hub/budget/result_budget.ts";
import { createRelay } from "../src/hub/gateway/mod.ts";
import { systemClock } from "../src/ports.ts";
import type { Store } from "../src/ports.ts";
import { isObject } from "../src/protocol/json_rpc.ts";
import { sha256 } from "../src/protocol/web_crypto.ts";
import { createStubStore, StoreObject } from "../src/runtime/stores/store_object.ts";
import type { StoreStub } from "../src/runtime/stores/store_object.ts";
import { patience, questionsOf, RunQuestions } from "./workflow/questions.ts";
import { isAllowed } from "./session/token.ts";

export { StoreObject };

/** What the operator sets. */
export interface WorkflowEnv extends ModelSettings {
  /** The workflows. */
  readonly RUNS: WorkflowNamespace;
  /** Marks of steps, and the questions that wait: an object for each run. */
  readonly MARKS: { idFromName(name: string): unknown; get(id: unknown): StoreStub };
  /** What a caller has to send as `Authorization: Bearer …`. Without it nobody may call. */
  readonly ACCESS_TOKEN?: string | undefined;
  /** The MCP server: an http: or https: URL. */
  readonly MCP_URL: string;
  /** What is sent to it as `Authorization: Bearer …`, where it wants that. */
  readonly MCP_TOKEN?: string | undefined;
  /** Tools that only read, with commas between: they are called without a question. Patterns as for `withFilter`: `tools.get_*`. */
  readonly READ_ONLY?: string | undefined;
}

/** The part of a workflow's binding that is used. */
export interface WorkflowNamespace {
  create(options: { params: unknown }): Promise<{ readonly id: string }>;
  get(id: string): Promise<WorkflowRun>;
}

/** One workflow, from outside. */
export interface WorkflowRun {
  status(): Promise<{ readonly status: string; readonly output?: unknown }>;
  sendEvent(event: { type: string; payload: unknown }): Promise<void>;
}

/** A step keeps at most 1 MiB, and throws what is larger away when it is done: what is cut is in the object of the run. */
const budget = { limit: 40_000, mostClaimed: 150_000, mediaLimit: 393_216, lifetime: patience } as const;
const mostInput = 1_000_000;

/** A run: the class that `workers/workflow.toml` names. */
export class RunWorkflow extends WorkflowEntrypoint<WorkflowEnv> {
  /** Runs the agent to its end, which is what the workflow gives. */
  async run(
    event: { readonly instanceId: string; readonly payload: { readonly input: string } },
    step: WorkflowStepLike,
  ): Promise<AgentEnd> {
    const { env } = this;
    const { instanceId: id, payload: { input } } = event;
    const { MCP_URL: url, MCP_TOKEN, READ_ONLY = "" } = env;
    const store = storeOf(env, id);
    const steps = workflowSteps(step, createStoreMarker(store, id));
    const questions = new RunQuestions(store);
    const relay = createRelay();
    const { handlers, features } = relay;
    const headers = MCP_TOKEN ? { headers: { authorization: `Bearer ${MCP_TOKEN}` } } : {};
    await using servers = await openHub({ tools: { url, ...headers } }, { handlers, features });
    const hub = withResultBudget(servers, { store, readTool: true, ...budget });
    const readOnly = READ_ONLY.split(",").map((name) => name.trim()).filter((name) => name !== "");
    const agent = new Agent({ hub, relay, model: await chooseModel(env), readOnly, onUnknown: "tell" });
    const world: RunWorld = {
      id,
      steps,
      emit: () => {},
      signal: new AbortController().signal,
      clock: systemClock,
      async ask(question) {
        const type = await typeOf(question.id);
        return await questions.ask(question, async () => {
          const { payload } = await steps.waitForEvent(`answer:${question.id}`, { type, timeout: patience });
          return payload as AgentAnswer;
        });
      },
    };
    return await agent.execute({ input }, world);
  }
}

const worker = {
  /** Answers one request. */
  async fetch(request: Request, env: WorkflowEnv): Promise<Response> {
    if (!await isAllowed(request, env)) return problem(403, "A valid bearer token is needed");
    const [, root, id, rest] = new URL(request.url).pathname.split("/");
    if (root !== "runs") return problem(404, "Use POST /runs, GET /runs/<id> or POST /runs/<id>/input");
    if (id === undefined) return await start(request, env);
    const run = await env.RUNS.get(id).catch(() => undefined);
    if (!run) return problem(404, "There is no such run");
    if (rest === "input") return await answer(request, { env, id, run });
    const { status, output } = await run.status();
    const [question] = await questionsOf(storeOf(env, id));
    return Response.json({ id, status, ...(question && { question }), ...(isObject(output) && { end: output }) });
  },
};

export default worker;

async function start(request: Request, { RUNS }: WorkflowEnv): Promise<Response> {
  const body = await readBody(request);
  if (typeof body?.input !== "string" || body.input.length > mostInput) {
    return problem(400, `The body has to be { "input": "…" }, of at most ${mostInput} characters`);
  }
  const { id } = await RUNS.create({ params: { input: body.input } });
  return Response.json({ id }, { status: 202, headers: { location: `/runs/${id}` } });
}

async function answer(
  request: Request,
  { env, id, run }: { readonly env: WorkflowEnv; readonly id: string; readonly run: WorkflowRun },
): Promise<Response> {
  const body = await readBody(request);
  const question = (await questionsOf(storeOf(env, id))).find((waiting) => waiting.id === body?.question);
  if (!question || !body) return problem(404, "There is no such question");
  const { answer } = body;
  const fitting = question.kind === "decision" ? ["retry", "skip", "fail"] : ["accept", "decline", "cancel"];
  if (!isObject(answer) || !fitting.some((action) => action === answer.action)) {
    return problem(400, `"answer.action" is wrong, expected ${fitting.join(", ")}`);
  }
  // One type for each question: an old answer is none to another one.
  await run.sendEvent({ type: await typeOf(question.id), payload: answer });
  return Response.json({ id });
}

function storeOf({ MARKS }: WorkflowEnv, id: string): Required<Store> {
  return createStubStore(() => MARKS.get(MARKS.idFromName(id)));
}

/** The type of the event that answers a question: what may be in one is little. */
async function typeOf(question: string): Promise<string> {
  return `answer-${(await sha256(question)).slice(0, 32)}`;
}

async function readBody(request: Request): Promise<Record<string, unknown> | undefined> {
  if (!(Number(request.headers.get("content-length") ?? NaN) <= 4 * mostInput)) return undefined;
  const body: unknown = await request.json().catch(() => undefined);
  return isObject(body) ? body : undefined;
}

function problem(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status });
}

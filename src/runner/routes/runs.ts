/**
 * Runs of agents: starting, showing, answering and cancelling them.
 *
 * @module
 */
import type { AgentAnswer, AgentQuestion, AnswerSettings } from "../../agent/loop/seam.ts";
import type { RunRecord, Runs, RunState, StartRun } from "../../agent/runs/seam.ts";
import { LimitExceededError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { nameIn } from "../access/types.ts";
import type { Call } from "../rest/call.ts";
import { ask, missing, Refusal, tooLong, wrongField } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import { inputSchema, pageOf, runSchema, startSchema } from "../rest/schemas.ts";
import { activeStates, beginRun, mostListed } from "../tenants/run_starts.ts";

const states: readonly RunState[] = [...activeStates, "succeeded", "failed", "cancelled"];
const json = "application/json";

/** The routes of runs, but for their events. */
export const runRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/api/runs",
    summary: "Starts a run of an agent. It is kept when this is answered.",
    policy: { kind: "decided", actions: ["run"], about: "the agent" },
    query: {},
    headers: { "Idempotency-Key": "Sending the same key again starts nothing new" },
    body: startSchema,
    replies: { 202: { description: "It was started; `Location` is where it is", type: json, schema: runSchema } },
    answer: start,
  },
  {
    method: "GET",
    path: "/api/runs",
    summary: "Runs, newest first: one's own, and those of others whose agents one may manage.",
    policy: { kind: "decided", actions: ["run", "manage"], about: "each run's agent" },
    query: {
      limit: { description: "At most so many (50)", schema: { type: "integer", minimum: 1, maximum: 200 } },
      after: { description: "`next` of the page before", schema: { type: "string", maxLength: 100 } },
      state: { description: "Only those in this state", schema: { type: "string", enum: states } },
    },
    replies: { 200: { description: "The runs", type: json, schema: pageOf("runs", runSchema) } },
    answer: list,
  },
  {
    method: "GET",
    path: "/api/runs/:id",
    summary: "One run.",
    policy: { kind: "decided", actions: ["run", "manage"], about: "the run's agent" },
    query: {},
    replies: { 200: { description: "The run", type: json, schema: runSchema } },
    answer: async (call) => call.json((await ownRun(call)).record),
  },
  {
    method: "POST",
    path: "/api/runs/:id/input",
    summary: "Answers a question of a run: 404 where there is no such question, 409 where it was answered already.",
    policy: { kind: "decided", actions: ["answer"], about: "the tool that the question is about" },
    query: {},
    body: inputSchema,
    replies: { 200: { description: "It was taken", type: json, schema: runSchema } },
    answer,
  },
  {
    method: "DELETE",
    path: "/api/runs/:id",
    summary: "Cancels a run; harmless when it is over.",
    policy: { kind: "decided", actions: ["run", "manage"], about: "the run's agent" },
    query: {},
    replies: { 200: { description: "The run as it is then", type: json, schema: runSchema } },
    answer: cancel,
  },
];

/** The runs of a tenant. */
async function runsOf(call: Call): Promise<Runs> {
  const { runs, logger } = call.parts;
  if (!runs) throw new Refusal(404, "not_offered", "This runner keeps no runs");
  return await ask("What keeps runs", () => runs(call.tenant), logger);
}

/** A run that the caller may see. Whatever it may not see is not there. */
export async function ownRun(call: Call): Promise<{ readonly runs: Runs; readonly record: RunRecord }> {
  const { id = "" } = call.params;
  const can = await call.can();
  const runs = await runsOf(call);
  const record = /^[\w-]{1,64}$/.test(id)
    ? await ask("What keeps runs", () => runs.get(id), call.parts.logger)
    : undefined;
  if (!record || !isSeen(record, call, can)) throw missing("run", id);
  return { runs, record };
}

/** Whether the caller may see a run. */
export function isSeen({ agent, principal }: RunRecord, call: Call, can: Awaited<ReturnType<Call["can"]>>): boolean {
  if (can("", agent, "manage") === "allow") return true;
  return principal === ownerOf(call) && can("", agent, "run") !== "deny";
}

/** Whose run it is. */
function ownerOf({ principal, tenant }: Call): string {
  return nameIn(principal, tenant);
}

async function start(call: Call): Promise<Response> {
  const runs = await runsOf(call);
  const body = await call.body();
  const { agent, input, output, settings, deadline } = body as JsonObject & { agent: string; deadline?: number };
  const { agents, quotas, clock, logger, starts } = call.parts;
  const outcome = await call.decide("run", { tool: agent, arguments: body });
  if (outcome === "deny" || !agents.some(({ name }) => name === agent)) throw missing("agent", agent);
  if (outcome === "ask") throw new Refusal(403, "forbidden", "Somebody else has to start runs of this agent");
  const isLate = deadline !== undefined && deadline <= clock.now();
  const key = call.request.headers.get("idempotency-key");
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw wrongField("Idempotency-Key", "expected 1 to 255 visible ASCII characters");
  }
  const { tenant, principal } = call;
  const record = await quotas.inTurn(tenant, "runs", async () => {
    const id = key === null ? undefined : await starts.idOf({ tenant, principal, key, body, isLate });
    const known = id === undefined ? undefined : await ask("What keeps runs", () => runs.get(id), logger);
    // Who asks again for one that was begun in time is told of it.
    if (known) return known;
    if (isLate) throw wrongField("/deadline", "it is over already");
    return await beginRun(call.parts, { tenant, runs }, {
      agent,
      principal: ownerOf(call),
      // It was held against the schema.
      input: input as StartRun["input"],
      ...(output !== undefined && { output: output as JsonObject }),
      ...(settings !== undefined && { settings: settings as AnswerSettings }),
      ...(id !== undefined && { id }),
      ...(deadline !== undefined && { deadline }),
    });
  });
  return call.json(record, 202, { location: `/api/runs/${record.id}` });
}

async function list(call: Call): Promise<Response> {
  const can = await call.can();
  const runs = await runsOf(call);
  const limit = call.number("limit", 50);
  const { state, after } = call.query;
  const [, at, id] = after === undefined ? [] : /^(\d{1,16})\.([\w-]{1,64})$/.exec(after) ?? [];
  if (after !== undefined && id === undefined) throw wrongField("after", "expected `next` of the page before");
  const managesSome = call.parts.agents.some(({ name }) => can("", name, "manage") === "allow");
  const wanted = {
    ...(state !== undefined && { state: state as RunState }),
    ...(!managesSome && { principal: ownerOf(call) }),
  };
  const page: RunRecord[] = [];
  let behind = id === undefined ? undefined : { createdAt: Number(at), id };
  let size = limit + 1;
  while (page.length <= limit) {
    const before = behind && behind.createdAt + 1;
    const options = { ...wanted, limit: size, before };
    const found = await ask("What keeps runs", () => runs.list(options), call.parts.logger);
    const fresh = afterRun(found, behind);
    page.push(...fresh.filter((record) => isSeen(record, call, can)));
    const last = found.at(-1);
    if (!last || found.length < size) break;
    if (fresh.length) behind = last;
    // All of them are of one time, which holds more than were asked for.
    else if (size < mostListed) size = Math.min(2 * size, mostListed);
    else break;
  }
  const shown = page.slice(0, limit);
  const last = shown.at(-1);
  const next = page.length > limit && last ? `${last.createdAt}.${last.id}` : undefined;
  return call.json({ runs: shown, ...(next !== undefined && { next }) });
}

/** What stands behind a run. One that is gone is known by its time. */
function afterRun(
  found: readonly RunRecord[],
  behind: { readonly createdAt: number; readonly id: string } | undefined,
): readonly RunRecord[] {
  if (!behind) return found;
  const at = found.findIndex(({ id }) => id === behind.id);
  return at < 0 ? found.filter(({ createdAt }) => createdAt < behind.createdAt) : found.slice(at + 1);
}

async function answer(call: Call): Promise<Response> {
  const body = await call.body() as { question: string; answer: AgentAnswer };
  const { runs, record } = await ownRun(call);
  const question = record.questions.find(({ id }) => id === body.question);
  if (!question) {
    // Nothing is answered that was not decided on: it may be asked in this very moment.
    if (record.closed?.includes(body.question)) throw stale();
    throw missing("question", body.question);
  }
  checkAnswer(question, body.answer);
  const about = { server: question.server, tool: "call" in question ? question.call?.tool ?? "" : "" };
  const outcome = await call.decide("answer", { ...about, arguments: body.answer as unknown as JsonObject });
  if (outcome !== "allow") throw missing("question", body.question);
  const taken = await ask(
    "What keeps runs",
    () =>
      runs.answer(record.id, body.question, body.answer).catch((error: unknown) => {
        throw error instanceof LimitExceededError ? tooLong(error) : error;
      }),
    call.parts.logger,
  );
  if (taken === "stale") throw stale();
  if (taken === "unknown") throw missing("question", body.question);
  const now = await ask("What keeps runs", () => runs.get(record.id), call.parts.logger);
  return call.json(now ?? record);
}

function stale(): Refusal {
  return new Refusal(409, "stale", "It was answered already, or is over");
}

function checkAnswer({ kind }: AgentQuestion, { action }: AgentAnswer): void {
  const fitting = kind === "decision" ? ["retry", "skip", "fail"] : ["accept", "decline", "cancel"];
  if (!fitting.includes(action)) throw wrongField("/answer/action", `expected ${fitting.join(", ")}`);
}

async function cancel(call: Call): Promise<Response> {
  const { runs, record } = await ownRun(call);
  await call.judge.record({ server: "", tool: record.agent, action: "run", outcome: "allow" });
  const now = await ask(
    "What keeps runs",
    () => runs.cancel(record.id, `Cancelled by ${call.principal.id}`),
    call.parts.logger,
  );
  if (!now) throw missing("run", record.id);
  return call.json(now);
}

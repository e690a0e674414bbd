/** The real agent in runs that are kept, behind the runner: from the start to the final answer, over HTTP alone. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { Agent, createRuns, directiveModel } from "../../../src/agent/mod.ts";
import type { DurableRuns, RunLimits, RunnableAgent } from "../../../src/agent/mod.ts";
import { createRelay } from "../../../src/hub/gateway/mod.ts";
import { createApiKey, createKeyList, createPolicy, createRunner } from "../../../src/runner/mod.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { emptyDatabase, skip } from "./support/database.ts";
import { agentOf, ask } from "./support/scripted_agent.ts";
import { inMemory, openHub } from "../../hub/support.ts";

interface Run {
  readonly id: string;
  readonly state: string;
  readonly questions: readonly { readonly id: string; readonly kind: string }[];
  readonly end?: { readonly type: string; readonly text: string };
}

interface Event {
  readonly id: number;
  readonly event: string;
  readonly data: { readonly event: Record<string, unknown> };
}

function eventsIn(text: string): Event[] {
  return [...text.matchAll(/id: (\d+)\nevent: (\w+)\ndata: (.*)\n/g)].map(([, id, event = "", data = ""]) => ({
    id: Number(id),
    event,
    data: JSON.parse(data),
  }));
}

/** A hub with a server that fetches, sends and asks; an agent over it; its runs; the runner in front. */
async function openScene(limits: Partial<RunLimits> = {}, own?: RunnableAgent) {
  const calls: string[] = [];
  const server = new McpServer({ name: "data", version: "1.0.0" });
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const output = { type: "object", properties: { degrees: { type: "number" } }, required: ["degrees"] };
  server.tool("fetch_data", { description: "The weather of a city", input: city, output }, (given) => {
    calls.push(`fetch_data ${given.city}`);
    return { degrees: 21 };
  });
  server.tool("send", { description: "Sends a text", input: { type: "object" } }, (given) => {
    calls.push(`send ${given.text}`);
    return "it was sent";
  });
  server.tool("greet", { description: "Asks for a name" }, async (_, { elicit }) => {
    const { action, content } = await elicit({
      message: "Who are you?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    calls.push("greet");
    return action === "accept" ? `Hello, ${content?.name}` : "Hello";
  });
  const relay = createRelay();
  const { handlers, features } = relay;
  const hub = await openHub({ data: inMemory(server).config }, { handlers, features });
  const database = await emptyDatabase();
  const agent = own ?? new Agent({ model: directiveModel(), hub, relay, readOnly: ["data.fetch_*", "data.greet"] });
  const open = (): DurableRuns => createRuns({ database, agents: { helper: agent }, limits });
  const scene = { runs: open() };
  const { key, hash } = await createApiKey();
  const runner = createRunner({
    hub,
    agents: [{ name: "helper" }],
    runs: () => scene.runs,
    access: {
      keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
      policy: createPolicy([{ effect: "allow" }]),
    },
  });
  const ask = (path: string, { body, ...init }: { body?: unknown; method?: string; headers?: object } = {}) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers };
    const method = init.method ?? (body === undefined ? "GET" : "POST");
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return runner.fetch(new Request(`http://localhost${path}`, { method, headers, ...sent }));
  };
  const get = async (id: string): Promise<Run> => await (await ask(`/api/runs/${id}`)).json();
  return {
    calls,
    ask,
    start: async (input: string): Promise<Run> =>
      await (await ask("/api/runs", { body: { agent: "helper", input } })).json(),
    /** As after a restart of the process. */
    async restart() {
      await scene.runs.close();
      scene.runs = open();
      await scene.runs.resume();
    },
    async until(id: string, states: readonly string[]): Promise<Run> {
      for (let turns = 0; turns < 4_000; turns++) {
        const run = await get(id);
        if (states.includes(run.state)) return run;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`The run came to none of ${states.join(", ")}`);
    },
    async [Symbol.asyncDispose]() {
      await runner.close();
      await scene.runs.close();
      await hub.close();
      database.close?.();
    },
  };
}

const ended = ["succeeded", "failed", "cancelled"];

describe("an agent behind the runner", () => {
  it(
    "fetches, waits for a yes, acts once, and answers; whoever reads the events gets each one once",
    { skip },
    async () => {
      await using scene = await openScene();
      const { id } = await scene.start("call data.fetch_data city=Rome\nthen\ncall data.send text=21");
      const waiting = await scene.until(id, ["needs_input"]);
      assertEquals(waiting.questions.map(({ kind }) => kind), ["approval"]);
      assertEquals(scene.calls, ["fetch_data Rome"]);
      await scene.restart();
      const body = { question: waiting.questions[0]?.id, answer: { action: "accept" } };
      assertEquals((await scene.ask(`/api/runs/${id}/input`, { body })).status, 200);
      const run = await scene.until(id, ended);
      assertEquals([run.state, scene.calls], ["succeeded", ["fetch_data Rome", "send 21"]]);
      assertEquals((await scene.ask(`/api/runs/${id}/input`, { body })).status, 409);
      const all = eventsIn(await (await scene.ask(`/api/runs/${id}/events`)).text());
      assertEquals(all.map((event) => event.id), all.map((_, at) => at + 1));
      const [first, second] = all.filter(({ event }) => event === "observation").map(({ data }) =>
        data.event.observation as Record<string, unknown>
      );
      assertEquals([first?.tool, first?.validation, first?.outcome], ["fetch_data", "validated", "ok"]);
      assertEquals([second?.tool, second?.outcome], ["send", "ok"]);
      assertEquals(all.filter(({ event }) => ended.includes(event)).map((event) => event.id), [all.length]);
      for (const last of [0, 1, all.length - 1]) {
        const headers = { "last-event-id": String(last) };
        assertEquals(eventsIn(await (await scene.ask(`/api/runs/${id}/events`, { headers })).text()), all.slice(last));
      }
    },
  );

  it("asks what a server asks, and goes on with the answer in another process", { skip }, async () => {
    await using scene = await openScene();
    const { id } = await scene.start("call data.greet");
    const waiting = await scene.until(id, ["needs_input"]);
    assertEquals(waiting.questions.map(({ kind }) => kind), ["elicitation"]);
    await scene.restart();
    const answer = { action: "accept", content: { name: "Ada" } };
    await scene.ask(`/api/runs/${id}/input`, { body: { question: waiting.questions[0]?.id, answer } });
    const run = await scene.until(id, ended);
    assert(run.end?.text.includes("Hello, Ada"), JSON.stringify(run.end));
    assertEquals(scene.calls, ["greet"]);
  });

  it("tells events while they happen, and is cancelled", { skip }, async () => {
    await using scene = await openScene();
    const { id } = await scene.start("call data.send text=never");
    const response = await scene.ask(`/api/runs/${id}/events`);
    await scene.until(id, ["needs_input"]);
    const cancelled = await scene.ask(`/api/runs/${id}`, { method: "DELETE" });
    assertEquals((await cancelled.json()).state, "cancelled");
    const events = eventsIn(await response.text());
    assertEquals(events.map((event) => event.id), events.map((_, at) => at + 1));
    assertEquals(events.at(-1)?.event, "cancelled");
    assertEquals(scene.calls, []);
  });

  it("is a model, whole and as a stream", { skip }, async () => {
    await using scene = await openScene();
    const body = { model: "helper", messages: [{ role: "user", content: "call data.fetch_data city=Bern" }] };
    const whole = await (await scene.ask("/v1/chat/completions", { body })).json();
    assert(whole.choices[0].message.content.includes('"degrees":21'), JSON.stringify(whole));
    const stream = await (await scene.ask("/v1/chat/completions", { body: { ...body, stream: true } })).text();
    assert(stream.includes("data: [DONE]") && stream.includes("degrees"), stream);
  });

  it("is told what is too long, which no later try would make shorter", { skip }, async () => {
    await using scene = await openScene({ valueBytes: 5_000 });
    const body = { agent: "helper", input: "x".repeat(6_000) };
    const refused = await scene.ask("/api/runs", { body });
    assertEquals([refused.status, (await refused.json()).code], [413, "too_large"]);
    const { id } = await scene.start("call data.greet");
    const question = (await scene.until(id, ["needs_input"])).questions[0]?.id;
    const answer = { action: "accept", content: { name: "x".repeat(6_000) } };
    const answered = await scene.ask(`/api/runs/${id}/input`, { body: { question, answer } });
    assertEquals([answered.status, (await answered.json()).code], [413, "too_large"]);
  });

  it("answers questions whose ids are as long as they may be", { skip }, async () => {
    const question = "q".repeat(512);
    const asking = agentOf(async (world) => (await ask(world, question)).action);
    await using scene = await openScene({}, asking);
    const { id } = await scene.start("ask");
    await scene.until(id, ["needs_input"]);
    const body = { question, answer: { action: "accept" } };
    assertEquals((await scene.ask(`/api/runs/${id}/input`, { body })).status, 200);
    assertEquals((await scene.until(id, ended)).end?.text, "accept");
  });
});

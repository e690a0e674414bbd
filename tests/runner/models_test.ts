import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { ModelError } from "../../src/agent/mod.ts";
import type { AuditRow, OfferedAgent } from "../../src/runner/mod.ts";
import type { MemoryRuns } from "./support/memory_runs.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { createWorld, problemOf } from "./support/world.ts";

const ask = (content: string, more = {}) => ({ model: "helper", messages: [{ role: "user", content }], ...more });
const path = "/v1/chat/completions";

/** The id of the first run, once it is there. */
async function firstOf(runs: MemoryRuns): Promise<string> {
  for (;;) {
    const [first] = await runs.list();
    if (first) return first.id;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe("agents as models", () => {
  it("are listed, and asked by runs", async () => {
    await using world = await createWorld();
    const { data } = await (await world.ask("/v1/models")).json();
    assertEquals([data.length, data[0].id, data[0].description], [1, "helper", "Says it again"]);
    assertEquals((await (await world.ask("/v1/models/helper")).json()).id, "helper");
    const completion = await (await world.ask(path, { body: ask("hello") })).json();
    assertEquals(completion.choices[0].message.content, "You said: hello");
    assertEquals(completion.usage, { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    const { runs } = await (await world.ask("/api/runs")).json();
    assertEquals([runs.length, runs[0].state, runs[0].principal], [1, "succeeded", "ada"]);
  });

  it("stream", async () => {
    await using world = await createWorld();
    const response = await world.ask(path, { body: ask("hello", { stream: true }) });
    const lines = (await response.text()).split("\n\n").filter(Boolean).map((line) => line.slice("data: ".length));
    assertEquals(lines.at(-1), "[DONE]");
    const pieces = lines.slice(0, -1).map((line) => JSON.parse(line).choices[0].delta.content ?? "");
    assertEquals(pieces.join(""), "You said: hello");
  });

  it("say whether their answer was cut at the bound of who asked", async () => {
    await using world = await createWorld();
    for (const [content, reason] of [["cut", "length"], ["hello", "stop"]] as const) {
      const body = ask(content, { max_tokens: 3 });
      const { choices } = await (await world.ask(path, { body })).json();
      assertEquals(choices[0].finish_reason, reason);
      const stream = await (await world.ask(path, { body: { ...body, stream: true } })).text();
      assertEquals(/"finish_reason":"(\w+)"/.exec(stream)?.[1], reason);
    }
  });

  it("keep the texts of different steps apart", async () => {
    await using world = await createWorld();
    const runs = world.runs("acme");
    const asking = world.ask(path, { body: ask("hang") });
    while ((await runs.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const [{ id } = { id: "" }] = await runs.list();
    runs.tell(id, { type: "text", step: 1, text: "Let me " });
    runs.tell(id, { type: "text", step: 1, text: "look." });
    runs.tell(id, { type: "text", step: 3, text: "It is 4." });
    const usage = { inputTokens: 1, outputTokens: 1 };
    runs.tell(id, { type: "succeeded", text: "It is 4.", usage, steps: 3 });
    const { choices } = await (await asking).json();
    assertEquals(choices[0].message.content, "Let me look.\n\nIt is 4.");
  });

  it("say that a run was cancelled", async () => {
    await using world = await createWorld();
    const runs = world.runs("acme");
    const asking = world.ask(path, { body: ask("hang") });
    await runs.cancel(await firstOf(runs));
    const answer = await asking;
    assertEquals([answer.status, answer.headers.get("x-should-retry")], [409, "false"]);
    assertEquals((await problemOf(answer)).code, "cancelled");
  });

  it("that begin a text anew: a whole answer has the new one alone, a stream breaks off behind what was told", async () => {
    for (const stream of [false, true]) {
      await using world = await createWorld();
      const runs = world.runs("acme");
      const asking = world.ask(path, { body: ask("hang", { stream }) });
      const id = await firstOf(runs);
      runs.tell(id, { type: "text", step: 1, text: "Let me look." });
      runs.tell(id, { type: "text", step: 2, text: "It i" });
      runs.tell(id, { type: "restarted", step: 2, reason: "The process that asked it ended" });
      if (!stream) {
        runs.tell(id, { type: "text", step: 2, text: "It is 4." });
        const usage = { inputTokens: 1, outputTokens: 1 };
        runs.tell(id, { type: "succeeded", text: "It is 4.", usage, steps: 2 });
      }
      const text = await (await asking).text();
      if (stream) {
        assert(text.includes('"code":"restarted"') && !text.includes("[DONE]"), text);
        assertEquals((await runs.get(id))?.state, "cancelled");
      } else assertEquals(JSON.parse(text).choices[0].message.content, "Let me look.\n\nIt is 4.");
    }
  });

  it("say that a run goes on elsewhere where what keeps it is closed", async () => {
    const logged: string[] = [];
    for (const stream of [false, true]) {
      await using world = await createWorld({ logger: ({ message }) => void logged.push(message) });
      const runs = world.runs("acme");
      const asking = world.ask(path, { body: ask("hang", { stream }) });
      while (runs.started.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      await runs.close();
      const answer = await asking;
      assertEquals([answer.status, answer.headers.get("x-should-retry")], [503, "false"]);
      assertEquals((await problemOf(answer)).code, "moved");
    }
    assertEquals(logged, []);
  });

  it("say so too where it asks while what keeps it is being closed", async () => {
    const logged: string[] = [];
    await using world = await createWorld({ logger: ({ message }) => void logged.push(message) });
    const runs = world.runs("acme");
    const asking = world.ask(path, { body: ask("hang") });
    const id = await firstOf(runs);
    runs.ask(id);
    await runs.close();
    const answer = await asking;
    assertEquals([answer.status, answer.headers.get("x-should-retry")], [503, "false"]);
    assertEquals((await problemOf(answer)).code, "moved");
    assertEquals(logged, []);
  });

  it("have nobody to ask, so what wants a person is declined", async () => {
    await using world = await createWorld();
    const completion = await (await world.ask(path, { body: ask("ask") })).json();
    assertEquals(completion.choices[0].message.content, "You said: the answer was decline");
  });

  it("fail as problems, in OpenAI's form too", async () => {
    await using world = await createWorld();
    for (
      const [body, status, code] of [
        [ask("fail"), 502, "model_error"],
        [{ ...ask("x"), model: "nobody" }, 404, "model_not_found"],
        [{ model: "helper" }, 400, undefined],
        [{ model: "helper", messages: [] }, 400, undefined],
        ["{", 400, "invalid_json"],
      ] as const
    ) {
      const response = await world.ask(path, { body });
      const problem = await problemOf(response);
      const error = problem.error as { message: string; type: string; code: string | null };
      assertEquals(problem.status, status, JSON.stringify(body));
      assert(typeof error.message === "string" && typeof error.type === "string");
      if (code !== undefined) assertEquals([problem.code, error.code], [code, code]);
    }
    const refused = await problemOf(await world.ask(path, { as: undefined, body: ask("x") }));
    assertEquals([refused.status, (refused.error as { code: string }).code], [401, "not_signed_in"]);
  });

  it("heed how they are to be answered, and start no run for what they cannot heed", async () => {
    await using world = await createWorld();
    const { started } = world.runs("acme");
    const body = ask("hello", { temperature: 0.5, max_tokens: 30, max_completion_tokens: 20, stop: "END" });
    assertEquals((await world.ask(path, { body })).status, 200);
    await world.ask(path, { body: ask("hello") });
    assertEquals(started.map(({ settings }) => settings), [
      { temperature: 0.5, maxOutputTokens: 20, stopSequences: ["END"] },
      {},
    ]);
    const refused: [object, string, string][] = [
      [{ tools: [{ type: "function", function: { name: "a" } }] }, "invalid_value", "tools of its own"],
      [{ top_p: 0.5 }, "unsupported_parameter", "cannot heed it"],
      [{ response_format: { type: "json_schema" } }, "invalid_value", "expected a JSON Schema"],
      [{ temperature: 5 }, "invalid_value", "from 0 to 2"],
    ];
    for (const [more, code, text] of refused) {
      const problem = await problemOf(await world.ask(path, { body: ask("hello", more) }));
      assertEquals([problem.status, problem.code], [400, code], JSON.stringify(more));
      assert(String(problem.detail).includes(text), String(problem.detail));
    }
    assertEquals(started.length, 2);
  });

  it("are given the pictures of a conversation; what else there is in it is refused, and starts no run", async () => {
    await using world = await createWorld();
    const { started } = world.runs("acme");
    const look = { type: "text" as const, text: "Look" };
    const image_url = { url: "data:image/png;base64,aGk=" };
    const asked = (...content: object[]) =>
      world.ask(path, { body: { model: "helper", messages: [{ role: "user", content }] } });
    assertEquals((await asked(look, { type: "image_url", image_url })).status, 200);
    assertEquals((await asked(look, look)).status, 200);
    assertEquals(started.map(({ input }) => input), [
      [{ role: "user", content: [look, { type: "image" as const, mimeType: "image/png", data: "aGk=" }] }],
      [{ role: "user", content: "LookLook" }],
    ]);
    for (const part of [{ type: "file", file: {} }, { type: "image_url", image_url: { url: "https://a.example/b" } }]) {
      const problem = await problemOf(await asked(look, part));
      assertEquals([problem.status, (problem.error as { param: string }).param], [400, "messages[0].content[1]"]);
    }
    assertEquals(started.length, 2);
  });

  it("are given a conversation in the words of agents: what a tool of the caller's gave is told as text", async () => {
    await using world = await createWorld();
    const messages = [
      { role: "system", content: "Be brief" },
      { role: "developer", content: "Be kind" },
      { role: "assistant", content: "Hello" },
      { role: "tool", tool_call_id: "1", content: "4" },
      { role: "user", content: "And?" },
    ];
    assertEquals((await world.ask(path, { body: { model: "helper", messages } })).status, 200);
    assertEquals(world.runs("acme").started[0]?.input, [
      { role: "system", content: "Be brief" },
      { role: "system", content: "Be kind" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "A tool gave: 4" },
      { role: "user", content: "And?" },
    ]);
  });

  it("that come to the end of what they may use give what they have said, or fail", async () => {
    await using world = await createWorld();
    const runs = world.runs("acme");
    const usage = { inputTokens: 1, outputTokens: 1 };
    const end = async (code: string, text: string, more: object) => {
      const before = (await runs.list()).map(({ id }) => id);
      const asking = world.ask(path, { body: ask("hang", more) });
      let id: string | undefined;
      while (id === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        id = (await runs.list()).find((run) => !before.includes(run.id))?.id;
      }
      if (text !== "") runs.tell(id, { type: "text", step: 1, text });
      runs.tell(id, { type: "failed", error: { code, message: "It was too much" }, usage, steps: 1 });
      const response = await asking;
      const { choices, code: problem } = await response.json();
      return [response.status, choices?.[0].finish_reason ?? problem, choices?.[0].message.content];
    };
    const cut = [200, "length", "So far"];
    assertEquals(await end("token_budget", "So far", {}), cut);
    assertEquals(await end("step_budget", "So far", {}), cut);
    assertEquals(await end("model_error", "So far", {}), [502, "model_error", undefined]);
    assertEquals(await end("token_budget", "", { max_tokens: 5 }), [200, "length", ""]);
    assertEquals(await end("token_budget", "", {}), [502, "token_budget", undefined]);
    assertEquals(await end("step_budget", "", { max_tokens: 5 }), [502, "step_budget", undefined]);
  });

  it("answer in the JSON that is asked for, once it fits", async () => {
    await using world = await createWorld();
    const runs = world.runs("acme");
    const { started } = runs;
    const schema = { type: "object", required: ["sum"] };
    const format = { type: "json_schema", json_schema: { name: "answer", schema } };
    const asking = world.ask(path, { body: ask("hang", { response_format: format }) });
    while ((await runs.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const [{ id } = { id: "" }] = await runs.list();
    runs.tell(id, { type: "text", step: 1, text: "Let me look." });
    runs.tell(id, { type: "text", step: 2, text: '{"sum":' });
    runs.tell(id, { type: "restarted", step: 2, reason: "It broke off" });
    runs.tell(id, { type: "text", step: 2, text: '{ "sum": 4 }' });
    const usage = { inputTokens: 1, outputTokens: 1 };
    runs.tell(id, { type: "succeeded", text: '{ "sum": 4 }', output: { sum: 4 }, usage, steps: 2 });
    const { choices } = await (await asking).json();
    assertEquals([choices[0].message.content, started[0]?.output], ['{"sum":4}', schema]);
  });

  it("are within the tenant's quota of runs, and need what keeps them", async () => {
    await using world = await createWorld({ quotas: { runs: 1 }, logger: () => {} });
    await world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
    const full = await world.ask(path, { body: ask("hello") });
    const problem = await problemOf(full);
    assertEquals([problem.status, problem.code, full.headers.get("retry-after")], [429, "too_many_runs", "5"]);
    world.runs("acme").broken = new Error("the disk is on fire");
    const down = await problemOf(await world.ask(path, { body: ask("hello") }));
    assertEquals([down.status, down.code], [503, "unavailable"]);
  });

  it("that may not be run are not there", async () => {
    const models = [{ getModelId: () => "secret", respond: () => "never" }];
    const policy = [{ tools: ["helper"], actions: ["run" as const], effect: "allow" as const }];
    const helper: OfferedAgent = { name: "helper", description: "Says it again" };
    const agents = [Object.assign(helper, { key: "of the operator alone" })];
    await using world = await createWorld({ models, policy, agents });
    const { data } = await (await world.ask("/v1/models")).json();
    assertEquals(data.map(({ id }: { id: string }) => id), ["helper"]);
    const one = await problemOf(await world.ask("/v1/models/secret"));
    const other = await problemOf(await world.ask("/v1/models/nobody"));
    const level = (problem: object) => JSON.stringify({ ...problem, requestId: "" }).replaceAll(/secret|nobody/g, "x");
    assertEquals([one.status, level(one)], [404, level(other)]);
    const offered = await (await world.ask("/api/agents")).json();
    assertEquals(offered.agents, [{ name: "helper", description: "Says it again" }]);
  });

  it("say when they were made: the same each time, by their own word or since they were asked for first", async () => {
    const clock = new VirtualClock();
    const models = [{ getModelId: () => "own", getModelInfo: () => ({ created: 7 }), respond: () => "hi" }];
    await using world = await createWorld({ models, clock });
    const created = async () => {
      const { data } = await (await world.ask("/v1/models")).json();
      return data.map(({ id, created }: { id: string; created: number }) => [id, created]);
    };
    const since = Math.floor(clock.now() / 1_000);
    for (let count = 0; count < 2; count++) {
      assertEquals(await created(), [["own", 7], ["helper", since]]);
      await clock.advance(60_000);
    }
    const one = await (await world.ask("/v1/models/helper")).json();
    assertEquals(one.created, since);
  });

  it("leave a row of each that is asked, also of one that may not be run; none of what is not there", async () => {
    const models = ["own", "secret", "waits"].map((id) => ({ getModelId: () => id, respond: () => "hi" }));
    const policy = [
      { tools: ["own"], actions: ["run" as const], effect: "allow" as const },
      { tools: ["waits"], actions: ["run" as const], effect: "ask" as const },
    ];
    let isDown = false;
    const rows: AuditRow[] = [];
    const write = (row: AuditRow): void => {
      if (isDown) throw new Error("the disk is on fire");
      rows.push(row);
    };
    await using world = await createWorld({ models, policy, access: { audit: { write } }, logger: () => {} });
    const asked = async (model: string, more = {}) =>
      (await world.ask(path, { body: { ...ask("x"), model, ...more } })).status;
    for (const more of [{}, { stream: true }]) {
      assertEquals(await asked("own", more), 200);
      for (const model of ["secret", "waits", "nobody"]) assertEquals(await asked(model, more), 404);
      const told = rows.splice(0).map(({ server, tool, action, outcome }) => [server, tool, action, outcome]);
      assertEquals(told, [
        ["", "own", "run", "allow"],
        ["", "secret", "run", "deny"],
        ["", "waits", "run", "ask"],
      ]);
    }
    await world.ask("/v1/models");
    await world.ask("/v1/models/secret");
    assertEquals(rows, []);
    isDown = true;
    assertEquals([await asked("own"), await asked("secret"), await asked("nobody")], [503, 503, 404]);
  });

  it("are told whose caller it is, and a run ends with its caller", async () => {
    const seen: unknown[] = [];
    const models = [{
      getModelId: () => "own",
      respond: (_: unknown, context: { auth: unknown }) => {
        seen.push(context.auth);
        throw new ModelError("no", { status: 418 });
      },
    }];
    await using world = await createWorld({ models });
    assertEquals((await world.ask(path, { body: { ...ask("x"), model: "own" } })).status, 418);
    const { principal, extra } = seen[0] as { principal: string; extra: object };
    assertEquals([principal, extra], ["ada", { tenant: "acme" }]);
    const controller = new AbortController();
    const asking = world.ask(path, { body: ask("hang"), signal: controller.signal });
    while ((await world.runs("acme").list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort();
    assertEquals((await asking).status, 499);
    for (let turns = 0; turns < 5_000 && (await world.runs("acme").list())[0]?.state !== "cancelled"; turns++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assertEquals((await world.runs("acme").list())[0]?.state, "cancelled");
  });
});

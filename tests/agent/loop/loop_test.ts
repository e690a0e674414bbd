import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import type { AgentEnd, AgentOptions } from "../../../src/agent/mod.ts";
import { LanguageModelError } from "../../../src/agent/model/seam.ts";
import type { LanguageModelMessage } from "../../../src/agent/model/seam.ts";
import type { RequestOptions } from "../../../src/client/session/request.ts";
import { createDiscoveryTools } from "../../../src/hub/search/discovery.ts";
import { ConnectError, OutcomeUnknownError } from "../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { CallToolResult } from "../../../src/protocol/types.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { FakeHub } from "../../hub/support/fake_hub.ts";
import { gather, kinds, openScene } from "./support/scene.ts";
import { call, type Line, ScriptedModel } from "./support/scripted.ts";

const approve = "allow";

function codeOf(end: AgentEnd): string {
  return end.type === "failed" ? end.error.code : end.type;
}

function textOf(result: CallToolResult | undefined): string {
  return result?.content.map((block) => block.type === "text" ? block.text : "").join("\n") ?? "";
}

/** What became of the calls of one turn. */
async function outcomes(line: Line, options: Partial<AgentOptions>): Promise<[string, string][]> {
  const run = new Agent({ model: new ScriptedModel([line, { text: "done" }]), approve, ...options }).run("Go");
  await run.result;
  return run.observations.map(({ outcome, result }) => [outcome, textOf(result)]);
}

describe("calls of a model", () => {
  test("unknown tools, wrong arguments and malformed ones go back to it as results", async () => {
    await using scene = await openScene();
    const line = {
      calls: [
        call("data__fetch_dta", { city: "Rome" }),
        call("data__fetch_data", { town: "Rome" }),
        call("data__fetch_data", '{"city": "Rome"', "cut"),
        call("data__fetch_data", "[1]", "list"),
        call("data__say", '{"from": 1e999}', "large"),
        call("data__fetch_data", '{"city": "Rome"}', "fine"),
      ],
    };
    const got = await outcomes(line, { hub: scene.hub });
    assertEquals(got.map(([outcome]) => outcome), ["not_called", ...Array(4).fill("tool_error"), "ok"]);
    assert(got[0]?.[1].includes('did you mean "data__fetch_data"'), got[0]?.[1]);
    assert(got[1]?.[1].includes('"city"') && got[1][1].includes("wrong arguments"), got[1]?.[1]);
    assert(got[2]?.[1].includes("not JSON at line 1"), got[2]?.[1]);
    assert(got[3]?.[1].includes("an array"), got[3]?.[1]);
    assert(got[4]?.[1].includes("too large"), got[4]?.[1]);
    assertEquals(scene.ledger.length, 1);
  });

  test("failures say whether the call was made", async () => {
    const fails = (error: Error) => ({ run: () => Promise.reject(error) });
    const hub = new FakeHub({
      one: {
        tools: {
          down: fails(new ConnectError("it is down")),
          broke: fails(new OutcomeUnknownError("it broke off")),
          buggy: fails(new RangeError("a mistake")),
        },
      },
    });
    const line = { calls: [call("one__down"), call("one__broke"), call("one__buggy")] };
    const got = await outcomes(line, { hub, onUnknown: "tell" });
    assertEquals(got.map(([outcome]) => outcome), ["not_called", "unknown", "tool_error"]);
    const run = new Agent({ model: new ScriptedModel([line]), hub, approve, onUnknown: "fail" }).run("Go");
    assertEquals(codeOf(await run.end), "unknown_outcome");
  });

  test("run side by side, so many at a time", async () => {
    let [active, most] = [0, 0];
    const slow = {
      name: "slow",
      description: "Takes a while",
      readOnly: true,
      run: async () => {
        most = Math.max(most, ++active);
        await new Promise((resolve) => setTimeout(resolve, 2));
        active--;
      },
    };
    const calls = Array.from({ length: 9 }, (_, index) => call("slow", {}, `id ${index}`));
    const model = new ScriptedModel([{ calls }, { text: "done" }]);
    await new Agent({ model, tools: [slow], maxParallel: 3 }).run("Go").result;
    assertEquals(most, 3);
    const answers = model.asked[1]?.messages.filter(({ role }) => role === "tool");
    assertEquals(answers?.map((message) => "id" in message && message.id), calls.map(({ id }) => id));
  });

  test("ids that are missing or stand twice get others: each call has one answer", async () => {
    await using scene = await openScene();
    const calls = [call("data__say", {}, "x"), call("data__say", {}, "x"), call("data__say", {}, "")];
    const model = new ScriptedModel([{ calls }, { text: "done" }]);
    const run = new Agent({ model, hub: scene.hub, approve }).run("Go");
    await run.result;
    assertEquals(run.observations.map(({ id }) => id), ["x", "call_1_2", "call_1_3"]);
    const message = model.asked[1]?.messages.find(({ role }) => role === "assistant");
    assertEquals(message?.role === "assistant" && message.toolCalls?.map(({ id }) => id), [
      "x",
      "call_1_2",
      "call_1_3",
    ]);
  });

  test("ids that stand in the conversation before, or that others have already, are not given again", async () => {
    await using scene = await openScene();
    const before = [
      { role: "user", content: "Say it" },
      { role: "assistant", content: "", toolCalls: [call("data__say", {}, "call_0")] },
      { role: "tool", id: "call_0", name: "data__say", result: { content: [] } },
      { role: "user", content: "Again" },
    ] satisfies LanguageModelMessage[];
    const calls = [call("data__say", {}, "call_0"), call("data__say", {}, "call_1_3"), call("data__say", {}, "")];
    const model = new ScriptedModel([{ calls }, { text: "done" }]);
    const run = new Agent({ model, hub: scene.hub, approve }).run(before);
    await run.result;
    assertEquals(run.observations.map(({ id }) => id), ["call_1_1", "call_1_3", "call_1_3_"]);
  });

  test("behind call_tool of progressive discovery is the tool that is asked about and observed", async () => {
    await using scene = await openScene();
    const hub = createDiscoveryTools(scene.hub, { threshold: 0 });
    const inner = { name: "data__write", arguments: { text: "A" } };
    const model = new ScriptedModel([
      { calls: [call("search_tools", { query: "write" }), call("call_tool", inner)] },
      { text: "done" },
    ]);
    const asked: string[] = [];
    const run = new Agent({ model, hub }).run("Go", {
      questions: (question) => {
        if (question.kind === "approval") asked.push(`${question.call.server} ${question.call.tool}`);
        return { action: "accept" };
      },
    });
    await run.result;
    assertEquals(asked, ["data write"]);
    assertEquals(run.observations.map(({ server, tool }) => `${server} ${tool}`).sort(), [
      " search_tools",
      "data write",
    ]);
    assertEquals(scene.ledger, ['write {"text":"A"}']);
  });

  test("functions are tools: checked, observed, and what they throw is read by the model", async () => {
    const input = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const output = { type: "object", properties: { twice: { type: "number" } }, required: ["twice"] };
    const double = {
      name: "double",
      description: "Doubles",
      input,
      output,
      readOnly: true,
      run: ({ n }: { n?: unknown }) => {
        if (n === 13) throw new Error("no luck");
        return n === 7 ? { thrice: 21 } : { twice: Number(n) * 2 };
      },
    };
    const calls = [2, 7, 13].map((n) => call("double", { n }, `n${n}`));
    const run = new Agent({ model: new ScriptedModel([{ calls }, { text: "done" }]), tools: [double] }).run("Go");
    await run.result;
    const got = run.observations.map((
      { server, outcome, validation, result },
    ) => [server, outcome, validation, textOf(result)]);
    assertEquals(got[0], ["", "ok", "validated", '{"twice":4}']);
    assertEquals([got[1]?.[1], got[2]?.[1], got[2]?.[3]], ["tool_error", "tool_error", "no luck"]);
  });

  test("what a function gives is a whole result only where its content is one; else it is a value", async () => {
    const given = [
      { title: "News", content: ["first", "second"] },
      { content: [] },
      { content: [{ type: "text", text: "whole" }], isError: true },
      { content: [], structuredContent: { a: 1 } },
      { content: [], total: 0 },
      { type: "doc", content: [{ type: "paragraph", text: "once" }] },
    ];
    const read = { name: "read", description: "Reads", readOnly: true, run: ({ at }: JsonObject) => given[Number(at)] };
    const calls = given.map((_, at) => call("read", { at }, `n${at}`));
    const run = new Agent({ model: new ScriptedModel([{ calls }, { text: "done" }]), tools: [read] }).run("Go");
    await run.result;
    assertEquals(run.observations.map(({ outcome, result }) => [outcome, textOf(result), result.structuredContent]), [
      ["ok", JSON.stringify(given[0]), given[0]],
      ["ok", "", undefined],
      ["tool_error", "whole", undefined],
      ["ok", "", { a: 1 }],
      ...[given[4], given[5]].map((value) => ["ok", JSON.stringify(value), value]),
    ]);
  });
});

describe("bounds of a run", () => {
  const again = (_: unknown, count: number): Line => ({ calls: [call("data__say", {}, `n${count}`)] });

  test("steps: what the model would never read is not done", async () => {
    await using scene = await openScene();
    const end = await new Agent({ model: new ScriptedModel(again), hub: scene.hub, approve, steps: 3 }).run("Go").end;
    assertEquals([codeOf(end), end.steps, scene.ledger.length], ["step_budget", 3, 2]);
    const whole = await new Agent({ model: new ScriptedModel(again), hub: scene.hub, approve }).run("Go").end;
    assertEquals([codeOf(whole), whole.steps], ["step_budget", 20]);
  });

  test("tokens", async () => {
    await using scene = await openScene();
    const end = await new Agent({ model: new ScriptedModel(again), hub: scene.hub, approve, tokens: 30 }).run("Go").end;
    assertEquals([codeOf(end), end.usage, scene.ledger.length], [
      "token_budget",
      { inputTokens: 20, outputTokens: 10 },
      1,
    ]);
  });

  test("tokens: servers are not given what is used up", async () => {
    for (const era of ["modern", "legacy"] as const) {
      await using scene = await openScene(era);
      const usage = { inputTokens: 20, outputTokens: 10 };
      const calls = [1, 2, 3].map((count) => call("data__summarize", {}, `s${count}`));
      const model = new ScriptedModel(({ messages }) =>
        messages[0]?.role === "system" ? { text: "short", usage } : { calls }
      );
      const { hub, relay } = scene;
      const agent = new Agent({ model, hub, relay, approve, sampling: "allow", tokens: 50, maxParallel: 1 });
      const run = agent.run("Go");
      const end = await run.end;
      // 15 for the calls, then 30 for each of two samples: the third one is over.
      assertEquals([codeOf(end), end.usage, model.asked.length], [
        "token_budget",
        { inputTokens: 50, outputTokens: 25 },
        3,
      ]);
      assertEquals(run.observations.map(({ result }) => result.isError === true), [false, false, true], era);
    }
  });

  test("time: what was under way then may have run, and is told so", async () => {
    await using scene = await openScene();
    const clock = new VirtualClock();
    const model = new ScriptedModel([{ calls: [call("data__hang", {}, "h"), call("think", {}, "t")] }]);
    const think = {
      name: "think",
      description: "Thinks",
      readOnly: true,
      run: () => new Promise<string>(() => {}),
    };
    const run = new Agent({ model, hub: scene.hub, tools: [think], approve, clock, timeout: 5_000 }).run("Go");
    const events = gather(run);
    for (let turn = 0; turn < 50; turn++) await clock.settle();
    const called = clock.now();
    await clock.advance(5_000);
    assertEquals(codeOf(await run.end), "deadline");
    assertEquals(run.observations.map(({ id, outcome, at, took }) => [id, outcome, at, took]), [
      ["h", "unknown", called, 5_000],
    ]);
    assertEquals((await events).at(-1)?.type, "failed");
  });

  test("time: by the agent's timeout and by the run's own deadline, in the middle of a call and of an answer", async () => {
    await using scene = await openScene();
    const hanging = { calls: [call("data__hang")] };
    for (const line of [hanging, { text: "I think", hangs: true }]) {
      const clock = new VirtualClock();
      const model = new ScriptedModel([line]);
      const agent = new Agent({ model, hub: scene.hub, approve, clock, timeout: 60_000 });
      const run = agent.run("Go", { deadline: clock.now() + 5_000 });
      for (let turn = 0; turn < 50; turn++) await clock.settle();
      await clock.advance(4_999);
      assertEquals(run.observations.length, 0);
      await clock.advance(1);
      assertEquals(codeOf(await run.end), "deadline");
      assertEquals(model.stopped, line === hanging ? 0 : 1);
      assertEquals(clock.waiting, 0);
    }
  });

  test("cancelled: the call is cancelled at its server, and the last event says why", async () => {
    await using scene = await openScene();
    const controller = new AbortController();
    const model = new ScriptedModel([{ calls: [call("data__hang")] }]);
    const run = new Agent({ model, hub: scene.hub, approve }).run("Go", { signal: controller.signal });
    const events = gather(run);
    while (scene.ledger.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort(new Error("enough of it"));
    const last = (await events).at(-1);
    assertEquals(last?.type === "cancelled" && last.reason, "enough of it");
    assertEquals(kinds(await events).filter((kind) => kind === "cancelled" || kind === "failed").length, 1);
    for (let turn = 0; turn < 5_000 && scene.ledger.length < 2; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assertEquals(scene.ledger[1], "hang stopped");
    assertEquals((await new Agent({ model }).run("Go", { signal: controller.signal }).end).type, "cancelled");
  });

  test("`await using` cancels what is under way", async () => {
    const model = new ScriptedModel([{ hangs: true }]);
    {
      await using _run = new Agent({ model }).run("Go");
      while (model.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assertEquals(model.stopped, 1);
  });
});

describe("a model that fails", () => {
  const clock = (): VirtualClock => new VirtualClock();
  const busy = (retryAfter?: number): LanguageModelError =>
    new LanguageModelError("too many", { status: 429, retryable: true, retryAfter });

  test("is asked again where that may help: after what it asks for, else after a time by chance", async () => {
    const time = clock();
    const random = { fraction: () => 0.5, bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) };
    const model = new ScriptedModel([{ text: "par", error: busy(7_000) }, { error: busy() }, { text: "whole" }]);
    const run = new Agent({ model, clock: time, random }).run("Go");
    await time.advance(6_999);
    assertEquals(model.asked.length, 1);
    await time.advance(1);
    assertEquals(model.asked.length, 2);
    await time.advance(999);
    assertEquals(model.asked.length, 2);
    await time.advance(1);
    const { text } = await run.result;
    assertEquals([text, model.asked.length], ["whole", 3]);
    assertEquals(kinds(await gather(run)), ["step", "text", "restarted", "restarted", "text", "usage", "succeeded"]);
  });

  test("three times at most, and not where it would not help", async () => {
    const time = clock();
    const always = new ScriptedModel(() => ({ error: busy(10) }));
    const end = await time.until(new Agent({ model: always, clock: time }).run("Go").end);
    assertEquals([codeOf(end), always.asked.length], ["model_error", 3]);
    const never = new ScriptedModel(() => ({ error: new LanguageModelError("no key", { status: 401 }) }));
    assertEquals([codeOf(await new Agent({ model: never }).run("Go").end), never.asked.length], ["model_error", 1]);
    const broken = new ScriptedModel(() => ({ text: "half", breaks: true }));
    assertEquals(codeOf(await time.until(new Agent({ model: broken, clock: time }).run("Go").end)), "model_error");
    assertEquals(broken.asked.length, 3);
    const filtered = new ScriptedModel([{ text: "", reason: "content_filter" }]);
    assertEquals(codeOf(await new Agent({ model: filtered }).run("Go").end), "model_error");
    const short = await new Agent({ model: new ScriptedModel([{ text: "so far", reason: "length" }]) }).run("Go")
      .result;
    assertEquals([short.text, short.finish], ["so far", "length"]);
  });
});

describe("a call that takes its time", () => {
  test("tells not more of it than anybody can read", async () => {
    const clock = new VirtualClock();
    const run = async (_: JsonObject, { onProgress }: RequestOptions): Promise<CallToolResult> => {
      for (let count = 1; count <= 5_000; count++) {
        if (count % 1_000 === 0) await clock.advance(1_000);
        onProgress?.({ progress: count, message: "x".repeat(2_000) });
      }
      return { content: [] };
    };
    const hub = new FakeHub({ data: { tools: { chat: { run } } } });
    const model = new ScriptedModel([{ calls: [call("data__chat")] }, { text: "done" }]);
    const events = await gather(new Agent({ model, hub, approve, clock }).run("Go"));
    const told = events.flatMap((event) => event.type === "progress" ? [event] : []);
    assertEquals(told.map(({ progress }) => progress).slice(98), [99, 100, 1_000, 2_000, 3_000, 4_000, 5_000]);
    assertEquals(told.map(({ message }) => message?.length), told.map(() => 1_001));
  });

  test("tells how far it is, by the id of the call", async () => {
    await using scene = await openScene();
    const model = new ScriptedModel([{ calls: [call("data__walk", {}, "w")] }, { text: "done" }]);
    const events = await gather(new Agent({ model, hub: scene.hub, approve }).run("Go"));
    assertEquals(events.filter(({ type }) => type === "progress"), [
      { type: "progress", step: 1, id: "w", progress: 1, total: 2, message: "half" },
    ]);
  });
});

/** What was cut to make room can be had back: whole or in pages, in this process or the next, and no server hears of it. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import type { AgentTool } from "../../../src/agent/mod.ts";
import type { LanguageModelMessage, LanguageModelRequest } from "../../../src/agent/model/seam.ts";
import { tokensOf } from "../../../src/agent/loop/turns/context.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { TestJournal } from "./support/journal.ts";
import { call, type Line, ScriptedModel } from "./support/scripted.ts";

type ToolMessage = Extract<LanguageModelMessage, { role: "tool" }>;

const limit = 2_000;
const long = "word ".repeat(400);
const read: AgentTool = { name: "read", description: "Reads", readOnly: true, run: ({ at }) => `${at} ${long}` };

/** The texts of the last result that a model was given. */
function lastTexts({ messages }: LanguageModelRequest): string[] {
  const last = messages.at(-1);
  return last?.role === "tool" ? last.result.content.flatMap((block) => block.type === "text" ? [block.text] : []) : [];
}

function namesOf({ tools = [] }: LanguageModelRequest): string[] {
  return tools.map(({ name }) => name);
}

function checkRoom(model: ScriptedModel, most = limit): void {
  for (const { messages, tools = [] } of model.asked) {
    const cost = messages.reduce((sum, message) => sum + tokensOf(message), tokensOf(tools));
    assert(cost <= most, `${cost} of ${most}`);
  }
}

/** Reads eight times, then asks for what a function says, until it says nothing. */
function script(next: (request: LanguageModelRequest, turn: number) => Line | undefined): ScriptedModel {
  return new ScriptedModel((request, count) => {
    if (count <= 8) return { calls: [call("read", { at: count }, `c${count}`)] };
    return next(request, count - 8) ?? { text: "done" };
  }, limit);
}

describe("a result that was cut", () => {
  test("is had back whole where there is room: the line in its place says how", async () => {
    const model = script((request, turn) => {
      if (turn > 1) return undefined;
      const cut = request.messages.find((message): message is ToolMessage => message.role === "tool");
      const [block] = cut?.result.content ?? [];
      const [, name = "", args = ""] = /call (\w+) with (\{.*?\}) to see it again/.exec(
        block?.type === "text" ? block.text : "",
      ) ?? [];
      return { calls: [call(name, args, "again")] };
    });
    const run = new Agent({ model, tools: [read], approve: "deny" }).run("Go");
    assertEquals((await run.result).text, "done");
    assertEquals(lastTexts(model.asked.at(-1)!), [`1 ${long}`]);
    const [seen] = run.observations.slice(-1);
    assertEquals([seen?.server, seen?.tool, seen?.outcome, seen?.step], ["", "recall_result", "ok", 9]);
    checkRoom(model);
    // It is shown when there is something to have back, and not before.
    const shown = model.asked.map((request) => namesOf(request).includes("recall_result"));
    assertEquals(shown.indexOf(true), 4);
    assert(shown.slice(4).every(Boolean));
  });

  test("is had back page by page where it is too long, each within what the model can read", async () => {
    const whole = Array.from({ length: 700 }, (_, at) => `line ${at} 漢字`).join("\n");
    let sent = 0;
    const big: AgentTool = { name: "big", description: "Much", readOnly: true, run: () => (sent++, whole) };
    const pages: string[] = [];
    const model = new ScriptedModel((request, count) => {
      if (count === 1) return { calls: [call("big", {}, "b")] };
      if (count === 2) return { calls: [call("read", { at: 1 }, "r")] };
      const [piece = "", note = ""] = lastTexts(request);
      if (count > 3) pages.push(piece);
      const next = count === 3 ? '{"id":"b"}' : /go on with (\{.*\})/.exec(note)?.[1];
      return next ? { calls: [call("recall_result", next, `p${count}`)] } : { text: "done" };
    }, limit);
    const run = new Agent({ model, tools: [read, big], steps: 100 }).run("Go");
    await run.result;
    assertEquals(pages.join(""), whole);
    assert(pages.length > 1, `${pages.length} pages`);
    assertEquals(sent, 1);
    checkRoom(model);
    for (const { tool, outcome } of run.observations.slice(2)) assertEquals([tool, outcome], ["recall_result", "ok"]);
  });

  test("of the last turn goes on where it was cut", async () => {
    const whole = Array.from({ length: 1_500 }, (_, at) => `row ${at}`).join("\n");
    const big: AgentTool = {
      name: "big",
      description: "Much",
      readOnly: true,
      run: () => ({ content: [{ type: "text", text: "two parts" }, { type: "text", text: whole }] }),
    };
    const seen: string[] = [];
    const model = new ScriptedModel((request, count) => {
      if (count === 1) return { calls: [call("big", {}, "b")] };
      const texts = lastTexts(request);
      const note = texts.pop() ?? "";
      seen.push(count === 2 ? texts.join("\n") : texts.join(""));
      const next = /call recall_result with (\{.*\}) for the rest/.exec(note)?.[1] ??
        /go on with (\{.*\})/.exec(note)?.[1];
      return next ? { calls: [call("recall_result", next, `p${count}`)] } : { text: "done" };
    }, limit);
    await new Agent({ model, tools: [big], steps: 100 }).run("Go").result;
    assertEquals(seen.join(""), `two parts\n${whole}`);
    checkRoom(model);
  });

  test("is had back with several at once, with instructions and an output to be given", async () => {
    const output = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    const model = script((_, turn) => {
      if (turn === 1) return { calls: ["c1", "c2", "c3"].map((id) => call("recall_result", { id }, `again ${id}`)) };
      return { text: '{"ok":true}' };
    });
    const run = new Agent({ model, tools: [read], output, instructions: "Be brief. ".repeat(20) }).run("Go");
    await run.result;
    checkRoom(model);
    const pages = run.observations.slice(-3);
    assertEquals(pages.map(({ id }) => id).sort(), ["again c1", "again c2", "again c3"]);
    for (const { id, result: { content } } of pages) {
      const [block] = content;
      assert(block?.type === "text" && block.text.startsWith(`${id.at(-1)} word`), JSON.stringify(content));
    }
    const given = model.asked.at(-1)?.messages.slice(-3) ?? [];
    for (const message of given) assert(!JSON.stringify(message).includes("cut to fit"), JSON.stringify(message));
  });

  test("says that it had failed, and what is left out", async () => {
    const picture = { type: "image" as const, data: "A".repeat(4_000), mimeType: "image/png" };
    const failing: AgentTool = {
      name: "failing",
      description: "Fails",
      readOnly: true,
      run: () => ({ content: [{ type: "text", text: long }, picture], structuredContent: { n: 7 }, isError: true }),
    };
    const model = new ScriptedModel((_, count) => {
      if (count === 1) return { calls: [call("failing", {}, "f")] };
      if (count < 6) return { calls: [call("read", { at: count }, `c${count}`)] };
      return count === 6 ? { calls: [call("recall_result", { id: "f" }, "again")] } : { text: "done" };
    }, 1_500);
    const run = new Agent({ model, tools: [read, failing] }).run("Go");
    await run.result;
    const seen = run.observations.at(-1);
    const texts = seen?.result.content.map((block) => block.type === "text" ? block.text : block.type) ?? [];
    assertEquals(texts, [
      `${long}\n{"n":7}`,
      `[characters 0 to ${long.length + 8} of ${long.length + 8} of the result of failing; which had failed; ` +
      "1 picture, sound or file is left out; this is its end]",
    ]);
    assertEquals(seen?.outcome, "ok");
    checkRoom(model, 1_500);
  });

  test("is not had back by wrong arguments; the model is told what is right", async () => {
    const wrong: [JsonObject | string, string][] = [
      [{}, '"id" is missing: expected the id of a call'],
      [{ id: "nobody's" }, 'There is no result of a call "nobody\'s": expected the id of an earlier one'],
      [{ id: "c1", from: -1 }, '"from" is no whole number, 0 or more'],
      [{ id: "c1", from: 1.5 }, '"from" is no whole number, 0 or more'],
      ["{", "JSON"],
    ];
    const model = script((_, turn) => {
      const [args] = wrong[turn - 1] ?? [];
      return args === undefined ? undefined : { calls: [call("recall_result", args, `w${turn}`)] };
    });
    const run = new Agent({ model, tools: [read] }).run("Go");
    await run.result;
    for (const [index, [, expected]] of wrong.entries()) {
      const { outcome, result: { content: [block] } } = run.observations[8 + index]!;
      assertEquals(outcome, "tool_error");
      assert(block?.type === "text" && block.text.includes(expected), JSON.stringify(block));
    }
    const beyond = script((_, turn) =>
      turn === 1 ? { calls: [call("recall_result", { id: "c1", from: 1e9 }, "b")] } : undefined
    );
    await new Agent({ model: beyond, tools: [read] }).run("Go").result;
    assert(lastTexts(beyond.asked.at(-1)!)[0]?.includes("this is its end"));
  });
});

describe("the tool that gives results back", () => {
  test("is none where nothing was cut", async () => {
    const model = new ScriptedModel([
      { calls: [call("read", { at: 1 }, "c1")] },
      { calls: [call("recall_result", { id: "c1" }, "again")] },
      { text: "done" },
    ]);
    const run = new Agent({ model, tools: [read] }).run("Go");
    await run.result;
    assert(model.asked.every((request) => !namesOf(request).includes("recall_result")));
    const [, seen] = run.observations;
    assertEquals([seen?.outcome, seen?.tool], ["not_called", "recall_result"]);
  });

  test("takes no other tool's name, and no server hears of it", async () => {
    const called: string[] = [];
    const server = new McpServer({ name: "data", version: "1.0.0" });
    server.tool("read", { input: { type: "object" } }, ({ at }) => {
      called.push(`read ${at}`);
      return `${at} ${long}`;
    });
    await using hub = await openHub({ data: inMemory(server).config });
    const taken: AgentTool = { name: "recall_result", description: "Another one", readOnly: true, run: () => "taken" };
    const model = new ScriptedModel((_, count) => {
      if (count <= 8) return { calls: [call("data__read", { at: count }, `c${count}`)] };
      return count === 9
        ? { calls: [call("recall_result_", { id: "c1" }, "again"), call("recall_result", {}, "other")] }
        : { text: "done" };
    }, limit);
    const run = new Agent({ model, hub, tools: [taken], readOnly: ["data.read"] }).run("Go");
    await run.result;
    assertEquals(namesOf(model.asked.at(-1)!).filter((name) => name.startsWith("recall")), [
      "recall_result",
      "recall_result_",
    ]);
    const [again, other] = run.observations.slice(-2).sort((one, two) => one.id < two.id ? -1 : 1);
    const texts = [again, other].map((seen) => seen?.result.content[0]?.type === "text" && seen.result.content[0].text);
    assert(texts[0] && texts[0].startsWith("1 word"), String(texts[0]));
    assertEquals(texts[1], "taken");
    assertEquals(called, Array.from({ length: 8 }, (_, at) => `read ${at + 1}`));
  });

  test("works for results of the conversation that the run was given", async () => {
    const input: LanguageModelMessage[] = [
      { role: "user", content: "Read it" },
      { role: "assistant", content: "", toolCalls: [{ id: "old", name: "read", arguments: {} }] },
      { role: "tool", id: "old", name: "read", result: { content: [{ type: "text", text: `old ${long}` }] } },
    ];
    const model = new ScriptedModel(
      (_, count) =>
        count < 5
          ? { calls: [call("read", { at: count }, `c${count}`)] }
          : count === 5
          ? { calls: [call("recall_result", { id: "old" }, "again")] }
          : { text: "done" },
      limit,
    );
    await new Agent({ model, tools: [read] }).run([...input, { role: "user", content: "Go" }]).result;
    assertEquals(lastTexts(model.asked.at(-1)!), [`old ${long}`]);
    checkRoom(model);
  });

  test("tells results of the given conversation apart whose calls had one id", async () => {
    // Some models number the calls of each answer anew.
    const input = ["one", "two", "three"].flatMap((said): LanguageModelMessage[] => [
      { role: "assistant", content: "", toolCalls: [{ id: "call_0", name: "read", arguments: {} }] },
      {
        role: "tool",
        id: "call_0",
        name: "read",
        result: { content: [{ type: "text", text: `${said} ${long.slice(0, 1_500)}` }] },
      },
    ]);
    const seen: string[] = [];
    const model = new ScriptedModel((request, count) => {
      if (count <= 3) return { calls: [call("read", { at: count }, `c${count}`)] };
      if (count > 4) seen.push(lastTexts(request)[0]?.split(" ")[0] ?? "");
      const ways = [
        ...JSON.stringify(request.messages).replaceAll('\\"', '"').matchAll(/call recall_result with (\{.*?\})/g),
      ];
      const [, args] = ways[count - 4] ?? [];
      return count > 6 || args === undefined
        ? { text: "done" }
        : { calls: [call("recall_result", args, `again ${count}`)] };
    }, limit);
    await new Agent({ model, tools: [read] }).run([...input, { role: "user", content: "Go" }]).result;
    assertEquals(seen, ["one", "two", "three"]);
  });

  test("gives the same in a process that goes on, wherever the one before was killed", async () => {
    const next = ({ messages }: LanguageModelRequest): Line => {
      const turns = messages.filter(({ role }) => role === "assistant").length;
      if (turns < 5) return { calls: [call("read", { at: turns }, `c${turns}`)] };
      return turns === 5 ? { calls: [call("recall_result", { id: "c0" }, "again")] } : { text: "done" };
    };
    const whole = new TestJournal();
    const agent = () => new Agent({ model: new ScriptedModel(next, limit), tools: [read] });
    await whole.run(agent(), { input: "Go" });
    for (let cut = 1; cut <= whole.points; cut++) {
      const journal = new TestJournal();
      const { end } = await journal.run(agent(), { input: "Go" }, { cut });
      assertEquals(end.type, "succeeded", `cut ${cut}`);
      const seen = [...journal.events.values()].flatMap((event) =>
        event.type === "observation" ? [event.observation] : []
      );
      const last = seen.at(-1);
      const [block] = last?.result.content ?? [];
      assertEquals([seen.length, last?.tool, last?.outcome], [6, "recall_result", "ok"], `cut ${cut}`);
      assertEquals(block?.type === "text" && block.text, `0 ${long}`, `cut ${cut}`);
    }
  });
});

import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import type { AgentAnswer, AgentQuestion } from "../../../src/agent/mod.ts";
import type { LanguageModelRequest, LanguageModelToolCall } from "../../../src/agent/model/seam.ts";
import { TestJournal } from "./support/journal.ts";
import { openScene } from "./support/scene.ts";
import { type Line, ScriptedModel } from "./support/scripted.ts";

/** Chance that can be had again: mulberry32. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

const names = [
  "data__write",
  "data__write",
  "data__fetch_data",
  "data__register",
  "data__fail",
  "data__none",
  "",
  "say",
];

/** A call of whatever a model may come up with. Each call that writes has a text of its own. */
function wild(random: () => number, label: string): LanguageModelToolCall {
  const name = pick(names, random);
  const sound = name === "data__fetch_data" ? { city: label } : { text: label };
  const text = JSON.stringify(sound);
  const given = pick(
    [sound, sound, text, text.slice(0, -3), `${text}}`, "", "null", "[]", '"a"', { odd: label }],
    random,
  );
  return { id: pick(["x", "", label, label], random), name, arguments: given };
}

function scriptOf(seed: number): (request: LanguageModelRequest) => Line {
  return ({ messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length;
    const random = chance(seed * 100 + turn);
    if (turn >= 3) return { text: "done" };
    const calls = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => wild(random, `${turn}-${index}`));
    return { text: "turn", calls };
  };
}

function answerOf(seed: number): (question: AgentQuestion) => AgentAnswer {
  const random = chance(seed);
  return ({ kind, message }) => {
    if (kind === "decision") return { action: "skip" };
    if (random() < 0.2) return { action: pick(["decline", "cancel"] as const, random) };
    return { action: "accept", content: message.includes("town") ? { town: "York" } : { name: "Ada" } };
  };
}

/** Each call of an answer has exactly one result, right behind it. */
function checkPairs({ messages }: LanguageModelRequest): void {
  const ids: string[] = [];
  messages.forEach((message, at) => {
    if (message.role !== "assistant") return;
    const calls = message.toolCalls ?? [];
    const answers = messages.slice(at + 1, at + 1 + calls.length);
    assertEquals(answers.map((one) => one.role === "tool" ? one.id : one.role), calls.map(({ id }) => id));
    ids.push(...calls.map(({ id }) => id));
  });
  assertEquals(new Set(ids).size, ids.length);
}

describe("whatever a model comes up with, wherever its process dies", () => {
  test("each call has one answer, nothing is done twice, and the run ends", async () => {
    let made = 0;
    for (let seed = 1; seed <= 60; seed++) {
      await using scene = await openScene("modern");
      const model = new ScriptedModel(scriptOf(seed));
      const agent = new Agent({
        model,
        hub: scene.hub,
        relay: scene.relay,
        readOnly: ["*.fetch_*"],
        contextTokens: 1_500,
      });
      const journal = new TestJournal();
      const cut = 1 + Math.floor(chance(seed)() * 120);
      const { end } = await journal.run(agent, { input: "Go" }, { cut, answer: answerOf(seed) });
      assertEquals(end.type, "succeeded", `seed ${seed}: ${JSON.stringify(end)}`);
      for (const request of model.asked) checkPairs(request);
      const writes = scene.ledger.filter((line) => line.startsWith('write {"text"'));
      assertEquals(new Set(writes).size, writes.length, `seed ${seed}: ${writes.join()}`);
      made += writes.length;
      const events = [...journal.events.values()];
      const wanted = events.flatMap((event) => event.type === "observation" ? [event.observation.id] : []);
      assertEquals(new Set(wanted).size, wanted.length);
      assertEquals(events.filter(({ type }) => type === "succeeded").length, 1);
    }
    assert(made > 20, `${made} calls were made`);
  });
});

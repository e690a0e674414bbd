import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import type { AgentQuestion } from "../../src/agent/loop/seam.ts";
import { createMemoryStore } from "../../src/auth/stores/memory.ts";
import type { Store } from "../../src/ports.ts";
import { changeQuestions, patience, questionsOf, RunQuestions } from "../../workers/workflow/questions.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

const question: AgentQuestion = { id: "q1", kind: "decision", message: "Again?", server: "tools" } as AgentQuestion;

/** An object that is started anew for so many steps: it does them or not, and tells neither. */
function awayFor(steps: number): Required<Store> {
  const inner = createMemoryStore();
  let left = steps;
  const step = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const value = await work();
    if (left-- > 0) throw new Error("Durable Object reset because its code was updated");
    return value;
  };
  return {
    get: (key) => step(() => inner.get(key)),
    set: (key, value) => step(() => inner.set(key, value)),
    delete: (key) => step(() => inner.delete(key)),
    compareAndSet: (key, expected, value) => step(() => inner.compareAndSet(key, expected, value)),
  };
}

test("a question of a workflow is kept, once, where its object is away for a moment", async () => {
  for (const away of [0, 1, 3]) {
    const clock = new VirtualClock();
    const store = awayFor(away);
    const asked = (waiting: readonly AgentQuestion[]) => [...waiting.filter(({ id }) => id !== question.id), question];
    await clock.until(changeQuestions(store, asked, clock));
    assertEquals(await questionsOf(store), [question]);
    await clock.until(changeQuestions(store, (waiting) => waiting.filter(({ id }) => id !== question.id), clock));
    assertEquals([await questionsOf(store), clock.waiting], [[], 0]);
  }
});

test("one whose object stays away is told", async () => {
  const clock = new VirtualClock();
  await assertRejects(() => clock.until(changeQuestions(awayFor(100), () => [question], clock)), Error, "reset");
});

test("one that was answered while its object stayed away hides none of those after it", async () => {
  const clock = new VirtualClock();
  const store = createMemoryStore();
  let isAway = false;
  const get = async (key: string): Promise<string | undefined> => {
    if (isAway) throw new Error("it is away");
    return await store.get(key);
  };
  const questions = new RunQuestions({ ...store, get }, clock);
  await questions.begin(question);
  isAway = true;
  await clock.until(questions.end(question));
  isAway = false;
  assertEquals(await questionsOf(store), [question]);
  const next = { ...question, id: "q2" };
  await questions.begin(next);
  assertEquals(await questionsOf(store), [next]);
  await questions.end(next);
  assertEquals([await questionsOf(store), clock.waiting], [[], 0]);
});

test("one that nobody has answered in the platform's time is cancelled, and waits no longer", async () => {
  const clock = new VirtualClock();
  const store = createMemoryStore();
  const questions = new RunQuestions(store, clock);
  const asked = { ...question, askedAt: clock.now() };
  const late = async () => {
    await clock.advance(patience);
    throw new Error(`Execution timed out after ${patience}ms`);
  };
  assertEquals(await questions.ask(asked, late), { action: "cancel" });
  assertEquals(await questionsOf(store), []);
});

test("one whose waiting is broken off before its time waits on, for who goes on with the run", async () => {
  const store = createMemoryStore();
  const asked = { ...question, askedAt: Date.now() };
  const paused = () => Promise.reject(new Error("Aborting engine: User called pause"));
  await assertRejects(() => new RunQuestions(store).ask(asked, paused), Error, "pause");
  assertEquals(await questionsOf(store), [asked]);
  const answered = () => Promise.resolve({ action: "accept" as const });
  assertEquals(await new RunQuestions(store).ask(asked, answered), { action: "accept" });
  assertEquals(await questionsOf(store), []);
});

test("one waits while it is asked, and no longer", async () => {
  const store = createMemoryStore();
  const questions = new RunQuestions(store);
  let waiting: readonly AgentQuestion[] = [];
  await questions.ask(question, async () => {
    waiting = await questionsOf(store);
    return { action: "decline" };
  });
  assertEquals([waiting, await questionsOf(store)], [[question], []]);
});

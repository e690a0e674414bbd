/** What a run lives in: steps that are done once, events that are told once, and what is sent to it. */
import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StepUnknownError } from "../../../src/agent/mod.ts";
import type { RunEvent, RunnableAgent } from "../../../src/agent/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { describeKinds } from "../../support/runs/describe_kinds.ts";
import { emptyDatabase, meddleWith, skip } from "./support/database.ts";
import { checkEvents, eventsOf, reach, start, untilLeft, wait } from "./support/runs.ts";
import { agentOf, ask } from "./support/scripted_agent.ts";

const usage = { inputTokens: 0, outputTokens: 0 };

describeKinds("the world of a run", ({ createRuns, withRuns }) => {
  test("its functions can be taken out of it", { skip }, async () => {
    const agent: RunnableAgent = {
      async execute(_, { steps, emit, ask }) {
        const text = await steps.do("step", { repeatable: true }, () => Promise.resolve("a question"));
        emit("step:1", { type: "step", step: 1 });
        const call = { id: "c", server: "", tool: "t", name: "t", arguments: {}, argumentsHash: "00" };
        const { action } = await ask({ id: "q", kind: "decision", server: "", message: text, askedAt: 0, call });
        return { type: "succeeded", text: action, usage, steps: 1 };
      },
    };
    await withRuns({ agents: { agent } }, async (runs) => {
      const { id } = await runs.start(start);
      await reach(runs, id, "needs_decision");
      assertEquals(await runs.answer(id, "q", { action: "skip" }), "taken");
      const types = (await eventsOf(runs, id)).map(({ event }) => event.type === "succeeded" ? event.text : event.type);
      assertEquals(types, ["step", "question", "answered", "skip"]);
    });
  });

  test("steps: kept once with what they gave or threw; names are good once", { skip }, async () => {
    const database = await emptyDatabase();
    const seen: unknown[] = [];
    let works = 0;
    const agent = agentOf(async (world) => {
      const { steps } = world;
      seen.push(await steps.do("object", {}, () => Promise.resolve({ works: ++works, left: undefined })));
      seen.push(await steps.do("nothing", { repeatable: true }, () => Promise.resolve(undefined)));
      const failed: unknown = await steps.do("fails", {}, () => Promise.reject(new RangeError("too far"))).catch((e) =>
        e
      );
      seen.push(failed instanceof Error && [failed.name, failed.message]);
      const again: unknown = await steps.do("object", {}, () => Promise.resolve(1)).catch((e) => e);
      seen.push(again instanceof TypeError);
      const slow: unknown = await steps.do("slow", { timeout: 20 }, () => new Promise(() => {})).catch((e) => e);
      seen.push(slow instanceof StepUnknownError);
      const circle: Record<string, unknown> = {};
      circle["circle"] = circle;
      const odd: unknown = await steps.do("circle", {}, () => Promise.resolve(circle)).catch((e) => e);
      seen.push(odd instanceof Error && odd.name);
      const long: unknown = await steps.do("long", {}, () => Promise.resolve("x".repeat(2_000_000))).catch((e) => e);
      seen.push(long instanceof Error && long.name);
      const big = await steps.do("big", {}, () => Promise.resolve("😀".repeat(600_000)));
      seen.push(big.length, big === "😀".repeat(600_000));
      return (await ask(world, "well?")).action;
    });
    const runs = createRuns({ database, agents: { agent }, limits: { valueBytes: 1_500_000 } });
    const { id } = await runs.start(start);
    const { unknown } = await reach(runs, id, "needs_input");
    assertEquals(unknown, ["slow"]);
    await untilLeft(database, id);
    await runs.close();
    const next = createRuns({ database, agents: { agent }, limits: { valueBytes: 1_500_000 } });
    assertEquals(await next.answer(id, "well?", { action: "accept" }), "taken");
    await eventsOf(next, id);
    const expected = [
      { works: 1 },
      undefined,
      ["RangeError", "too far"],
      true,
      true,
      "TypeError",
      "LimitExceededError",
      1_200_000,
      true,
    ];
    assertEquals(seen, [...expected, ...expected]);
    await next.close();
    database.close?.();
  });

  test(
    "a wait for ever ends at the deadline, and sets no alarm without one; a time-out is a number",
    { skip },
    async () => {
      const clock = new VirtualClock();
      const alarms: (number | undefined)[] = [];
      const agent = agentOf(async ({ steps }) => {
        for (const timeout of [NaN, "1" as unknown as number]) {
          await assertRejects(() => steps.do(`done in ${timeout}`, { timeout }, () => Promise.resolve()), TypeError);
          await assertRejects(() => steps.waitForEvent(`sent in ${timeout}`, { type: "sent", timeout }), TypeError);
        }
        await steps.waitForEvent("sent", { type: "sent", timeout: Infinity });
        return "done";
      });
      const onAlarm = (at: number | undefined) => void alarms.push(at);
      await withRuns({ agents: { agent }, clock, watchdog: 60_000, onAlarm }, async (runs) => {
        const { id } = await runs.start(start);
        await clock.advance(1_000);
        assertEquals([(await runs.get(id))?.state, alarms.at(-1)], ["needs_input", undefined]);
        assertEquals(await runs.send(id, "sent"), true);
        await clock.advance(1_000);
        const late = await runs.start({ ...start, deadline: clock.now() + 60_000 });
        await clock.advance(1_000);
        assertEquals((await runs.get(id))?.end?.type, "succeeded");
        assertEquals((await runs.get(late.id))?.state, "needs_input");
        await clock.advance(60_000);
        await runs.resume();
        const end = (await runs.get(late.id))?.end;
        assertEquals(end?.type === "failed" && end.error.code, "deadline");
      });
    },
  );

  test("a step that was begun with other arguments is not taken for what it gave before", { skip }, async () => {
    const clock = new VirtualClock();
    let taken = 0;
    const agent = agentOf(async ({ steps }) => {
      await steps.do("pay", { argumentsHash: `${++taken} euros` }, () => Promise.resolve());
      await steps.waitForEvent("sent", { type: "sent" });
      return "paid";
    });
    await withRuns({ agents: { agent }, clock, watchdog: 60_000 }, async (runs) => {
      const { id } = await runs.start(start);
      await clock.advance(1_000);
      assertEquals(await runs.send(id, "sent"), true);
      await clock.advance(1_000);
      const end = (await runs.get(id))?.end;
      assertEquals(end?.type, "failed");
      assert(end?.type === "failed" && end.error.message.includes("with other arguments"), JSON.stringify(end));
    });
  });

  test(
    "events: the same key once, pieces of text together, several readers, and a reader that comes late",
    { skip },
    async () => {
      let go = (): void => {};
      const gate = new Promise<void>((resolve) => go = resolve);
      const agent = agentOf(async (world) => {
        const tell = () => world.emit("same", { type: "step", step: 1 });
        tell();
        tell();
        for (let piece = 0; piece < 500; piece++) world.emit(`p${piece}`, { type: "text", step: 1, text: "ab" });
        world.emit("thought", { type: "reasoning", step: 1, text: "hm" });
        world.emit("more", { type: "text", step: 1, text: "cd" });
        await gate;
        world.emit("end", { type: "cancelled", reason: "I say so", usage, steps: 1 });
        return "done";
      });
      await withRuns({ agents: { agent } }, async (runs) => {
        const { id } = await runs.start(start);
        const readers = [eventsOf(runs, id), eventsOf(runs, id), eventsOf(runs, id, 2)];
        const first: RunEvent[] = [];
        for await (const event of runs.events(id)) {
          first.push(event);
          if (event.event.type === "reasoning") break;
        }
        assert(first.length <= 4, "a fast model does not make an event for each piece");
        const stop = new AbortController();
        const stopped = assertRejects(async () => {
          for await (const event of runs.events(id, { signal: stop.signal })) first.push(event);
        }, DOMException);
        stop.abort();
        await stopped;
        go();
        const [one, two, three] = await Promise.all(readers);
        checkEvents(one ?? []);
        assertEquals([two, three], [one, one?.slice(2)]);
        const text = one?.map(({ event }) => event.type === "text" ? event.text : "").join("");
        assertEquals(text, `${"ab".repeat(500)}cd`);
        assertEquals(one?.at(-1)?.event.type, "succeeded");
        assertEquals(await eventsOf(runs, id), one);
      });
    },
  );

  test("what is sent to a run is waited for, in the order of types, and not for ever", { skip }, async () => {
    const clock = new VirtualClock();
    const agent = agentOf(async ({ steps }) => {
      const first = await steps.waitForEvent("w1", { type: "paid" });
      const second = await steps.waitForEvent("w2", { type: "paid" });
      const third: unknown = await steps.waitForEvent("w3", { type: "sent", timeout: 60_000 }).catch((error) => error);
      return JSON.stringify([first, second, third instanceof Error && third.name]);
    });
    await withRuns({ agents: { agent }, clock, watchdog: 60_000 }, async (runs) => {
      await runs.resume();
      const { id } = await runs.start(start);
      await clock.advance(100);
      assertEquals((await runs.get(id))?.state, "needs_input");
      assertEquals(await runs.send(id, "paid", { euros: 3 }), true);
      assertEquals(await runs.send(id, "paid"), true);
      await clock.advance(59_000);
      assertEquals((await runs.get(id))?.end, undefined);
      await clock.advance(2_000);
      const end = (await runs.get(id))?.end;
      const expected = JSON.stringify([{ payload: { euros: 3 } }, { payload: null }, "TimeoutError"]);
      assertEquals(end?.type === "succeeded" && end.text, expected);
      assertEquals(await runs.send(id, "paid"), false);
    });
  });

  test("an agent that throws, or gives no end, has failed: what may have been done is said", { skip }, async () => {
    const ends: Readonly<Record<string, () => Promise<never>>> = {
      internal: () => Promise.reject(new Error("it fell over")),
      unknown_outcome: () => Promise.reject(new StepUnknownError("pay")),
    };
    const logged: string[] = [];
    const agents: Readonly<Record<string, RunnableAgent>> = {
      ...Object.fromEntries(Object.entries(ends).map(([code, execute]) => [code, { execute }])),
      none: { execute: () => Promise.resolve({ type: "succeeded" } as never) },
    };
    await withRuns({ agents, logger: ({ message }) => void logged.push(message) }, async (runs) => {
      const codes: unknown[] = [];
      for (const agent of Object.keys(agents)) {
        const { id } = await runs.start({ ...start, agent });
        checkEvents(await eventsOf(runs, id));
        const { end, state } = (await runs.get(id))!;
        codes.push(state, end?.type === "failed" && end.error.code);
      }
      assertEquals(codes, ["failed", "internal", "failed", "unknown_outcome", "failed", "internal"]);
      assertEquals(logged, ["An agent threw", "An agent threw"]);
    });
  });

  test("a question whose call is given up is over, as a no, and cannot be answered", { skip }, async () => {
    const stop = new AbortController();
    let reason: unknown;
    const agent = agentOf(async (world) => {
      const request = { message: "Which?", requestedSchema: { type: "object", properties: {} } } as const;
      const question = { id: "q", kind: "elicitation", server: "s", message: "Which?", askedAt: 0, request } as const;
      reason = await world.ask(question, { live: true, signal: stop.signal }).catch((error) => error);
      return (await ask(world, "and this?")).action;
    });
    await withRuns({ agents: { agent } }, async (runs) => {
      const { id } = await runs.start(start);
      await reach(runs, id, "needs_input");
      stop.abort(new Error("the call took too long"));
      for await (const { event } of runs.events(id)) if (event.type === "question" && event.question.id !== "q") break;
      assertEquals(reason, stop.signal.reason);
      const { closed, questions } = (await runs.get(id))!;
      assertEquals([closed, questions.map(({ id }) => id)], [["q"], ["and this?"]]);
      assertEquals(await runs.answer(id, "q", { action: "accept", content: {} }), "stale");
      await runs.answer(id, "and this?", { action: "accept" });
      const told = (await eventsOf(runs, id)).flatMap(({ event }) => event.type === "answered" ? [event] : []);
      assertEquals(told.map(({ id, action }) => [id, action]), [["q", "cancel"], ["and this?", "accept"]]);
    });
  });

  test("a run that gave its question up and works on is not left", { skip }, async () => {
    const clock = new VirtualClock();
    let taken = 0;
    const agent = agentOf(async (world) => {
      taken++;
      const stop = new AbortController();
      const request = { message: "Which?", requestedSchema: { type: "object", properties: {} } } as const;
      const question = { id: "q", kind: "elicitation", server: "s", message: "Which?", askedAt: 0, request } as const;
      const asked = assertRejects(() => world.ask(question, { signal: stop.signal }), DOMException);
      stop.abort();
      await asked;
      // No step: nothing tells that it is busy.
      await wait(clock, 500);
      return "done";
    });
    await withRuns({ agents: { agent }, clock, watchdog: 60_000 }, async (runs) => {
      const { id } = await runs.start(start);
      await clock.advance(1_000);
      assertEquals([(await runs.get(id))?.state, taken], ["succeeded", 1]);
    });
  });

  test(
    "a short sleep is over when it is, whatever the watchdog; a long one leaves the run until then",
    { skip },
    async () => {
      const clock = new VirtualClock();
      const taken = { short: 0, long: 0 };
      const sleeper = (name: "short" | "long", milliseconds: number) =>
        agentOf(async ({ steps }) => {
          taken[name]++;
          await steps.sleep("sleep", milliseconds);
          return "slept";
        });
      const agents = { short: sleeper("short", 5_000), long: sleeper("long", 20_000) };
      await withRuns({ agents, clock, watchdog: 300_000 }, async (runs) => {
        await runs.resume();
        const short = await runs.start({ ...start, agent: "short" });
        const long = await runs.start({ ...start, agent: "long" });
        const states = async () => [(await runs.get(short.id))?.state, (await runs.get(long.id))?.state];
        await clock.advance(4_900);
        assertEquals(await states(), ["running", "running"]);
        await clock.advance(200);
        assertEquals(await states(), ["succeeded", "running"]);
        await clock.advance(14_800);
        assertEquals(await states(), ["succeeded", "running"]);
        await clock.advance(200);
        assertEquals([await states(), taken], [["succeeded", "succeeded"], { short: 1, long: 2 }]);
      });
    },
  );

  test("what cannot be put on the disk is not begun", { skip }, async () => {
    const clock = new VirtualClock();
    let isFull = false;
    let works = 0;
    const database = {
      ...meddleWith(await emptyDatabase(), {}),
      sync: () => isFull ? Promise.reject(new Error("the disk is full")) : Promise.resolve(),
    };
    const agent = agentOf(async ({ steps }) => {
      await steps.do("plan", { repeatable: true }, () => Promise.resolve(isFull = true));
      return await steps.do("pay", {}, () => Promise.resolve(String(++works))).catch((error) => {
        if (error instanceof StepUnknownError) return "perhaps";
        throw error;
      });
    });
    const runs = createRuns({ database, agents: { agent }, clock, watchdog: 5_000 });
    await runs.resume();
    const { id } = await runs.start(start);
    await clock.settle();
    assertEquals([works, (await runs.get(id))?.state], [0, "running"]);
    isFull = false;
    await clock.advance(5_000);
    const { end, unknown } = (await runs.get(id))!;
    assertEquals([end?.type === "succeeded" && end.text, unknown, works], ["perhaps", ["pay"], 0]);
    await runs.close();
    database.close?.();
  });

  test(
    "what is not on the disk yet is not begun, and never when the run was cancelled meanwhile",
    { skip },
    async () => {
      for (const isCancelled of [false, true]) {
        const clock = new VirtualClock();
        let works = 0;
        let isSlow = false;
        let write: (() => void) | undefined;
        const database = {
          ...meddleWith(await emptyDatabase(), {}),
          sync: () => isSlow ? new Promise<void>((resolve) => write = resolve) : Promise.resolve(),
        };
        const agent = agentOf(async ({ steps }) => {
          isSlow = true;
          return await steps.do("pay", {}, () => Promise.resolve(String(++works)));
        });
        const runs = createRuns({ database, agents: { agent }, clock, watchdog: 5_000 });
        const { id } = await runs.start(start);
        await clock.settle();
        assertEquals([typeof write, works], ["function", 0]);
        if (isCancelled) await runs.cancel(id);
        write?.();
        await clock.settle();
        assertEquals([works, (await runs.get(id))?.state], isCancelled ? [0, "cancelled"] : [1, "succeeded"]);
        await runs.close();
        database.close?.();
      }
    },
  );
});

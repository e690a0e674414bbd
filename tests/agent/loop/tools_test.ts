import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import { createDiscoveryTools } from "../../../src/hub/search/discovery.ts";
import { FakeHub } from "../../hub/support/fake_hub.ts";
import { numbers } from "../../server/catalog/support.ts";
import { gate } from "../../server/http/support.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { openScene } from "./support/scene.ts";
import { call, ScriptedModel } from "./support/scripted.ts";

describe("a tool that another one has brought", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`is offered in the next step, before its server would be listed anew (${era})`, async () => {
      await using scene = await openScene(era);
      scene.server.tool("enable", {}, () => {
        scene.server.tool("late", {}, () => "here");
        return "late is there now";
      });
      while (!scene.hub.findTool("data__enable")) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await scene.hub.retry("data");
      }
      const model = new ScriptedModel([{ calls: [call("data__enable")] }, { calls: [call("data__late")] }, {
        text: "done",
      }]);
      const run = new Agent({ model, hub: scene.hub, approve: "allow" }).run("Go");
      await run.result;
      const offered = model.asked.map(({ tools = [] }) => tools.some(({ name }) => name === "data__late"));
      assertEquals(offered, [false, true, true]);
      assertEquals(run.observations.map(({ outcome }) => outcome), ["ok", "ok"]);
    });
  }

  test("a server that is slow to list holds up no step for longer than the hub would take to list it by itself", async () => {
    const clock = new VirtualClock();
    const hub = new FakeHub({ one: { tools: { act: {} } } });
    let retried = 0;
    Object.assign(hub, {
      retry: () => {
        retried++;
        return new Promise(() => {});
      },
    });
    const model = new ScriptedModel([{ calls: [call("one__act")] }, { text: "done" }]);
    const run = new Agent({ model, hub: createDiscoveryTools(hub, { threshold: 100 }), approve: "allow", clock }).run(
      "Go",
    );
    await clock.until(run.result);
    assertEquals([model.asked.length, retried, clock.monotonic() <= 5_000], [2, 1, true]);
  });
});

describe("a function with schemas of a library", () => {
  const numbersOf = (isSlow: boolean) => numbers(["a"], { jsonSchema: true, isSlow });

  for (const isSlow of [false, true]) {
    test(`is shown by its JSON Schema, and gets what the schema lets through${isSlow ? ", later" : ""}`, async () => {
      const seen: unknown[] = [];
      const add = {
        name: "add",
        description: "Adds one",
        input: numbersOf(isSlow),
        output: numbers(["a"], { jsonSchema: true }),
        readOnly: true,
        run: (args: object) => (seen.push(args), { a: 2 }),
      };
      const calls = [{ a: "1" }, {}, { a: 1, b: 2 }].map((args) => ({ calls: [call("add", args)] }));
      const model = new ScriptedModel([...calls, { text: "done" }]);
      const run = new Agent({ model, tools: [add] }).run("Go");
      await run.result;
      assertEquals(model.asked[0]?.tools?.[0]?.inputSchema, {
        type: "object",
        $comment: "draft-2020-12",
        properties: { a: { type: "number" } },
      });
      // Of the second one the JSON Schema lets through what the library does not.
      assertEquals(run.observations.map((one) => [one.outcome, one.validation]), [
        ["tool_error", "unchecked"],
        ["tool_error", "unchecked"],
        ["ok", "validated"],
      ]);
      const [, refused] = run.observations.map(({ result }) => result.content[0]);
      assertEquals(refused, { type: "text", text: 'The arguments do not fit: "/a" Expected a number' });
      assertEquals(seen, [{ a: 1 }]);
    });
  }
});

test("a function whose arguments are still being looked at when its time is over is not called", async () => {
  const clock = new VirtualClock();
  const { "~standard": standard } = numbers(["a"], { jsonSchema: true });
  const checked = gate<void>();
  const validate = (value: unknown) => checked.promise.then(() => standard.validate(value));
  let calls = 0;
  const input = { "~standard": { ...standard, validate } };
  const tools = [{ name: "pay", description: "Pays", input, readOnly: true, run: () => ++calls }];
  const model = new ScriptedModel([{ calls: [call("pay", { a: 1 })] }, { text: "done" }]);
  const run = new Agent({ model, tools, clock, callTimeout: 1_000 }).run("Go");
  await clock.until(run.result);
  checked.open();
  await clock.settle();
  assertEquals([run.observations[0]?.outcome, calls], ["unknown", 0]);
});

describe("a function that does not come back", () => {
  for (const readOnly of [true, false]) {
    test(`is waited for no longer than callTimeout (${readOnly ? "it only reads" : "it may change something"})`, async () => {
      const clock = new VirtualClock();
      let aborted: boolean | undefined = false;
      const slow = {
        name: "slow",
        description: "Never comes back",
        readOnly,
        run: (_: object, { signal }: { readonly signal: AbortSignal | undefined }) =>
          new Promise<string>(() => signal?.addEventListener("abort", () => aborted = true)),
      };
      const quick = { name: "quick", description: "Is done at once", readOnly: true, run: () => "here" };
      const model = new ScriptedModel([{ calls: [call("slow"), call("quick")] }, { text: "done" }]);
      const run = new Agent({
        model,
        tools: [slow, quick],
        approve: "allow",
        onUnknown: "tell",
        callTimeout: 2_000,
        clock,
      })
        .run("Go");
      assertEquals((await clock.until(run.end, 600_000)).type, "succeeded");
      assertEquals(run.observations.map((one) => [one.tool, one.outcome]).sort(), [["quick", "ok"], [
        "slow",
        "unknown",
      ]]);
      assertEquals([aborted, clock.waiting], [true, 0]);
    });
  }
});

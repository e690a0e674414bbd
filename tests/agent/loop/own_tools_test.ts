import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { call, ScriptedModel } from "./support/scripted.ts";

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

import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../../../src/agent/mod.ts";
import { createRelay } from "../../../../src/hub/gateway/mod.ts";
import { askingServer } from "../../../hub/support/by_hand.ts";
import { openHub } from "../../../hub/support.ts";
import { VirtualClock } from "../../../support/virtual_clock.ts";
import { call, ScriptedModel } from "../support/scripted.ts";

describe("a call that a run has given up, at a server that does not say for whom it asks", () => {
  for (const how of ["cancelled", "late"] as const) {
    test(`is nobody else's for a while: ${how}`, async () => {
      const clock = new VirtualClock();
      const server = askingServer();
      const relay = createRelay();
      const { handlers, features } = relay;
      await using hub = await openHub({ pipe: server.config }, { handlers, features, clock });
      const asked: string[] = [];
      const start = (name: string, callTimeout?: number) => {
        const model = new ScriptedModel([{ calls: [call("pipe__hang")] }, { text: "done" }]);
        const options = { model, hub, relay, clock, approve: "allow" as const };
        return new Agent({ ...options, ...(callTimeout && { callTimeout }) }).run("Go", {
          questions: ({ kind }) => {
            if (kind === "decision") return { action: "skip" };
            asked.push(name);
            return { action: "accept", content: {} };
          },
        });
      };
      const ada = start("ada", 1_000);
      const bob = start("bob");
      while (server.calls < 2) await clock.settle();
      if (how === "cancelled") ada.cancel("enough");
      else await clock.advance(1_000);
      await clock.until(ada.end);
      const { error } = await clock.until(server.ask());
      assertStringIncludes(error?.message ?? "", "it is not known whom to ask");
      assertEquals(asked, []);
      await clock.advance(5_000);
      assertEquals((await clock.until(server.ask())).result?.action, "accept");
      assertEquals(asked, ["bob"]);
      bob.cancel("enough");
      await clock.until(bob.end);
    });
  }

  test("is in nobody's way where it never reached the server", async () => {
    const clock = new VirtualClock();
    const server = askingServer({ concurrency: 1 });
    const relay = createRelay();
    const { handlers, features } = relay;
    await using hub = await openHub({ pipe: server.config }, { handlers, features, clock });
    const start = (callTimeout?: number) => {
      const model = new ScriptedModel([{ calls: [call("pipe__hang")] }, { text: "done" }]);
      const options = { model, hub, relay, clock, approve: "allow" as const };
      return new Agent({ ...options, ...(callTimeout && { callTimeout }) }).run("Go", {
        questions: ({ kind }) => kind === "decision" ? { action: "skip" } : { action: "accept", content: {} },
      });
    };
    const ada = start();
    while (server.calls < 1) await clock.settle();
    const bob = start(1_000);
    while (!hub.status()[0]?.queued) await clock.settle();
    await clock.advance(1_000);
    await clock.until(bob.end);
    assertEquals((await clock.until(server.ask())).result?.action, "accept");
    assertEquals(server.calls, 1);
    ada.cancel("enough");
    await clock.until(ada.end);
  });
});

test("a run whose signal was aborted before it begins asks nobody anything", async () => {
  const model = new ScriptedModel([{ text: "done" }]);
  const run = new Agent({ model }).run("Go", { signal: AbortSignal.abort(new Error("too late")) });
  const events: string[] = [];
  for await (const { type } of run) events.push(type);
  const end = await run.end;
  assertEquals([end.type === "cancelled" && end.reason, end.steps, model.asked.length], ["too late", 0, 0]);
  assertEquals(events, ["cancelled"]);
});

import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { askModel } from "../../../src/agent/loop/turns/ask.ts";
import { LanguageModelError } from "../../../src/agent/model/seam.ts";
import { systemRandom } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

test("a model that throws at once leaves nothing at the signal of its run", async () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners.add(given[1]);
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners.delete(given[1]);
    removeEventListener.apply(signal, given);
  };
  const model = {
    id: "broken",
    stream(): never {
      throw new LanguageModelError("it has no key");
    },
  };
  const parts = { model, clock: new VirtualClock(), random: systemRandom, signal };
  await assertRejects(() => askModel({ messages: [], tools: [] }, parts), LanguageModelError, "it has no key");
  assertEquals(listeners.size, 0);
});

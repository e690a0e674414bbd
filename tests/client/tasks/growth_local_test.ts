/**
 * What is kept of a task that is followed for days.
 */
import { test } from "node:test";
import { assert } from "@std/assert";
import { countAlive } from "../../support/memory/garbage.ts";
import { asks, scripted } from "./script.ts";

test("each look at a task that waits for a person leaves nothing behind", async () => {
  const looks = 500;
  let answer = (): void => {};
  const { clock, client } = await scripted({
    "tasks/get": () => asks("a"),
    "tasks/update": () => ({}),
  }, {
    handlers: {
      elicitation: () => new Promise((resolve) => answer = () => resolve({ action: "accept", content: {} })),
    },
  });
  const callbacks: WeakRef<object>[] = [];
  const schedule = clock.schedule.bind(clock);
  clock.schedule = (callback, milliseconds) => {
    callbacks.push(new WeakRef(callback));
    return schedule(callback, milliseconds);
  };
  const call = client.callTool("any").catch(() => {});
  await clock.advance(looks * 1_000);
  assert(callbacks.length > looks);
  const alive = await countAlive(callbacks);
  assert(alive < 50, `${alive} of ${callbacks.length} are still held`);
  answer();
  await client.close();
  await call;
});

/**
 * Tasks whose client is closed while they are waited for.
 */
import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { OutcomeUnknownError } from "../../../mod.ts";
import { scripted, task } from "./script.ts";

test("closing the client ends the pause between two looks: the call is told at once", async () => {
  const slow = { pollIntervalMs: 60_000 };
  const { clock, client } = await scripted({
    "tools/call": () => task({ resultType: "task", ...slow }),
    "tasks/get": () => task(slow),
  });
  const rejected = assertRejects(() => client.callTool("work"), OutcomeUnknownError);
  await clock.settle();
  await client.close();
  await rejected;
  await clock.advance(1_000);
  assertEquals([clock.monotonic(), clock.waiting], [1_000, 0]);
});

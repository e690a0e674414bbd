/** The operator's config changes while the Worker is at work. */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { runUntil, serversOf, skip, startRun, startWorld, usualConfig } from "./world.ts";
import type { WorkerWorld } from "./world.ts";

/** Asks until the config is seen: what was read is good for some seconds. */
async function until(world: WorkerWorld, isThere: () => Promise<boolean>): Promise<void> {
  for (let turns = 0; turns < 60 && !await isThere(); turns++) await new Promise((resolve) => setTimeout(resolve, 250));
  assert(await isThere(), "the config was not seen");
  assert(world.url !== "");
}

describe("a config that changes", { concurrency: false }, () => {
  test("brings servers and takes them, and a run goes on with those that it began with", {
    skip,
    timeout: 60_000,
  }, async () => {
    await using world = await startWorld();
    const { id } = await startRun(world, "call data.send text=one");
    const { questions } = await runUntil(world, id, ["needs_input"]);
    const names = async () => {
      const { servers } = await world.json<{ servers: { name: string }[] }>("/api/servers");
      return servers.map(({ name }) => name).join();
    };
    assertEquals(await names(), "data");
    const more = { url: "https://more.example/mcp" };
    await world.configure({ ...usualConfig, tenants: { acme: { servers: { ...serversOf("acme"), more } } } });
    await until(world, async () => await names() === "data,more");
    const { tools } = await world.json<{ tools: { name: string }[] }>("/api/tools");
    assert(tools.some(({ name }) => name === "more__fetch_data"));
    await world.json(`/api/runs/${id}/input`, { body: { question: questions[0]?.id, answer: { action: "accept" } } });
    assertEquals((await runUntil(world, id, ["succeeded", "failed"])).state, "succeeded");
  });

  test("takes rights at once from what goes on: a run whose principal may no longer is not begun again", {
    skip,
    timeout: 60_000,
  }, async () => {
    await using world = await startWorld();
    const { id } = await startRun(world, "call data.send text=one");
    const { questions } = await runUntil(world, id, ["needs_input"]);
    await world.configure({
      ...usualConfig,
      rules: [{ effect: "allow" }, { tools: ["helper"], actions: ["run"], effect: "deny" }],
    });
    await until(world, async () => (await world.ask("/v1/models/helper")).status === 404);
    await world.json(`/api/runs/${id}/input`, { body: { question: questions[0]?.id, answer: { action: "accept" } } });
    const { end } = await runUntil(world, id, ["succeeded", "failed"]);
    assertEquals(end?.error?.code, "forbidden");
    assertEquals(world.ledger, []);
  });
});

/** Runs of agents in the deployed Worker: F3, events over reconnects, answers after the object has forgotten everything. */
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { eventsIn, runUntil, skip, startRun, startWorld, usualConfig } from "./world.ts";
import type { SeenRun, WorkerWorld } from "./world.ts";

let world: WorkerWorld;
before(async () => {
  if (!skip) world = await startWorld();
});
after(() => world?.[Symbol.asyncDispose]());

const ended = ["succeeded", "failed", "cancelled"];

describe("a run in the Worker", { concurrency: false }, () => {
  test("fetches data from an MCP server, and the checked observation is in its events", { skip }, async () => {
    const { id } = await startRun(world, "call data.fetch_data city=Rome");
    const response = await world.ask(`/api/runs/${id}/events`);
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    const events = eventsIn(await response.text());
    assertEquals(events.map((event) => event.id), events.map((_, at) => at + 1));
    const found = events.find(({ event }) => event === "observation")?.data.event.observation as Record<
      string,
      unknown
    >;
    assertEquals([found.server, found.tool, found.outcome, found.validation], [
      "data",
      "fetch_data",
      "ok",
      "validated",
    ]);
    assertEquals((found.result as Record<string, unknown>).structuredContent, {
      degrees: 21,
      city: "Rome as acme.example knows it",
    });
    assertEquals(events.filter(({ event }) => ended.includes(event)).length, 1);
    assertEquals(events.at(-1)?.event, "succeeded");
    assertEquals(world.ledger.filter(({ given }) => given.city === "Rome").length, 1);
  });

  test("tells each event once over many reconnects", { skip }, async () => {
    const { id } = await startRun(world, "call data.fetch_data city=Oslo\nthen\nsay done");
    await runUntil(world, id, ended);
    const all = eventsIn(await (await world.ask(`/api/runs/${id}/events`)).text());
    const seen: unknown[] = [];
    for (let last = 0; last < all.length; last++) {
      const headers = { "last-event-id": String(last) };
      const response = await world.ask(`/api/runs/${id}/events`, { headers });
      const [first] = eventsIn(await response.text());
      seen.push(first);
    }
    assertEquals(seen, all);
    const over = await world.ask(`/api/runs/${id}/events`, { headers: { "last-event-id": String(all.length) } });
    assertEquals(over.status, 204);
  });

  test("waits for an approval, which another request gives after the object was evicted", { skip }, async () => {
    const { id } = await startRun(world, "call data.send text=hello");
    const stream = await world.ask(`/api/runs/${id}/events`);
    const waiting = await runUntil(world, id, ["needs_input"]);
    assertEquals(waiting.questions.map(({ kind }) => kind), ["approval"]);
    assertEquals(world.ledger.filter(({ tool }) => tool === "send").length, 0);
    await world.evict("acme");
    const before = await stream.text().catch(() => "");
    assert(!before.includes("event: succeeded"));
    const body = { question: waiting.questions[0]?.id, answer: { action: "accept" } };
    const taken = await world.json<SeenRun>(`/api/runs/${id}/input`, { body });
    assertEquals(taken.id, id);
    const again = await world.ask(`/api/runs/${id}/input`, { body });
    assertEquals(again.status, 409, await again.text());
    const run = await runUntil(world, id, ended);
    assertEquals(run.end?.type, "succeeded", JSON.stringify(run));
    assertEquals(world.ledger.filter(({ tool }) => tool === "send").length, 1);
    const rest = eventsIn(await (await world.ask(`/api/runs/${id}/events?after=0`)).text());
    assertEquals(rest.map((event) => event.id), rest.map((_, at) => at + 1));
  });

  test("takes the answer to a server's question after the object was evicted", { skip }, async () => {
    const { id } = await startRun(world, "call data.greet");
    const waiting = await runUntil(world, id, ["needs_input"]);
    assertEquals(waiting.questions.map(({ kind }) => kind), ["elicitation"]);
    await world.evict("acme");
    const body = { question: waiting.questions[0]?.id, answer: { action: "accept", content: { name: "Ada" } } };
    await world.json(`/api/runs/${id}/input`, { body });
    const run = await runUntil(world, id, ended);
    assert(run.end?.text?.includes("Hello, Ada"), JSON.stringify(run));
    const events = await (await world.ask(`/api/runs/${id}/events`)).text();
    assert(!events.includes('"name":"Ada"'), "what was filled in is in no event");
  });

  test("is cancelled", { skip }, async () => {
    const { id } = await startRun(world, "call data.send text=never");
    await runUntil(world, id, ["needs_input"]);
    await world.json(`/api/runs/${id}`, { method: "DELETE" });
    assertEquals((await runUntil(world, id, ended)).state, "cancelled");
    assertEquals(world.ledger.some(({ given }) => given.text === "never"), false);
  });

  test("starts once for one key", { skip }, async () => {
    const headers = { "idempotency-key": "order-17" };
    const [one, two] = await Promise.all([
      startRun(world, "say once", { body: { agent: "helper", input: "say once" }, headers }),
      startRun(world, "say once", { body: { agent: "helper", input: "say once" }, headers }),
    ]);
    assertEquals(one.id, two.id);
  });

  test("is one of many at once: none is told that there is no room", { skip, timeout: 60_000 }, async () => {
    const quotas = { runs: 10_000, requestsPerMinute: 1e7, concurrent: 1_000 };
    await using own = await startWorld({ config: { ...usualConfig, quotas } });
    await startRun(own, "call data.fetch_data city=first");
    const count = 240;
    const starts = Array.from({ length: count }, (_, at) => startRun(own, `call data.fetch_data city=c${at}`));
    const runs = await Promise.all(starts);
    for (const { id } of runs) assertEquals((await runUntil(own, id, ended)).state, "succeeded");
    const cities = new Set(own.ledger.map(({ given }) => given.city));
    const missing = runs.filter((_, at) => !cities.has(`c${at}`));
    // What became of those that did not reach the server.
    const told = missing.map(async ({ id }) => await (await own.ask(`/api/runs/${id}/events`)).text());
    assertEquals(await Promise.all(told), []);
    assertEquals(own.ledger.length, count + 1);
  });

  test("is a model's answer", { skip }, async () => {
    const messages = [{ role: "user", content: "call data.fetch_data city=Bern" }];
    const answer = await world.json<{ choices: { message: { content: string } }[] }>("/v1/chat/completions", {
      body: { model: "helper", messages },
    });
    assert(answer.choices[0]?.message.content.includes("Bern as acme.example knows it"), JSON.stringify(answer));
  });
});

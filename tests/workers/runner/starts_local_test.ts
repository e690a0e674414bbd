/** Runs that nobody asks for by HTTP: a tick of the clock, and messages of a queue. */
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { skip, startWorld, usualConfig } from "./world.ts";
import type { SeenRun, WorkerWorld } from "./world.ts";

interface Outcome {
  readonly outcome: string;
  readonly explicitAcks: readonly string[];
  readonly retryMessages: readonly { readonly msgId: string; readonly delaySeconds?: number }[];
}

interface Dispatcher {
  scheduled(options: { cron: string; scheduledTime: Date }): Promise<{ readonly outcome: string }>;
  queue(name: string, messages: readonly object[]): Promise<Outcome>;
}

const hourly = { cron: "0 * * * *", tenant: "acme", principal: "clock", agent: "helper" };
const config = {
  ...usualConfig,
  rules: [
    { principals: ["ada", "clock", "batch"], effect: "allow" },
    { principals: ["eve"], effect: "allow" },
  ],
  schedules: [
    { ...hourly, name: "weather", input: "call data.fetch_data city=Rome" },
    { ...hourly, name: "other", input: "say never", cron: "0 0 * * *" },
  ],
};

let world: WorkerWorld;
let worker: Dispatcher;
before(async () => {
  if (skip) return;
  world = await startWorld({ config });
  worker = await world.flare.getWorker() as unknown as Dispatcher;
});
after(() => world?.[Symbol.asyncDispose]());

async function runsOf(principal: string, as = "ada"): Promise<SeenRun[]> {
  const { runs } = await world.json<{ runs: (SeenRun & { principal: string })[] }>("/api/runs?limit=200", { as });
  return runs.filter((run) => run.principal === principal);
}

const message = (id: string, body: unknown) => ({ id, timestamp: new Date(0), attempts: 1, body });
const order = (more: object = {}) => ({
  tenant: "acme",
  principal: "batch",
  agent: "helper",
  input: "say hello",
  ...more,
});

describe("a tick of the clock", { concurrency: false }, () => {
  test("starts what is due, once for each tick, as its principal", { skip }, async () => {
    const tick = { cron: "0 * * * *", scheduledTime: new Date(3_600_000) };
    assertEquals((await worker.scheduled(tick)).outcome, "ok");
    assertEquals((await worker.scheduled(tick)).outcome, "ok");
    assertEquals((await runsOf("clock")).length, 1);
    await worker.scheduled({ ...tick, scheduledTime: new Date(7_200_000) });
    assertEquals((await runsOf("clock")).length, 2);
    for (let turns = 0; turns < 1_000 && world.ledger.length < 2; turns++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assertEquals(world.ledger.map(({ tool }) => tool), ["fetch_data", "fetch_data"]);
  });

  test("starts nothing that its principal may not, and says so", { skip, timeout: 30_000 }, async () => {
    const schedules = [{ ...hourly, principal: "nobody", name: "forbidden", input: "say never" }];
    await using own = await startWorld({ config: { ...config, schedules } });
    const dispatcher = await own.flare.getWorker() as unknown as Dispatcher;
    const done = await dispatcher.scheduled({ cron: "0 * * * *", scheduledTime: new Date(0) });
    assertEquals(done.outcome, "exception");
    assertEquals((await own.json<{ runs: unknown[] }>("/api/runs")).runs, []);
  });
});

describe("a batch of the queue", { concurrency: false }, () => {
  test("starts each message once, however often it comes", { skip }, async () => {
    const messages = [1, 2, 3].map((at) => message(`m${at}`, order({ input: `say ${at}` })));
    const first = await worker.queue("starts", messages);
    assertEquals([...first.explicitAcks].sort(), ["m1", "m2", "m3"]);
    const again = await worker.queue("starts", messages);
    assertEquals([...again.explicitAcks].sort(), ["m1", "m2", "m3"]);
    assertEquals((await runsOf("batch")).length, 3);
    const keyed = order({ input: "say keyed", key: "mine" });
    await worker.queue("starts", [message("m4", keyed), message("m5", keyed)]);
    assertEquals((await runsOf("batch")).length, 4);
  });

  test("sends back what never will be started, one by one", { skip }, async () => {
    const wrong = [
      message("no object", "text"),
      message("no tenant", order({ tenant: "" })),
      message("no such agent", order({ agent: "nobody" })),
      message("no rights", order({ principal: "nobody" })),
      message("no input", order({ input: 17 })),
      message("bad key", order({ key: "ü" })),
    ];
    const { explicitAcks, retryMessages } = await worker.queue("starts", [message("good", order()), ...wrong]);
    assertEquals(explicitAcks, ["good"]);
    assertEquals(retryMessages.map(({ msgId }) => msgId).sort(), wrong.map(({ id }) => id).sort());
  });

  test("tries later what a quota or a store holds up", { skip, timeout: 30_000 }, async () => {
    await using own = await startWorld({ config: { ...config, quotas: { runs: 0 } } });
    const dispatcher = await own.flare.getWorker() as unknown as Dispatcher;
    const { explicitAcks, retryMessages } = await dispatcher.queue("starts", [message("late", order())]);
    assertEquals([explicitAcks, retryMessages.map(({ msgId }) => msgId)], [[], ["late"]]);
    assert((retryMessages[0]?.delaySeconds ?? 0) >= 5);
  });

  test("goes through a real queue, and what is refused comes to the dead letters with the reason", {
    skip,
    timeout: 60_000,
  }, async () => {
    const more = {
      queueProducers: { STARTS: "starts", DEAD_LETTERS: "dead" },
      queueConsumers: { starts: { maxBatchSize: 10, maxBatchTimeout: 0, maxRetries: 2 }, dead: { maxBatchTimeout: 0 } },
    };
    await using own = await startWorld({ config, more });
    const kv = await own.flare.getKVNamespace("CONFIG") as unknown as { get(key: string): Promise<string | null> };
    const producer = await own.flare.getQueueProducer("STARTS") as unknown as { send(body: unknown): Promise<void> };
    const dispatcher = await own.flare.getWorker() as unknown as Dispatcher;
    await producer.send(order({ input: "say queued" }));
    await producer.send(order({ agent: "nobody" }));
    // By the clock it is queued, and started from there.
    await dispatcher.scheduled({ cron: "0 * * * *", scheduledTime: new Date(0) });
    let names: string[] = [];
    for (let turns = 0; turns < 400 && names.length < 2; turns++) {
      const { runs } = await own.json<{ runs: { principal: string }[] }>("/api/runs");
      names = runs.map(({ principal }) => principal);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assertEquals(names.sort(), ["batch", "clock"]);
    let dead: string | null = null;
    for (let turns = 0; turns < 400 && dead === null; turns++) {
      dead = await kv.get("dead");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { order: letter, refused } = JSON.parse(dead ?? "{}");
    assertEquals([letter?.agent, refused?.status], ["nobody", 404]);
  });
});

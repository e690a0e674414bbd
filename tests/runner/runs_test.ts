import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "node:test";
import type { ApiKeyRecord } from "../../src/runner/mod.ts";
import { gate } from "../server/http/support.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { createWorld, problemOf } from "./support/world.ts";
import type { World } from "./support/world.ts";

const principals = {
  ada: { principal: "ada", tenant: "acme" },
  bob: { principal: "bob", tenant: "acme" },
  eve: { principal: "eve", tenant: "other" },
};

async function start(world: World, input: string, headers: Record<string, string> = {}, as = "ada") {
  const response = await world.ask("/api/runs", { as, body: { agent: "helper", input }, headers });
  assertEquals(response.status, 202);
  const run = await response.json();
  assertEquals(response.headers.get("location"), `/api/runs/${run.id}`);
  return run;
}

/** The events of a stream, until it ends. */
async function eventsOf(response: Response): Promise<{ id: number; event: string; data: Record<string, unknown> }[]> {
  const text = await response.text();
  return [...text.matchAll(/id: (\d+)\nevent: (\w+)\ndata: (.*)\n/g)].map(([, id, event = "", data = ""]) => ({
    id: Number(id),
    event,
    data: JSON.parse(data),
  }));
}

describe("runs", () => {
  it("start, are shown, and tell their events once", async () => {
    await using world = await createWorld();
    const { id } = await start(world, "hello");
    const run = await (await world.ask(`/api/runs/${id}`)).json();
    assertEquals([run.state, run.end.text, run.principal], ["succeeded", "You said: hello", "ada"]);
    const response = await world.ask(`/api/runs/${id}/events`);
    assertEquals(response.headers.get("x-accel-buffering"), "no");
    assertStringIncludes(response.headers.get("cache-control") ?? "", "no-transform");
    const events = await eventsOf(response);
    assertEquals(events.map(({ event }) => event), ["step", "text", "text", "succeeded"]);
    assertEquals(events.map((event) => event.id), [1, 2, 3, 4]);
    assertEquals(events[3]?.data.sequence, 4);
  });

  it("are taken up behind the event that was named", async () => {
    await using world = await createWorld();
    const { id } = await start(world, "hello");
    const after = async (path: string, headers = {}) =>
      (await eventsOf(await world.ask(path, { headers }))).map((event) => event.id);
    const path = `/api/runs/${id}/events`;
    assertEquals(await after(`${path}?after=2`), [3, 4]);
    assertEquals(await after(path, { "last-event-id": "3" }), [4]);
    assertEquals(await after(`${path}?after=1`, { "last-event-id": "2" }), [3, 4]);
    const over = await world.ask(`${path}?after=4`);
    assertEquals([over.status, await over.text()], [204, ""]);
    for (const [wrong, headers] of [["?after=-1", {}], ["?after=x", {}], ["", { "last-event-id": "1.5" }]] as const) {
      assertEquals((await world.ask(path + wrong, { headers })).status, 400);
    }
  });

  it("tell nothing more once the proof of who listens has ended", async () => {
    const clock = new VirtualClock();
    const logged: string[] = [];
    const principals = { ada: { principal: "ada", tenant: "acme", expiresAt: clock.now() + 60_000 } };
    await using world = await createWorld({ clock, principals, logger: ({ message }) => void logged.push(message) });
    const { id } = await start(world, "hang");
    const runs = world.runs("acme");
    const told = runs.events.bind(runs);
    runs.events = async function* (of, options) {
      yield* told(of, options);
      // As runs that are kept do.
      options?.signal?.throwIfAborted();
    };
    const events = eventsOf(await world.ask(`/api/runs/${id}/events?after=1`));
    // Whoever leaves before is no fault either.
    const left = (await world.ask(`/api/runs/${id}/events?after=1`)).body!.getReader();
    await left.read();
    const next = left.read();
    await clock.settle();
    await left.cancel();
    await next;
    await clock.advance(61_000);
    runs.tell(id, { type: "text", step: 1, text: "a secret" });
    assertEquals((await clock.until(events)).map(({ data }) => data), []);
    assertEquals(clock.waiting, 0);
    assertEquals(logged, []);
  });

  it("tell nothing more once who listens was put out: by the keys, or by the policy", async () => {
    const others: Readonly<Record<string, ApiKeyRecord>> = {
      eve: { principal: "eve", tenant: "acme" },
      elsewhere: { principal: "ada", tenant: "other" },
    };
    for (const how of ["key", ...Object.keys(others), "policy", "outage"]) {
      let isOut = false;
      const clock = new VirtualClock();
      const find = () => {
        if (isOut && how === "outage") throw new Error("the store is down");
        if (!isOut || how === "policy") return principals.ada;
        return others[how];
      };
      const open = () => () => isOut && how === "policy" ? "deny" as const : "allow" as const;
      await using world = await createWorld({ clock, policy: { open }, access: { keys: { find } }, logger: () => {} });
      const { id } = await start(world, "hang");
      const events = eventsOf(await world.ask(`/api/runs/${id}/events?after=1`));
      const tell = (text: string) => world.runs("acme").tell(id, { type: "text", step: 1, text });
      await clock.advance(200_000);
      tell("for her");
      isOut = true;
      await clock.advance(61_000);
      tell("a secret");
      await world.runs("acme").cancel(id);
      const told = (await clock.until(events)).map(({ data }) => (data.event as { text?: string }).text);
      assertEquals(told, how === "outage" ? ["for her", "a secret", undefined] : ["for her"], how);
      await clock.settle();
      assertEquals(clock.waiting, 0, how);
    }
  });

  it("tell what happens while one listens, with comments in the silence", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ clock });
    const { id } = await start(world, "hang");
    const response = await world.ask(`/api/runs/${id}/events?after=1`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => (await reader.read()).value ?? "";
    // Without an empty line: some readers (httpx-sse, fetch-event-source) make an event of each, whatever is before it.
    assertEquals(await next(), ": open\nretry: 1000\n");
    const silent = next();
    await clock.advance(5_000);
    assertEquals(await silent, ": keep-alive\n");
    world.runs("acme").tell(id, { type: "text", step: 1, text: "now" });
    assert((await next()).includes('"text":"now"'));
    await world.ask(`/api/runs/${id}`, { method: "DELETE" });
    assert((await next()).includes("event: cancelled"));
    assertEquals((await reader.read()).done, true);
    assertEquals(clock.waiting <= 1, true, "timers are left");
  });

  it("are refused with a key whose body no JSON can hold, as a mistake of who sends it", async () => {
    await using world = await createWorld({ access: { audit: undefined } });
    const body = '{"agent":"helper","input":"x","output":{"maximum":1e999}}';
    const response = await world.ask("/api/runs", { body, headers: { "idempotency-key": "one" } });
    assertEquals([response.status, (await problemOf(response)).code], [400, "invalid_request"]);
  });

  it("start once for one key, and refuse the key for another body", async () => {
    await using world = await createWorld({ principals });
    const key = { "idempotency-key": "order-17" };
    const [one, two] = await Promise.all([start(world, "hello", key), start(world, "hello", key)]);
    assertEquals(one.id, two.id);
    assertEquals(world.runs("acme").started.length, 1);
    assertNotEquals((await start(world, "hello", key, "bob")).id, one.id);
    const other = await world.ask("/api/runs", { body: { agent: "helper", input: "else" }, headers: key });
    assertEquals([other.status, (await problemOf(other)).code], [422, "key_reused"]);
    assertEquals(world.runs("acme").started.length, 2);
    const bad = { body: { agent: "helper", input: "x" }, headers: { "idempotency-key": "a b" } };
    assertEquals((await world.ask("/api/runs", bad)).status, 400);
  });

  it("are answered: 200, 404 for no such question, 409 for one that was answered", async () => {
    await using world = await createWorld();
    const { id } = await start(world, "ask");
    const answer = (question: string, action: string) =>
      world.ask(`/api/runs/${id}/input`, { body: { question, answer: { action } } });
    assertEquals((await answer("q-2", "accept")).status, 404);
    const wrong = await answer("q-1", "retry");
    assertEquals([wrong.status, (await problemOf(wrong)).detail], [
      400,
      '"/answer/action": expected accept, decline, cancel',
    ]);
    const taken = await answer("q-1", "accept");
    assertEquals([taken.status, (await taken.json()).state], [200, "succeeded"]);
    const stale = await answer("q-1", "accept");
    assertEquals([stale.status, (await problemOf(stale)).code], [409, "stale"]);
    const left = await start(world, "ask");
    await world.ask(`/api/runs/${left.id}`, { method: "DELETE" });
    const body = { question: "q-1", answer: { action: "accept" } };
    assertEquals((await world.ask(`/api/runs/${left.id}/input`, { body })).status, 409);
    assertEquals(
      (await world.ask("/api/runs/none/input", { body: { question: "q", answer: { action: "accept" } } })).status,
      404,
    );
  });

  it("are not answered by who may not, whenever the body comes", async () => {
    const policy = [{ actions: ["run"] as const, effect: "allow" as const }];
    await using world = await createWorld({ policy });
    const { id } = await start(world, "hang");
    const body = JSON.stringify({ question: "q-1", answer: { action: "accept" } });
    let send = (): void => {};
    const late = new ReadableStream<Uint8Array>({
      start: (controller) =>
        void (send = () => {
          controller.enqueue(new TextEncoder().encode(body));
          controller.close();
        }),
    });
    const answered = world.runner.fetch(
      new Request(`http://localhost/api/runs/${id}/input`, {
        method: "POST",
        headers: { authorization: `Bearer ${world.key("ada")}`, "content-type": "application/json" },
        body: late,
        duplex: "half",
      } as RequestInit),
    );
    // The run is looked at before there is a question; the body comes when there is one.
    await new Promise((resolve) => setTimeout(resolve, 20));
    world.runs("acme").ask(id);
    send();
    assertEquals((await answered).status, 404);
    assertEquals((await world.runs("acme").get(id))?.state, "needs_input");
  });

  it("are not answered when the question comes right after it was looked for", async () => {
    const policy = [{ actions: ["run"] as const, effect: "allow" as const }];
    await using world = await createWorld({ policy });
    const { id } = await start(world, "hang");
    const runs = world.runs("acme");
    const get = runs.get.bind(runs);
    runs.get = async (id) => {
      const record = await get(id);
      if (record?.state === "running") runs.ask(id);
      return record;
    };
    const body = { question: "q-1", answer: { action: "accept" } };
    assertEquals((await world.ask(`/api/runs/${id}/input`, { body })).status, 404);
    assertEquals((await get(id))?.state, "needs_input");
  });

  it("say what became of an answer that came too late, or whose question has gone meanwhile", async () => {
    await using world = await createWorld();
    const { id } = await start(world, "ask");
    const outcomes = [["stale", 409, "stale"], ["unknown", 404, "not_found"]] as const;
    for (const [outcome, status, code] of outcomes) {
      world.runs("acme").answer = () => Promise.resolve(outcome);
      const body = { question: "q-1", answer: { action: "accept" } };
      const problem = await problemOf(await world.ask(`/api/runs/${id}/input`, { body }));
      assertEquals([problem.status, problem.code], [status, code]);
    }
  });

  it("are cancelled, as often as one likes", async () => {
    await using world = await createWorld();
    const { id } = await start(world, "hang");
    for (let times = 0; times < 2; times++) {
      const response = await world.ask(`/api/runs/${id}`, { method: "DELETE" });
      assertEquals([response.status, (await response.json()).state], [200, "cancelled"]);
    }
  });

  it("are listed in pages, all of them once, also those of one millisecond", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ clock });
    const started: string[] = [];
    for (let count = 0; count < 23; count++) {
      started.unshift((await start(world, "hello")).id);
      if (count % 9 === 8) await clock.advance(1);
    }
    for (const limit of [1, 4, 5, 50]) {
      const seen: string[] = [];
      let after = "";
      do {
        const page = await (await world.ask(`/api/runs?limit=${limit}${after && `&after=${after}`}`)).json();
        assert(page.runs.length <= limit);
        seen.push(...page.runs.map(({ id }: { id: string }) => id));
        after = page.next ?? "";
      } while (after);
      assertEquals(seen, started, `pages of ${limit}`);
    }
    const none = await (await world.ask("/api/runs?state=failed")).json();
    assertEquals(none.runs, []);
    assertEquals((await world.ask("/api/runs?after=x")).status, 400);
  });

  it("belong to who has started them: to others they are not there", async () => {
    const policy = [{ actions: ["run", "answer"] as const, effect: "allow" as const }];
    await using world = await createWorld({ principals, policy });
    const { id } = await start(world, "ask");
    const missing = await problemOf(await world.ask("/api/runs/run-none", { as: "bob" }));
    for (const as of ["bob", "eve"]) {
      for (
        const [path, options] of [
          [`/api/runs/${id}`, {}],
          [`/api/runs/${id}`, { method: "DELETE" }],
          [`/api/runs/${id}/events`, {}],
          [`/api/runs/${id}/input`, { body: { question: "q-1", answer: { action: "accept" } } }],
        ] as const
      ) {
        const response = await world.ask(path, { as, ...options });
        const problem = await problemOf(response);
        assertEquals(response.status, 404);
        assertEquals({ ...problem, requestId: "", detail: "" }, { ...missing, requestId: "", detail: "" });
        assertEquals(problem.detail, `There is no run "${id}"`);
      }
      assertEquals((await (await world.ask("/api/runs", { as })).json()).runs, []);
    }
    assertEquals((await (await world.ask(`/api/runs/${id}`)).json()).state, "needs_input");
  });

  it("of others are for those who manage the agent", async () => {
    const policy = [
      { actions: ["run"] as const, effect: "allow" as const },
      { principals: ["bob"], actions: ["manage"] as const, effect: "allow" as const },
    ];
    await using world = await createWorld({ principals, policy });
    const { id } = await start(world, "hang");
    assertEquals((await world.ask(`/api/runs/${id}`, { as: "bob" })).status, 200);
    assertEquals((await (await world.ask("/api/runs", { as: "bob" })).json()).runs.length, 1);
  });

  it("are given how the model is to answer", async () => {
    await using world = await createWorld();
    const { started } = world.runs("acme");
    const settings = { temperature: 0.2, maxOutputTokens: 500, stopSequences: ["END"] };
    const output = { type: "object" };
    const { status } = await world.ask("/api/runs", { body: { agent: "helper", input: "hello", settings, output } });
    assertEquals([status, started[0]?.settings, started[0]?.output], [202, settings, output]);
    for (const wrong of [{ temperature: 3 }, { maxOutputTokens: 0 }, { stopSequences: [""] }, { top_p: 1 }, "warm"]) {
      const response = await world.ask("/api/runs", { body: { agent: "helper", input: "hello", settings: wrong } });
      const { errors } = await problemOf(response) as unknown as { errors: { pointer: string }[] };
      assertEquals([response.status, errors[0]?.pointer.startsWith("/settings")], [400, true], JSON.stringify(wrong));
    }
    assertEquals(started.length, 1);
  });

  it("of an agent that wants a yes are started by nobody who may only ask for one, nor as a model", async () => {
    const policy = [{ effect: "allow" as const }, {
      tools: ["helper"],
      actions: ["run" as const],
      effect: "ask" as const,
    }];
    await using world = await createWorld({ policy });
    const refused = await problemOf(await world.ask("/api/runs", { body: { agent: "helper", input: "hello" } }));
    assertEquals([refused.status, refused.code], [403, "forbidden"]);
    const body = { model: "helper", messages: [{ role: "user", content: "hello" }] };
    assertEquals((await world.ask("/v1/chat/completions", { body })).status, 404);
    assertEquals([world.runs("acme").started, world.audit.at(-1)?.outcome], [[], "ask"]);
  });

  it("last no longer than their deadline, which lies ahead", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ clock });
    const start = async (deadline: number, key: string) => {
      const asked = { body: { agent: "helper", input: "x", deadline }, headers: { "idempotency-key": key } };
      return (await world.ask("/api/runs", asked)).status;
    };
    const [now, next] = [clock.now(), clock.now() + 1];
    assertEquals([await start(now, "a"), await start(next, "a"), await start(next, "b")], [400, 202, 202]);
    await clock.advance(1);
    assertEquals([await start(next, "a"), await start(now, "b"), await start(next, "c")], [202, 422, 400]);
    assertEquals(world.runs("acme").started.map(({ deadline }) => deadline), [next, next]);
  });

  it("that come as the runner closes are told to come again", async () => {
    await using world = await createWorld();
    const runs = world.runs("acme");
    const [asked, closed] = [gate(), gate()];
    runs.start = async () => {
      asked.open();
      await closed.promise;
      throw new TypeError("The runs are closed");
    };
    const late = world.ask("/api/runs", { body: { agent: "helper", input: "hello" } });
    await asked.promise;
    await world.runner.close();
    closed.open();
    const response = await late;
    assertEquals([response.status, (await problemOf(response)).code], [503, "closing"]);
    assertEquals(response.headers.get("retry-after"), "1");
  });

  it("refuse what is wrong, and start nothing", async () => {
    await using world = await createWorld();
    const cases: [unknown, number, string][] = [
      [{}, 400, "invalid_request"],
      [{ agent: "helper" }, 400, "invalid_request"],
      [{ agent: "helper", input: "" }, 400, "invalid_request"],
      [{ agent: "helper", input: "x", more: 1 }, 400, "invalid_request"],
      [{ agent: "helper", input: [{ role: "god", content: "x" }] }, 400, "invalid_request"],
      [{ agent: "helper", input: "x", deadline: 1 }, 400, "invalid_request"],
      [{ agent: "nobody", input: "x" }, 404, "not_found"],
      ["[]", 400, "invalid_json"],
      ["{", 400, "invalid_json"],
    ];
    for (const [body, status, code] of cases) {
      const response = await world.ask("/api/runs", { body });
      const problem = await problemOf(response);
      assertEquals([response.status, problem.code], [status, code], JSON.stringify(body));
    }
    const plain = await world.ask("/api/runs", { body: "{}", headers: { "content-type": "text/plain" } });
    assertEquals([plain.status, (await problemOf(plain)).code], [415, "wrong_content_type"]);
    const long = await world.ask("/api/runs", { body: { agent: "helper", input: "x".repeat(4 * 2 ** 20) } });
    assertEquals([long.status, (await problemOf(long)).code], [413, "body_too_long"]);
    assertEquals(world.runs("acme").started.length, 0);
  });
});

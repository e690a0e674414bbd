import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { Answer, Incoming } from "../../../src/server/seam.ts";
import { EventReader, initialize, post, refusal, result, rpc, send, world } from "./support.ts";
import type { World, WorldOptions } from "./support.ts";

const note = (text: string) => ({ jsonrpc: "2.0" as const, method: "notifications/message", params: { data: text } });

interface Running {
  all: World;
  session: Record<string, string>;
  calls: Map<unknown, Incoming>;
  finish(id: number): void;
  call(id: number): Promise<Response>;
  resume(id: string | undefined): Promise<Response>;
}

/** A session with calls that wait to be finished. */
async function running(options: WorldOptions = {}): Promise<Running> {
  const calls = new Map<unknown, Incoming>();
  const ends = new Map<unknown, (answer: Answer) => void>();
  const all = world({
    legacy: (incoming) => {
      calls.set(incoming.message.id, incoming);
      return new Promise((resolve) => ends.set(incoming.message.id, resolve));
    },
    ...options,
  });
  const session = await initialize(all);
  return {
    all,
    session,
    calls,
    finish: (id) => ends.get(id)!(result(calls.get(id)!, { id })),
    call: async (id) => {
      const replying = all.handler(post(rpc("tools/call", id), session));
      await all.clock.settle();
      return await replying;
    },
    resume: (id) => all.handler(send("GET", { ...session, "last-event-id": id })),
  };
}

/** Starts a call that tells one thing at once, and gives its stream. */
async function streaming(world: Running, id: number): Promise<EventReader> {
  const replying = world.call(id);
  await world.all.clock.settle();
  world.calls.get(id)!.notify(note(`${id}a`));
  return new EventReader(await replying);
}

const datas = (events: { data?: string }[]) =>
  events.filter(({ data }) => data).map(({ data }) => JSON.parse(data!) as JsonObject);

describe("coming back for a stream", () => {
  test("it begins with an id to come back to; older clients get none (S-042)", async () => {
    const newer = await streaming(await running(), 1);
    assertEquals(await newer.next(), { id: "1-0", data: "" });
    const older = await streaming(await running({ revision: "2025-06-18" }), 1);
    const event = await older.next();
    assertEquals([event?.id, event?.retry, JSON.parse(event!.data!)], ["1-1", undefined, note("1a")]);
  });

  test("it says when to come back where it is held for a time only, or somebody set that (S-042)", async () => {
    // The official client for Java (2.0) knows "data", "id", "event" and comments, and ends a stream at any other line.
    for (
      const [sessions, retry] of [[{ hold: 50 }, "1000"], [{ retry: 300 }, "300"], [
        { hold: 50, retry: 0 },
        "0",
      ]] as const
    ) {
      const stream = await streaming(await running({ sessions }), 1);
      assertEquals(await stream.next(), { id: "1-0", retry, data: "" });
    }
  });

  test("a break calls nothing off; what followed on this stream comes, and nothing of another (S-043, S-047)", async () => {
    const world = await running();
    const one = await streaming(world, 1);
    const two = await streaming(world, 2);
    await one.next();
    const seen = await one.next();
    assertEquals(seen?.id, "1-1");
    await one.cancel();
    await world.all.clock.settle();
    assertEquals(world.calls.get(1)!.signal.aborted, false);
    world.calls.get(1)!.notify(note("1b"));
    world.calls.get(2)!.notify(note("2b"));
    world.all.sessions[0]!.outlet.send(note("own"), undefined);
    const again = new EventReader(await world.resume(seen!.id));
    world.calls.get(1)!.notify(note("1c"));
    world.finish(1);
    const events = await again.rest();
    assertEquals(datas(events), [note("1b"), note("1c"), { jsonrpc: "2.0", id: 1, result: { id: 1 } }]);
    world.finish(2);
    assertEquals(datas(await two.rest()), [note("2a"), note("2b"), { jsonrpc: "2.0", id: 2, result: { id: 2 } }]);
  });

  test("the answer can be fetched after the call has ended, more than once", async () => {
    const world = await running();
    const stream = await streaming(world, 1);
    await stream.cancel();
    world.finish(1);
    await world.all.clock.settle();
    for (let turn = 0; turn < 2; turn++) {
      const events = await new EventReader(await world.resume("1-1")).rest();
      assertEquals(datas(events), [{ jsonrpc: "2.0", id: 1, result: { id: 1 } }]);
    }
  });

  test("ids are the only ones of their kind in the session (S-043)", async () => {
    const world = await running();
    const ids: (string | undefined)[] = [];
    const own = new EventReader(await world.resume(undefined));
    world.all.sessions[0]!.outlet.send(note("own"), undefined);
    world.all.sessions[0]!.outlet.send(note("own"), undefined);
    for (const id of [1, 2, 3]) {
      const stream = await streaming(world, id);
      world.finish(id);
      ids.push(...(await stream.rest()).map((event) => event.id));
    }
    for (let turn = 0; turn < 3; turn++) ids.push((await own.next())?.id);
    assertEquals(new Set(ids).size, 12);
    assert(ids.every((id) => id !== undefined));
    await own.cancel();
  });

  test("the session's own stream goes on where it broke off, in place of the connection before", async () => {
    const world = await running();
    const own = new EventReader(await world.resume(undefined));
    const { outlet } = world.all.sessions[0]!;
    for (const text of ["a", "b", "c"]) outlet.send(note(text), undefined);
    assertEquals((await own.next())?.id, "0-0");
    const again = new EventReader(await world.resume("0-1"));
    assertEquals([await again.message(), await again.message()], [note("b"), note("c")]);
    outlet.send(note("d"), undefined);
    assertEquals(await again.message(), note("d"));
    assertEquals(datas(await own.rest()), [note("a"), note("b"), note("c")]);
    await again.cancel();
  });

  test("what is not known here is refused, and the session goes on", async () => {
    const world = await running();
    for (const id of ["", "x", "7-1", "1-1-1", "0-", "-1", "0-99999999999999999999"]) {
      assertEquals(await refusal(await world.resume(id)), [400, -32600], id);
    }
    const other = await initialize(world.all);
    const stream = await streaming(world, 1);
    const foreign = await world.all.handler(send("GET", { ...other, "last-event-id": "1-0" }));
    assertEquals(await refusal(foreign), [400, -32600]);
    await stream.cancel();
  });

  test("as many messages are kept as the options say, for each stream and for all", async () => {
    const world = await running({ sessions: { events: 3 } });
    const stream = await streaming(world, 1);
    await stream.cancel();
    for (const text of ["b", "c", "d", "e"]) world.calls.get(1)!.notify(note(text));
    world.finish(1);
    await world.all.clock.settle();
    assertEquals(datas(await new EventReader(await world.resume("1-0")).rest()).length, 3);
    const small = await running({ sessions: { eventCharacters: 200 } });
    const first = await streaming(small, 1);
    const second = await streaming(small, 2);
    for (let turn = 0; turn < 5; turn++) small.calls.get(2)!.notify(note("x"));
    await first.cancel();
    small.finish(1);
    await small.all.clock.settle();
    const events = await new EventReader(await small.resume("1-0")).rest();
    assertEquals(datas(events), [{ jsonrpc: "2.0", id: 1, result: { id: 1 } }]);
    await second.cancel();
  });

  test("the newest sixteen that have ended are kept, and none before them", async () => {
    const world = await running();
    for (let id = 1; id <= 40; id++) {
      const stream = await streaming(world, id);
      world.finish(id);
      await stream.rest();
    }
    const kept: number[] = [];
    for (let id = 1; id <= 40; id++) {
      const response = await world.resume(`${id}-0`);
      if (response.status === 200) kept.push(datas(await new EventReader(response).rest()).length);
      else assertEquals([await refusal(response), id <= 24], [[400, -32600], true]);
    }
    assertEquals(kept, Array(16).fill(2));
  });

  test("the session's own stream is held for no shorter time than its client wants", async () => {
    const world = await running({ sessions: { hold: 50 } });
    const own = new EventReader(await world.resume(undefined));
    await world.all.clock.advance(1_000);
    world.all.sessions[0]!.outlet.send(note("own"), undefined);
    assertEquals(await own.message(), note("own"));
    await own.cancel();
  });

  test("a stream may be held open for a time only: the client comes back for the rest (S-042, SEP-1699)", async () => {
    const world = await running({ sessions: { hold: 50, retry: 500 } });
    const replying = world.call(1);
    await world.all.clock.advance(50);
    const stream = new EventReader(await replying);
    await world.all.clock.advance(50);
    assertEquals(await stream.rest(), [{ id: "1-0", retry: "500", data: "" }]);
    const again = new EventReader(await world.resume("1-0"));
    assertEquals(await again.next(), { id: "1-0", retry: "500", data: "" });
    await world.all.clock.advance(1_000);
    world.finish(1);
    assertEquals(datas(await again.rest()), [{ jsonrpc: "2.0", id: 1, result: { id: 1 } }]);
    await world.all.clock.settle();
    assertEquals(datas(await new EventReader(await world.resume("1-0")).rest()), [{
      jsonrpc: "2.0",
      id: 1,
      result: { id: 1 },
    }]);
  });
});

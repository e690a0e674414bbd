/** What a legacy session has under way when its endpoint closes. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { JsonRpcRequest } from "../../../src/protocol/json_rpc.ts";
import { EventReader, gate, initialize, post, result, rpc, send, world } from "./support.ts";

const note = (text: string) => ({ jsonrpc: "2.0" as const, method: "notifications/message", params: { data: text } });

describe("a legacy session whose endpoint closes", () => {
  for (const isStream of [false, true]) {
    test(`has the answers to its calls first: ${isStream ? "in a stream" : "in JSON"}`, async () => {
      const held = gate();
      const all = world({
        legacy: async (incoming) => {
          if (isStream) incoming.notify(note("begun"));
          await held.promise;
          return result(incoming, { said: "at last" });
        },
      });
      const session = await initialize(all);
      const own = new EventReader(await all.handler(send("GET", session)));
      const answer = all.handler(post(rpc("slow", 7), session));
      await all.clock.settle();
      all.handler.close();
      await own.rest();
      assertEquals((await all.handler(post(rpc("ping"), session))).status, 503);
      assertEquals(all.sessions[0]?.closed, false);
      held.open();
      assertEquals((await (await answer).text()).includes("at last"), true);
      assertEquals(all.sessions[0]?.closed, true);
      assertEquals(all.clock.waiting, 0);
    });
  }

  for (const when of ["before", "after"]) {
    test(`calls off a call whose client leaves ${when} that`, async () => {
      const reasons: unknown[] = [];
      const all = world({
        legacy: ({ signal }) =>
          new Promise((resolve) =>
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason?.name);
              resolve(undefined);
            })
          ),
      });
      const session = await initialize(all);
      const leaving = new AbortController();
      void all.handler(post(rpc("slow"), session, { signal: leaving.signal }));
      await all.clock.settle();
      if (when === "before") leaving.abort();
      await all.clock.settle();
      assertEquals(reasons, []);
      all.handler.close();
      leaving.abort();
      await all.clock.settle();
      assertEquals([reasons, all.sessions[0]?.closed, all.clock.waiting], [["AbortError"], true, 0]);
    });
  }

  test("calls off a call that asks its client, whose answer would come too late", async () => {
    const all = world({
      legacy: (incoming) => {
        all.sessions[0]!.outlet.send(rpc("roots/list", 1) as JsonRpcRequest, incoming);
        return new Promise((resolve) => incoming.signal.addEventListener("abort", () => resolve(undefined)));
      },
    });
    const session = await initialize(all);
    const stream = new EventReader(await all.handler(post(rpc("asks"), session)));
    all.handler.close();
    assertEquals((await stream.rest()).flatMap(({ data }) => data ? [JSON.parse(data).method] : []), ["roots/list"]);
    await all.clock.settle();
    assertEquals([all.sessions[0]?.closed, all.clock.waiting], [true, 0]);
  });

  test("answers a call that has asked its client, and has its answer", async () => {
    const [asked, held] = [gate(), gate()];
    const all = world({
      legacy: async (incoming) => {
        all.sessions[0]!.outlet.send(rpc("roots/list", "ask") as JsonRpcRequest, incoming);
        asked.open();
        await held.promise;
        return result(incoming, { said: "at last" });
      },
    });
    const session = await initialize(all);
    const answer = all.handler(post(rpc("asks"), session));
    await asked.promise;
    await all.handler(post({ jsonrpc: "2.0", id: "ask", result: { roots: [] } }, session));
    all.handler.close();
    held.open();
    assertEquals((await (await answer).text()).includes("at last"), true);
    assertEquals([all.sessions[0]?.closed, all.clock.waiting], [true, 0]);
  });

  test("calls off a call that asks its client after that", async () => {
    const held = gate();
    const all = world({
      legacy: async (incoming) => {
        await held.promise;
        all.sessions[0]!.outlet.send(rpc("roots/list", 1) as JsonRpcRequest, incoming);
        return await new Promise((resolve) => {
          if (incoming.signal.aborted) resolve(undefined);
          else incoming.signal.addEventListener("abort", () => resolve(undefined));
        });
      },
    });
    const session = await initialize(all);
    const answer = all.handler(post(rpc("asks"), session));
    await all.clock.settle();
    all.handler.close();
    held.open();
    await (await answer).text();
    await all.clock.settle();
    assertEquals([all.sessions[0]?.closed, all.clock.waiting], [true, 0]);
  });

  test("answers a client that has come back for its stream, until it leaves that", async () => {
    for (const leaves of [false, true]) {
      const held = gate();
      const all = world({
        legacy: async (incoming) => {
          incoming.notify(note("begun"));
          await Promise.race([
            held.promise,
            new Promise((resolve) => incoming.signal.addEventListener("abort", resolve)),
          ]);
          return incoming.signal.aborted ? undefined : result(incoming, { said: "at last" });
        },
      });
      const session = await initialize(all);
      const leaving = new AbortController();
      const first = new EventReader(await all.handler(post(rpc("slow"), session, { signal: leaving.signal })));
      let begun = await first.next();
      while (!begun?.data) begun = await first.next();
      leaving.abort();
      const back = new AbortController();
      const again = send("GET", { ...session, "last-event-id": begun.id! }, { signal: back.signal });
      const stream = new EventReader(await all.handler(again));
      await all.clock.settle();
      all.handler.close();
      await all.clock.settle();
      assertEquals(all.sessions[0]?.closed, false);
      if (leaves) back.abort();
      else held.open();
      const told = (await stream.rest()).flatMap(({ data }) => data ? [JSON.parse(data).result?.said] : []);
      await all.clock.settle();
      assertEquals([told, all.sessions[0]?.closed, all.clock.waiting], [leaves ? [] : ["at last"], true, 0]);
    }
  });

  test("calls off a call whose stream was ended for its client to come back", async () => {
    const all = world({
      sessions: { hold: 1_000 },
      legacy: ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    });
    const session = await initialize(all);
    const stream = all.handler(post(rpc("slow"), session));
    await all.clock.advance(1_000);
    const reader = new EventReader(await stream);
    await all.clock.advance(1_000);
    await reader.rest();
    all.handler.close();
    await all.clock.settle();
    assertEquals([all.sessions[0]?.closed, all.clock.waiting], [true, 0]);
  });

  test("has its answers also where a request has no signal", async () => {
    const held = gate();
    const all = world({
      legacy: async (incoming) => {
        await held.promise;
        return result(incoming, { said: "at last" });
      },
    });
    const session = await initialize(all);
    const request = post(rpc("slow"), session);
    Object.defineProperty(request, "signal", { value: undefined });
    const answer = all.handler(request);
    await all.clock.settle();
    all.handler.close();
    held.open();
    assertEquals((await (await answer).text()).includes("at last"), true);
  });
});

import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { Answer, Incoming } from "../../../src/server/seam.ts";
import { EventReader, gate, modernMeta, modernPost, post, result, world } from "./support.ts";

const note = (text: string) => ({ jsonrpc: "2.0" as const, method: "notifications/message", params: { data: text } });

describe("a modern request", () => {
  test("is answered by one JSON object when nothing was told before (S-023)", async () => {
    const { handler, clock } = world({ modern: (incoming) => result(incoming, { tools: [] }) });
    const response = await handler(modernPost("tools/list"));
    assertEquals(response.headers.get("content-type"), "application/json");
    assertEquals(await response.json(), { jsonrpc: "2.0", id: 1, result: { tools: [] } });
    assertEquals(clock.waiting, 0);
  });

  test("has the status that the era names (S-027)", async () => {
    const { handler } = world({
      modern: ({ message }) => ({
        response: { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "No such method" } },
        status: 404,
      }),
    });
    assertEquals((await handler(modernPost("no/such"))).status, 404);
  });

  test("becomes a stream with the first thing that is told, and ends after the answer (S-024, S-025)", async () => {
    const answer = gate();
    const { handler, clock } = world({
      modern: async (incoming) => {
        incoming.notify(note("one"));
        await answer.promise;
        incoming.notify(note("two"));
        queueMicrotask(() => incoming.notify(note("late")));
        setTimeout(() => incoming.notify(note("later")), 0);
        return result(incoming);
      },
    });
    const response = await handler(modernPost("tools/call", { name: "x" }));
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals(response.headers.get("x-accel-buffering"), "no");
    assertEquals(response.headers.get("cache-control"), "no-cache, no-transform");
    const reader = new EventReader(response);
    assertEquals(await reader.message(), note("one"));
    answer.open();
    const rest = await reader.rest();
    assertEquals(rest.map((event) => event.id), rest.map(() => undefined));
    const messages = rest.map((event) => JSON.parse(event.data!));
    assertEquals(messages.at(0), note("two"));
    assertEquals(messages.at(-1), { jsonrpc: "2.0", id: 1, result: {} });
    await clock.settle();
    assertEquals(clock.waiting, 0);
  });

  test("whose handler wants no signal is over all the same when its client leaves", async () => {
    const answer = gate();
    const { handler, clock, seen } = world({
      modern: async (incoming) => {
        await answer.promise;
        return result(incoming);
      },
    });
    const leave = new AbortController();
    const answered = handler(modernPost("tools/call", { name: "x" }, {}, { signal: leave.signal }));
    await clock.settle();
    leave.abort();
    assertEquals((await answered).status, 499);
    assertEquals([seen[0]?.over?.(), seen[0]?.signal.aborted, clock.waiting], [true, true, 0]);
    answer.open();
  });

  test("has each event in lines that all clients count alike: httpx ends them at more than CR and LF", async () => {
    const odd = "one\u2028two\u2029three\u0085four \u00e4\ud83d\ude00";
    const { handler } = world({
      modern: (incoming) => {
        incoming.notify(note(odd));
        return result(incoming, { odd });
      },
    });
    const lines = (await (await handler(modernPost("tools/call", { name: "x" }))).text()).split(
      /\r\n|[\n\v\f\r\x85\u2028\u2029]/,
    );
    const datas = lines.filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
    assertEquals(datas, [note(odd), { jsonrpc: "2.0", id: 1, result: { odd } }]);
  });

  test("that listens is answered by a stream in any case, but not when it is refused", async () => {
    const listening = world({ modern: (incoming) => result(incoming) });
    const response = await listening.handler(modernPost("subscriptions/listen"));
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals((await new EventReader(response).rest()).length, 1);
    const refusing = world({
      modern: ({ message }) => ({
        response: { jsonrpc: "2.0", id: message.id, error: { code: -32602, message: "No" } },
        status: 400,
      }),
    });
    assertEquals((await refusing.handler(modernPost("subscriptions/listen"))).status, 400);
  });

  // Bun.serve cuts a connection off by itself that was silent for some 8 s.
  for (
    const [keepAlive, silence] of [[undefined, 5_000], [15_000, 15_000], [0, 5_000], [-1, 5_000], [NaN, 5_000]] as const
  ) {
    test(`that is silent for long becomes a stream, which comments keep open (S-025): ${keepAlive}`, async () => {
      const answer = gate();
      const { handler, clock } = world({
        keepAlive,
        modern: async (incoming) => {
          await answer.promise;
          return result(incoming);
        },
      });
      const replying = handler(modernPost("tools/call", { name: "slow" }));
      let isThere = false;
      replying.then(() => isThere = true);
      await clock.advance(silence - 1);
      assertEquals(isThere, false);
      await clock.advance(1);
      const reader = new EventReader(await replying);
      await clock.advance(2 * silence);
      // The first one at once: it takes the head along.
      for (let seen = 0; seen < 3; seen++) assertEquals((await reader.next())?.comment, "keep-alive");
      answer.open();
      assertEquals((await reader.rest()).map((event) => JSON.parse(event.data!)), [{
        jsonrpc: "2.0",
        id: 1,
        result: {},
      }]);
      assertEquals(clock.waiting, 0);
    });
  }

  test("is called off when its stream is left, and nothing more is written (S-026)", async () => {
    let incoming: Incoming | undefined;
    const answer = gate<Answer | undefined>();
    const { handler, clock } = world({
      modern: (given) => {
        incoming = given;
        given.notify(note("one"));
        return answer.promise;
      },
    });
    const reader = new EventReader(await handler(modernPost("tools/call", { name: "x" })));
    await reader.message();
    const { signal } = incoming!;
    assertEquals(signal.aborted, false);
    await reader.cancel();
    await clock.settle();
    assertEquals([signal.aborted, incoming!.signal.aborted], [true, true]);
    incoming!.notify(note("nobody reads this"));
    answer.open(result(incoming!));
    await clock.settle();
    assertEquals(clock.waiting, 0);
  });

  test("tells that it was called off also to who asks later", async () => {
    const asked = gate<AbortSignal>();
    const left = gate();
    const { handler } = world({
      modern: async (incoming) => {
        incoming.notify(note("one"));
        await left.promise;
        const { signal } = incoming;
        asked.open(signal);
        return undefined;
      },
    });
    // What an era has not looked at yet cannot be listened to.
    const reader = new EventReader(await handler(modernPost("tools/call", { name: "x" })));
    await reader.message();
    await reader.cancel();
    left.open();
    assertEquals((await asked.promise).aborted, true);
  });

  test("is called off when the request is, before anything was sent (S-026)", async () => {
    let incoming: Incoming | undefined;
    const { handler, clock } = world({
      modern: (given) => {
        incoming = given;
        return new Promise<undefined>((resolve) => given.signal.addEventListener("abort", () => resolve(undefined)));
      },
    });
    const client = new AbortController();
    const replying = handler(modernPost("tools/call", { name: "x" }, {}, { signal: client.signal }));
    await clock.settle();
    client.abort();
    await replying;
    assert(incoming?.signal.aborted);
    assertEquals(clock.waiting, 0);
  });

  test("whose reader is too slow is given up, and takes no more memory", async () => {
    let signal: AbortSignal | undefined;
    let told = 0;
    const { handler, clock } = world({
      limits: { outboxBytes: 10_000 },
      modern: async (incoming) => {
        signal = incoming.signal;
        while (!signal.aborted && told < 1_000) {
          incoming.notify(note("x".repeat(1_000)));
          told++;
          await null;
        }
        return undefined;
      },
    });
    await handler(modernPost("tools/call", { name: "x" }));
    await clock.settle();
    assertEquals(signal?.aborted, true);
    assert(told < 30, String(told));
  });

  test("an answer that is no JSON becomes an error, and holds nobody up", async () => {
    const circle: JsonObject = {};
    circle.self = circle;
    const all = world({ modern: (incoming) => result(incoming, circle) });
    const response = await all.handler(modernPost("tools/list"));
    assertEquals(await response.json(), { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } });
    assertEquals([response.status, all.logs.length], [500, 1]);
  });

  test("an era that breaks says nothing about itself", async () => {
    const { handler, logs } = world({
      modern: () => {
        throw new Error("at secret.ts:1");
      },
    });
    const response = await handler(modernPost("tools/list"));
    assertEquals(response.status, 500);
    assertEquals(await response.json(), { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } });
    assertEquals(logs.length, 1);
  });

  test("notifications are taken without a body, unknown ones too (S-022)", async () => {
    const all = world();
    for (const method of ["notifications/cancelled", "notifications/no-such"]) {
      const response = await all.handler(post({ jsonrpc: "2.0", method, params: { _meta: modernMeta() } }));
      assertEquals([response.status, await response.text()], [202, ""]);
    }
    assertEquals([all.seen.length, all.sessions.length], [0, 0]);
  });

  test("answers of many at once find their own way", async () => {
    const { handler } = world({
      modern: async (incoming) => {
        const { nonce } = incoming.message.params!;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
        if (Number(nonce) % 2) incoming.notify(note(String(nonce)));
        await null;
        return result(incoming, { nonce: nonce! });
      },
    });
    await Promise.all(Array.from({ length: 300 }, async (_, nonce) => {
      const response = await handler(modernPost("tools/list", { nonce }));
      const text = await response.text();
      assertEquals([...text.matchAll(/"nonce":(\d+)/g)].map(([, found]) => Number(found)), [nonce]);
      assertEquals([...text.matchAll(/"data":"(\d+)"/g)].map(([, found]) => Number(found)), nonce % 2 ? [nonce] : []);
    }));
  });

  test("closing ends the era; later requests are 503", async () => {
    const all = world();
    all.handler.close();
    assert(all.modernClosed());
    assertEquals((await all.handler(modernPost("tools/list"))).status, 503);
  });
});

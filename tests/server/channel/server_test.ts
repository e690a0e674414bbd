import { describe, test } from "node:test";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";
import { defaultLimits, type Limits } from "../../../src/protocol/limits.ts";
import { serveChannel } from "../../../src/server/channel_server.ts";
import type { Incoming } from "../../../src/server/seam.ts";
import { turns, until } from "../../client/support.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { handshake, line, modernRequest, modernStandIn, request } from "./support.ts";
import { said, standIn } from "../stand_in.ts";

const echo = standIn({ "tools/call": ({ text }) => said(String(text)) });
const call = (id: number, text: string) => request(id, "tools/call", { text });
const ids = (got: JsonObject[]) => got.map(({ id }) => id);
const outcomes = (got: JsonObject[]) =>
  got.map(({ id, result, error }) => [id, (error as JsonObject | undefined)?.code ?? (result ? "ok" : "none")]);

/** Handlers that end when the test says so, by the `name` of the call. */
function held() {
  const finish = new Map<string, () => void>();
  const contexts = new Map<string, RequestContext>();
  const server = standIn({
    "tools/call": async ({ name }, context) => {
      contexts.set(String(name), context);
      await new Promise<void>((resolve) => finish.set(String(name), resolve));
      return said(String(name));
    },
  });
  return { server, contexts, finish: (name: string) => finish.get(name)?.() };
}
const hold = (id: number, name = String(id)) => request(id, "tools/call", { name });

describe("both eras on one channel", () => {
  test("each request goes to the era that it claims", async () => {
    const seen: Incoming[] = [];
    const auth = { principal: "me" };
    const { send, got } = await line(echo, { modern: modernStandIn(seen), auth });
    send(modernRequest(1, "tools/list"), ...handshake(), call(2, "a"), modernRequest(3, "tools/call"));
    send(request(4, "server/discover"));
    await until(() => got.length === 5);
    assertEquals(seen.map(({ message: { id } }) => id), [1, 3, 4]);
    assertStrictEquals(seen[0]?.auth, auth);
    assertEquals(got.find(({ id }) => id === 2)?.result, said("a"));
  });

  test("any opening is survived", async () => {
    for (const first of [request("x", "server/discover"), modernRequest("x", "server/discover"), call(1, "a")]) {
      const { send, got } = await line(echo);
      send(first, ...handshake());
      await until(() => got.length === 2);
      assertEquals([(got[0]?.error as JsonObject).code, (got[1]?.result as JsonObject).protocolVersion], [
        -32600,
        "2025-11-25",
      ]);
    }
  });

  test("the answer to what is asked first of all is not overtaken by that of the handshake", async () => {
    const { send, got } = await line(echo, { modern: modernStandIn() });
    // A client whose question was not answered for a while shakes hands, too: who begins slowly finds both.
    send(modernRequest("asked", "server/discover"), ...handshake(), call(2, "a"));
    await until(() => got.length === 3);
    assertEquals(ids(got), ["asked", 0, 2]);
  });

  test("a cancelled modern request hears nothing further, and a stream can be closed so", async () => {
    const seen: Incoming[] = [];
    const { send, got } = await line(echo, { modern: modernStandIn(seen) });
    for (const [id, method] of [[1, "hang"], [2, "subscriptions/listen"]] as const) {
      send(modernRequest(id, method));
      await until(() => seen.length === id);
      const incoming = seen.at(-1) as Incoming;
      incoming.notify({ jsonrpc: "2.0", method: "notifications/message", params: { id } });
      send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      await until(() => incoming.signal.aborted);
      incoming.notify({ jsonrpc: "2.0", method: "notifications/message", params: { late: true } });
    }
    send(modernRequest(1, "tools/list"));
    await until(() => got.length === 3);
    await turns();
    assertEquals(got.map(({ id, params }) => id ?? (params as JsonObject).id), [1, 2, 1]);
  });

  test("nothing is told in the course of a request after its answer", async () => {
    const seen: Incoming[] = [];
    const { send, got } = await line(echo, { modern: modernStandIn(seen) });
    send(modernRequest(1, "tools/list"));
    await until(() => got.length === 1);
    seen[0]?.notify({ jsonrpc: "2.0", method: "notifications/message", params: {} });
    await turns();
    assertEquals(got.length, 1);
  });
});

describe("messages on a channel", () => {
  test("answers come in the order in which they are ready", async () => {
    const { server, finish } = held();
    const { send, got } = await line(server);
    send(...handshake(), hold(1), hold(2), hold(3));
    await turns();
    for (const name of ["3", "1", "2"]) finish(name);
    await until(() => got.length === 4);
    assertEquals(ids(got), [0, 3, 1, 2]);
  });

  test("what is told in the course of a request comes before its answer", async () => {
    const server = standIn({
      "tools/call": (_, context) => {
        context.log("error", 1);
        context.progress({ progress: 1 });
        return said("done");
      },
    });
    const { send, got } = await line(server);
    send(...handshake(), request(1, "tools/call", { _meta: { progressToken: 7 } }));
    await until(() => got.length === 4);
    assertEquals(got.map(({ method, id }) => method ?? id), [0, "notifications/message", "notifications/progress", 1]);
  });

  test("what is no message is answered as far as it can be", async () => {
    const { raw, send, got } = await line(echo, { limits: { jsonDepth: 10 } });
    raw("no JSON");
    raw("  ");
    raw(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(20)}${"]".repeat(20)}}`);
    send(
      { id: 2, method: "ping" },
      { jsonrpc: "2.0", id: 3, method: 4 },
      { jsonrpc: "2.0", id: 1.5, method: "ping" },
      5,
    );
    send({ jsonrpc: "2.0", id: 9, result: {} }, { jsonrpc: "2.0", id: 9, result: 1 }, request(4, "ping"));
    await until(() => got.length === 7);
    assertEquals(outcomes(got), [
      ...[[null, -32700], [null, -32600], [2, -32600], [3, -32600], [null, -32600], [null, -32600], [4, "ok"]],
    ]);
  });

  test("a limit that is given as undefined is the usual one", async () => {
    const limits = { strays: undefined, jsonDepth: undefined, outboxBytes: undefined } as unknown as Partial<Limits>;
    const { raw, send, got, serving } = await line(echo, { limits });
    raw("[".repeat(500) + "]".repeat(500));
    send(...handshake(), call(1, "a"));
    await until(() => got.length === 3);
    assertEquals(outcomes(got), [[null, -32600], [0, "ok"], [1, "ok"]]);
    for (let count = 0; count < defaultLimits.strays; count++) raw("noise");
    await serving.closed;
  });

  test("too much noise ends it", async () => {
    const { raw, serving, log } = await line(echo, { limits: { strays: 10 } });
    for (let count = 0; count < 11; count++) raw("noise");
    await serving.closed;
    assertEquals(log.map(({ level }) => level), ["warning"]);
  });

  test("batches are taken in 2025-03-26, and there alone", async () => {
    const { send, got } = await line(echo);
    const batch = [
      call(1, "a"),
      { jsonrpc: "2.0", method: "notifications/roots/list_changed" },
      5,
      request(2, "ping"),
    ];
    send(batch, ...handshake("2025-03-26"));
    await until(() => got.length === 2);
    assertEquals(outcomes(got), [[null, -32600], [0, "ok"]]);
    send(batch, [], [{ jsonrpc: "2.0", method: "notifications/roots/list_changed" }], request(3, "ping"));
    await until(() => got.length === 5);
    const [answers, ...others] = got.slice(2).sort((left, right) =>
      Number(right instanceof Array) - Number(left instanceof Array)
    );
    assertEquals(outcomes(answers as unknown as JsonObject[]), [[1, "ok"], [null, -32600], [2, "ok"]]);
    assertEquals(outcomes(others).sort(), [[null, -32600], [3, "ok"]].sort());
    const other = await line(echo);
    other.send(...handshake("2025-06-18"), batch);
    await until(() => other.got.length === 2);
    assertEquals(outcomes(other.got), [[0, "ok"], [null, -32600]]);
  });

  test("no more requests are in work than allowed, also of handlers that heed no signal", async () => {
    const { server, finish } = held();
    const { send, got } = await line(server, { maxRequests: 2 });
    send(...handshake(), hold(1), hold(2), hold(3), request(4, "ping"));
    await until(() => got.length === 3);
    assertEquals(outcomes(got.slice(1)).sort(), [[3, -32603], [4, "ok"]]);
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await turns();
    send(hold(5));
    await until(() => got.length === 4);
    assertEquals(outcomes(got).at(-1), [5, -32603]);
    finish("1");
    await turns();
    send(hold(6));
    await turns();
    finish("6");
    finish("2");
    await until(() => got.length === 6);
    assertEquals(outcomes(got.slice(4)).sort(), [[2, "ok"], [6, "ok"]]);
  });

  test("an id in work is not taken twice, in neither era", async () => {
    const { server, finish } = held();
    const { send, got } = await line(server, { modern: modernStandIn() });
    send(...handshake(), hold(1), modernRequest(2, "hang"));
    await turns();
    send(hold(1), modernRequest(1, "tools/list"), modernRequest(2, "tools/list"), hold(2));
    await until(() => got.length === 5);
    assertEquals(outcomes(got.slice(1)), [[1, -32600], [1, -32600], [2, -32600], [2, -32600]]);
    finish("1");
    await until(() => got.length === 6);
    assertEquals(outcomes(got).at(-1), [1, "ok"]);
  });

  test("a result that is no JSON becomes an error", async () => {
    const server = standIn({ "tools/call": () => ({ big: 1n as never }) });
    const { send, got, log } = await line(server);
    send(...handshake(), call(1, "a"));
    await until(() => got.length === 2);
    assertEquals([outcomes(got).at(-1), log.length], [[1, -32603], 1]);
  });

  test("questions to the client go over it, and a broken answer fails them", async () => {
    const server = standIn({
      "tools/call": async (_, { elicit }) => {
        const { action } = await elicit({ message: "?" }).catch(() => ({ action: "failed" }));
        return said(action);
      },
    });
    const { send, got } = await line(server);
    send(...handshake("2025-06-18", { elicitation: {} }), call(1, ""), call(2, ""));
    await until(() => got.length === 3);
    const [first, second] = got.slice(1).map(({ id }) => id);
    send({ jsonrpc: "2.0", id: first, result: { action: "accept" } }, { jsonrpc: "2.0", id: second, result: 5 });
    await until(() => got.length === 5);
    assertEquals(got.slice(3).map(({ id, result }) => [id, result]), [[1, said("accept")], [2, said("failed")]]);
  });
});

describe("the end of a channel", () => {
  test("aborts everything that is in work", async () => {
    const { server, contexts } = held();
    const seen: Incoming[] = [];
    const { send, close, serving } = await line(server, { modern: modernStandIn(seen) });
    send(...handshake(), hold(1), modernRequest(2, "hang"), modernRequest(3, "subscriptions/listen"));
    await turns();
    await close();
    await serving.closed;
    assertEquals([contexts.get("1")?.signal, ...seen.map(({ signal }) => signal)].map((signal) => signal?.aborted), [
      ...[true, true, true],
    ]);
    assertEquals(server.watchers, 0);
  });

  test("from our side gives streams of changes their results first, and says that they are called off (S-052)", async () => {
    const line1 = await line(echo, { modern: modernStandIn() });
    line1.send(modernRequest(1, "subscriptions/listen"), modernRequest(2, "hang"));
    await turns();
    await line1.serving.close();
    await turns();
    assertEquals([line1.got, line1.ended], [
      [
        { jsonrpc: "2.0", id: 1, result: { modern: "subscriptions/listen" } },
        { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      ],
      true,
    ]);
    await line1.serving.close();
    await line1.serving.closed;
  });

  test("lets requests finish for as long as it is told to", async () => {
    for (const finishes of [true, false]) {
      const { server, finish, contexts } = held();
      const clock = new VirtualClock();
      const written: string[] = [];
      let end: () => void = () => {};
      const serving = serveChannel(server, {
        label: "half open",
        open(receiver) {
          for (const message of [...handshake(), hold(1)]) receiver.text(JSON.stringify(message));
          end = () => receiver.end();
          return Promise.resolve();
        },
        write: (texts) => void written.push(...texts),
        close: () => Promise.resolve(),
      }, { clock, drainTimeout: 200 });
      await turns();
      end();
      await clock.advance(199);
      assertEquals(contexts.get("1")?.signal.aborted, false);
      if (finishes) finish("1");
      else await clock.advance(1);
      await serving.closed;
      assertEquals(ids(written.map((text) => JSON.parse(text))), finishes ? [0, 1] : [0]);
      assertEquals(clock.waiting, 0);
    }
  });

  test("what came behind the handshake is finished too, when all came at once and nothing more will", async () => {
    for (const opening of [handshake(), handshake().slice(1)]) {
      const { server, finish } = held();
      const written: string[] = [];
      const serving = serveChannel(server, {
        label: "half open",
        open(receiver) {
          // A server that got an answer to its handshake as well as one that got an error.
          for (const message of [...opening, hold(1)]) receiver.text(JSON.stringify(message));
          receiver.end();
          return Promise.resolve();
        },
        write: (texts) => void written.push(...texts),
        close: () => Promise.resolve(),
      }, { clock: new VirtualClock(), drainTimeout: 200 });
      await turns();
      finish("1");
      await serving.closed;
      assertEquals(ids(written.map((text) => JSON.parse(text))), opening.length > 1 ? [0, 1] : [1]);
    }
  });
});

describe("writing", () => {
  /** A channel whose writes the test lets through. */
  function slow() {
    const writes: { texts: readonly string[]; done: () => void }[] = [];
    let say: (text: string) => void = () => {};
    return {
      writes,
      say: (...messages: unknown[]) => messages.forEach((message) => say(JSON.stringify(message))),
      channel: {
        label: "slow",
        open(receiver: { text(text: string): void }) {
          say = (text) => receiver.text(text);
          return Promise.resolve();
        },
        write: (texts: readonly string[]) => new Promise<void>((done) => void writes.push({ texts, done })),
        close: () => Promise.resolve(),
      },
    };
  }

  test("waits for the write before, and joins what gathers meanwhile", async () => {
    const { writes, say, channel } = slow();
    const serving = serveChannel(echo, channel);
    say(...handshake());
    await until(() => writes.length === 1);
    say(call(1, "a"), call(2, "b"));
    await turns();
    assertEquals(writes.length, 1);
    writes[0]?.done();
    await until(() => writes.length === 2);
    assertEquals(writes[1]?.texts.length, 2);
    const closing = serving.close();
    writes[1]?.done();
    await closing;
  });

  test("a client that reads nothing is given up when too much waits", async () => {
    const { writes, say, channel } = slow();
    const serving = serveChannel(echo, channel, { limits: { outboxBytes: 10_000 }, clock: new VirtualClock() });
    say(...handshake());
    for (let id = 1; id <= 100; id++) say(call(id, "x".repeat(200)));
    await turns();
    writes[0]?.done();
    await serving.closed;
    assert(writes.length < 3);
  });

  test("an answer too large for that becomes an error", async () => {
    const { send, got } = await line(echo, { limits: { outboxBytes: 1_000 } });
    send(...handshake(), call(1, "x".repeat(1_000)));
    await until(() => got.length === 2);
    assertEquals(outcomes(got).at(-1), [1, -32603]);
  });
});

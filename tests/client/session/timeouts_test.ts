import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, TimeoutError } from "../../../mod.ts";
import type { Client, Handlers, JsonObject, Progress, Transport } from "../../../mod.ts";
import { CoreClient } from "../../../src/client/core_client.ts";
import type { Fetch } from "../../../src/ports.ts";
import { HttpTransport } from "../../../src/transport/http.ts";
import { objectAt } from "../../servers/core/wire.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import {
  connectShared,
  createPipe,
  eventReply,
  front,
  inEveryWay,
  type Options,
  paramsOf,
  type Peer,
  textOf,
  turns,
  until,
  url,
  type Way,
} from "../support.ts";

const ways: Way[] = ["modern HTTP", "legacy HTTP", "modern pipe", "legacy pipe"];

/** Runs a test on a clock that stands still, in each era over each binding. */
function onTheClock(
  name: string,
  run: (client: Client, clock: VirtualClock, server: Peer) => Promise<void>,
  options: { client?: Options; ways?: readonly Way[] } = {},
): void {
  const kinds = (options.ways ?? ways).map((way) => ({ way, connectBy: connect, kind: "" }));
  const shared = { way: "modern HTTP", connectBy: connectShared, kind: ", a shared client" } as const;
  for (const { way, connectBy, kind } of [...kinds, ...kinds.some(({ way }) => way === shared.way) ? [shared] : []]) {
    test(`${name} (${way}${kind})`, async () => {
      const clock = new VirtualClock();
      const era = way.startsWith("modern") ? "modern" : "legacy";
      const http = era === "modern" ? createModernServer({ clock }) : createLegacyServer({ clock });
      const pipe = createPipe({ era, clock });
      const server: Peer = way.endsWith("pipe") ? pipe.server : http;
      const target = way.endsWith("pipe") ? pipe.transport : url;
      const given = { fetch: memoryFetch(http), clock, ...options.client };
      const client = await clock.until(connectBy(target, given));
      try {
        await run(client, clock, server);
      } finally {
        await clock.until(client.close());
      }
      assertEquals(server.violations, []);
    });
  }
}

/** Calls a tool that takes so long, and gives its text or what ran out. */
async function outcome(clock: VirtualClock, call: Promise<{ content: unknown }>): Promise<string> {
  return await clock.until(call.then(() => "done", (error: unknown) => {
    if (error instanceof TimeoutError) return `${error.timeout} ${error.milliseconds}`;
    throw error;
  }));
}

describe("how long a call may take (C-128)", () => {
  const small: Options = { timeouts: { idle: 1_000, total: 10_000, headers: 500 } };

  onTheClock("a silent server: `timeouts.idle`, or the headers before it", async (client, clock) => {
    const before = clock.monotonic();
    const text = await outcome(clock, client.callTool("slow"));
    const passed = clock.monotonic() - before;
    assert(text === "idle 1000" || text === "headers 500", text);
    assert(passed >= Number(text.split(" ")[1]) && passed < Number(text.split(" ")[1]) + 1_100, `${passed} ms`);
  }, { client: small });

  onTheClock(
    "what came while the program stood still is taken, also where its time is over by then",
    async (client, clock) => {
      // Both are due at once, and the deadline is the older one.
      assertEquals(await outcome(clock, client.callTool("slow", { milliseconds: 800 }, { timeout: 800 })), "done");
      assertEquals(await outcome(clock, client.callTool("slow", { milliseconds: 801 }, { timeout: 800 })), "call 800");
    },
  );

  onTheClock("`timeout` of one call stands for all of them, up and down", async (client, clock) => {
    assertEquals(await outcome(clock, client.callTool("slow", { milliseconds: 4_000 }, { timeout: 5_000 })), "done");
    const before = clock.monotonic();
    assertEquals(await outcome(clock, client.callTool("slow", {}, { timeout: 300 })), "call 300");
    assert(clock.monotonic() - before >= 300 && clock.monotonic() - before < 1_400);
  }, { client: small });

  // As Number(…) of a variable of the environment that is not set.
  onTheClock("a time that is no number ends a call at once: it does not wait for ever", async (client, clock) => {
    const before = clock.monotonic();
    assertEquals(await outcome(clock, client.callTool("slow", {}, { timeout: NaN })), "call NaN");
    assert(clock.monotonic() - before < 1_100);
    assertEquals(await outcome(clock, client.callTool("slow", { milliseconds: 4_000 }, { timeout: Infinity })), "done");
  }, { client: small });

  onTheClock("`timeouts` of one call go before those of the client", async (client, clock) => {
    const timeouts = { idle: 3_000, headers: 3_000 };
    assertEquals(await outcome(clock, client.callTool("slow", { milliseconds: 2_500 }, { timeouts })), "done");
    const total = { ...timeouts, total: 200 };
    assertEquals(await outcome(clock, client.callTool("slow", {}, { timeouts: total })), "total 200");
  }, { client: small });

  onTheClock("progress extends the idle time, with and without a listener (C-129)", async (client, clock) => {
    const args = { count: 5, milliseconds: 800 };
    assertEquals(
      textOf(await clock.until(client.callTool("progress", args, { timeouts: { headers: 900 } }))),
      "progressed 5",
    );
    const seen: number[] = [];
    const onProgress = ({ progress }: Progress): void => void seen.push(progress);
    const options = { onProgress, timeouts: { headers: 900 } };
    assertEquals(textOf(await clock.until(client.callTool("progress", args, options))), "progressed 5");
    assertEquals(seen, [1, 2, 3, 4, 5]);
  }, { client: small, ways: ["modern HTTP", "legacy pipe"] });

  onTheClock("nothing extends the total time (C-129)", async (client, clock) => {
    const before = clock.monotonic();
    const timeouts = { idle: 500, headers: 500, total: 1_200 };
    const text = await outcome(clock, client.callTool("progress", { count: 100, milliseconds: 300 }, { timeouts }));
    assertEquals(text, "total 1200");
    assert(clock.monotonic() - before < 2_300, `${clock.monotonic() - before} ms`);
  });

  onTheClock("the default is a minute of silence", async (client, clock) => {
    assertEquals(await outcome(clock, client.callTool("slow")), "idle 60000");
  }, { ways: ["modern pipe"] });

  const none = { idle: undefined, headers: undefined, total: undefined, start: undefined, pages: undefined };
  const timeouts = none as unknown as Options["timeouts"];
  onTheClock("what is given as undefined is not given, for one call or for all", async (client, clock) => {
    const [headers, idle] = [await outcome(clock, client.callTool("slow")), "idle 60000"];
    assert(headers === idle || headers === "headers 30000", headers);
    assertEquals(await outcome(clock, client.callTool("slow", {}, { timeouts })), headers);
    const named = await outcome(clock, client.callTool("slow", {}, { timeout: 300, timeouts }));
    assertEquals(named, "call 300");
    assert((await clock.until(client.listTools())).tools.length > 10);
  }, { client: { timeouts } });

  /** The clock of a person who takes two minutes for a form. */
  let thinking: VirtualClock;
  const handlers: Handlers = {
    elicitation: async () => {
      await new Promise<void>((resolve) => thinking.schedule(resolve, 120_000));
      return { action: "accept", content: { name: "Ada" } };
    },
  };

  onTheClock("a person may take longer than a server may be silent", async (client, clock) => {
    thinking = clock;
    assertEquals(textOf(await clock.until(client.callTool("ask"))), '["Ada"]');
    assert(clock.monotonic() >= 120_000);
  }, { client: { handlers } });

  onTheClock(
    "meanwhile the idle time of all calls stands still; then it starts over",
    async (client, clock, server) => {
      thinking = clock;
      const slow = client.callTool("slow");
      assertEquals(textOf(await clock.until(client.callTool("ask"))), '["Ada"]');
      await clock.advance(50_000);
      server.release();
      assertEquals(textOf(await clock.until(slow)), "done");
    },
    { client: { handlers }, ways: ["legacy pipe"] },
  );

  test("the message says which option to raise", async () => {
    const clock = new VirtualClock();
    const client = await clock.until(connect(url, { fetch: memoryFetch(createModernServer()), clock }));
    const call = client.callTool("slow", {}, { timeouts: { headers: 3_000 } });
    await assertRejects(() => clock.until(call), TimeoutError, '"timeouts.headers"');
    const whole = client.callTool("slow", {}, { timeout: 3_000 });
    await assertRejects(() => clock.until(whole), TimeoutError, '"timeout"');
    await client.close();
  });

  test("a tool that timed out is not called again; a list is", async () => {
    const clock = new VirtualClock();
    const server = front(createModernServer(), ({ method }, count) => {
      return method === "tools/call" || (method === "tools/list" && count === 1) ? new Promise(() => {}) : undefined;
    });
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, timeouts: { headers: 2_000 } }));
    await assertRejects(() => clock.until(client.callTool("echo", { text: "hi" })), TimeoutError);
    assert((await clock.until(client.listTools())).tools.length > 10);
    assertEquals(server.methods, ["server/discover", "tools/call", "tools/list", "tools/list"]);
    await client.close();
  });

  test("when nothing is in flight no timer is left", async () => {
    const clock = new VirtualClock();
    const client = await clock.until(connect(url, { fetch: memoryFetch(createModernServer()), clock }));
    await clock.until(client.callTool("echo", { text: "hi" }));
    await clock.advance(1_100);
    assertEquals(clock.waiting, 0);
    await client.close();
  });
});

describe("progress", () => {
  inEveryWay("each sign, in order, with its total and words (C-139)", async (client, _, way) => {
    const seen: Progress[] = [];
    await client.callTool("progress", { count: 3 }, { onProgress: (sign) => void seen.push(sign) });
    assertEquals(seen.map(({ progress, total, message }) => [progress, total, message]), [
      [1, 3, "step 1"],
      [2, 3, "step 2"],
      [3, 3, "step 3"],
    ], way);
  });

  inEveryWay("calls at once hear only of themselves (C-140)", async (client, server) => {
    const counts = [2, 5, 9];
    const seen: number[][] = counts.map(() => []);
    await Promise.all(
      counts.map((count, index) =>
        client.callTool("progress", { count }, { onProgress: ({ progress }) => void seen[index]?.push(progress) })
      ),
    );
    assertEquals(seen.map(({ length }) => length), counts);
    const tokens = paramsOf(server, "tools/call").map((params) => objectAt(params, "_meta").progressToken);
    assertEquals(new Set(tokens).size, 3);
    for (const token of tokens) assert(typeof token === "string" || Number.isSafeInteger(token));
  });

  inEveryWay("a listener that throws ends the call with its own error, and nothing else", async (client) => {
    const boom = new RangeError("boom");
    const onProgress = () => {
      throw boom;
    };
    assertEquals(await assertRejects(() => client.callTool("progress", { count: 3 }, { onProgress })), boom);
    assertEquals(textOf(await client.callTool("echo", { text: "fine" })), "fine");
  });

  inEveryWay("a listener whose promise rejects ends the call, too, and after the answer nothing", async (client) => {
    const boom = new RangeError("boom");
    let onProgress = () => Promise.reject(boom);
    const call = client.callTool("progress", { count: 1_000_000, milliseconds: 1 }, { onProgress });
    assertEquals(await assertRejects(() => call), boom);
    onProgress = () => turns().then(() => Promise.reject(boom));
    await client.callTool("progress", { count: 1 }, { onProgress }).catch(() => {});
    await turns();
  });

  /** A reply with these signs of progress before the answer. */
  function signs(values: readonly unknown[], token?: unknown, more?: object) {
    return front(createModernServer(), ({ method, message }) => {
      if (method !== "tools/call") return undefined;
      const own = objectAt(objectAt(message ?? {}, "params"), "_meta").progressToken;
      const notes = values.map((progress) => ({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: token ?? own, progress, ...more },
      }));
      const result = { resultType: "complete", content: [{ type: "text", text: "done" }] };
      return eventReply([...notes, { jsonrpc: "2.0", id: message?.id, result }]);
    });
  }

  async function heard(
    values: readonly unknown[],
    options: { token?: unknown; clock?: VirtualClock; more?: object } = {},
  ) {
    const seen: (number | string)[] = [];
    const clock = options.clock ? { clock: options.clock } : {};
    const fetch = memoryFetch(signs(values, options.token, options.more));
    await using client = await connect(url, { fetch, ...clock });
    const onProgress = ({ progress, total, message }: Progress): void =>
      void seen.push(message || total ? `${progress} of ${total}: ${message}` : progress);
    const call = client.callTool("echo", { text: "hi" }, { onProgress });
    assertEquals(textOf(options.clock ? await options.clock.until(call) : await call), "done");
    return seen;
  }

  test("values that do not rise, and values that are none, are left out", async () => {
    assertEquals(await heard([1, 1, 0.5, 2, "3", null, 2.5, 2.4]), [1, 2, 2.5]);
  });

  test("a total that is no number and words that are no text are not told", async () => {
    for (const more of [{ total: "9" }, { message: 5 }, { message: {} }]) {
      assertEquals(await heard([1, 2], { more }), [1, 2]);
    }
    assertEquals(await heard([1], { more: { total: 9, message: "half" } }), ["1 of 9: half"]);
    assertEquals(await heard([1, 2], { more: { total: null, message: null } }), [1, 2]);
  });

  test("a sign that says nothing at all harms no call", async () => {
    const server = front(createModernServer(), ({ method, message }) => {
      if (method !== "tools/call") return undefined;
      const note = { jsonrpc: "2.0", method: "notifications/progress" };
      const result = { resultType: "complete", content: [{ type: "text", text: "done" }] };
      return eventReply([note, { ...note, params: {} }, { jsonrpc: "2.0", id: message?.id, result }]);
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    assertEquals(textOf(await client.callTool("echo", {}, { onProgress() {} })), "done");
  });

  test("signs for somebody else are left out (C-140)", async () => {
    assertEquals(await heard([1, 2, 3], { token: "somebody else" }), []);
  });

  test("a flood is thinned to 1,000 a second, and the last value is told", async () => {
    const values = Array.from({ length: 5_000 }, (_, index) => index + 1);
    const seen = await heard(values, { clock: new VirtualClock() });
    assertEquals([seen.length, seen[0], seen.at(-1)], [1_001, 1, 5_000]);
  });

  onTheClock("after the answer nothing is told any more", async (client, clock, server) => {
    const seen: number[] = [];
    const controller = new AbortController();
    const options = { signal: controller.signal, onProgress: ({ progress }: Progress) => void seen.push(progress) };
    const call = assertRejects(() => client.callTool("progress", { count: 10, milliseconds: 100 }, options));
    await until(() => server.calls("progress") === 1);
    await clock.advance(350);
    controller.abort(new Error("enough"));
    await call;
    await clock.advance(2_000);
    await turns();
    assertEquals(seen, [1, 2, 3]);
  });
});

test("a form that is filled in after its caller gave up leaves the clocks of other calls alone (C-128)", async () => {
  const clock = new VirtualClock();
  const sent = new Map<unknown, (result: JsonObject) => void>();
  const transport: Transport = {
    kind: "channel",
    label: "by hand",
    send(message, exchange) {
      const { id, params } = message as { id: string; params: JsonObject };
      sent.set(params.name, (result) => exchange?.message({ jsonrpc: "2.0", id, result }));
      return () => {};
    },
    close: () => Promise.resolve(),
  };
  let fill = (): void => {};
  const client = await connect(transport, {
    clock,
    verdict: { era: "modern" },
    timeouts: { idle: 1_000 },
    handlers: { elicitation: () => new Promise((resolve) => fill = () => resolve({ action: "accept", content: {} })) },
  });
  const controller = new AbortController();
  const before = client.callTool("before");
  const asks = client.callTool("asks", {}, { signal: controller.signal });
  const params = { mode: "form", message: "Which?", requestedSchema: { type: "object", properties: {} } };
  const inputRequests = { one: { method: "elicitation/create", params } };
  sent.get("asks")?.({ resultType: "input_required", inputRequests });
  const after = client.callTool("after");
  await clock.settle();
  controller.abort(new Error("enough"));
  await assertRejects(() => asks, Error, "enough");
  sent.get("before")?.({ resultType: "complete", content: [] });
  await before;
  fill();
  await clock.settle();
  sent.get("after")?.({ resultType: "complete", content: [] });
  await after;
  assertEquals(await outcome(clock, client.callTool("silent")), "idle 1000");
  await client.close();
});

describe("a client whose session is still to be opened", () => {
  const silent = (): Promise<Response> => new Promise(() => {});
  const createClosed = (fetch: Fetch, clock: VirtualClock): CoreClient =>
    new CoreClient(new HttpTransport(url, { fetch, clock }), { clock });

  test("the time that a call sets is over while it is opened: nothing was sent", async () => {
    const clock = new VirtualClock();
    const client = createClosed(silent, clock);
    const cases = [[{ timeout: 2_000 }, "call 2000"], [{ timeouts: { total: 3_000 } }, "total 3000"]] as const;
    for (const [options, expected] of cases) {
      const began = clock.monotonic();
      const error = await clock.until(assertRejects(() => client.callTool("echo", {}, options), TimeoutError));
      assertEquals(`${error.timeout} ${error.milliseconds}`, expected);
      assertEquals([error.delivery, clock.monotonic() - began], ["not-sent", error.milliseconds]);
    }
    await clock.until(client.close());
  });

  test("who waits for it beside such a call goes on", async () => {
    const clock = new VirtualClock();
    const server = createModernServer({ clock });
    const answer = memoryFetch(server);
    const late: Fetch = async (...given) => {
      await new Promise<void>((resolve) => void clock.schedule(resolve, 5_000));
      return await answer(...given);
    };
    const client = createClosed(late, clock);
    const patient = client.callTool("echo", { text: "still here" });
    const short = client.callTool("echo", {}, { timeout: 2_000 });
    await clock.until(assertRejects(() => short, TimeoutError));
    assertEquals(textOf(await clock.until(patient)), "still here");
    await clock.until(client.close());
  });
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertInstanceOf, assertMatch, assertRejects } from "@std/assert";
import type { GuardedFetchOptions } from "../../src/egress/guarded_fetch.ts";
import type { Fetch } from "../../src/ports.ts";
import { ConnectionClosedError, EgressDeniedError, TimeoutError } from "../../src/protocol/errors.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { breathe, countListeners, ManualClock, redirect, reply, settle, start, unfinished, World } from "./world.ts";

describe("time and aborts", () => {
  const stuck: Record<string, (world: World) => Partial<GuardedFetchOptions>> = {
    "the resolver": () => ({ resolve: () => new Promise(() => {}) }),
    "the server's head": () => ({ fetch: () => new Promise(() => {}) }),
    "the body": (world) => ({ fetch: () => Promise.resolve(world.track(unfinished("begun"))) }),
    "a redirect's body, and then the next head": (world) => ({
      fetch: (url) =>
        url === start ? Promise.resolve(world.track(unfinished("", 302, "/next"))) : new Promise(() => {}),
    }),
  };
  for (const [name, make] of Object.entries(stuck)) {
    test(`when ${name} never comes, the time-out ends it and leaves nothing open`, async () => {
      const world = new World(() => reply(""));
      const clock = new ManualClock();
      const signals: (AbortSignal | null | undefined)[] = [];
      const inner = make(world);
      const fetch: Fetch = (url, init) => {
        signals.push(init.signal);
        return (inner.fetch ?? world.fetch)(url, init);
      };
      const outcome = settle(world.guarded({ ...inner, fetch, clock })(start));
      await breathe();
      clock.advance(4_999);
      await breathe();
      assertEquals(outcome.state, "pending");
      clock.advance(1);
      await breathe();
      assertInstanceOf(outcome.reason, TimeoutError);
      assertEquals(outcome.reason.milliseconds, 5_000);
      assert(signals.every((signal) => signal?.aborted), "the fetch was not aborted");
      assertEquals([await world.open(), clock.waiting], [0, 0]);
    });

    test(`when ${name} never comes, the caller's abort ends it with the caller's reason`, async () => {
      const world = new World(() => reply(""));
      const clock = new ManualClock();
      const controller = new AbortController();
      const outcome = settle(world.guarded({ ...make(world), clock })(start, { signal: controller.signal }));
      await breathe();
      const reason = { mine: true };
      controller.abort(reason);
      await breathe();
      assertEquals(outcome.reason, reason);
      assertEquals([await world.open(), clock.waiting], [0, 0]);
    });
  }

  test("a reply that came while the program stood still is taken, also where the time is over by then", async () => {
    const clock = new VirtualClock();
    const world = new World(() => reply("here"));
    const fetch: Fetch = async (url, init) => {
      await new Promise<void>((resolve) => void clock.schedule(resolve, 5_000));
      return await world.fetch(url, init);
    };
    // Both are due at once, and the time limit is the older one.
    const { text } = await clock.until(world.guarded({ fetch, clock })(start));
    assertEquals([text, await world.open(), clock.waiting], ["here", 0, 0]);
  });

  test("the time runs over all hops together, and each call may set its own", async () => {
    const clock = new ManualClock();
    const world = new World((_, index) => redirect(302, `/${index}`), {}, () => clock.advance(400));
    const error = await assertRejects(() => world.guarded({ clock })(start, { milliseconds: 1_000 }), TimeoutError);
    assertEquals([error.timeout, error.milliseconds, world.requests.length], ["total", 1_000, 3]);
    assertEquals([await world.open(), clock.waiting], [0, 0]);
  });

  test("a reply that comes after the end is cancelled, and no further hop is made", async () => {
    for (const late of [unfinished("late", 302, "/next"), unfinished("late"), new Response(new ReadableStream({}))]) {
      const clock = new ManualClock();
      const world = new World(() => reply(""));
      const answers: ((response: Response) => void)[] = [];
      const fetch: Fetch = () => new Promise((resolve) => answers.push(resolve));
      const outcome = settle(world.guarded({ fetch, clock })(start));
      await breathe();
      clock.advance(5_000);
      await breathe();
      assertInstanceOf(outcome.reason, TimeoutError);
      answers[0]?.(world.track(late));
      assertEquals([await world.open(), answers.length], [0, 1]);
    }
  });

  test("an address that comes after the end sends nothing", async () => {
    const clock = new ManualClock();
    const world = new World(() => reply("never"));
    let answer: (addresses: string[]) => void = () => {};
    const outcome = settle(world.guarded({ resolve: () => new Promise((resolve) => answer = resolve), clock })(start));
    await breathe();
    clock.advance(5_000);
    answer(["93.184.215.14"]);
    await breathe();
    assertInstanceOf(outcome.reason, TimeoutError);
    assertEquals(world.requests, []);
  });

  test("whatever the outcome, the request's signal is aborted and the caller's keeps no listener", async () => {
    const outcomes: [World, string][] = [
      [new World(() => reply("ok")), start],
      [new World(() => redirect(302, "http://as.example/")), start],
      [new World(() => reply("x".repeat(300_000))), start],
      [new World(() => reply("never")), "https://10.0.0.1/"],
    ];
    for (const [world, url] of outcomes) {
      const { signal } = new AbortController();
      const counted = countListeners(signal);
      const signals: (AbortSignal | null | undefined)[] = [];
      const fetch: Fetch = (address, init) => {
        signals.push(init.signal);
        return world.fetch(address, init);
      };
      await world.guarded({ fetch })(url, { signal }).catch(() => {});
      assert(signals.every((each) => each?.aborted), "the request's signal is not aborted");
      assertEquals([signals.length, counted.added, counted.live], [url === start ? 1 : 0, 1, 0]);
    }
  });

  test("an abort before the start sends nothing; one after the end changes nothing", async () => {
    const world = new World(() => reply("ok"));
    const reason = new Error("mine");
    assertEquals(await assertRejects(() => world.guarded()(start, { signal: AbortSignal.abort(reason) })), reason);
    assertEquals(world.requests, []);
    const controller = new AbortController();
    const document = await world.guarded()(start, { signal: controller.signal });
    controller.abort();
    assertEquals(document.text, "ok");
  });

  test("network failures have their class and cause, and no query in the message", async () => {
    const world = new World(() => {
      throw new TypeError("fetch failed");
    });
    const error = await assertRejects(() => world.guarded()(start + "?token=canary"), ConnectionClosedError);
    assertInstanceOf(error.cause, TypeError);
    assert(error.retryable);
    assertMatch(error.message, /^Cannot fetch "https:\/\/as\.example\/document": /);
    const broken = new World(() =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) }))
    );
    assert((await assertRejects(() => broken.guarded()(start), ConnectionClosedError, "broke")).retryable);
    const own = new EgressDeniedError("the port itself said no");
    const refusing = new World(() => {
      throw own;
    });
    assertEquals(await assertRejects(() => refusing.guarded()(start)), own);
  });
});

/**
 * The three clocks of a call, on a virtual one: what each of them sees, what extends it, and what the server is told.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, connect } from "../../mod.ts";
import type { Clock } from "../../src/ports.ts";
import type { LedgerView } from "../servers/core/ledger.ts";
import { createHostileServer, type FaultName } from "../servers/hostile.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { assertOutcome, trackFetch, watch, watchStrays, within } from "./support/harness.ts";
import { together } from "./support/together.ts";
import { timeout } from "./table/row.ts";

const strays = watchStrays();

describe("time-outs", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const era of ["modern", "legacy"] as const) {
    cases.set(`http-${era}: progress extends the idle time`, async () => {
      const { client, clock } = await open(era);
      const startedAt = clock.monotonic();
      const options = { timeouts: { idle: 29_001 } };
      await clock.until(client.callTool("progress", { count: 4, milliseconds: 29_000 }, options));
      assertEquals(clock.monotonic() - startedAt, 4 * 29_000);
      await client.close();
    });

    cases.set(`http-${era}: nothing extends the total of 300 s`, async () => {
      const { client, clock, server } = await open(era);
      await endsAt(client, clock, { idle: 60_000, names: "total", after: 300_000 });
      assertEquals(server.cancellations.map(({ method }) => method), ["tools/call"]);
      await client.close();
    });

    cases.set(
      `http-${era}: a call without a sign of life ends by its idle time, and the server hears of it`,
      async () => {
        const { client, clock, server, isOpen } = await open(era);
        // The modern peer's stream begins with its first sign of progress, the handshake one's at once.
        await endsAt(client, clock, { idle: 20_000, names: "idle", after: era === "modern" ? 49_000 : 20_000 });
        assert(await within(() => server.cancellations.length === 1, 20));
        const notices = server.count("notifications/cancelled");
        assertEquals(notices, era === "modern" ? 0 : 1, "the way of its era: a closed stream, or a notice");
        assert(await within(() => isOpen() === 0, 20));
        await client.close();
      },
    );

    cases.set(`http-${era}: an answer at the last moment still counts, one after it does not`, async () => {
      const { client, clock } = await open(era);
      const startedAt = clock.monotonic();
      await clock.until(client.callTool("slow", { milliseconds: 29_999 }));
      assertEquals(clock.monotonic() - startedAt, 29_999);
      const work = client.callTool("slow", { milliseconds: 60_001 });
      const late = watch(work);
      await clock.until(work).catch(() => {});
      const end = late.ended();
      assert(end !== undefined && "error" in end);
      await client.close();
    });
  }

  cases.set("one number for a call stands for all three", async () => {
    const { client, clock } = await open("modern");
    const startedAt = clock.monotonic();
    const work = client.callTool("slow", { milliseconds: 10_000 }, { timeout: 1_234 });
    const call = watch(work);
    await clock.until(work).catch(() => {});
    const end = call.ended();
    assert(end !== undefined);
    assertOutcome(end, timeout("call", 0));
    assertEquals(clock.monotonic() - startedAt, 1_234);
    await client.close();
  });

  cases.set("the deadline of a call spans all that is done for it", async () => {
    // Nothing of this ever answers.
    const silences: readonly (readonly [FaultName, "modern" | "legacy", string])[] = [
      ["http-400-header-mismatch", "modern", "tools/list"], // the tools are listed again
      ["http-404-session", "legacy", "initialize"], // a new session is opened
    ];
    for (const [fault, era, silent] of silences) {
      const clock = new VirtualClock();
      const server = createHostileServer(fault, { era, clock });
      let isSilent = false;
      const half = {
        async fetch(request: Request): Promise<Response> {
          const text = await request.clone().text();
          if (!isSilent || !text.includes(`"method":"${silent}"`)) return await server.fetch(request);
          return await new Promise((_resolve, reject) => {
            request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
          });
        },
      };
      const tracked = trackFetch(memoryFetch(half));
      const client = await clock.until(connect("http://fake.test/mcp", { fetch: tracked.fetch, clock }));
      isSilent = true;
      const startedAt = clock.monotonic();
      const work = client.callTool("echo", {}, { timeout: 500 });
      const call = watch(work);
      await clock.until(work).catch(() => {});
      const end = call.ended();
      assert(end !== undefined);
      assertOutcome(end, timeout("call", 500));
      assertEquals(clock.monotonic() - startedAt, 500, fault);
      await clock.until(client.close());
      assert(await within(() => tracked.open() === 0, 20), "nothing is left open");
    }
  });

  cases.set("the deadline of a list spans its pages: what was read by then is given", async () => {
    const clock = new VirtualClock();
    const server = createHostileServer("infinite-pages", { clock });
    const slow = {
      async fetch(request: Request): Promise<Response> {
        await new Promise<void>((resolve) => clock.schedule(resolve, 400));
        return await server.fetch(request);
      },
    };
    const client = await clock.until(connect("http://fake.test/mcp", { fetch: memoryFetch(slow), clock }));
    const startedAt = clock.monotonic();
    const { tools, truncated } = await clock.until(client.listTools({ timeout: 2_100 }));
    assertEquals([tools.length, truncated, clock.monotonic() - startedAt], [5, "time", 2_100]);
    await client.close();
  });

  cases.set("F48 the wall clock may jump: deadlines do not see it", async () => {
    const clock = new VirtualClock();
    let jump = 0;
    const jumping: Clock = {
      now: () => clock.now() + jump,
      monotonic: () => clock.monotonic(),
      schedule: (callback, milliseconds) => clock.schedule(callback, milliseconds),
    };
    const server = createModernServer({ clock });
    const client = await clock.until(connect("http://fake.test/mcp", { fetch: memoryFetch(server), clock: jumping }));
    for (const hours of [1, -2]) {
      const startedAt = clock.monotonic();
      const work = client.callTool("slow", { milliseconds: 20_000 });
      await clock.advance(10_000);
      jump = hours * 3_600_000;
      await clock.until(work);
      assertEquals(clock.monotonic() - startedAt, 20_000);
    }
    await client.close();
  });

  cases.set("F48 timers that fire five seconds late still end a call", async () => {
    const clock = new VirtualClock();
    const late: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      schedule: (callback, milliseconds) => clock.schedule(callback, milliseconds + 5_000),
    };
    const server = createModernServer({ clock });
    const client = await clock.until(connect("http://fake.test/mcp", { fetch: memoryFetch(server), clock: late }));
    const startedAt = clock.monotonic();
    const call = watch(client.callTool("slow", {}));
    await clock.advance(40_000);
    const end = call.ended();
    assert(end !== undefined && clock.monotonic() - startedAt <= 40_000);
    assertOutcome(end, timeout("headers", 0));
    await client.close();
  });

  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("nothing was rejected unheard", () => strays.none());
});

/** A call with progress every 29 s ends by the clock that is named. */
async function endsAt(
  client: Client,
  clock: VirtualClock,
  { idle, names, after }: { idle: number; names: string; after: number },
): Promise<void> {
  const startedAt = clock.monotonic();
  const work = client.callTool("progress", { count: 20, milliseconds: 29_000 }, { timeouts: { idle } });
  const call = watch(work);
  await clock.until(work).catch(() => {});
  const end = call.ended();
  assert(end !== undefined);
  assertOutcome(end, timeout(names, after));
  assertEquals(clock.monotonic() - startedAt, after);
}

interface Opened {
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly server: LedgerView;
  isOpen(): number;
}

async function open(era: "modern" | "legacy"): Promise<Opened> {
  const clock = new VirtualClock();
  const server = era === "modern"
    ? createModernServer({ clock, reply: "sse" })
    : createLegacyServer({ clock, reply: "sse" });
  const tracked = trackFetch(memoryFetch(server));
  const client = await clock.until(connect("http://fake.test/mcp", { fetch: tracked.fetch, clock }));
  return { client, clock, server, isOpen: tracked.open };
}

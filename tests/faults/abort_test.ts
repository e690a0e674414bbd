/**
 * The caller gives up: before the request leaves, before the reply's head, in its body, with the answer, after it, twice.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, connect } from "../../mod.ts";
import type { FaultName } from "../servers/hostile.ts";
import { createHostileServer } from "../servers/hostile.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { evenRandom, textOf, trackFetch, turn, watch, watchStrays, within } from "./support/harness.ts";
import { createHostilePipe } from "./support/hostile_pipe.ts";
import { together } from "./support/together.ts";

const strays = watchStrays();
const eras = ["modern", "legacy"] as const;
const reason = new Error("the user has had enough");

/** What a test of an abort needs of any transport. */
interface World {
  readonly client: Client;
  /** How often the request arrived. */
  hits(): number;
  /** How often it was called off by a notice. */
  notices(): number;
  /** Everything is let go. */
  clean(): boolean;
}

describe("F36 aborts", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const era of eras) {
    for (const fault of ["headers-never", "stalls"] as const) {
      cases.set(`http-${era} ${fault === "stalls" ? "in the body" : "before the head"}`, async () => {
        const world = await overHttp(fault, era);
        await abortInFlight(world);
        assertEquals(world.notices(), era === "modern" ? 0 : 1, "the way of its era: a closed stream, or a notice");
        await goesOn(world);
      });
    }

    cases.set(`pipe-${era} in flight`, async () => {
      const world = await overPipe(era);
      await abortInFlight(world);
      await goesOn(world);
    });

    for (const [kind, open] of [["http", () => overHttp("stalls", era)], ["pipe", () => overPipe(era)]] as const) {
      cases.set(`${kind}-${era} before it is sent: nothing leaves`, async () => {
        const world = await open();
        const call = watch(world.client.callTool("echo", {}, { signal: AbortSignal.abort(reason) }));
        assert(await within(() => call.ended() !== undefined, 20));
        assertEquals([call.ended(), world.hits()], [{ error: reason }, 0]);
        await world.client.close();
      });

      cases.set(`${kind}-${era} after the answer, and twice: it was answered`, async () => {
        const world = await open();
        await abortInFlight(world);
        const controller = new AbortController();
        const result = await world.client.callTool("echo", { text: "hi" }, { signal: controller.signal });
        const notices = world.notices();
        controller.abort(reason);
        controller.abort(new Error("again"));
        for (let count = 0; count < 3; count++) await turn();
        assertEquals([textOf(result), world.notices()], ["hi", notices]);
        await world.client.close();
      });

      cases.set(`F37 ${kind}-${era} with the answer, at every turn of the way: exactly one outcome`, async () => {
        const outcomes = new Set<string>();
        for (let turns = 0; turns < 12; turns++) {
          const world = await open();
          await abortInFlight(world); // the fault is spent
          const controller = new AbortController();
          const call = watch(world.client.callTool("echo", { text: "hi" }, { signal: controller.signal }));
          for (let count = 0; count < turns; count++) await (turns % 2 === 0 ? Promise.resolve() : turn());
          controller.abort(reason);
          assert(await within(() => call.ended() !== undefined, 50), "it ended");
          const end = call.ended();
          assert(end !== undefined);
          if ("value" in end) assertEquals(textOf(end.value), "hi");
          else assertEquals(end.error, reason);
          outcomes.add("value" in end ? "answered" : "aborted");
          await goesOn(world);
        }
        assertEquals(outcomes.has("aborted"), true);
      });
    }
  }

  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("nothing was rejected unheard", () => strays.none());
});

/** Aborts a call that waits for its answer: it rejects at once with the caller's own reason, and all is let go. */
async function abortInFlight({ client, hits, clean }: World): Promise<void> {
  const controller = new AbortController();
  const call = watch(client.callTool("echo", { text: "hi" }, { signal: controller.signal }));
  assert(await within(() => hits() === 1, 50), "it arrived");
  for (let count = 0; count < 3; count++) await turn();
  assertEquals(call.ended(), undefined);
  controller.abort(reason);
  controller.abort(new Error("again"));
  await Promise.resolve();
  await Promise.resolve();
  assert(await within(() => call.ended() !== undefined, 2), "at once");
  assertEquals(call.ended(), { error: reason });
  assert(await within(clean, 20), "all is let go");
}

async function goesOn({ client, clean }: World): Promise<void> {
  assertEquals(textOf(await client.callTool("echo", { text: "next" })), "next");
  await client.close();
  assert(await within(clean, 20), "all is let go");
}

async function overHttp(fault: FaultName, era: "modern" | "legacy"): Promise<World> {
  const clock = new VirtualClock();
  const server = createHostileServer(fault, { era, clock, times: 1 });
  const tracked = trackFetch(memoryFetch(server));
  const client = await connect("http://fake.test/mcp", { fetch: tracked.fetch, clock, random: evenRandom });
  return {
    client,
    hits: server.hits,
    notices: () => server.count("notifications/cancelled"),
    clean: () => tracked.open() === 0,
  };
}

async function overPipe(era: "modern" | "legacy"): Promise<World> {
  const clock = new VirtualClock();
  const pipe = createHostilePipe("silent", { era, on: "tools/call", times: 1 });
  const client = await connect(pipe.transport, { clock, random: evenRandom });
  return { client, hits: pipe.hits, notices: pipe.notices, clean: () => true };
}

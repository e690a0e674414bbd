import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { CallToolResult } from "../../mod.ts";
import { systemRandom } from "../../src/ports.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { counted, type CountedServer, faultyFetches, healthy } from "./faulty.ts";
import { openHub, textOf } from "./support.ts";

const mostEarly = 10;
const most = 40;

/** Those that are reached: what they are sent beside calls is counted. */
const reached = ["flapping", "dying", "deaf", "failing"];

interface Scene {
  readonly servers: ReadonlyMap<string, CountedServer>;
  readonly openedAt: number;
  readonly answers: readonly CallToolResult[];
}

/** Ten minutes with one server of each kind and a good one; with `calls` they are connected by calls, which go on. */
async function play(fraction: number, calls: boolean): Promise<Scene> {
  const clock = new VirtualClock();
  const servers = new Map<string, CountedServer>([["good", counted("good", clock, healthy("good"))]]);
  for (const [kind, fetch] of Object.entries(faultyFetches(clock))) servers.set(kind, counted(kind, clock, fetch));
  const config = Object.fromEntries(Array.from(servers, ([name, server]) => [name, server.config]));
  const random = { ...systemRandom, fraction: () => fraction };
  const hub = await clock.until(openHub(config, { clock, random, lazy: calls }));
  const openedAt = clock.monotonic();
  const answers: Promise<CallToolResult>[] = [];
  const bad: Promise<CallToolResult>[] = [];
  for (let step = 0; step < 60; step++) {
    if (calls) {
      answers.push(hub.callTool("good.echo", { text: "a" }));
      for (const name of servers.keys()) bad.push(hub.callTool(`${name}.echo`, { text: "a" }, { timeout: 20_000 }));
    }
    await clock.advance(step < 10 ? 1_000 : 10_000);
  }
  await clock.until(hub.close());
  assertEquals((await Promise.all(bad)).filter(({ isError }) => isError).length > 0, calls);
  assertEquals(clock.waiting, 0, "timers are left");
  return { servers, openedAt, answers: await Promise.all(answers) };
}

describe("servers that do not work are left in peace: at most 10 requests in 5 s, 40 in 10 min", () => {
  for (const fraction of [0, 0.999]) {
    test(`while nobody calls (jitter ${fraction})`, async () => {
      const { servers, openedAt } = await play(fraction, false);
      assert(openedAt <= 30_100, `it opened after ${openedAt} ms`);
      for (const [kind, { requests }] of servers) {
        const early = requests.filter((at) => at <= 5_000).length;
        assert(early > 0 && early <= mostEarly && requests.length <= most, `${kind}: ${early}, ${requests.length}`);
      }
    });

    test(`while somebody calls all of them, again and again (jitter ${fraction})`, async () => {
      const { servers, answers } = await play(fraction, true);
      assertEquals(answers.map(textOf), answers.map(() => "good: a"));
      for (const [kind, { requests }] of servers) {
        if (kind === "good" || reached.includes(kind)) continue;
        const early = requests.filter((at) => at <= 5_000).length;
        assert(early <= mostEarly && requests.length <= most, `${kind}: ${early}, ${requests.length}`);
      }
    });
  }
});

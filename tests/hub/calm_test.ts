import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { CallToolResult, Middleware } from "../../mod.ts";
import { systemRandom } from "../../src/ports.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { counted, type CountedServer, faultyFetches, healthy } from "./faulty.ts";
import { openHub, textOf } from "./support.ts";

const mostEarly = 10;
const most = 40;

interface Scene {
  readonly servers: ReadonlyMap<string, CountedServer>;
  /** When a call was on its way to a server, however often it was sent. */
  readonly asked: ReadonlyMap<string, readonly number[]>;
  /** How many calls a server answered. */
  readonly worked: ReadonlyMap<string, number>;
  readonly openedAt: number;
  readonly answers: readonly CallToolResult[];
}

/** Ten minutes with one server of each kind and a good one; with `calls` they are connected by calls, which go on. */
async function play(fraction: number, calls: boolean): Promise<Scene> {
  const clock = new VirtualClock();
  const servers = new Map<string, CountedServer>([["good", counted("good", clock, healthy("good"))]]);
  for (const [kind, fetch] of Object.entries(faultyFetches(clock))) servers.set(kind, counted(kind, clock, fetch));
  const asked = new Map(Array.from(servers.keys(), (name) => [name, [] as number[]]));
  const worked = new Map<string, number>();
  const config = Object.fromEntries(Array.from(servers, ([name, server]) => {
    const middleware: Middleware = (next) => (request) => {
      if (request.method === "tools/call") asked.get(name)?.push(clock.monotonic());
      return next(request);
    };
    return [name, { ...server.config, middleware: [middleware] }];
  }));
  const random = { ...systemRandom, fraction: () => fraction };
  const hub = await clock.until(openHub(config, { clock, random, lazy: calls }));
  const openedAt = clock.monotonic();
  const answers: Promise<CallToolResult>[] = [];
  const bad: Promise<CallToolResult>[] = [];
  for (let step = 0; step < 60; step++) {
    if (calls) {
      answers.push(hub.callTool("good.echo", { text: "a" }));
      for (const name of servers.keys()) {
        const call = hub.callTool(`${name}.echo`, { text: "a" }, { timeout: 20_000 });
        bad.push(call);
        void call.then(({ isError }) => isError || worked.set(name, (worked.get(name) ?? 0) + 1));
      }
    }
    await clock.advance(step < 10 ? 1_000 : 10_000);
  }
  await clock.until(hub.close());
  assertEquals((await Promise.all(bad)).filter(({ isError }) => isError).length > 0, calls);
  assertEquals(clock.waiting, 0, "timers are left");
  return { servers, asked, worked, openedAt, answers: await Promise.all(answers) };
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
      const { servers, asked, worked, answers } = await play(fraction, true);
      assertEquals(answers.map(textOf), answers.map(() => "good: a"));
      const isEarly = (at: number): boolean => at <= 5_000;
      const figures: string[] = [];
      for (const [kind, { requests }] of servers) {
        if (kind === "good") continue;
        // What a caller asked for counts once; whatever else is sent is the hub's own doing.
        const calls = asked.get(kind) ?? [];
        const early = requests.filter(isEarly).length - calls.filter(isEarly).length;
        const all = requests.length - calls.length;
        figures.push(`${kind} ${early}/${all}+${calls.length}`);
        assert(early <= mostEarly && all <= most, `${kind}: ${early}, ${all} (${requests.length})`);
      }
      console.log(`calm, jitter ${fraction}: ${figures.join(", ")}`);
      // That one refuses every second request: it is not sent much that nobody asked for, and its callers are served.
      const [sent = 0, served = 0] = [servers.get("flapping")?.requests.length, worked.get("flapping")];
      assert(sent <= 60 + most && served >= 25, `${sent} requests, ${served} of 60 calls`);
    });
  }
});

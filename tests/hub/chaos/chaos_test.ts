/**
 * Fifty servers, ten of which do not work, for ten minutes by a clock that stands still: the good ones must not notice.
 */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { Hub } from "../../../src/hub/hub.ts";
import { type Clock, systemRandom } from "../../../src/ports.ts";
import { turn, watchStrays } from "../../faults/support/harness.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { openHub, stateOf, textOf } from "../support.ts";
import { type Actor, countedClock, faultyActors, goodActors } from "./cast.ts";

const timeout = 20_000;
const [mostEarly, most] = [10, 40];
const slowly = { timeout: 600_000 };

/** What the good servers were like. */
interface Figures {
  /** How long opening took, by the clock. */
  readonly openedAt: number;
  /** How long each call took, by the clock, in the order of the calls. */
  readonly times: number[];
  /** How many turns of the event loop each call took that needs no time. */
  readonly turns: number[];
}

/** What the others got. */
interface Scene extends Figures {
  readonly faulty: readonly Actor[];
  /** Calls that were made to them, and answers to them, by name. */
  readonly calls: number;
  readonly answers: ReadonlyMap<string, number>;
}

const strays = watchStrays();

/** A signal that knows who listens to it. */
function countedSignal(): { readonly signal: AbortSignal; listeners(): number } {
  const { signal } = new AbortController();
  const added = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (type: string, listener: EventListener, options?: AddEventListenerOptions) => {
    added.add(listener);
    addEventListener.call(signal, type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    added.delete(listener);
    removeEventListener.call(signal, type, listener);
  };
  return { signal, listeners: () => added.size };
}

/** Calls ten good servers, with work that takes time; then one of them, with work that takes none. */
async function callGood(hub: Hub, good: readonly Actor[], clock: Clock, { times, turns }: Figures): Promise<void> {
  const round = turns.length;
  const chosen = good.filter((_, index) => index % 4 === round % 4);
  for (const { name } of chosen) {
    const index = times.push(-1) - 1;
    const startedAt = clock.monotonic();
    void hub.callTool(`${name}.slow`, { milliseconds: 5 + index % 90 }).then((result) => {
      if (textOf(result) === "done") times[index] = clock.monotonic() - startedAt;
    });
  }
  const one = chosen[Math.floor(round / 4) % chosen.length]?.name;
  let isDone = false;
  const call = hub.callTool(`${one}.echo`, { text: "a" }).finally(() => isDone = true);
  let count = 0;
  for (; !isDone && count < 1_000; count++) await turn();
  assertEquals(textOf(await call), "a");
  turns.push(count);
}

/** Ten minutes, in which each server that does not work is called again and again. */
async function play(fraction: number, makeFaulty: (clock: VirtualClock) => Actor[]): Promise<Scene> {
  const time = new VirtualClock();
  const clock = countedClock(time);
  const [good, faulty] = [goodActors(40, time), makeFaulty(time)];
  const { signal, listeners } = countedSignal();
  const random = { ...systemRandom, fraction: () => fraction };
  const config = Object.fromEntries([...faulty, ...good].map(({ name, config }) => [name, { timeout, ...config }]));
  const hub = await time.until(openHub(config, { clock, random, signal }));
  const openedAt = clock.monotonic();
  for (const { name } of good) assertEquals([name, stateOf(hub, name)], [name, "connected"]);
  const figures: Figures = { openedAt, times: [], turns: [] };
  const answers = new Map<string, number>();
  let [calls, settled] = [0, 0];
  for (let step = 0; clock.monotonic() < openedAt + 600_000; step++) {
    for (const { name } of faulty) {
      calls++;
      void hub.callTool(`${name}.echo`, { text: "a" }, { timeout: 15_000, signal }).then(({ isError }) => {
        settled++;
        if (!isError) answers.set(name, (answers.get(name) ?? 0) + 1);
      });
    }
    if (step % 4 === 0) await callGood(hub, good, clock, figures);
    await time.advance(step < 20 ? 1_000 : 10_000);
  }
  await time.until(hub.close());
  await time.settle();
  assertEquals([settled, clock.timers(), listeners()], [calls, 0, 0], "calls, timers, listeners");
  assertEquals([...good, ...faulty].filter((actor) => actor.open()).map(({ name }) => name), [], "left open");
  return { ...figures, faulty, calls, answers };
}

/** What is asked of a server that does not work: beside the calls that it answered, where it works at times. */
function count({ name, requests, starts }: Actor, answers: ReadonlyMap<string, number>): [early: number, all: number] {
  const early = (times: readonly number[]): number => times.filter((at) => at < 5_000).length;
  const all = Math.max(requests.length - (answers.get(name) ?? 0), starts.length);
  return [Math.max(early(requests), early(starts)), all];
}

function worst(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.99) - 1] ?? NaN;
}

describe("fifty servers, ten of which do not work", () => {
  let alone: Scene | undefined;
  // Ten minutes of the clock are work: the others show one strength of jitter, Bun all three.
  for (const fraction of "Bun" in globalThis ? [0, 0.5, 0.999] : [0.5]) {
    test(`the good ones are as quick as alone, the others are left in peace (jitter ${fraction})`, slowly, async () => {
      alone ??= await play(fraction, () => []);
      const together = await play(fraction, faultyActors);
      const { faulty, answers, openedAt, times, turns, calls } = together;
      const counts = new Map(faulty.map((actor) => [actor.name, count(actor, answers)]));
      const figures = Array.from(counts, ([name, [early, all]]) => `${name} ${early}/${all}`).join(", ");
      const p99 = `p99 ${worst(times)} ms, ${worst(turns)} turns (alone ${worst(alone.times)}, ${worst(alone.turns)})`;
      console.log(
        `chaos, jitter ${fraction}: open ${openedAt} ms; ${times.length} good calls ${p99}; ${calls} bad: ${figures}`,
      );
      assert(openedAt <= timeout + 100, `it opened after ${openedAt} ms`);
      assert(times.every((time) => time >= 0), "a good call failed");
      assertEquals([times, turns], [alone.times, alone.turns]);
      for (const [name, [early, all]] of counts) {
        assert(early > 0 && early <= mostEarly && all > 0 && all <= most, `${name}: ${early}, ${all}`);
      }
      // The hostile one works at times as well, where the list of its tools came about.
      const working = [...answers.keys()].filter((name) => name !== "hostile").sort();
      assertEquals(working, ["flapping", "slow"], "those that work at times");
    });
  }

  test("nothing was rejected unheard", () => strays.none());
});

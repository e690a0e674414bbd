import { describe, it } from "node:test";
import { assertEquals } from "@std/assert";
import type { Change, Client, Subscription } from "../../../mod.ts";
import { Follows } from "../../../src/hub/gateway/follows.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

/** Follows one resource at a server whose stream of changes ends by itself, so long after it was opened. */
function follow(clock: VirtualClock, life: number): { readonly opened: number[]; readonly follows: Follows } {
  const opened: number[] = [];
  const subscribeResource = (): Subscription => {
    opened.push(clock.monotonic());
    const ended = new Promise<void>((resolve) => void clock.schedule(resolve, life));
    const changes: AsyncIterable<Change> = {
      [Symbol.asyncIterator]: () => ({ next: () => ended.then(() => ({ done: true, value: undefined })) }),
    };
    return Object.assign(changes, { acknowledged: Promise.resolve({}), ended }) as unknown as Subscription;
  };
  const client = { info: { capabilities: { resources: { subscribe: true } } }, subscribeResource };
  const follows = new Follows({
    clock,
    client: () => Promise.resolve(client as unknown as Client),
    find: (uri) => ({ server: "one", uri }),
    owners: () => undefined,
    watch: () => () => {},
    may: () => true,
    still: () => Promise.resolve(true),
    listed: () => undefined,
    changed: () => {},
  });
  follows.watched().add("note://one");
  return { opened, follows };
}

/** How long it waited before each further try, in seconds. */
async function pausesOf(life: number): Promise<number[]> {
  const clock = new VirtualClock();
  const { opened, follows } = follow(clock, life);
  await clock.advance(5 * life + 40_000);
  follows.close();
  return opened.slice(1, 5).map((at, index) => (at - (opened[index] ?? 0) - life) / 1_000);
}

describe("a resource that is followed at its server", () => {
  it("is followed again a second after its stream has ended, however often that works", async () => {
    assertEquals(await pausesOf(3_600_000), [1, 1, 1, 1]);
  });

  it("is left in more and more peace where its stream ends as soon as it is open", async () => {
    assertEquals(await pausesOf(10), [1, 2, 4, 8]);
  });
});

import { describe, it } from "node:test";
import { assertEquals } from "@std/assert";
import type { Change, Client, Subscription } from "../../../mod.ts";
import { Follows } from "../../../src/hub/gateway/follows.ts";
import { Uris } from "../../../src/hub/gateway/lists/uris.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

/** Follows one resource at a server whose stream of changes ends by itself, so long after it was opened. */
function follow(clock: VirtualClock, life: number, may = true, isDown = (): boolean => false) {
  const told: number[] = [];
  const opened: number[] = [];
  const signals: AbortSignal[] = [];
  const subscribeResource = (_uri: string, { signal }: { signal: AbortSignal }): Subscription => {
    opened.push(clock.monotonic());
    signals.push(signal);
    const ended = new Promise<void>((resolve) => void clock.schedule(resolve, life));
    const changes: AsyncIterable<Change> = {
      [Symbol.asyncIterator]: () => ({ next: () => ended.then(() => ({ done: true, value: undefined })) }),
    };
    return Object.assign(changes, { acknowledged: Promise.resolve({}), ended }) as unknown as Subscription;
  };
  const client = { info: { capabilities: { resources: { subscribe: true } } }, subscribeResource };
  const follows = new Follows({
    clock,
    client: () => isDown() ? Promise.reject(new Error("it is down")) : Promise.resolve(client as unknown as Client),
    find: (uri) => ({ server: "one", uri }),
    having: () => [],
    watch: () => () => {},
    may: () => true,
    still: () => Promise.resolve(may),
    listed: () => undefined,
    changed: () => told.push(clock.monotonic()),
  });
  follows.watched().add("note://one");
  return { opened, told, follows, signals };
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

  it("is told of when it is followed again: what changed in between is heard of by nobody", async () => {
    for (const may of [true, false]) {
      const clock = new VirtualClock();
      const { opened, told, follows } = follow(clock, 10_000, may);
      await clock.advance(5_000);
      assertEquals([opened.length, told], [1, []]);
      await clock.advance(30_000);
      follows.close();
      assertEquals(told, may ? opened.slice(1) : []);
    }
  });

  it("is told of when its server, which was down when it was wanted, is there: it may be another one than was read before", async () => {
    const clock = new VirtualClock();
    let isDown = true;
    const { opened, told, follows } = follow(clock, 3_600_000, true, () => isDown);
    await clock.advance(500);
    isDown = false;
    await clock.advance(10_000);
    follows.close();
    assertEquals([opened.length, told], [1, opened]);
  });

  it("is followed once for all that want it, until nobody does", async () => {
    const clock = new VirtualClock();
    const { opened, follows, signals } = follow(clock, 3_600_000);
    const [one, two] = [follows.watched(), follows.watched()];
    one.add("note://one");
    two.add("note://one").add("note://two");
    await clock.advance(1);
    assertEquals(opened.length, 2);
    const isOver = () => signals.map(({ aborted }) => aborted);
    one.clear();
    two.delete("note://one");
    // The first one of all is still there.
    assertEquals(isOver(), [false, false]);
    two.clear();
    assertEquals(isOver(), [false, true]);
    follows.close();
    assertEquals(isOver(), [true, true]);
  });

  it("stays where it is though another server lists something by its address, and is told of only where it may be", async () => {
    const listed = (server: string, uri: string) => ({ server, resource: { name: uri, uri } });
    let resources = [listed("one", "note://x"), listed("two", "hub://one/note://x"), listed("one", "note://y")];
    const uris = new Uris({
      resources: () => resources,
      templates: () => [],
      servers: () => ["one", "two"],
      withResources: () => ["one", "two"],
    });
    const heard = new Set<() => void>();
    const [told, opened, refused]: [string[], string[], Set<string>] = [[], [], new Set()];
    const follows = new Follows({
      clock: new VirtualClock(),
      client: (server) => {
        opened.push(server);
        return new Promise(() => {});
      },
      find: (uri) => uris.find(uri),
      having: (uri) => uris.having(uri),
      watch: (listener) => {
        heard.add(listener);
        return () => void heard.delete(listener);
      },
      may: () => true,
      still: ({ server }) => Promise.resolve(!refused.has(server)),
      listed: () => undefined,
      changed: ({ server, uri }) => told.push(`${server} ${uri}`),
    });
    const change = async (): Promise<void> => {
      for (const listener of heard) listener();
      await new Promise((resolve) => setTimeout(resolve));
    };
    const watched = follows.watched();
    watched.add("hub://one/note://x").add("note://y");
    for (let times = 0; times < 3; times++) await change();
    assertEquals([opened, told], [["one", "one"], []]);
    resources = [listed("two", "note://y")];
    await change();
    assertEquals([opened, told], [["one", "one", "two"], ["two note://y"]]);
    resources = [listed("one", "note://y")];
    refused.add("one");
    await change();
    assertEquals([opened, told], [["one", "one", "two", "one"], ["two note://y"]]);
    watched.clear();
    assertEquals(heard.size, 0);
    follows.close();
  });
});

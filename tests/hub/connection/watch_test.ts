import { test } from "node:test";
import { assertEquals } from "@std/assert";
import type { Client } from "../../../mod.ts";
import { Breaker } from "../../../src/hub/connection/breaker.ts";
import { Watch } from "../../../src/hub/connection/watch.ts";
import { systemRandom } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

test("a server that is back twice in a minute is listened to once, and not at all when that is ended", async () => {
  const clock = new VirtualClock();
  const breaker = new Breaker({ clock, random: systemRandom });
  const known = { name: "one", listedAt: 1, tools: [], resources: [], templates: [], prompts: [] };
  const watch = new Watch({
    clock,
    timeout: 1_000,
    breaker,
    keeps: () => true,
    failed: () => {},
    broke: () => {},
    emit: () => {},
    known: () => known,
    learned: () => {},
  });
  let open = 0;
  const listen = () => {
    open++;
    let end = () => {};
    const ended = new Promise<void>((resolve) => end = resolve);
    return {
      close() {
        open--;
        end();
      },
      [Symbol.asyncIterator]() {
        return { next: () => ended.then(() => ({ done: true, value: undefined })) };
      },
    };
  };
  const info = { capabilities: { tools: { listChanged: true } } };
  const listTools = () => Promise.resolve({ tools: [] });
  const client = { info, listen, listTools, changed: () => {} } as unknown as Client;
  breaker.failed();
  watch.start(client, false);
  await clock.advance(10_000);
  watch.start(client, false);
  await clock.advance(60_000);
  assertEquals(open, 1);
  watch.stop();
  await clock.advance(120_000);
  assertEquals([open, clock.waiting], [0, 0]);
});

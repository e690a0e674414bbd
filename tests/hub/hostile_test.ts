import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createHostileServer, faultNames } from "../servers/hostile.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { counted, healthy, urlOf } from "./faulty.ts";
import { openHub, textOf } from "./support.ts";

const names = faultNames();

for (const on of ["server/discover", "tools/list", "tools/call"]) {
  test(`servers that are hostile at ${on} change nothing for the one that is not`, async () => {
    const clock = new VirtualClock();
    const servers = names.map((name) => {
      const fetch = memoryFetch(createHostileServer(name, { on, clock, size: 1_000 }));
      return [name, { url: urlOf(name), fetch, timeout: 10_000, limits: { messageBytes: 100_000 } }] as const;
    });
    const good = counted("good", clock, healthy("good"));
    const hub = await clock.until(openHub({ ...Object.fromEntries(servers), good: good.config }, { clock }));
    assert(clock.monotonic() <= 10_100, `${clock.monotonic()} ms`);
    const [answer, ...others] = await clock.until(Promise.all([
      hub.callTool("good__echo", { text: "a" }),
      ...names.map((name) => hub.callTool(`${name}.echo`, { text: "a" }, { timeout: 5_000 })),
    ]));
    assertEquals(textOf(answer), "good: a");
    assertEquals(others.length, names.length);
    for (const [index, result] of others.entries()) {
      if (result.isError) assert(textOf(result).includes(`"${names[index]}"`), textOf(result));
    }
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });
}

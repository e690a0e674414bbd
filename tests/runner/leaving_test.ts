import { assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createWorld } from "./support/world.ts";
import type { World } from "./support/world.ts";

const quotas = { concurrent: 3, requestsPerMinute: 10_000 };

async function hangingRun(world: World): Promise<string> {
  const started = await world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
  return `/api/runs/${(await started.json()).id}/events`;
}

describe("who leaves a stream of events gives the place back", () => {
  it("after having read some of it", async () => {
    await using world = await createWorld({ quotas });
    const path = await hangingRun(world);
    for (let count = 0; count < 50; count++) {
      const response = await world.ask(path);
      assertEquals(response.status, 200);
      const reader = response.body!.getReader();
      await reader.read();
      await reader.read();
      await reader.cancel();
    }
  });

  it("without having read anything", async () => {
    await using world = await createWorld({ quotas });
    const path = await hangingRun(world);
    for (let count = 0; count < 50; count++) {
      const response = await world.ask(path);
      assertEquals(response.status, 200);
      await response.body!.cancel();
    }
  });

  it("where the host tells of it by the signal of the request alone", async () => {
    await using world = await createWorld({ quotas });
    const path = await hangingRun(world);
    for (let count = 0; count < 50; count++) {
      const controller = new AbortController();
      const response = await world.ask(path, { signal: controller.signal });
      assertEquals(response.status, 200);
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  });

  it("from a tool's progress", async () => {
    await using world = await createWorld({ quotas, onCall: () => new Promise(() => {}) });
    for (let count = 0; count < 20; count++) {
      const response = await world.ask("/api/tools/alpha__echo", {
        body: {},
        headers: { accept: "text/event-stream" },
      });
      assertEquals(response.status, 200);
      const reader = response.body!.getReader();
      await reader.read();
      await reader.cancel();
    }
  });
});

/** What the bodies of requests cost a tenant. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createDashboard } from "../../../src/runner/mod.ts";
import { createWorld, problemOf } from "../support/world.ts";
import type { World } from "../support/world.ts";

const taking = ["/api/tools/alpha__echo", "/mcp", "/v1/chat/completions"];

/** Ada's request with a body that a program gives piece by piece. */
function sent(
  world: World,
  path: string,
  { headers, ...init }: {
    readonly body?: ReadableStream;
    readonly headers?: Record<string, string>;
    readonly method?: string;
  },
): Promise<Response> {
  const all = {
    ...{ authorization: `Bearer ${world.key("ada")}`, "content-type": "application/json" },
    ...{ accept: "application/json, text/event-stream", ...headers },
  };
  const given: RequestInit & { duplex: "half" } = { method: "POST", ...init, headers: all, duplex: "half" };
  return world.runner.fetch(new Request(`http://localhost${path}`, given));
}

function streamOf(...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

describe("bodies", () => {
  it("that do not say how long they are count as they come", async () => {
    const padding = "x".repeat(60_000);
    const message = { jsonrpc: "2.0", id: 1, method: "ping", params: { padding } };
    const chat = { model: "nobody", messages: [{ role: "user", content: padding }] };
    const requests: readonly (readonly [string, object, number])[] = [
      ["/mcp", message, 400],
      ["/v1/chat/completions", chat, 404],
    ];
    for (const [path, body, status] of requests) {
      await using world = await createWorld({ quotas: { bytesPerMinute: 100_000 } });
      const statuses: number[] = [];
      for (let count = 0; count < 3; count++) {
        const response = await sent(world, path, {
          body: streamOf(new TextEncoder().encode(JSON.stringify(body))),
        });
        statuses.push(response.status);
        await response.text();
      }
      assertEquals(statuses, [status, status, 429], path);
    }
  });

  it("count while they are on their way: who sends them slowly makes them be held", async () => {
    for (const [path, isSaid] of taking.flatMap((path) => [[path, true], [path, false]] as const)) {
      await using world = await createWorld({ quotas: { bytesPerMinute: 100_000 } });
      let breakOff = (): void => {};
      let begun = (): void => {};
      const beginning = new Promise<void>((resolve) => begun = resolve);
      let pieces = isSaid ? 0 : 1;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (pieces-- > 0) return controller.enqueue(new Uint8Array(200_000).fill(0x20));
          breakOff = () => controller.error(new TypeError("gone"));
          begun();
        },
      }, { highWaterMark: 0 });
      const slow = sent(world, path, { body, ...(isSaid && { headers: { "content-length": "200000" } }) });
      await beginning;
      const next = await world.ask("/api/session");
      assertEquals([next.status, (await problemOf(next)).code], [429, "too_many_bytes"], path);
      breakOff();
      assert(!(await slow).ok, path);
    }
  });

  it("count as soon as they begin, also while the policy is not known yet", async () => {
    for (const path of taking) {
      let [answer, begun] = [(): void => {}, (): void => {}];
      const known = new Promise<void>((resolve) => answer = resolve);
      const beginning = new Promise<void>((resolve) => begun = resolve);
      let asked = 0;
      const open = async () => {
        // Whoever comes in beside the first one is let through, so that nothing stands still.
        if (++asked > 1) answer();
        else begun();
        await known;
        return () => "allow" as const;
      };
      await using world = await createWorld({ quotas: { bytesPerMinute: 100_000 }, access: { policy: { open } } });
      const headers = { "content-length": "200000" };
      const first = sent(world, path, { body: streamOf(), headers });
      await beginning;
      assertEquals((await sent(world, path, { headers })).status, 429, path);
      answer();
      assert(!(await first).ok, path);
    }
  });

  it("that are refused for what they say of their length cost nothing: one request would end all others", async () => {
    await using world = await createWorld();
    const headers = { "content-length": "900000000000000" };
    for (const path of taking) {
      assertEquals((await sent(world, path, { body: streamOf(), headers })).status, 413, path);
    }
    assertEquals((await sent(world, "/api/session", { method: "DELETE", headers })).status, 204);
    assertEquals((await world.ask("/api/session")).status, 200);
  });

  it("that are refused unread are read away: hosts break off the connection otherwise, and the reply is lost", async () => {
    await using world = await createWorld();
    for (const path of taking) {
      let isRead = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isRead) return controller.close();
          isRead = true;
          controller.enqueue(new Uint8Array(1_000));
        },
      }, { highWaterMark: 0 });
      const refused = await sent(world, path, { body, headers: { "content-type": "text/plain" } });
      assertEquals([refused.status, isRead], [415, true], path);
    }
  });
});

it("what comes of a server's stream of events counts once", async () => {
  const begin = async (quotas: { readonly bytesPerMinute?: number }) => {
    const world = await createWorld({ quotas, routes: createDashboard() });
    const reader = (await world.ask("/api/servers/alpha/events")).body!.getReader();
    const { length } = (await reader.read()).value!;
    return { length, reader, world };
  };
  const first = await begin({});
  const again = await begin({ bytesPerMinute: first.length + 1 });
  assertEquals((await again.world.ask("/api/session")).status, 200);
  for (const { reader, world } of [first, again]) {
    await reader.cancel();
    await world.runner.close();
  }
});

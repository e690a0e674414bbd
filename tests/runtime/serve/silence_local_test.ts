/** How soon the hosts say something in a WebSocket in which nobody does: what lies between ends it after a minute or less. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { HttpServing } from "../../../src/runtime/serve/listen.ts";
import { listenBun } from "../../../src/runtime/serve/bun.ts";
import { upgradeDeno } from "../../../src/runtime/serve/deno.ts";
import { listenNode } from "../../../src/runtime/serve/node.ts";
import { standingIn } from "./standing_in.ts";

const serving: HttpServing = {
  answer: () => Promise.resolve(new Response()),
  admit: () => Promise.resolve(new Response()),
  messageBytes: 1,
};
const at = { hostname: "127.0.0.1", port: 0 };

describe("a WebSocket that is silent is asked after half a minute", () => {
  test("on Bun, which asks 8 s or more before it gives up", async () => {
    let websocket: unknown;
    const serve = (options: { websocket: unknown }) => {
      websocket = options.websocket;
      return { ...at, stop: () => Promise.resolve() };
    };
    await (await standingIn("Bun", { serve }, () => listenBun(serving, at))).close(1);
    assertEquals((websocket as { idleTimeout: number }).idleTimeout, 38);
  });

  test("on Deno, which asks at half of the time", () => {
    const request = new Request("http://localhost/mcp", { headers: { "sec-websocket-protocol": "mcp" } });
    const upgradeWebSocket = (_request: Request, options: unknown) => {
      assertEquals(options, { idleTimeout: 60, protocol: "mcp" });
      return { socket: {}, response: {} };
    };
    standingIn("Deno", { upgradeWebSocket }, () => upgradeDeno(request, () => {}));
  });

  const skip = "Bun" in globalThis || "Deno" in globalThis ? "this is not Node" : false;
  test("on Node", { skip }, async () => {
    const pauses: unknown[] = [];
    const own = globalThis.setInterval;
    const spy = (work: () => void, pause: number) => {
      pauses.push(pause);
      return own(work, pause);
    };
    globalThis.setInterval = spy as unknown as typeof own;
    try {
      await (await listenNode(serving, at)).close(0);
    } finally {
      globalThis.setInterval = own;
    }
    assert(pauses.includes(30_000), String(pauses));
  });
});

/** What older versions of Bun and Deno do otherwise, acted out by a stand-in for their global. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { ConnectError } from "../../src/protocol/errors.ts";
import { denoFetch } from "../../src/runtime/deno.ts";
import { listenBun } from "../../src/runtime/serve/bun.ts";
import { upgradeDeno } from "../../src/runtime/serve/deno.ts";
import { standingIn } from "./serve/standing_in.ts";

describe("a WebSocket on a Deno before 2.5.1", () => {
  test("is upgraded, though nothing can be added to the reply", () => {
    const headers = {
      set: () => {
        throw new TypeError("Cannot change headers: headers are immutable");
      },
    };
    let asked: unknown;
    const upgradeWebSocket = (_request: Request, options: unknown) => {
      asked = options;
      return { socket: {}, response: { headers } };
    };
    const request = new Request("http://localhost/mcp", { headers: { "sec-websocket-protocol": "other, mcp" } });
    standingIn("Deno", { upgradeWebSocket }, () => upgradeDeno(request, () => {}));
    assertEquals(asked, { idleTimeout: 60, protocol: "mcp" });
  });
});

describe("a host on a Bun before 1.4", () => {
  test("closes, though Bun never says that it stopped", async () => {
    const stops: unknown[] = [];
    const stop = (now?: boolean) => {
      stops.push(now);
      return new Promise(() => {});
    };
    const serve = () => ({ hostname: "127.0.0.1", port: 1, stop });
    const serving = { answer: () => Promise.resolve(new Response()), admit: undefined, messageBytes: 1 };
    const listening = standingIn("Bun", { serve }, () => listenBun(serving, { hostname: "127.0.0.1", port: 0 }));
    await (await listening).close(1);
    assertEquals(stops, [undefined, true]);
  });
});

describe("a failed fetch on a Deno before 2.9", () => {
  const asked = (url: string, words: string): Promise<Response> => {
    const fetch = (): Promise<Response> =>
      Promise.reject(new TypeError(`error sending request for url (${url}): ${words}`));
    const own = globalThis.fetch;
    try {
      globalThis.fetch = fetch as typeof globalThis.fetch;
      return denoFetch(url, { method: "POST", body: "{}" });
    } finally {
      globalThis.fetch = own;
    }
  };

  test("is a connection that did not come about, where it says so, and names no more than the origin", async () => {
    const url = "http://127.0.0.1:9/mcp?key=s3cret";
    const words = "client error (Connect): tcp connect error: Connection refused (os error 111)";
    const error = await assertRejects(() => asked(url, words), ConnectError, "Connection refused");
    assertEquals(error.message.includes("s3cret"), false);
  });

  test("is none where the connection broke later", async () => {
    const words = "client error (SendRequest): connection closed before message completed";
    await assertRejects(() => asked("http://127.0.0.1:9/(Connect):", words), TypeError, "SendRequest");
  });
});

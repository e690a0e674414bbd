/** How long the one-line hosts take to close: no longer than somebody is served. The grace is for those who stay. */
import { connect as connectSocket } from "node:net";
import type { Socket } from "node:net";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { serveHttp } from "../../src/entry/local.ts";
import type { HttpHost } from "../../src/entry/local.ts";
import { until } from "../support/clients.ts";

const grace = 10_000;

/** A connection that is kept, as browsers and agents keep theirs. */
async function kept(host: HttpHost): Promise<{ socket: Socket; text: () => string; ended: () => boolean }> {
  let text = "";
  let ended = false;
  const socket = connectSocket(host.port, "127.0.0.1");
  socket.on("data", (chunk) => void (text += String(chunk))).on("error", () => {});
  socket.on("close", () => void (ended = true));
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  return { socket, text: () => text, ended: () => ended };
}

/** Closes it while `during` goes on, and says whether that took the whole grace. */
async function waitsForGrace(host: HttpHost, during: () => unknown = () => {}): Promise<boolean> {
  const start = performance.now();
  const closed = host.close();
  await during();
  await closed;
  return performance.now() - start > grace / 2;
}

const get = "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

describe("closing a one-line host", () => {
  test("a connection that is kept for a next request holds nothing up", async () => {
    const host = await serveHttp(() => Promise.resolve(new Response("whole")), { port: 0, grace });
    const { socket, text, ended } = await kept(host);
    socket.write(get);
    await until(() => text().includes("whole"), 2_000);
    assertEquals(await waitsForGrace(host), false);
    await until(ended, 2_000);
  });

  test("nor does one that was opened ahead and never used", async () => {
    const host = await serveHttp(() => Promise.resolve(new Response("whole")), { port: 0, grace });
    const { socket } = await kept(host);
    // The server has taken it by now.
    assertEquals(await (await fetch(host.url)).text(), "whole");
    assertEquals(await waitsForGrace(host), false);
    socket.destroy();
  });

  test("one that is served is served to the end, and then not kept", async () => {
    for (const isStream of [false, true]) {
      let finish: (() => void) | undefined;
      const host = await serveHttp(async () => {
        const whole = new Promise<void>((resolve) => finish = resolve);
        if (!isStream) {
          await whole;
          return new Response("whole");
        }
        const body = new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("first"));
            await whole;
            controller.enqueue(new TextEncoder().encode("last"));
            controller.close();
          },
        });
        return new Response(body);
      }, { port: 0, grace });
      const { socket, text, ended } = await kept(host);
      socket.write(get);
      await until(() => !!finish && (!isStream || text().includes("first")), 2_000);
      const waited = await waitsForGrace(host, async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        finish?.();
      });
      assertEquals(waited, false);
      await until(ended, 2_000);
      assert(text().includes(isStream ? "last" : "whole"), `${isStream} ${text()}`);
    }
  });
});

test("while a reply goes on, a closing host takes nothing new on a connection that is kept", async () => {
  const asked: string[] = [];
  let finish: (() => void) | undefined;
  const host = await serveHttp(async ({ url }) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    if (pathname === "/slow") await new Promise<void>((resolve) => finish = resolve);
    return new Response("whole");
  }, { port: 0, grace });
  const [slow, other] = [await kept(host), await kept(host)];
  other.socket.write(get.replace("/", "/before"));
  await until(() => other.text().includes("whole"), 2_000);
  slow.socket.write(get.replace("/", "/slow"));
  await until(() => finish !== undefined, 2_000);
  const closed = host.close();
  other.socket.write(get.replace("/", "/after"));
  await until(() => other.ended() || other.text().includes("HTTP/1.1 503 "), 2_000);
  finish?.();
  await closed;
  await until(() => slow.text().includes("whole"), 2_000);
  assertEquals(asked, ["/before", "/slow"]);
});

for (const endless of [Infinity, 2 ** 31]) {
  test(`with a grace of ${endless} a reply has all the time that it takes`, async () => {
    let finish: (() => void) | undefined;
    const host = await serveHttp(async () => {
      await new Promise<void>((resolve) => finish = resolve);
      return new Response("whole");
    }, { port: 0, grace: endless });
    const asked = fetch(host.url).then((response) => response.text(), () => "cut off");
    await until(() => finish !== undefined, 2_000);
    const closed = host.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    finish?.();
    assertEquals(await asked, "whole");
    await closed;
  });
}

test("a reply that takes longer than the grace is given up without a warning", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  const host = await serveHttp(() => new Promise(() => {}), { port: 0, grace: 50 });
  const asked = fetch(host.url).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  await host.close();
  await asked;
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.off("warning", warned);
  assertEquals(warnings.map(({ message }) => message), []);
});

/** Deno's fetch as its entry brings it: a text arrives whole and once, also where Deno itself would send it again. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { describe, test } from "node:test";
import { ConnectError, ConnectionClosedError } from "../../src/protocol/errors.ts";
import { freePort } from "../support/free_port.ts";

const skip = "Deno" in globalThis ? false : "it is Deno's own";
const text = '{"text":"häßlich 😀"}';
const length = new TextEncoder().encode(text).length;

describe("the fetch of ./deno", () => {
  test("sends a text with its length", { skip }, async () => {
    const seen = await served(
      (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
      async (url, fetch) => {
        const response = await fetch(url, {
          method: "POST",
          body: text,
          headers: { "Content-Type": "application/json" },
        });
        assertEquals(await response.text(), "ok");
      },
    );
    assertEquals(seen.length, 1);
    assertEquals(/\r\ncontent-length: (\d+)\r\n/i.exec(seen[0] ?? "")?.[1], String(length));
    assertEquals(/\r\ncontent-type: (.*)\r\n/i.exec(seen[0] ?? "")?.[1], "application/json");
    assertEquals(seen[0]?.endsWith("\r\n\r\n" + text), true);
  });

  test("sends it once when the connection breaks", { skip }, async () => {
    const seen = await served((socket) => socket.destroy(), async (url, fetch) => {
      await assertRejects(() => fetch(url, { method: "POST", body: text }), TypeError);
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    assertEquals(seen.length, 1);
  });

  test("refuses a header that cannot be sent without its value", { skip }, async () => {
    const seen = await served((socket) => socket.destroy(), async (url, fetch) => {
      const error = await assertRejects(() => fetch(url, { headers: { "x-a": "secret\r\nx-b: 2" } }), TypeError, "x-a");
      assertEquals(/secret|x-b/.test(`${error.message}${String(error.cause)}`), false, error.message);
    });
    assertEquals(seen.length, 0);
  });

  test("names a connection that did not come about", { skip }, async () => {
    const closed = `http://127.0.0.1:${await freePort()}/`;
    const { denoFetch } = await import("../../src/runtime/deno.ts");
    await assertRejects(() => denoFetch(closed, { method: "POST", body: text }), ConnectError);
  });

  test("names a permission that is missing, and a port that is forbidden", { skip }, async () => {
    const { denoFetch } = await import("../../src/runtime/deno.ts");
    const post = (url: string) => denoFetch(url, { method: "POST", body: text });
    const forbidden = await assertRejects(() => post("http://127.0.0.1:9/?key=s3cret"), ConnectError, "port 9");
    assertEquals([forbidden.retryable, forbidden.message.includes("s3cret")], [false, false]);

    const own = globalThis.fetch;
    globalThis.fetch = () =>
      Promise.reject(Object.assign(new Error('Requires net access to "a.example:80"'), { name: "NotCapable" }));
    try {
      const refused = await assertRejects(() => post("http://a.example/?key=s3cret"), ConnectError, "--allow-net");
      assertEquals([refused.retryable, refused.message.includes("s3cret")], [false, false]);
    } finally {
      globalThis.fetch = own;
    }
  });

  test("what an HTTP/2 server has not looked at was not sent, and what broke may have been", { skip }, async () => {
    const { denoFetch } = await import("../../src/runtime/deno.ts");
    const own = globalThis.fetch;
    const told = async (words: string): Promise<unknown> => {
      globalThis.fetch = () => Promise.reject(new TypeError("fetch failed", { cause: new Error(words) }));
      try {
        return await denoFetch("https://a.example/?key=s3cret", { method: "POST", body: text });
      } catch (error) {
        return error;
      } finally {
        globalThis.fetch = own;
      }
    };
    // As Deno words GOAWAY without an error, and REFUSED_STREAM.
    for (
      const words of [
        "connection error received: not a result of an error",
        "stream error received: refused stream before processing any application logic",
      ]
    ) {
      const error = await told(words);
      assert(error instanceof ConnectionClosedError, words);
      assertEquals([error.delivery, error.retryable, error.message.includes("s3cret")], ["not-sent", true, false]);
    }
    for (
      const words of [
        "connection error received: unspecific protocol error detected",
        "stream closed because of a broken pipe",
      ]
    ) {
      assert(await told(words) instanceof TypeError, words);
    }
  });

  test("a request that was broken off is told by the reason alone, whatever that looks like", { skip }, async () => {
    const { denoFetch } = await import("../../src/runtime/deno.ts");
    const controller = new AbortController();
    const reason = Object.assign(new Error("Requires read access"), { name: "NotCapable" });
    const own = globalThis.fetch;
    // It has been sent by then.
    globalThis.fetch = () => {
      controller.abort(reason);
      return Promise.reject(reason);
    };
    try {
      const sent = denoFetch("http://a.example/", { method: "POST", body: text, signal: controller.signal });
      assertEquals(await sent.catch((error) => error), reason);
    } finally {
      globalThis.fetch = own;
    }
  });
});

/** What arrived, request by request, at a server that does so with each. */
async function served(
  answer: (socket: Socket) => void,
  ask: (url: string, fetch: typeof import("../../src/runtime/deno.ts").denoFetch) => Promise<void>,
): Promise<string[]> {
  const seen: string[] = [];
  const server = createServer((socket) => {
    let request = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      request += chunk;
      if (!request.endsWith("}")) return;
      seen.push(request);
      answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { denoFetch } = await import("../../src/runtime/deno.ts");
  await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, denoFetch);
  await new Promise((resolve) => server.close(resolve));
  return seen;
}

/** Silence on the connections of Bun. */
import { connect } from "node:net";
import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createListenBun } from "../../../src/runtime/serve/bun.ts";

const skip = "Bun" in globalThis ? false : "this is not Bun";

describe("a connection on Bun", () => {
  test("is not cut off while a reply is worked out, and not kept for good after it", { skip }, async () => {
    // Bun looks every four seconds.
    const listener = await createListenBun(1)({
      answer: async () => {
        await new Promise((resolve) => setTimeout(resolve, 7_000));
        return new Response("worked out");
      },
      admit: undefined,
      messageBytes: 1_000,
    }, { hostname: "127.0.0.1", port: 0 });
    let text = "";
    const socket = connect(listener.port, "127.0.0.1").on("error", () => {}).on(
      "data",
      (chunk) => text += String(chunk),
    );
    const start = performance.now();
    const over = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await over;
    assertStringIncludes(text, "worked out");
    assert(performance.now() - start < 20_000);
    await listener.close(0);
  });

  test("is not kept for good where a request never comes whole", { skip }, async () => {
    const listener = await createListenBun(1, 100)({
      answer: async (request) => new Response(await request.text().catch(() => "")),
      admit: undefined,
      messageBytes: 1_000,
    }, { hostname: "127.0.0.1", port: 0 });
    const socket = connect(listener.port, "127.0.0.1").on("error", () => {}).resume();
    const over = new Promise<string>((resolve) => socket.once("close", () => resolve("closed")));
    socket.write("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf");
    const late = new Promise<string>((resolve) => setTimeout(() => resolve("open"), 12_000));
    assertEquals(await Promise.race([over, late]), "closed");
    await listener.close(0);
  });
});

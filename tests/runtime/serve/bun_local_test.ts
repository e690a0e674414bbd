/** Silence on the connections of Bun. One that is kept for good ends the test by its time. */
import { connect } from "node:net";
import { describe, test } from "node:test";
import { assertStringIncludes } from "@std/assert";
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
    const over = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await over;
    assertStringIncludes(text, "worked out");
    await listener.close(0);
  });

  test("is not kept for good where a request never comes whole", { skip }, async () => {
    const listener = await createListenBun(1, 100)({
      answer: async (request) => new Response(await request.text().catch(() => "")),
      admit: undefined,
      messageBytes: 1_000,
    }, { hostname: "127.0.0.1", port: 0 });
    const socket = connect(listener.port, "127.0.0.1").on("error", () => {}).resume();
    const over = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf");
    await over;
    await listener.close(0);
  });
});

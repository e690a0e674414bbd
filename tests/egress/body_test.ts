import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { readBytes, readErrorText, takeText } from "../../src/egress/body.ts";
import { LimitExceededError, ProtocolViolationError } from "../../src/protocol/errors.ts";
import { systemClock } from "../../src/ports.ts";

const isDeno = "Deno" in globalThis;
const encoder = new TextEncoder();
const mebibyte = 2 ** 20;

/** A reply as it comes off a socket: with a URL, and with a length where one was declared. */
function reply(chunks: readonly Uint8Array[], length?: number): Response {
  let cancelled = false;
  const queue = [...chunks];
  const body = new ReadableStream({
    type: "bytes",
    pull(controller: ReadableByteStreamController) {
      const next = queue.shift();
      if (next) controller.enqueue(next.slice());
      else controller.close();
      if (!next) controller.byobRequest?.respond(0);
    },
    cancel: () => void (cancelled = true),
  });
  const response = new Response(body, length === undefined ? {} : { headers: { "content-length": `${length}` } });
  Object.defineProperty(response, "url", { value: "http://fake.test/mcp" });
  return Object.defineProperty(response, "wasCancelled", { get: () => cancelled });
}

async function read(chunks: readonly Uint8Array[], length?: number, limit = 16 * mebibyte): Promise<string> {
  return takeText(await readBytes(reply(chunks, length), limit, isDeno));
}

describe("bodies", () => {
  test("small and large, in any chunks, with and without a length, come as they are", async () => {
    const sizes = [1, 4_095, 4_096, 4_097, 65_536, 200_000, mebibyte, mebibyte + 1, 3 * mebibyte];
    for (const size of sizes) {
      // 13 bytes.
      const wanted = "aé€😀\ufffd".repeat(Math.floor(size / 13)) + "b".repeat(size % 13);
      const bytes = encoder.encode(wanted);
      for (const step of [4_096, 65_536, 70_000, size]) {
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < size; at += step) chunks.push(bytes.subarray(at, at + step));
        for (const length of [undefined, size]) {
          assert(await read(chunks, length) === wanted, `${size} bytes in chunks of ${step}, declared: ${length}`);
        }
      }
    }
  });

  test("a replacement character that was sent is text, a damaged byte is none, however it is cut", async () => {
    assertEquals(takeText(encoder.encode('"\ufffd"')), '"\ufffd"');
    assertEquals(takeText(encoder.encode('\ufeff"x"')), '"x"');
    // The second is cut so that the replacement is as long as what it replaces.
    for (const damaged of [[0xff], [0xf0, 0x9f, 0x98], [0xef, 0xbf, 0xbd, 0xc3], [0xed, 0xa0, 0x80]]) {
      const bytes = Uint8Array.from([0x22, ...damaged, 0x22]);
      assertThrows(() => takeText(bytes), ProtocolViolationError, "not UTF-8");
      await assertRejects(() => read([bytes]), ProtocolViolationError, "not UTF-8");
    }
  });

  test("as many bytes as the limit are taken, one more is not, and the rest is cancelled", async () => {
    const bytes = new Uint8Array(2_000).fill(0x20);
    assertEquals((await read([bytes], undefined, 2_000)).length, 2_000);
    assertEquals((await read([bytes], 2_000, 2_000)).length, 2_000);
    for (const length of [undefined, 2_000, 10 ** 15]) {
      const response = reply([bytes, bytes], length);
      await assertRejects(() => readBytes(response, 1_999, isDeno), LimitExceededError);
      assertEquals((response as { wasCancelled?: boolean }).wasCancelled, true);
    }
  });

  test("of an error's body 64 KiB are taken", async () => {
    const bytes = encoder.encode("x".repeat(50_000));
    assertEquals(await readErrorText(reply([bytes]), systemClock), "x".repeat(50_000));
    assertEquals((await readErrorText(reply([bytes, bytes, bytes]), systemClock)).length, 65_536);
    assertEquals(await readErrorText(new Response(null), systemClock), "");
  });
});

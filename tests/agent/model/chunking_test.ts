/** However an answer is cut into pieces, its parts are the same. Seeded: a failure prints its seed. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { LanguageModelPart } from "../../../src/agent/mod.ts";
import { body, collect, delta, events, hello, modelAt } from "./support.ts";

const runs = { seed: 20_261_120, numRuns: 150 };
const encoder = new TextEncoder();

const words = fc.string({ unit: "grapheme", maxLength: 6 });
const piece = fc.oneof(
  words.map((content) => delta({ content })),
  words.map((reasoning) => delta({ reasoning })),
  fc.record({ index: fc.nat(2), text: words }).map(({ index, text }) =>
    delta({ tool_calls: [{ index, id: `id${index}`, function: { name: `f${index}`, arguments: text } }] })
  ),
  fc.constant({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }),
  fc.constant({}).map(() => ({ error: { message: "it broke", code: 503 } })),
);
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const ending = fc.constantFrom("", "data: [DONE]", `data: ${JSON.stringify(delta({}, "stop"))}`, "data: {cut");

/** What was said, and how it ended: parts, or an error's words. */
async function outcome(pieces: Iterable<Uint8Array>): Promise<unknown[]> {
  const parts: LanguageModelPart[] = [];
  try {
    for await (const part of modelAt(new Response(body(pieces))).stream(hello)) parts.push(part);
  } catch (error) {
    return [await collect(list(parts)), String(error)];
  }
  return [await collect(list(parts))];
}

async function* list(parts: readonly LanguageModelPart[]): AsyncGenerator<LanguageModelPart> {
  for (const part of parts) yield await Promise.resolve(part);
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((left, right) => left - right);
  return [0, ...at].map((from, index) => bytes.slice(from, at[index] ?? bytes.length)).filter(({ length }) =>
    length > 0
  );
}

describe("any cut of a stream", () => {
  test("gives the same parts", async () => {
    const streams = fc.record({
      pieces: fc.array(piece, { maxLength: 8 }),
      end: lineEnd,
      last: ending,
      mark: fc.boolean(),
      places: fc.array(fc.nat(4_000), { maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(streams, async ({ pieces, end, last, mark, places }) => {
        const text = (mark ? "\ufeff: hi\n" : "") + events(...pieces).replaceAll("\n", end) + last;
        const bytes = encoder.encode(text);
        const whole = await outcome([bytes]);
        assertEquals(await outcome(cut(bytes, places)), whole);
      }),
      runs,
    );
  });

  test("byte by byte, and whole JSON too", async () => {
    const stream = encoder.encode(events(
      delta({ content: "ä€😀" }),
      delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: '{"é":1}' } }] }, "tool_calls"),
      "[DONE]",
    ));
    const json = encoder.encode(` {"choices":[{"message":{"content":"ä€😀"},"finish_reason":"stop"}]}`);
    for (const bytes of [stream, json]) {
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
      const [parts, error] = await outcome(single);
      assertEquals([parts, error], await outcome([bytes]).then(([all]) => [all, undefined]));
      assertEquals((parts as LanguageModelPart[])[0], { type: "text", text: "ä€😀" });
    }
  });

  test("random bytes end in parts or in one error, never in another one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const [, error = ""] = await outcome([bytes]);
        assertEquals(/^(LanguageModelError: .*)?$/s.test(String(error)), true, String(error));
      }),
      runs,
    );
  });
});

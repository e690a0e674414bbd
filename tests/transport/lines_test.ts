import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { LimitExceededError } from "../../src/protocol/errors.ts";
import { LineSplitter } from "../../src/transport/lines.ts";

/** What a splitter made of the chunks: the lines, and whether it gave up. */
interface Split {
  lines: string[];
  over: boolean;
}

function split(chunks: Uint8Array[], limit: number): Split {
  const lines: string[] = [];
  const splitter = new LineSplitter(limit, (line) => lines.push(line));
  try {
    for (const chunk of chunks) splitter.push(chunk);
  } catch (error) {
    assert(error instanceof LimitExceededError, String(error));
    assertEquals([error.limit, error.value, error.seen > limit], ["limits.messageBytes", limit, true]);
    return { lines, over: true };
  }
  splitter.end();
  return { lines, over: false };
}

/** The slow reference: all bytes at once, cut at LF, each line decoded by itself. */
function reference(bytes: Uint8Array, limit: number): Split {
  const lines: string[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const at = rest.indexOf(10);
    const line = at < 0 ? rest : rest.subarray(0, at);
    if (line.length > limit) return { lines, over: true };
    let text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(line);
    if (rest === bytes && text.startsWith("\ufeff")) text = text.slice(1);
    if (at >= 0 || text !== "") lines.push(text.endsWith("\r") ? text.slice(0, -1) : text);
    if (at < 0) break;
    rest = rest.subarray(at + 1);
  }
  return { lines, over: false };
}

function cut(bytes: Uint8Array, sizes: number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let from = 0;
  for (let i = 0; from < bytes.length; i++) {
    const size = Math.max(sizes[i % sizes.length] ?? 1, i % 7 === 0 ? 0 : 1);
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return chunks;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Bytes of nasty text: all line ends, characters of one to four bytes, marks, and pieces that are no UTF-8. */
const nasty: fc.Arbitrary<Uint8Array> = fc.array(
  fc.oneof(
    fc.constantFrom("\n", "\r\n", "\r", "\n\n", "{}", "x", "é", "日", "😀", "\ufeff", "\u2028", "\0", "[1]", "")
      .map(encode),
    fc.constantFrom([0xff], [0xc3], [0xe6, 0x97], [0xf0, 0x9f, 0x98], [0x80], [0xed, 0xa0, 0x80], [0xef, 0xbb], [0xef])
      .map((bytes) => new Uint8Array(bytes)),
  ),
  { maxLength: 24 },
).map((parts) => new Uint8Array(parts.flatMap((part) => [...part])));

const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 });

describe("LineSplitter", () => {
  test("cuts at LF and CRLF, keeps empty lines, gives the last line without an end", () => {
    assertEquals(split([encode("a\nb\r\n\nc")], 100).lines, ["a", "b", "", "c"]);
    assertEquals(split([encode("a\n")], 100).lines, ["a"]);
    assertEquals(split([], 100).lines, []);
    assertEquals(split([encode("a\rb\u2028c\n")], 100).lines, ["a\rb\u2028c"]);
  });

  test("drops a byte order mark once, at the very start", () => {
    const mark = [new Uint8Array([0xef]), new Uint8Array([0xbb, 0xbf]), encode("a\n")];
    assertEquals(split(mark, 100).lines, ["a"]);
    assertEquals(split([encode("\ufeffa\n"), encode("\ufeffb\n")], 100).lines, ["a", "\ufeffb"]);
  });

  test("a character cut between chunks is whole again, and bytes that are no UTF-8 are replaced", () => {
    const bytes = encode("{😀}\n");
    assertEquals(split([...bytes].map((byte) => new Uint8Array([byte])), 100).lines, ["{😀}"]);
    assertEquals(split([new Uint8Array([0x7b, 0xff, 0x7d, 10])], 100).lines, ["{\ufffd}"]);
    assertEquals(split([new Uint8Array([0x7b, 0xe6])], 100).lines, ["{\ufffd"]);
  });

  test("the limit counts bytes of one line, exactly", () => {
    for (const line of ["éé", "abcd"]) {
      for (const chunks of [[line + "\n"], [line, "\n"], ["x\n" + line + "\ny\n"], [line]]) {
        assertEquals(split(chunks.map(encode), 4).over, false, JSON.stringify(chunks));
        assertEquals(split(chunks.map(encode), 3).over, true, JSON.stringify(chunks));
      }
    }
    assertEquals(split([encode("ab\ntoo long\n")], 4), { lines: ["ab"], over: true });
  });

  test("gives up as soon as the limit is passed, and keeps nothing of the line", () => {
    const lines: string[] = [];
    const splitter = new LineSplitter(10, (line) => lines.push(line));
    splitter.push(encode("123456"));
    assertThrows(() => splitter.push(encode("78901")), LimitExceededError, "limits.messageBytes");
    splitter.push(encode("\n"));
    assertEquals(lines, [""]);
  });

  test("any chunking gives what one chunk gives, and what the slow reference gives", () => {
    const property = fc.property(nasty, sizes, fc.constantFrom(3, 8, 1000), (bytes, cuts, limit) => {
      const expected = reference(bytes, limit);
      assertEquals(split([bytes], limit), expected);
      assertEquals(split(cut(bytes, cuts), limit), expected);
    });
    fc.assert(property, { numRuns: 3_000 });
  });

  test("what was given may be used for something else: nothing of it is kept", () => {
    const lines: string[] = [];
    const splitter = new LineSplitter(100, (line) => lines.push(line));
    const chunk = new Uint8Array(4);
    for (const text of ["abc\n", "defg", "h\nij", "klmn", "o\n\np"]) {
      chunk.set(encode(text));
      splitter.push(chunk);
      chunk.fill(0);
    }
    splitter.end();
    assertEquals(lines, ["abc", "defgh", "ijklmno", "", "p"]);
  });

  test("lines of all sizes come whole, through every room that they are gathered in", () => {
    const sizes = [10, 5_000, 70_000, 3_000_000, 20, 9_000_000, 100, 2_200_000, 5];
    let at = 0;
    const splitter = new LineSplitter(10_000_000, (line) => {
      assertEquals([line.length, line.replaceAll(String.fromCharCode(97 + at), "")], [sizes[at], ""]);
      at++;
    });
    const bytes = encode(sizes.map((size, index) => String.fromCharCode(97 + index).repeat(size) + "\n").join(""));
    for (let from = 0; from < bytes.length; from += 65_536) splitter.push(bytes.slice(from, from + 65_536));
    splitter.end();
    assertEquals(at, sizes.length);
  });

  test("a long line in many chunks costs time in proportion to its length", () => {
    let length = 0;
    const splitter = new LineSplitter(32 * 2 ** 20, (line) => length = line.length);
    const chunk = encode("x".repeat(64 * 1024));
    for (let i = 0; i < 160; i++) splitter.push(chunk);
    splitter.push(encode("\n"));
    assertEquals(length, 160 * 64 * 1024);
  });
});

import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { LimitExceededError } from "../../src/protocol/errors.ts";
import { SseParser } from "../../src/transport/sse.ts";

interface Seen {
  events: [data: string, event: string, id: string | undefined][];
  lastEventId: string | undefined;
  retry: number | undefined;
}

const encoder = new TextEncoder();

function parse(chunks: Uint8Array[], limit = 1_000_000): Seen {
  const events: Seen["events"] = [];
  const parser = new SseParser(limit, (data, event) => void events.push([data, event, parser.lastEventId]));
  for (const chunk of chunks) {
    parser.push(chunk);
    chunk.fill(0x21); // A reader may use its buffer again.
  }
  return { events, lastEventId: parser.lastEventId, retry: parser.retryAfter };
}

const parseText = (text: string): Seen => parse([encoder.encode(text)]);

/** Written from the WHATWG text, step by step, slow. The one difference: events whose data is empty are not given. */
function reference(bytes: Uint8Array): Seen {
  const seen: Seen = { events: [], lastEventId: undefined, retry: undefined };
  let stream = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (stream.startsWith("\ufeff")) stream = stream.slice(1);
  const lines: string[] = [];
  let line = "";
  for (let at = 0; at < stream.length; at++) {
    const character = stream.charAt(at);
    if (character !== "\r" && character !== "\n") {
      line += character;
      continue;
    }
    if (character === "\r" && stream.charAt(at + 1) === "\n") at++;
    lines.push(line);
    line = "";
  }
  let data = "";
  let type = "";
  let id: string | undefined;
  for (const current of lines) {
    if (current === "") {
      seen.lastEventId = id;
      if (data.endsWith("\n")) data = data.slice(0, -1);
      if (data !== "") seen.events.push([data, type === "" ? "message" : type, id]);
      data = type = "";
      continue;
    }
    const colon = current.indexOf(":");
    if (colon === 0) continue;
    const name = colon === -1 ? current : current.substring(0, colon);
    let value = colon === -1 ? "" : current.substring(colon + 1);
    if (value.startsWith(" ")) value = value.substring(1);
    if (name === "event") type = value;
    else if (name === "data") data += value + "\n";
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && value !== "" && [...value].every((digit) => digit >= "0" && digit <= "9")) {
      seen.retry = Number(value);
    }
  }
  return seen;
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, index) => bytes.slice(sorted[index], end));
}

const pieces = fc.constantFrom(
  ..."\n,\r,\r\n,\n\n,\r\r,:,: ,data,data:,data: ,data:x,data: {}\n,datax: y,id,id:,id: 7\n,id: a\0b\n,event: endpoint\n,event:,event"
    .split(","),
  ...": keep-alive\n,retry: 15\n,retry: 1x\n,retry:,foo: bar\n, , \u00e9,\u20ac,\ud83d\ude00,\ufeff,\0,Data: no\n,data\n"
    .split(","),
);
const nastyText = fc.array(pieces, { maxLength: 24 }).map((parts) => parts.join(""));
const nastyBytes = fc.oneof(
  nastyText.map((text) => encoder.encode(text)),
  // Bytes that are no UTF-8, between pieces that are.
  fc.tuple(nastyText, fc.uint8Array({ maxLength: 6 }), nastyText).map(([before, bytes, after]) =>
    Uint8Array.from([...encoder.encode(before), ...bytes, ...encoder.encode(after)])
  ),
);

describe("SSE parser: what events are", () => {
  test("one event with one line of data", () => {
    assertEquals(parseText('event: message\ndata: {"a":1}\n\n').events, [['{"a":1}', "message", undefined]]);
  });

  test("several data lines are joined by newlines, and one space after the colon is dropped", () => {
    assertEquals(parseText("data: a\ndata:b\ndata:  c\ndata\n\n").events, [["a\nb\n c\n", "message", undefined]]);
  });

  test("a type holds for one event, and is message when none is named", () => {
    const { events } = parseText("event: endpoint\ndata: /post\n\ndata: x\n\nevent:\ndata: y\n\n");
    assertEquals(events.map(([, type]) => type), ["endpoint", "message", "message"]);
  });

  test("a priming event without data is not given, but its id is recorded", () => {
    const seen = parseText("id: 7\ndata:\n\n");
    assertEquals(seen, { events: [], lastEventId: "7", retry: undefined });
    assertEquals(parseText("id: 8\n\n").lastEventId, "8");
  });

  test("an id stays until another comes, can be emptied, and does not count with a NUL or before its event has ended", () => {
    const seen = parseText("id: 1\ndata: a\n\ndata: b\n\nid: x\0\ndata: c\n\nid\ndata: d\n\nid: 9\ndata: e\n");
    assertEquals(seen.events.map(([data, , id]) => [data, id]), [["a", "1"], ["b", "1"], ["c", "1"], ["d", ""]]);
    assertEquals(seen.lastEventId, "");
  });

  test("retry takes digits only, of any size", () => {
    assertEquals(parseText("retry: 2500\n").retry, 2500);
    assertEquals(parseText("retry: 0\n\nretry: -1\nretry: 1e3\nretry: 5 \nretry\n").retry, 0);
    assertEquals(parseText(`retry: ${"9".repeat(400)}\n`).retry, Infinity);
  });

  test("comments, unknown fields and fields in another case are ignored", () => {
    assertEquals(parseText(": ping\n:\nfoo: bar\nDATA: x\n data: y\ndatas: z\n\n").events, []);
  });

  test("a byte order mark is dropped once, at the start only", () => {
    assertEquals(parseText("\ufeffdata: a\n\n\ufeffdata: b\n\ndata: \ufeffc\n\n").events.map(([data]) => data), [
      "a",
      "\ufeffc",
    ]);
    const apart = parse([encoder.encode("data: a\n\n"), encoder.encode("\ufeffdata: b\n\n")]);
    assertEquals(apart.events.map(([data]) => data), ["a"]);
  });

  test("an unfinished event at the end is dropped", () => {
    assertEquals(parseText("data: a\n\ndata: b\n").events.length, 1);
    assertEquals(parseText("data: a\n\ndata: b").events.length, 1);
  });

  test("an event that ends with a bare CR is given at once, and a following LF belongs to it", () => {
    const events: string[] = [];
    const parser = new SseParser(100, (data) => void events.push(data));
    parser.push(encoder.encode("data: a\r\r"));
    assertEquals(events, ["a"]);
    parser.push(encoder.encode("\ndata: b\r"));
    parser.push(encoder.encode("\n"));
    parser.push(new Uint8Array());
    parser.push(encoder.encode("\r"));
    assertEquals(events, ["a", "b"]);
  });

  test("an empty chunk in the middle of a character changes nothing", () => {
    const bytes = encoder.encode("data: €\n\n");
    assertEquals(parse([bytes.slice(0, 7), new Uint8Array(), bytes.slice(7)]).events, [["€", "message", undefined]]);
  });
});

describe("SSE parser: chunks do not matter", () => {
  test("a character that is cut in one stream is nothing to another one", () => {
    const bytes = encoder.encode("data: €\n\n");
    const seen: string[] = [];
    const parsers = [1, 2].map(() => new SseParser(100, (data) => void seen.push(data)));
    for (const parser of parsers) parser.push(bytes.slice(0, 7));
    for (const parser of parsers) parser.push(bytes.slice(7));
    assertEquals(seen, ["€", "€"]);
  });

  test("every cut into three of a nasty text gives the same", () => {
    const text =
      "\ufeffid: 1\r\nevent: e\rdata: é€\ndata:😀\r\n\r\n: c\r\rretry: 7\n\ndata: {}\r\r\nid\n\ndata: \ufeff\n\n\ndata: end";
    const bytes = encoder.encode(text);
    const expected = reference(bytes);
    assertEquals(expected.events.length, 3);
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        assertEquals(parse(cut(bytes, [first, second])), expected, `cut at ${first} and ${second}`);
      }
    }
  });

  test("any text in any chunks is what the slow reference says", () => {
    fc.assert(
      fc.property(nastyBytes, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, places) => {
        const expected = reference(bytes);
        assertEquals(parse([bytes.slice()]), expected);
        assertEquals(parse(cut(bytes, places)), expected);
        assertEquals(parse(cut(bytes, [...bytes.keys()])), expected);
      }),
      { numRuns: 4_000 },
    );
  });
});

describe("SSE parser: limits", () => {
  const limit = 1_000;
  const endless: [name: string, head: string, rest: string][] = [
    ["a line of data without an end", "data: ", "x"],
    ["data lines without an empty line", "", "data: xxxxxxxx\n"],
    ["empty data lines without an empty line", "", "data\n"],
    ["a comment without an end", ":", "x"],
    ["an unknown field without an end", "foo: ", "x"],
    ["an id without an end", "id: ", "x"],
    ["a field name without an end", "", "x"],
  ];
  for (const [name, head, rest] of endless) {
    test(`${name} is refused as soon as it passes the limit`, () => {
      const parser = new SseParser(limit, () => assert(false, "nothing ends here"));
      const chunk = encoder.encode(rest.repeat(Math.ceil(64 / rest.length)));
      let fed = head.length;
      parser.push(encoder.encode(head));
      const error = assertThrows(() => {
        for (;;) {
          fed += chunk.length;
          parser.push(chunk);
          assert(fed < 2 * limit, "it has to stop");
        }
      }, LimitExceededError);
      assertEquals([error.limit, error.value], ["limits.messageBytes", limit]);
      assert(error.seen > limit && error.seen <= limit + chunk.length, `seen ${error.seen}`);
    });
  }

  test("what is as long as the limit is taken, one character more is not", () => {
    const event = (size: number): Uint8Array => encoder.encode(`data:${"x".repeat(size - 5)}\n\n`);
    const halves = (size: number): Uint8Array =>
      encoder.encode(`data:${"x".repeat(495)}\ndata:${"y".repeat(size - 505)}\n\n`);
    for (const make of [event, halves]) {
      assertEquals(parse([make(limit)], limit).events.length, 1);
      assertThrows(() => parse([make(limit + 1)], limit), LimitExceededError);
      assertEquals(parse(cut(make(limit), [3, 400, 900]), limit).events.length, 1);
      assertThrows(() => parse(cut(make(limit + 1), [3, 400, 900]), limit), LimitExceededError);
    }
  });

  test("keep-alives, ids and short events for ever pass no limit", () => {
    const events: string[] = [];
    const parser = new SseParser(100, (data) => void events.push(data));
    const chunk = encoder.encode(
      ": keep-alive\n".repeat(20) + "id: 123456789\nevent: e\nfoo: bar\n".repeat(20) + "data: x\n\n",
    );
    for (let round = 0; round < 100; round++) parser.push(chunk);
    assertEquals(events.length, 100);
  });

  test("events before the one that is too large are given", () => {
    const events: string[] = [];
    const parser = new SseParser(20, (data) => void events.push(data));
    assertThrows(() => parser.push(encoder.encode(`data: a\n\ndata: ${"b".repeat(30)}\n\n`)), LimitExceededError);
    assertEquals(events, ["a"]);
  });

  test("a long line in very many chunks arrives whole", () => {
    const events: number[] = [];
    const parser = new SseParser(16 * 2 ** 20, (data) => void events.push(data.length));
    const chunk = encoder.encode("x".repeat(256));
    parser.push(encoder.encode("data: "));
    for (let round = 0; round < 32_768; round++) parser.push(chunk);
    parser.push(encoder.encode("\n\n"));
    assertEquals(events, [8 * 2 ** 20]);
  });
});

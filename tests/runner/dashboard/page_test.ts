import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "node:test";
import { ApiProblem, askJson, createAsk } from "../../../src/runner/dashboard/page/base/api.ts";
import { follow } from "../../../src/runner/dashboard/page/base/follow.ts";
import { iconOf, judgeLink, pictureOf } from "../../../src/runner/dashboard/page/base/links.ts";
import { EventReader, readText } from "../../../src/runner/dashboard/page/base/stream.ts";
import type { StreamEvent } from "../../../src/runner/dashboard/page/base/stream.ts";
import { ago, bytes, count, shownJson, span } from "../../../src/runner/dashboard/page/base/text.ts";
import { callTool } from "../../../src/runner/dashboard/page/parts/call.ts";
import { adviceOf } from "../../../src/runner/dashboard/page/parts/problem.ts";
import { readHeader } from "../../../src/runner/dashboard/page/views/add_server.ts";
import { deferred } from "../../servers/core/wire.ts";
import { commandSnippet, curlSnippet, typescriptSnippet } from "../../../src/runner/dashboard/page/snippets.ts";

function stream(...parts: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      controller.close();
    },
  });
}

/** A body whose connection breaks behind these parts. */
function broken(...parts: string[]): ReadableStream<Uint8Array> {
  const left = parts.map((part) => new TextEncoder().encode(part));
  return new ReadableStream({
    pull(controller) {
      const part = left.shift();
      if (part) controller.enqueue(part);
      else controller.error(new TypeError("network error"));
    },
  });
}

/** A body that stays open behind a text until the signal. */
function held(text: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      signal.addEventListener("abort", () => controller.error(signal.reason), { once: true });
    },
  });
}

/** A page that somebody looks at until it is turned. */
class Sight extends EventTarget {
  hidden = false;

  turn(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

describe("events of a stream", () => {
  const text =
    ': open\nretry: 1000\n\nid: 1\nevent: step\ndata: {"a":1}\n\nid: 2\r\ndata: x\r\ndata: y\r\n\r\n: keep-alive\n\nid: 3\nevent: end\ndata:\n\n';
  const expected = [
    { id: "1", event: "step", data: '{"a":1}', size: 7 },
    { id: "2", event: "message", data: "x\ny", size: 2 },
    { id: "3", event: "end", data: "", size: 0 },
  ];

  it("are the same wherever the pieces end", () => {
    for (let cut = 0; cut <= text.length; cut++) {
      const reader = new EventReader(1_000);
      assertEquals([...reader.push(text.slice(0, cut)), ...reader.push(text.slice(cut))], expected, `cut at ${cut}`);
    }
    const reader = new EventReader(1_000);
    assertEquals([...text].flatMap((letter) => reader.push(letter)), expected);
  });

  it("are counted and not kept when they are too long", () => {
    const reader = new EventReader(100);
    const found: StreamEvent[] = [];
    found.push(...reader.push("id: 1\nevent: big\ndata: "));
    for (let times = 0; times < 1_000; times++) found.push(...reader.push("x".repeat(1_000)));
    found.push(...reader.push("\n\nid: 2\nevent: small\ndata: y\n\n"));
    assertEquals(found, [
      { id: "1", event: "big", data: undefined, size: 1_000_000 },
      { id: "2", event: "small", data: "y", size: 1 },
    ]);
  });

  it("of a body are read up to a bound", async () => {
    assertEquals(await readText(stream("ab", "cd"), 10), { text: "abcd", size: 4, isCut: false });
    assertEquals(await readText(stream("ab", "cd", "ef"), 3), { text: "abc", size: 6, isCut: true });
    assertEquals(await readText(null, 3), { text: "", size: 0, isCut: false });
  });
});

describe("a stream that is followed", () => {
  it("is taken up behind its last event, each told once, until the last one", async () => {
    const asked: (string | undefined)[] = [];
    const waits: number[] = [];
    const replies = [
      () => new Response(stream("id: 1\nevent: step\ndata: {}\n\nid: 2\nevent: text\ndata: {}\n\n")),
      () => Promise.reject(new ApiProblem(0, { code: "unreachable" })),
      () => Promise.reject(new ApiProblem(503, { code: "unavailable" })),
      () =>
        new Response(
          stream(
            "id: 2\nevent: text\ndata: {}\n\nid: 3\nevent: text\ndata: {}\n\nid: 4\nevent: succeeded\ndata: {}\n\n",
          ),
        ),
    ];
    const seen: string[] = [];
    const states: string[] = [];
    await follow("/api/runs/x/events", {
      ask: async (_, options) => {
        asked.push(options?.headers?.["last-event-id"]);
        return await replies.shift()!();
      },
      signal: new AbortController().signal,
      page: new Sight(),
      take({ id, event }) {
        seen.push(`${id} ${event}`);
        return event === "succeeded";
      },
      state: (state) => void states.push(state),
      wait: (milliseconds) => Promise.resolve(void waits.push(milliseconds)),
    });
    assertEquals(seen, ["1 step", "2 text", "3 text", "4 succeeded"]);
    assertEquals(asked, [undefined, "2", "2", "2"]);
    assertEquals(waits, [500, 1_000, 2_000]);
    assertEquals(states.at(-1), "ended");
  });

  it("ends where there is nothing more, and tells what is refused for good", async () => {
    const options = {
      signal: new AbortController().signal,
      page: new Sight(),
      take: () => false,
      state: () => {},
      wait: () => Promise.resolve(),
    };
    await follow("/x", { ...options, ask: () => Promise.resolve(new Response(null, { status: 204 })) });
    const refuse = () => Promise.reject(new ApiProblem(404, { code: "not_found" }));
    await assertRejects(() => follow("/x", { ...options, ask: refuse }), ApiProblem);
  });

  it("is left with its view", async () => {
    const controller = new AbortController();
    let times = 0;
    await follow("/x", {
      ...{ signal: controller.signal, take: () => false, state: () => {}, wait: () => Promise.resolve() },
      page: new Sight(),
      ask: () => {
        if (++times === 3) controller.abort();
        return Promise.reject(new ApiProblem(0, {}));
      },
    });
    assertEquals(times, 3);
  });

  it("is let go of while nobody looks, and taken up at once when somebody does", async () => {
    const page = new Sight();
    const asked: { readonly after: string | undefined; readonly signal: AbortSignal }[] = [];
    const first = deferred<void>();
    const rested = deferred<void>();
    const following = follow("/x", {
      ask: (_, options) => {
        const { headers, signal = new AbortController().signal } = options ?? {};
        asked.push({ after: headers?.["last-event-id"], signal });
        const body = asked.length === 1
          ? held("id: 7\nevent: text\ndata: {}\n\n", signal)
          : stream("id: 8\nevent: succeeded\ndata: {}\n\n");
        return Promise.resolve(new Response(body));
      },
      signal: new AbortController().signal,
      page,
      take({ event }) {
        first.resolve();
        return event === "succeeded";
      },
      state: (state) => void (state === "waiting" && rested.resolve()),
      wait: () => Promise.reject(new Error("nobody waits here")),
    });
    await first.promise;
    page.turn(true);
    await rested.promise;
    assertEquals(asked.map(({ after, signal }) => [after, signal.aborted]), [[undefined, true]]);
    page.turn(false);
    await following;
    assertEquals(asked.map(({ after }) => after), [undefined, "7"]);
  });

  it("without places is held while nobody looks: what is told meanwhile would be lost", async () => {
    const page = new Sight();
    page.turn(true);
    const controller = new AbortController();
    const heard = deferred<void>();
    const signals: AbortSignal[] = [];
    const following = follow("/x", {
      ask: (_, { signal = controller.signal } = {}) => {
        signals.push(signal);
        return Promise.resolve(new Response(held("event: log\ndata: {}\n\n", signal)));
      },
      signal: controller.signal,
      page,
      take() {
        heard.resolve();
        return false;
      },
      state: () => {},
      wait: () => Promise.resolve(),
    });
    await heard.promise;
    page.turn(true);
    assertEquals(signals.map((signal) => signal.aborted), [false]);
    controller.abort();
    await following;
    assertEquals(signals.length, 1);
  });
});

describe("asking the runner", () => {
  it("throws what it refuses, with what can be done", async () => {
    const ask = createAsk(() =>
      Promise.resolve(
        new Response('{"code":"overloaded","detail":"Too much","title":"Not available"}', {
          status: 503,
          headers: { "retry-after": "7" },
        }),
      )
    );
    const error = await assertRejects(() => askJson(ask, "/api/tools"), ApiProblem);
    assertEquals([error.status, error.code, error.message, error.retryAfter], [503, "overloaded", "Too much", 7]);
    assertEquals(adviceOf(error), "Try again in 7 s.");
    const gone = createAsk(() => Promise.resolve(new Response("<h1>", { status: 401 })));
    assertEquals((await assertRejects(() => askJson(gone, "/x"), ApiProblem)).code, "unreadable");
    const dead = createAsk(() => Promise.reject(new TypeError("fetch failed")));
    assertStringIncludes(adviceOf(await assertRejects(() => askJson(dead, "/x"), ApiProblem)), "at work");
    const odd = createAsk(() => Promise.resolve(new Response("[1]")));
    assertEquals((await assertRejects(() => askJson(odd, "/x"), ApiProblem)).message, "The answer is no JSON object");
  });
});

describe("a connection that breaks in the middle of an answer", () => {
  const asking = (reply: () => Response) => createAsk(() => Promise.resolve().then(reply));
  // Workers make none of it where a module is read.
  const called = (reply: () => Response) => {
    const { signal } = new AbortController();
    return callTool(asking(reply), { name: "a__b", given: {}, signal, progress: () => {} });
  };
  const events = { headers: { "content-type": "text/event-stream" } };

  it("is told as what it is, and not as a fault of the page", async () => {
    const error = await assertRejects(() => askJson(asking(() => new Response(broken('{"a":'))), "/x"), ApiProblem);
    assertEquals([error.status, error.code], [0, "unreachable"]);
    const refusal = asking(() => new Response(broken('{"code":'), { status: 503 }));
    assertEquals((await assertRejects(() => askJson(refusal, "/x"), ApiProblem)).status, 503);
  });

  it("leaves open whether a tool has run", async () => {
    const ways: (() => Response)[] = [
      () => {
        throw new TypeError("fetch failed");
      },
      () => new Response(broken('{"content":')),
      () => new Response(stream("event: progress\ndata: {}\n\n"), events),
      () => new Response(broken("event: progress\ndata: {}\n\n"), events),
      () => new Response(broken(), events),
    ];
    for (const way of ways) {
      const error = await assertRejects(() => called(way), ApiProblem);
      assertEquals([error.code, error.status], ["outcome_unknown", 0]);
      assertStringIncludes(adviceOf(error), "It may have been done");
    }
    const refused = () => Response.json({ code: "overloaded" }, { status: 503 });
    assertEquals((await assertRejects(() => called(refused), ApiProblem)).code, "overloaded");
  });

  it("takes nothing from a result that has come before", async () => {
    const reply = () => new Response(broken('event: result\ndata: {"content":[]}\n\n'), events);
    assertEquals(await called(reply), { result: { content: [] } });
  });
});

describe("the header of a server that is added", () => {
  it("is read as people write it", () => {
    assertEquals(readHeader("Authorization: Bearer a:b "), { Authorization: "Bearer a:b" });
    assertEquals(readHeader(" SITE_API_KEY:key"), { SITE_API_KEY: "key" });
    assertEquals(readHeader(" "), {});
    for (const text of ["key", "two words: key", ": key", "a\nb: key"]) assertEquals(readHeader(text), undefined);
  });
});

describe("addresses that servers name", () => {
  it("are opened when they are https, and nothing hides in them", () => {
    assertEquals(judgeLink("https://example.com/a?b#c"), {
      shown: "https://example.com/a?b#c",
      target: "https://example.com/a?b#c",
      host: "example.com",
      remark: undefined,
    });
    const refused = [
      ...[
        "http://example.com",
        "javascript:alert(1)",
        "JaVaScRiPt://%0aalert(1)",
        "data:text/html,<script>",
        "vbscript:x",
      ],
      ...[
        "file:///etc/passwd",
        "blob:https://example.com/x",
        "//example.com",
        "example.com",
        "",
        "https://",
        "ftp://x.example",
      ],
      ...[
        "https://bank.example@evil.example/",
        "https://user:pw@evil.example",
        "https://exa\u202emple.com/",
        "https://x.example/\u200b",
      ],
    ];
    for (const text of refused) assertEquals(judgeLink(text).target, undefined, text);
    assertEquals(judgeLink("https://x.example/\u202e").shown, "https://x.example/\\u{202e}");
    const foreign = judgeLink("https://аpple.example/");
    assertEquals([foreign.host.startsWith("xn--"), foreign.remark !== undefined], [true, true]);
  });

  it("hold pictures of safe types alone", () => {
    assertEquals(pictureOf("image/png", "AAAA"), "data:image/png;base64,AAAA");
    assertEquals(pictureOf(" IMAGE/PNG ", "AAAA"), "data:image/png;base64,AAAA");
    for (const type of ["image/svg+xml", "text/html", "image/png;x", "image/*", "", undefined, 3]) {
      assertEquals(pictureOf(type, "AAAA"), undefined);
    }
    for (const data of ["", 'A"', "AAAA,", "AA AA", "<svg>", undefined, 3]) {
      assertEquals(pictureOf("image/png", data), undefined);
    }
    assertEquals(iconOf("data:image/png;base64,AAAA"), "data:image/png;base64,AAAA");
    for (
      const source of [
        "https://x.example/icon.png",
        "data:image/svg+xml;base64,AAAA",
        "data:image/png,AAAA",
        "javascript:1",
        3,
      ]
    ) {
      assertEquals(iconOf(source), undefined);
    }
  });
});

describe("texts of the page", () => {
  it("read as people write them", () => {
    assertEquals([bytes(0), bytes(1), bytes(999), bytes(3_210), bytes(100_000_000)], [
      "0 bytes",
      "1 byte",
      "999 bytes",
      "3.2 KB",
      "100 MB",
    ]);
    assertEquals([span(12.4), span(3_400), span(120_000), span(7_200_000)], ["12 ms", "3.4 s", "2 min", "2 h"]);
    assertEquals([ago(0, 5_000), ago(0, 300_000), ago(0, 90_000_000)], ["just now", "5 min ago", "1970-01-01"]);
    assertEquals([count(1, "tool"), count(2, "tool")], ["1 tool", "2 tools"]);
    assertEquals(shownJson({ a: "x\u202ey\u200b" }), '{\n  "a": "x\\u{202e}y\\u{200b}"\n}');
  });

  it("show a call as text that holds no secret and hides nothing", () => {
    const call = { origin: "http://localhost:8080", tool: "a__b", arguments: { text: "it's \u202e $HOME `x`\n" } };
    for (const snippet of [curlSnippet(call), commandSnippet(call), typescriptSnippet(call)]) {
      assert(!snippet.includes("\u202e") && snippet.includes("\\u202e"), snippet);
      assert(snippet.includes("CAUSEWAY_KEY"));
    }
    assertStringIncludes(curlSnippet(call), "'{\"text\":\"it'\\''s \\u202e $HOME `x`\\n\"}'");
    assertStringIncludes(curlSnippet({ ...call, tool: "a/../b?c" }), "/api/tools/a%2F..%2Fb%3Fc");
    assertStringIncludes(typescriptSnippet(call), 'client.callTool("a__b", {');
    assertStringIncludes(commandSnippet(call), "causeway call http://localhost:8080/mcp a__b ");
  });
});

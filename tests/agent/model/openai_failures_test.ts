import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects, assertStrictEquals } from "@std/assert";
import { LanguageModelError, openAiModel } from "../../../src/agent/mod.ts";
import type { LanguageModelPart } from "../../../src/agent/mod.ts";
import { ConnectError, LimitExceededError, RedirectRefusedError, TimeoutError } from "../../../src/protocol/errors.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { body, collect, delta, endpoint, events, hello, modelAt, refused, streamed } from "./support.ts";

const key = "sk-0123456789abcdef";

function answered(status: number, said: unknown, headers: Record<string, string> = {}): Response {
  return new Response(typeof said === "string" ? said : JSON.stringify(said), { status, headers });
}

describe("a status that is no success", () => {
  test("its words, whatever their shape", async () => {
    const cases: [unknown, string][] = [
      [{ error: { message: "too long", type: "invalid_request_error", param: null, code: null } }, "too long"],
      [[{ error: { code: 400, message: "in a list", status: "INVALID_ARGUMENT" } }], "in a list"],
      [{ error: "a text" }, "a text"],
      [{ object: "error", message: "of vLLM", code: 400 }, "of vLLM"],
      [{ detail: [{ loc: ["body"], msg: "field required" }] }, "field required"],
      [{ errors: [{ code: 7000, message: "No route" }] }, "No route"],
      [{ strange: true }, '{"strange":true}'],
      ["<html>Bad gateway</html>", "<html>Bad gateway</html>"],
    ];
    for (const [said, words] of cases) {
      const error = await refused(modelAt(answered(400, said)), `The model "m" answered 400: ${words}`);
      assertEquals([error.status, error.retryable], [400, false]);
    }
    assertEquals((await refused(modelAt(answered(400, "")))).message, 'The model "m" answered 400');
  });

  test("where it was asked, when nothing is there: a base URL without its /v1", async () => {
    const options = { baseUrl: `http://127.0.0.1:11434/?key=${key}`, apiKey: key };
    const at = 'The model "m" answered 404 at "http://127.0.0.1:11434/chat/completions": 404 page not found';
    assertEquals((await refused(modelAt(answered(404, "404 page not found"), options))).message, at);
  });

  test("which are worth another try", async () => {
    for (const status of [408, 409, 425, 429, 500, 502, 503, 529]) {
      assert((await refused(modelAt(answered(status, {})))).retryable, String(status));
    }
    for (const status of [400, 401, 403, 404, 413, 422]) {
      assert(!(await refused(modelAt(answered(status, {})))).retryable, String(status));
    }
    const broke = {
      error: { message: "You exceeded your quota", type: "insufficient_quota", code: "insufficient_quota" },
    };
    assert(!(await refused(modelAt(answered(429, broke)))).retryable);
  });

  test("how long to wait: seconds, a date, milliseconds", async () => {
    const clock = new VirtualClock();
    const after = async (headers: Record<string, string>): Promise<unknown> =>
      (await refused(modelAt(answered(503, {}, headers), { clock }))).retryAfter;
    assertEquals(await after({ "retry-after": "7" }), 7_000);
    assertEquals(await after({ "retry-after": new Date(clock.now() + 90_000).toUTCString() }), 90_000);
    assertEquals(await after({ "retry-after": new Date(clock.now() - 90_000).toUTCString() }), 0);
    assertEquals(await after({ "retry-after": "7", "retry-after-ms": "250" }), 250);
    assertEquals(await after({ "retry-after": "soon" }), undefined);
    assertEquals(await after({ "retry-after": "99999999999" }), 86_400_000);
    assertEquals(await after({}), undefined);
  });
});

describe("secrets", () => {
  test("are in no error: echoed in a body, in a redirect, by the runtime, in a stream, in a query", async () => {
    const echo = { error: { message: `bad key ${key}, ${btoa(key)}, other-secret-7` } };
    const replies: (() => Response | Promise<Response>)[] = [
      () => answered(401, echo),
      () => answered(302, "", { location: `https://evil.test/${key}` }),
      () => Promise.reject(new TypeError(`cannot send ${key}`, { cause: new Error(`with ${key}`) })),
      () => streamed(events(echo)),
      () => streamed(`data: {"x": ${key}\n\n`),
      () => new Response(`<html>${key}</html>`),
    ];
    for (const reply of replies) {
      const options = {
        apiKey: key,
        baseUrl: `https://api.test/v1?k=${key}`,
        headers: { "x-other": "other-secret-7" },
      };
      const error = await refused(modelAt(reply, options));
      let text = "";
      for (let one: unknown = error; one instanceof Error; one = one.cause) text += `${one.message} ${one.stack ?? ""}`;
      for (const secret of [key, btoa(key), "other-secret-7"]) assert(!text.includes(secret), text);
      assert(error.message.length < 2_300);
    }
  });

  test("the key follows no redirect to another origin", async () => {
    const { fetch, sent } = endpoint(
      answered(307, "", { location: "/v2/chat/completions" }),
      answered(308, "", { location: "https://evil.test/v1/chat/completions" }),
    );
    const model = openAiModel({ baseUrl: "https://api.test/v1", apiKey: key, model: "m", fetch });
    const error = await refused(model, "expected 307 or 308 to the same origin");
    assert(error.cause instanceof RedirectRefusedError);
    assertEquals(error.retryable, false);
    assertEquals(sent.map(({ url }) => url), [
      "https://api.test/v1/chat/completions",
      "https://api.test/v2/chat/completions",
    ]);
  });
});

describe("an answer that breaks", () => {
  const text = delta({ content: "half" });

  test("an error in the middle of the stream, in several shapes", async () => {
    const cases: [object, number | undefined, boolean][] = [
      [{ error: { message: "no", type: "server_error" } }, undefined, true],
      [{ error: { message: "no", code: 502 }, choices: [{ delta: {}, finish_reason: "error" }] }, 502, true],
      [{ error: { message: "no", code: 400 } }, 400, false],
      [{ error: { message: "no", type: "x", code: "y", status_code: 500 } }, 500, true],
      [{ error: "no" }, undefined, false],
      [{ object: "error", message: "no", code: 429 }, 429, true],
      [{ type: "error", error: { type: "overloaded_error", message: "no" } }, undefined, true],
      [delta({}, "error"), undefined, true],
      [{ choices: [{ delta: {}, error: { code: 503, message: "no" } }] }, 503, true],
    ];
    for (const [value, status, retryable] of cases) {
      const seen: LanguageModelPart[] = [];
      const error = await assertRejects(async () => {
        for await (const part of modelAt(streamed(events(text, value))).stream(hello)) seen.push(part);
      }, LanguageModelError);
      assertEquals([error.status, error.retryable], [status, retryable], JSON.stringify(value));
      assertEquals(seen, [{ type: "text", text: "half" }]);
    }
  });

  test("the stream ends early, whole or in the middle of an event", async () => {
    for (const pieces of ["", events(text), events(text) + 'data: {"choices":[{"del', ": only a comment\n\n"]) {
      const error = await refused(modelAt(streamed(pieces)), 'The answer of the model "m" ended early');
      assert(error.retryable);
    }
  });

  test("the connection breaks: before the reply, and in it; after the last word it does not matter", async () => {
    const failing = (...before: string[]): Response => {
      const left = [...before];
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          const next = left.shift();
          if (next === undefined) controller.error(new Error("reset"));
          else controller.enqueue(new TextEncoder().encode(next));
        },
      }, { highWaterMark: 0 });
      return new Response(stream);
    };
    const broken = await refused(modelAt(failing(events(text))), 'The connection to the model "m" broke');
    assert(broken.retryable);
    const refusedAt = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
    const never = await refused(modelAt(() => Promise.reject(refusedAt)), "Cannot ask");
    assert(never.cause instanceof ConnectError && never.retryable);
    const parts = await collect(modelAt(failing(events(text, delta({}, "stop")))).stream(hello));
    assertEquals(parts.at(-1), { type: "end", reason: "stop" });
  });

  test("what is no answer at all", async () => {
    const cases: [Response, RegExp][] = [
      [new Response("<!doctype html><p>Sign in"), /answered a page, not JSON or events: <!doctype html><p>Sign in/],
      [new Response("{]"), /answered what is no JSON: \{\]/],
      [streamed("data: hello\n\ndata: there\n\n"), /answered what is no JSON: hello/],
      [streamed(events([])), /answered JSON that is no completion: \[\]/],
      [streamed(events("7")), /answered JSON that is no completion: 7/],
      [Response.json({ hello: 1 }), /answered JSON that is no completion: \{"hello":1\}/],
      [new Response(null, { status: 204 }), /answered 204 and nothing else/],
      [new Response('{"message":{"content":"Ollama"}}\n{"done":true}\n'), /answered what is no JSON/],
    ];
    for (const [reply, message] of cases) {
      const error = await refused(modelAt(reply));
      assertMatch(error.message, message);
      assertEquals(error.retryable, false);
    }
  });
});

describe("a hostile endpoint", () => {
  function* forever(piece: string): Generator<string> {
    while (true) yield piece;
  }

  test("is held to each limit, and its body is given up", async () => {
    const small = { messageBytes: 1_000, streamBytes: 10_000, jsonDepth: 8, jsonNodes: 50, toolCalls: 3 };
    const calls = [0, 1, 2, 3].map((index) => ({ index, id: `i${index}`, function: { name: "f", arguments: "" } }));
    const deep = `{"choices":[{"delta":{"content":${"[".repeat(20)}${"]".repeat(20)}}}]}`;
    const cases: [Iterable<string>, string][] = [
      [forever(events(delta({ content: "x" }))), "limits.streamBytes"],
      [forever(": ping\n\n"), "limits.streamBytes"],
      [forever(" "), "limits.streamBytes"],
      [forever("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), "limits.messageBytes"],
      [forever('{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'), "limits.messageBytes"],
      [[events(deep)], "limits.jsonDepth"],
      [[events(`{"a":[${"1,".repeat(90)}1]}`)], "limits.jsonNodes"],
      [[events(delta({ tool_calls: calls }, "stop"))], "limits.toolCalls"],
    ];
    for (const [pieces, limit] of cases) {
      let cancelled = 0;
      const reply = new Response(body(pieces, () => void cancelled++));
      const error = await refused(modelAt(reply, { limits: small }), "is too large");
      assert(error.cause instanceof LimitExceededError);
      assertEquals([error.cause.limit, error.retryable, cancelled], [limit, false, 1]);
    }
  });

  test("a page without end is read for a little", async () => {
    let given = 0;
    function* page(): Generator<string> {
      while (true) yield ++given === 1 ? "<html>" : "x".repeat(1_000);
    }
    await refused(modelAt(new Response(body(page()))), "answered a page");
    assert(given < 10, String(given));
  });
});

describe("time and calling off", () => {
  const silent = (...pieces: string[]): Response => {
    const left = [...pieces];
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = left.shift();
        if (next !== undefined) controller.enqueue(new TextEncoder().encode(next));
        else return new Promise(() => {});
      },
    }, { highWaterMark: 0 });
    return new Response(stream);
  };
  const timeouts = { headers: 1_000, idle: 2_000, total: 5_000 };

  test("no reply, silence in the middle, and an answer that drags on", async () => {
    const cases: [() => Response | Promise<Response>, string][] = [
      [() => new Promise<Response>(() => {}), "timeouts.headers"],
      [() => silent(events(delta({ content: "x" }))), "timeouts.idle"],
    ];
    for (const [reply, option] of cases) {
      const clock = new VirtualClock();
      const error = await clock.until(refused(modelAt(reply, { clock, timeouts }), option));
      assert(error.cause instanceof TimeoutError && error.retryable);
      assertEquals(clock.waiting, 0);
    }
    const clock = new VirtualClock();
    const drip = new ReadableStream<Uint8Array>({
      pull: (controller) =>
        new Promise((resolve) => {
          clock.schedule(() => resolve(controller.enqueue(new TextEncoder().encode(": ping\n\n"))), 900);
        }),
    }, { highWaterMark: 0 });
    const slow = modelAt(new Response(drip), { clock, timeouts });
    const error = await clock.until(refused(slow, "timeouts.total"));
    assert(error.cause instanceof TimeoutError);
    assertEquals(clock.monotonic(), 5_000);
  });

  test("once it has said why it stopped, the rest is waited for briefly", async () => {
    const clock = new VirtualClock();
    const reply = silent(events(delta({ content: "x" }, "stop")));
    const parts = await clock.until(collect(modelAt(reply, { clock, timeouts: { idle: 60_000 } }).stream(hello)));
    assertEquals(parts.at(-1), { type: "end", reason: "stop" });
    assertEquals([clock.monotonic(), clock.waiting], [2_000, 0]);
  });

  test("the caller's own reason comes back: before, while it is sent, and in the middle", async () => {
    const reason = new Error("enough");
    const { fetch, sent } = endpoint();
    const model = openAiModel({ baseUrl: "https://api.test", model: "m", fetch });
    const before = await assertRejects(() => collect(model.stream(hello, { signal: AbortSignal.abort(reason) })));
    assertStrictEquals(before, reason);
    assertEquals(sent.length, 0);
    for (const reply of [() => new Promise<Response>(() => {}), () => silent(events(delta({ content: "x" })))]) {
      const clock = new VirtualClock();
      const controller = new AbortController();
      const running = assertRejects(() => collect(modelAt(reply, { clock }).stream(hello, controller)));
      await clock.settle();
      controller.abort(reason);
      assertStrictEquals(await running, reason);
      assertEquals(clock.waiting, 0);
    }
  });

  test("a reply that comes when nobody waits any longer is given up", async () => {
    const clock = new VirtualClock();
    let cancelled = 0;
    let reply: (response: Response) => void = () => {};
    const model = modelAt(() => new Promise((resolve) => reply = resolve), { clock, timeouts });
    await clock.until(refused(model, "timeouts.headers"));
    reply(new Response(body([": late"], () => void cancelled++)));
    await clock.settle();
    assertEquals(cancelled, 1);
  });

  test("whoever leaves in the middle gives the body up and leaves no timer", async () => {
    const clock = new VirtualClock();
    let cancelled = 0;
    const pieces = [events(delta({ content: "a" })), events(delta({ content: "b" }))];
    const { fetch, sent } = endpoint(new Response(body(pieces, () => void cancelled++)));
    for await (const part of openAiModel({ baseUrl: "https://api.test", model: "m", fetch, clock }).stream(hello)) {
      assertEquals(part, { type: "text", text: "a" });
      break;
    }
    assertEquals([cancelled, clock.waiting, sent[0]?.init.signal?.aborted], [1, 0, true]);
  });
});

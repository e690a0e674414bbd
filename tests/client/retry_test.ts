import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  Client,
  connect,
  ConnectionClosedError,
  HttpStatusError,
  HttpTransport,
  InternalError,
  McpError,
  OutcomeUnknownError,
  TimeoutError,
  UnauthorizedError,
} from "../../mod.ts";
import type { Random } from "../../mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { type Front, front, type Options, type Seen, textOf, url } from "./support.ts";

const middle: Random = { fraction: () => 0.5, bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) };

interface Parts {
  client: Client;
  server: Front;
  clock: VirtualClock;
  /** How often a method came. */
  count(method: string): number;
}

type Answer = (seen: Seen, count: number) => Response | Promise<Response> | undefined;

/** A client of a modern server that answers some requests as it is told to. */
async function answered(answer: Answer, run: (parts: Parts) => Promise<void>, options: Options = {}): Promise<void> {
  const clock = new VirtualClock();
  const inner = createModernServer();
  const server = front(inner, (seen, count) => seen.method === "server/discover" ? undefined : answer(seen, count));
  const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, random: middle, ...options }));
  const count = (method: string) => server.methods.filter((name) => name === method).length;
  try {
    await run({ client, server, clock, count });
  } finally {
    await client.close();
  }
  assertEquals(inner.violations, []);
}

/** Answers with this status so many times. */
function failing(status: number, times: number, headers: Record<string, string> = {}): Answer {
  return (_, count) => count <= times ? new Response("oh no", { status, headers }) : undefined;
}

const broken: Answer = (_, count) => count === 1 ? Promise.reject(new TypeError("connection reset")) : undefined;

/** A reply that breaks off in its middle. */
const cutOff: Answer = (_, count) => {
  if (count > 1) return undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"jsonrpc":"2.0",'));
      setTimeout(() => controller.error(new TypeError("connection reset")), 0);
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
};

/** The network went away while the answer was waited for: Linux says then what it says of a host that it cannot connect to. */
function lost(code: string, isNode: boolean): Answer {
  const error = Object.assign(new Error(`read ${code}`), { code, syscall: "read" });
  const told = Object.assign(new TypeError("fetch failed", { cause: error }), isNode && { code, syscall: "read" });
  return (_, count) => count === 1 ? Promise.reject(told) : undefined;
}

describe("tools/call is never sent twice when it may have run", () => {
  const cases: [string, Answer][] = [
    ["a host that is lost meanwhile", lost("EHOSTUNREACH", false)],
    ["a host that is lost meanwhile, as our own fetch of Node tells it", lost("EHOSTUNREACH", true)],
    ["a port that is closed meanwhile", lost("ECONNREFUSED", false)],
    ["500", failing(500, 1)],
    ["502", failing(502, 1)],
    ["503", failing(503, 1)],
    ["503 with Retry-After", failing(503, 1, { "retry-after": "1" })],
    ["a connection that breaks before the reply", broken],
    ["a reply that breaks off", cutOff],
  ];
  for (const [name, answer] of cases) {
    test(`${name}: OutcomeUnknownError, sent once (C-077)`, () =>
      answered(answer, async ({ client, clock, count }) => {
        const error = await assertRejects(
          () => clock.until(client.callTool("echo", { text: "x" })),
          OutcomeUnknownError,
        );
        assertEquals([error.delivery, error.method, error.server, count("tools/call")], [
          "unknown",
          "tools/call",
          url,
          1,
        ]);
        assert(error.cause instanceof McpError);
      }));
  }

  test("the server's own hint that it is idempotent is not trusted", () =>
    answered(failing(503, 1), async ({ client, clock, count }) => {
      const { tools } = await clock.until(client.listTools());
      assertEquals(tools.find(({ name }) => name === "echo")?.annotations?.idempotentHint, true);
      const before = count("tools/call");
      await assertRejects(() => clock.until(client.callTool("echo", { text: "x" })), OutcomeUnknownError);
      assertEquals(count("tools/call") - before, 1);
    }));

  for (const [name, answer] of cases) {
    test(`${name}: sent again when the caller says that it is idempotent`, () =>
      answered(answer, async ({ client, clock, count }) => {
        const result = await clock.until(client.callTool("echo", { text: "x" }, { idempotent: true }));
        assertEquals([textOf(result), count("tools/call")], ["x", 2]);
      }));
  }
});

describe("what certainly was not executed is sent again", () => {
  test("429: three times in all, under a new id each time", () =>
    answered(failing(429, 2), async ({ client, server, clock }) => {
      assertEquals(textOf(await clock.until(client.callTool("echo", { text: "x" }))), "x");
      const ids = server.seen.filter(({ method }) => method === "tools/call").map(({ message }) => message?.id);
      assertEquals([ids.length, new Set(ids).size], [3, 3]);
    }));

  test("429 without an end: the answer reaches the caller after three", () =>
    answered(failing(429, 99), async ({ client, clock, count }) => {
      const error = await assertRejects(() => clock.until(client.callTool("echo", { text: "x" })), HttpStatusError);
      assertEquals([error.status, error.delivery, count("tools/call")], [429, "not-sent", 3]);
    }));

  for (const status of [429, 503]) {
    test(`${status} with a JSON-RPC error for its body: as without, after Retry-After`, () =>
      answered((_, count) => {
        if (count > 1) return undefined;
        const error = { code: -32000, message: "Too many requests" };
        return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers: { "retry-after": "2" } });
      }, async ({ client, clock }) => {
        const start = clock.monotonic();
        if (status === 429) assertEquals(textOf(await clock.until(client.callTool("echo", { text: "x" }))), "x");
        else await clock.until(client.listTools());
        assertEquals(clock.monotonic() - start, 2_000);
      }));
  }

  // The last ones: there is no IPv6 here, or no port is left to connect from; too many files are open; a proxy opens no tunnel.
  for (const code of ["ECONNREFUSED", "ENOTFOUND", "EADDRNOTAVAIL", "EMFILE", "ERR_PROXY_TUNNEL"]) {
    test(`a connection that did not come about: ${code}`, async () => {
      const failed = Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(), { code }) });
      await answered((_, count) => count < 3 ? Promise.reject(failed) : undefined, async ({ client, clock, count }) => {
        assertEquals(textOf(await clock.until(client.callTool("echo", { text: "x" }))), "x");
        assertEquals(count("tools/call"), 3);
      });
    });
  }
});

test("a failure whose causes go in a circle is a broken connection", () => {
  const failed = new TypeError("fetch failed");
  failed.cause = new Error("no", { cause: failed });
  return answered(() => Promise.reject(failed), async ({ client, clock }) => {
    const error = await clock.until(assertRejects(() => client.callTool("echo", { text: "x" }), McpError));
    assertEquals([error.code, error.delivery], ["outcome_unknown", "unknown"]);
  });
});

describe("what only reads is sent again", () => {
  const reads: [string, string, (client: Client) => Promise<unknown>][] = [
    ["tools/list", "listTools", (client) => client.listTools()],
    ["resources/list", "listResources", (client) => client.listResources()],
    ["resources/templates/list", "listResourceTemplates", (client) => client.listResourceTemplates()],
    ["prompts/list", "listPrompts", (client) => client.listPrompts()],
    ["resources/read", "readResource", (client) => client.readResource("test://text")],
    ["prompts/get", "getPrompt", (client) => client.getPrompt("plain")],
    [
      "completion/complete",
      "complete",
      (client) => client.complete({ type: "ref/prompt", name: "greet" }, { name: "who", value: "a" }),
    ],
  ];
  for (const [method, name, verb] of reads) {
    test(name, async () => {
      const all = [broken, cutOff, failing(503, 2), failing(429, 2), failing(500, 1)];
      for (const answer of method === "tools/list" ? all : all.slice(0, 3)) {
        await answered(answer, async ({ client, clock, count }) => {
          await clock.until(verb(client));
          assert(count(method) === 2 || count(method) === 3);
        });
      }
    });
  }

  test("any other request is not", () =>
    answered(failing(503, 1), async ({ client, clock, count }) => {
      await assertRejects(() => clock.until(client.request("com.example/do", {})), McpError);
      assertEquals(count("com.example/do"), 1);
    }));

  const answers: [string, Answer][] = [
    ["400", failing(400, 9)],
    ["401", failing(401, 9)],
    ["403", failing(403, 9)],
    ["404", failing(404, 9)],
    ["413 (C-081)", failing(413, 9)],
    ["431 (C-081)", failing(431, 9)],
  ];
  for (const [name, answer] of answers) {
    test(`an answer is an answer: ${name} is told at once`, () =>
      answered(answer, async ({ client, clock, count }) => {
        const error = await assertRejects(() => clock.until(client.listTools()), McpError);
        assert(error instanceof HttpStatusError || error instanceof UnauthorizedError);
        assertEquals([count("tools/list"), error.delivery], [1, "answered"]);
      }));
  }

  test("an error of the server's own is told at once", () =>
    answered(
      (seen) => Response.json({ jsonrpc: "2.0", id: seen.message?.id, error: { code: -32603, message: "broken" } }),
      async ({ client, clock, count }) => {
        await assertRejects(() => clock.until(client.listTools()), InternalError);
        assertEquals(count("tools/list"), 1);
      },
    ));
});

describe("how often, and when", () => {
  test("`retry.attempts`: 1 turns it off, 5 tries longer", async () => {
    for (const attempts of [1, 2, 3]) {
      await answered(failing(503, 9), async ({ client, clock, count }) => {
        await assertRejects(() => clock.until(client.listTools()), HttpStatusError);
        assertEquals(count("tools/list"), attempts);
      }, { retry: { attempts } });
    }
  });

  test("Retry-After is honoured: seconds, or a date; a minute at most", async () => {
    const start = new VirtualClock().now();
    const cases: [string, number, number][] = [
      ["7", 7_000, 7_100],
      ["0", 0, 100],
      [new Date(start + 10_000).toUTCString(), 9_000, 10_100],
      ["3600", 60_000, 60_100],
    ];
    for (const [value, least, most] of cases) {
      await answered(failing(503, 1, { "retry-after": value }), async ({ client, clock }) => {
        const before = clock.monotonic();
        await clock.until(client.listTools());
        const passed = clock.monotonic() - before;
        assert(passed >= least && passed <= most, `${value}: ${passed} ms`);
      });
    }
  });

  test("without it: a pause that chance decides, and that grows", () =>
    answered(failing(502, 2), async ({ client, server, clock }) => {
      const times: number[] = [];
      const push = server.seen.push.bind(server.seen);
      server.seen.push = (...seen) => {
        times.push(clock.monotonic());
        return push(...seen);
      };
      await clock.until(client.listTools());
      const [first = 0, second = 0, third = 0] = times;
      assert(second - first > 0 && second - first <= 200, `${second - first} ms`);
      assert(third - second > second - first && third - second <= 400, `${third - second} ms`);
    }));

  test("never beyond the caller's own deadline", () =>
    answered(failing(503, 9, { "retry-after": "30" }), async ({ client, clock, count }) => {
      const before = clock.monotonic();
      await assertRejects(() => clock.until(client.listTools({ timeout: 2_000 })), HttpStatusError);
      assertEquals([count("tools/list"), clock.monotonic() - before < 2_100], [1, true]);
    }));

  test("giving up during the pause: the signal's own reason, nothing more is sent", () =>
    answered(failing(503, 9, { "retry-after": "30" }), async ({ client, clock, count }) => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const call = assertRejects(() => client.listTools({ signal: controller.signal }));
      await clock.advance(1_000);
      controller.abort(reason);
      assertEquals(await call, reason);
      // The pause is over too: for it a process would stay up.
      await clock.advance(1_000);
      assertEquals(clock.waiting, 0);
      await clock.advance(60_000);
      assertEquals(count("tools/list"), 1);
    }));

  test("closing during the pause ends the call", () =>
    answered(failing(503, 9, { "retry-after": "5" }), async ({ client, clock, count }) => {
      const call = assertRejects(() => client.listTools(), McpError);
      await clock.advance(1_000);
      await client.close();
      await clock.advance(10_000);
      await call;
      assertEquals(count("tools/list"), 1);
    }));

  test("a fifth of the calls at most, three at least: a server that is down is not hammered", () =>
    answered(failing(503, 9_999), async ({ client, clock, count }) => {
      const calls = Array.from(
        { length: 40 },
        (_, index) => client.readResource(`test://item/${index}`).catch((error: unknown) => error),
      );
      for (const error of await clock.until(Promise.all(calls))) assert(error instanceof HttpStatusError);
      assertEquals(count("resources/read") - 40, 8);
      await clock.advance(10_000);
      // Ten seconds later it is counted anew: three at least.
      await assertRejects(() => clock.until(client.readResource("test://item/x")), HttpStatusError);
      assertEquals(count("resources/read") - 48, 3);
    }));

  for (const [name, options] of Object.entries({ "of its own": { timeout: 60_000 }, "that is usual": {} })) {
    test(`a call that opens the session itself is tried again too, within the time ${name}`, async () => {
      const clock = new VirtualClock();
      const inner = createModernServer();
      const server = front(
        inner,
        ({ method }, count) => method === "tools/call" && count === 1 ? new Response("", { status: 429 }) : undefined,
      );
      const client = new Client(new HttpTransport(url, { fetch: memoryFetch(server), clock }), {
        clock,
        random: middle,
      });
      assertEquals(textOf(await clock.until(client.callTool("echo", { text: "hi" }, options))), "hi");
      assertEquals(server.methods, ["server/discover", "tools/call", "tools/call"]);
      await client.close();
    });
  }

  test("all attempts share the time of the request", () =>
    answered((_, count) => {
      return count > 1
        ? new Promise<Response>(() => {})
        : new Response("", { status: 503, headers: { "retry-after": "20" } });
    }, async ({ client, clock, count }) => {
      const before = clock.monotonic();
      const error = await assertRejects(
        () => clock.until(client.readResource("test://text", { timeout: 25_000 })),
        TimeoutError,
      );
      assertEquals([error.timeout, count("resources/read")], ["call", 2]);
      const passed = clock.monotonic() - before;
      assert(passed >= 25_000 && passed <= 25_100, `${passed} ms`);
    }));

  test("only who is busy says when to come again: not a server that failed, nor a stream that ended", async () => {
    const ended = 'retry: 40000\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n';
    const cases: [string, () => Response][] = [
      ["502", () => new Response("", { status: 502, headers: { "retry-after": "40" } })],
      ["retry", () => new Response(ended, { headers: { "content-type": "text/event-stream" } })],
    ];
    for (const [name, reply] of cases) {
      await answered((_, count) => count === 1 ? reply() : undefined, async ({ client, clock }) => {
        const before = clock.monotonic();
        await clock.until(client.listTools());
        assert(clock.monotonic() - before < 1_000, name);
      });
    }
  });

  test("a reply that never came is one error for all who share it", () =>
    answered(broken, async ({ client, clock, count }) => {
      const lists = Array.from({ length: 3 }, () => client.listTools());
      for (const list of await clock.until(Promise.all(lists))) assert(list.tools.length > 10);
      assertEquals(count("tools/list"), 2);
    }));

  test("without retries it is ConnectionClosedError for a list", () =>
    answered(broken, async ({ client, clock }) => {
      const error = await assertRejects(() => clock.until(client.listTools()), ConnectionClosedError);
      assertEquals([error.method, error.retryable], ["tools/list", true]);
    }, { retry: { attempts: 1 } }));
});

import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  connect,
  ConnectError,
  HttpStatusError,
  InputRequiredError,
  InternalError,
  InvalidParamsError,
  LimitExceededError,
  OutcomeUnknownError,
  ProtocolViolationError,
  RpcError,
  taskSupport,
  TimeoutError,
} from "../../mod.ts";
import type { Client, JsonObject, PendingInput } from "../../mod.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

type Options = NonNullable<Parameters<typeof connect>[1]>;
/** What the server says to a method: a result, or a JSON-RPC error to throw. `count` begins at 0. */
type Script = Record<string, (params: JsonObject, count: number) => JsonObject>;

class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown by a script: the server is not to be had. */
const away = new Error("away");

interface Setup {
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly counts: Map<string, number>;
  /** When each request of a method came. */
  at(method: string): number[];
  /** The parameters of each request of a method, without `_meta`. */
  params(method: string): JsonObject[];
}

/** A modern server that says what it is told to. */
async function scripted(script: Script, options: Options = {}): Promise<Setup> {
  const clock = new VirtualClock();
  const counts = new Map<string, number>();
  const seen: { method: string; at: number; params: JsonObject }[] = [];
  const all: Script = {
    "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
    "tools/call": () => task({ resultType: "task" }),
    ...script,
  };
  const client = await connect("http://server.test/mcp", {
    clock,
    tasks: taskSupport,
    fetch: async (target, init) => {
      const message = await new Request(target, init).json() as { id: string; method: string; params: JsonObject };
      const { id, method, params } = message;
      const { _meta, ...rest } = params;
      const count = counts.get(method) ?? 0;
      counts.set(method, count + 1);
      seen.push({ method, at: clock.monotonic(), params: rest });
      let body: JsonObject;
      try {
        const answer = all[method];
        if (!answer) throw new Refusal(-32601, `no ${method}`);
        body = { result: { resultType: "complete", ...answer(rest, count) } };
      } catch (error) {
        if (error === away) return new Response("", { status: 503 });
        if (!(error instanceof Refusal)) throw error;
        body = { error: { code: error.code, message: error.message } };
      }
      return Response.json({ jsonrpc: "2.0", id, ...body });
    },
    ...options,
  });
  const of = (method: string) => seen.filter((request) => request.method === method);
  return {
    clock,
    client,
    counts,
    at: (method) => of(method).map(({ at }) => at),
    params: (method) => of(method).map(({ params }) => params),
  };
}

/** A task of the extension. */
function task(more: JsonObject = {}): JsonObject {
  const createdAt = "2026-07-28T00:00:00Z";
  return { taskId: "t1", status: "working", createdAt, lastUpdatedAt: createdAt, ttlMs: null, ...more };
}

const done = (more: JsonObject = {}) => task({ status: "completed", result: { content: [] }, ...more });
const asks = (...keys: string[]) =>
  task({
    status: "input_required",
    inputRequests: Object.fromEntries(keys.map((key) => [key, {
      method: "elicitation/create",
      params: { mode: "form", message: key, requestedSchema: { type: "object", properties: {} } },
    }])),
  });
const accept = { action: "accept", content: {} };

describe("how often a task is looked at", () => {
  for (
    const [wanted, expected] of [[undefined, 1_000], [5, 100], [0, 100], [-1, 100], [2_500, 2_500], [
      1e9,
      60_000,
    ]] as const
  ) {
    test(`a server that wants ${wanted} ms gets ${expected} ms`, async () => {
      const pace = wanted === undefined ? {} : { pollIntervalMs: wanted };
      const { clock, client, at } = await scripted({
        "tools/call": () => task({ resultType: "task", ...pace }),
        "tasks/get": (_, count) => count < 2 ? task(pace) : done(pace),
      });
      const startedAt = clock.monotonic();
      await clock.until(client.callTool("any"));
      assertEquals(at("tasks/get").map((when) => when - startedAt), [expected, 2 * expected, 3 * expected]);
      await client.close();
    });
  }

  test("the pace may change, and a look in between counts", async () => {
    const { clock, client, at } = await scripted({
      "tasks/get": (_, count) => count < 3 ? task({ pollIntervalMs: count === 0 ? 3_000 : 400 }) : done(),
    });
    const handle = await client.callToolTask("any");
    const startedAt = clock.monotonic();
    const result = handle.result();
    await clock.advance(1_000);
    await clock.advance(1_000);
    await handle.get();
    await clock.until(result);
    assertEquals(at("tasks/get").map((when) => when - startedAt), [1_000, 2_000, 4_000, 4_400]);
    await client.close();
  });
});

describe("how long a task is waited for", () => {
  test("for longer than any call may take, where nothing is said", async () => {
    const { clock, client } = await scripted({
      "tasks/get": (_, count) => count < 20 ? task({ pollIntervalMs: 60_000 }) : done(),
    });
    await clock.until(client.callTool("any"));
    assert(clock.monotonic() > 1_200_000);
    assertEquals(clock.waiting <= 1, true);
    await client.close();
  });

  test("no longer than the option allows; a plain call then cancels", async () => {
    const { clock, client, counts } = await scripted({ "tasks/get": () => task(), "tasks/cancel": () => ({}) });
    const handle = await client.callToolTask("any");
    const error = await assertRejects(() => clock.until(handle.result({ timeout: 2_500 })), TimeoutError);
    assertEquals([error.timeout, error.milliseconds, clock.monotonic()], ["total", 2_500, 2_500]);
    assertEquals([counts.get("tasks/get"), counts.get("tasks/cancel")], [2, undefined]);
    await assertRejects(() => clock.until(client.callTool("any", {}, { timeout: 2_500 })), TimeoutError);
    await clock.settle();
    assertEquals(counts.get("tasks/cancel"), 1);
    await client.close();
  });

  test("no longer than the server keeps a task that does not move", async () => {
    const { clock, client } = await scripted({
      "tasks/get": (_, count) => task({ ttlMs: 5_000, statusMessage: count < 4 ? `step ${count}` : "stuck" }),
    });
    const error = await assertRejects(() => clock.until(client.callTool("any")), OutcomeUnknownError, "5000 ms");
    assertEquals([error.delivery, clock.monotonic()], ["unknown", 10_000]);
    await client.close();
  });

  test("also while the server is away, with longer and longer pauses", async () => {
    const { clock, client, at } = await scripted({
      "tasks/get": (_, count) => {
        if (count > 0 && count < 5) throw away;
        return count < 6 ? task() : done();
      },
    }, { retry: { attempts: 1 } });
    await clock.until(client.callTool("any"));
    assertEquals(at("tasks/get"), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 33_000]);
    await client.close();
  });

  test("but not for a server that stays away", async () => {
    const script = {
      "tasks/get": () => {
        throw away;
      },
    };
    const { clock, client, counts } = await scripted(script, { retry: { attempts: 1 } });
    const handle = await client.callToolTask("any");
    const error = await assertRejects(() => clock.until(handle.result()), HttpStatusError);
    assertEquals([error.status, error.method, counts.get("tasks/get")], [503, "tasks/get", 7]);
    await client.close();
    let refused = false;
    const cut = await scripted(script, {
      retry: { attempts: 1 },
      middleware: [(next) => (request) => {
        refused = request.method === "tasks/get";
        if (refused) throw new ConnectError("refused", { retryable: true });
        return next(request);
      }],
    });
    const unknown = await assertRejects(() => cut.clock.until(cut.client.callTool("any")), OutcomeUnknownError);
    assert(refused && unknown.cause instanceof ConnectError);
    assertEquals(unknown.delivery, "unknown");
    await cut.client.close();
  });

  test("no longer than the server knows it", async () => {
    const { clock, client } = await scripted({
      "tasks/get": (_, count) => {
        if (count > 2) throw new Refusal(-32602, "Task has expired");
        return task();
      },
    });
    const error = await assertRejects(() => clock.until(client.callTool("any")), InvalidParamsError, "expired");
    assertEquals([error.method, error.rpcCode], ["tasks/get", -32602]);
    await client.close();
  });
});

describe("what a task asks for", () => {
  test("each key is asked for once, however often it is listed, and goes out once", async () => {
    const states = [asks("a"), asks("a"), asks("a", "b"), asks("b", "c"), task(), asks("a"), done()];
    const asked: string[] = [];
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => states[count] ?? done(),
      "tasks/update": () => ({}),
    }, {
      handlers: {
        elicitation: ({ message }) => {
          asked.push(message);
          return { action: "accept", content: { of: message } };
        },
      },
    });
    await clock.until(client.callTool("any"));
    assertEquals(asked, ["a", "b", "c"]);
    const answer = (key: string) => ({ [key]: { action: "accept", content: { of: key } } });
    assertEquals(params("tasks/update"), ["a", "b", "c"].map((key) => ({ taskId: "t1", inputResponses: answer(key) })));
    await client.close();
  });

  test("the looks go on while the user thinks, and a task that goes on without the answer ends the form", async () => {
    let aborted = false;
    const { clock, client, counts } = await scripted({
      "tasks/get": (_, count) => count < 5 ? asks("a") : done(),
      "tasks/update": () => ({}),
    }, {
      handlers: {
        elicitation: (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => {
              aborted = true;
              reject(signal.reason);
            })
          ),
      },
    });
    await clock.until(client.callTool("any"));
    assertEquals([counts.get("tasks/get"), counts.get("tasks/update"), aborted], [6, undefined, true]);
    await client.close();
  });

  test("an answer that did not arrive is sent again, and not asked for again", async () => {
    let asked = 0;
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => count < 2 ? asks("a") : done(),
      "tasks/update": (_, count) => {
        if (count === 0) throw new Refusal(-32603, "try later");
        return {};
      },
    }, {
      handlers: {
        elicitation: () => {
          asked++;
          return { action: "accept", content: {} };
        },
      },
    });
    const handle = await client.callToolTask("any");
    await assertRejects(() => clock.until(handle.result()), InternalError, "try later");
    await clock.until(handle.result());
    assertEquals(params("tasks/update"), [1, 2].map(() => ({ taskId: "t1", inputResponses: { a: accept } })));
    assertEquals(asked, 1);
    await client.close();
  });

  test("what no handler gives stops the waiting, and is handed over by resume", async () => {
    let answered = false;
    const { clock, client, params } = await scripted({
      "tasks/get": () => answered ? done({ result: { content: [{ type: "text", text: "thanks" }] } }) : asks("a"),
      "tasks/update": () => {
        answered = true;
        return {};
      },
    }, { capabilities: { elicitation: {} } });
    const handle = await client.callToolTask("any");
    const error = await assertRejects(() => clock.until(handle.result()), InputRequiredError);
    const pending = JSON.parse(JSON.stringify(error.pending)) as PendingInput;
    assertEquals(Object.keys(pending.inputRequests), ["a"]);
    await client.resume(pending, { a: accept });
    assertEquals(params("tasks/update"), [{ taskId: "t1", inputResponses: { a: accept } }]);
    assertEquals((await clock.until(handle.result())).content, [{ type: "text", text: "thanks" }]);
    await client.close();
  });

  test("what was never declared, or has no shape, is a violation", async () => {
    const undeclared = await scripted({ "tasks/get": () => asks("a") });
    await assertRejects(() => undeclared.clock.until(undeclared.client.callTool("any")), ProtocolViolationError);
    await undeclared.client.close();
    const shapeless = await scripted(
      { "tasks/get": () => task({ status: "input_required", inputRequests: { a: { method: 1 } } }) },
      { handlers: { elicitation: () => ({ action: "decline" }) } },
    );
    await assertRejects(
      () => shapeless.clock.until(shapeless.client.callTool("any")),
      ProtocolViolationError,
      "method",
    );
    await shapeless.client.close();
  });

  test("a task that never stops asking is stopped", async () => {
    let asked = 0;
    const { clock, client } = await scripted({
      "tasks/get": (_, count) => asks(`key ${count}`),
      "tasks/update": () => ({}),
    }, {
      limits: { inputRounds: 3 },
      handlers: {
        elicitation: () => {
          asked++;
          return { action: "decline" };
        },
      },
    });
    const error = await assertRejects(() => clock.until(client.callTool("any")), LimitExceededError);
    assertEquals([error.limit, asked], ["limits.inputRounds", 3]);
    await client.close();
  });
});

describe("how a task ends", () => {
  test("a failed task carries its JSON-RPC error", async () => {
    const error = { code: -32000, message: "no luck", data: { why: 1 } };
    const { clock, client } = await scripted({ "tasks/get": () => task({ status: "failed", error }) });
    const thrown = await assertRejects(() => clock.until(client.callTool("any")), RpcError, "no luck");
    assertEquals([thrown.rpcCode, thrown.data, thrown.method], [-32000, { why: 1 }, "tools/call"]);
    await client.close();
  });

  const violations: [string, JsonObject][] = [
    ["failed without an error", { status: "failed" }],
    ["failed with a shapeless error", { status: "failed", error: { code: "x" } }],
    ["completed without a result", { status: "completed" }],
    ["completed with no tool's result", { status: "completed", result: { content: [{ type: "text" }] } }],
    ["in a state that there is not", { status: "paused" }],
    ["without an id", { taskId: null }],
  ];
  for (const [name, state] of violations) {
    test(`a task ${name} is a violation`, async () => {
      const { clock, client } = await scripted({ "tasks/get": () => task(state) });
      await assertRejects(() => clock.until(client.callTool("any")), ProtocolViolationError);
      await client.close();
    });
  }

  test("a look that is answered as a task is one too, as examples of SEP-2663 have it", async () => {
    const { clock, client } = await scripted({ "tasks/get": () => done({ resultType: "task" }) });
    assertEquals((await clock.until(client.callTool("any"))).content, []);
    assertEquals((await client.getTask("t1")).task.status, "completed");
    await client.close();
  });

  test("without the option a task is a violation, and the verbs are a mistake of the caller", async () => {
    const { clock, client } = await scripted({}, { tasks: undefined });
    await assertRejects(() => clock.until(client.callTool("any")), ProtocolViolationError, "resultType");
    assertEquals(
      await Promise.resolve().then(() => client.listTasks()).catch((error) => error instanceof TypeError),
      true,
    );
    await client.close();
  });
});

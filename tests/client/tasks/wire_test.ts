import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ConnectError,
  HttpStatusError,
  InvalidParamsError,
  OutcomeUnknownError,
  ProtocolViolationError,
  RpcError,
  TimeoutError,
  UnauthorizedError,
} from "../../../mod.ts";
import type { JsonObject, Middleware } from "../../../mod.ts";
import { away, done, Refusal, scripted, type Setup, task } from "./script.ts";

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
    assertEquals([error.timeout, error.milliseconds, clock.monotonic()], ["call", 2_500, 2_500]);
    assertEquals([counts.get("tasks/get"), counts.get("tasks/cancel")], [2, undefined]);
    await assertRejects(() => clock.until(client.callTool("any", {}, { timeout: 2_500 })), TimeoutError);
    await clock.settle();
    assertEquals(counts.get("tasks/cancel"), 1);
    await client.close();
  });

  test("the time of a call that became a task begins with the call", async () => {
    const slow: Middleware = (next) => async (request) => {
      if (request.method === "tools/call") await new Promise<void>((resolve) => setup.clock.schedule(resolve, 2_000));
      return await next(request);
    };
    const script = { "tasks/get": () => task(), "tasks/cancel": () => ({}) };
    const setup: Setup = await scripted(script, { middleware: [slow] });
    const { clock, client } = setup;
    const late = client.callTool("any", {}, { timeout: 5_000 });
    const error = await assertRejects(() => clock.until(late), TimeoutError, 'raise "timeout"');
    assertEquals([error.milliseconds, clock.monotonic()], [5_000, 5_000]);
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
    // The tool may have run: who reads "answered" would call it again.
    const error = await assertRejects(() => clock.until(client.callTool("any")), OutcomeUnknownError, "expired");
    assertEquals(error.delivery, "unknown");
    assert(error.cause instanceof InvalidParamsError);
    assertEquals([error.cause.method, error.cause.rpcCode], ["tasks/get", -32602]);
    await client.close();
  });

  for (const status of [400, 401, 403, 404]) {
    test(`no longer than it is told of: ${status}`, async () => {
      const { clock, client, counts } = await scripted({
        "tasks/get": (_, count) => {
          if (count > 2) throw new Response("", { status });
          return task();
        },
      });
      const error = await assertRejects(() => clock.until(client.callTool("any")), OutcomeUnknownError, `${status}`);
      assertEquals([error.delivery, counts.get("tools/call")], ["unknown", 1]);
      const { cause } = error;
      assert(cause instanceof (status === 401 || status === 403 ? UnauthorizedError : HttpStatusError));
      assertEquals([cause.status, cause.method], [status, "tasks/get"]);
      await client.close();
    });
  }
});

describe("how a task ends", () => {
  test("a failed task carries its JSON-RPC error", async () => {
    const error = { code: -32000, message: "no luck", data: { why: 1 } };
    const { clock, client } = await scripted({ "tasks/get": () => task({ status: "failed", error }) });
    const thrown = await assertRejects(() => clock.until(client.callTool("any")), RpcError, "no luck");
    assertEquals([thrown.rpcCode, thrown.data, thrown.method], [-32000, { why: 1 }, "tools/call"]);
    await client.close();
  });

  test("the words of a task that failed are without secrets; what one gave is left as it is", async () => {
    const secret = "s3cret-of-the-operator";
    const headers = { "x-key": secret };
    const error = { code: -32000, message: `no luck with ${secret}`, data: { why: secret } };
    const failed = await scripted({ "tasks/get": () => task({ status: "failed", error }) }, { headers });
    const thrown = await assertRejects(() => failed.clock.until(failed.client.callTool("any")), RpcError);
    assertEquals([thrown.message, thrown.data], ["no luck with [redacted]", { why: "[redacted]" }]);
    await failed.client.close();
    const result = { content: [{ type: "text", text: secret }] };
    const { clock, client } = await scripted({ "tasks/get": () => task({ status: "completed", result }) }, { headers });
    assertEquals((await clock.until(client.callTool("any"))).content, [{ type: "text", text: secret }]);
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

  test("a task keeps the id that it was asked for by", async () => {
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => count < 2 ? task({ taskId: "other" }) : done({ taskId: "other" }),
    });
    const handle = await client.getTask("t1");
    await clock.until(handle.result());
    assertEquals([handle.taskId, handle.task.taskId], ["t1", "t1"]);
    assertEquals(new Set(params("tasks/get").map(({ taskId }) => taskId)), new Set(["t1"]));
    await client.close();
  });

  test("who gave up already does not get the result of a task that has ended either", async () => {
    const { client } = await scripted({ "tasks/get": () => done() });
    const handle = await client.getTask("t1");
    const reason = new Error("enough");
    assertEquals(await handle.result({ signal: AbortSignal.abort(reason) }).catch((error: unknown) => error), reason);
    assertEquals((await handle.result()).content, []);
    await client.close();
  });

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

import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  ConnectError,
  InvalidParamsError,
  McpError,
  MethodNotFoundError,
  RpcError,
  UrlElicitationRequiredError,
} from "../../../src/protocol/errors.ts";
import { Bench, text } from "./support.ts";

function throwing(thrown: unknown): Bench {
  return new Bench({
    "tools/call": () => {
      throw thrown;
    },
  });
}

describe("what a handler throws", () => {
  test("an error for the caller keeps its code, words and data", async () => {
    const thrown = new InvalidParamsError("No such tool", { rpcCode: -32602, data: { name: "x" } });
    assertEquals(await throwing(thrown).failure("tools/call"), {
      code: -32602,
      status: 200,
      data: { name: "x" },
      message: "No such tool",
    });
    const missing = new MethodNotFoundError("No prompts here", { rpcCode: -32601 });
    const { code, status } = await throwing(missing).failure("tools/call");
    assertEquals([code, status], [-32601, 404]);
    const own = new RpcError("Mine", { rpcCode: 4711, data: [1] });
    assertEquals((await throwing(own).failure("tools/call")).code, 4711);
  });

  test("a resource that is not there is -32602 in this era (S-125)", async () => {
    const thrown = new InvalidParamsError("Resource not found", { rpcCode: -32002, data: { uri: "x:y" } });
    const { code, data } = await throwing(thrown).failure("tools/call");
    assertEquals([code, data], [-32602, { uri: "x:y" }]);
  });

  const hidden: [string, unknown][] = [
    ["an ordinary error", new Error("password is hunter2")],
    ["an error of a client", new ConnectError("Cannot connect to hunter2")],
    ["an error without a code", new McpError("hunter2")],
    ["an error of another server", new InvalidParamsError("hunter2", { rpcCode: -32602, server: "upstream" })],
    ["an error of the legacy era (S-125)", new UrlElicitationRequiredError("hunter2", { rpcCode: -32042, data: {} })],
    ["a code that nobody defined (S-125)", new RpcError("hunter2", { rpcCode: -32050 })],
    ["a code that is none", new RpcError("hunter2", { rpcCode: NaN })],
    ["a text", "hunter2"],
    ["nothing", undefined],
    ["an object without a prototype", Object.create(null)],
  ];
  for (const [what, thrown] of hidden) {
    test(`${what} is "Internal error", and is logged`, async () => {
      const bench = throwing(thrown);
      const answer = await bench.ask("tools/call").answer;
      assertEquals(answer, {
        response: { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } },
        status: 200,
      });
      assertEquals(bench.logs.map(({ level }) => level), ["error"]);
      assertEquals(bench.logs[0]?.fields?.error, thrown);
    });
  }
});

describe("a request that was called off", () => {
  test("has no answer, at once, and its handler is told", async () => {
    const controller = new AbortController();
    let told = false;
    const bench = new Bench({
      "tools/call": ({ signal }) => {
        signal.addEventListener("abort", () => {
          told = true;
        });
        return new Promise(() => {});
      },
    });
    const { answer } = bench.ask("tools/call", { signal: controller.signal });
    await bench.clock.settle();
    controller.abort();
    assertEquals(await answer, undefined);
    assertEquals(told, true);
  });

  test("has no answer when its handler ends anyway, well or badly, and nothing is logged", async () => {
    for (const fails of [false, true]) {
      const controller = new AbortController();
      const bench = new Bench({
        "tools/call": ({ log, progress }) => {
          controller.abort();
          log("error", "late");
          progress({ progress: 1 });
          if (fails) throw new Error("aborted");
          return text("done");
        },
      });
      const { answer, notices } = bench.ask("tools/call", {
        signal: controller.signal,
        meta: { progressToken: 1, "io.modelcontextprotocol/logLevel": "debug" },
      });
      assertEquals(await answer, undefined);
      await bench.clock.advance(1_000);
      assertEquals([notices, bench.logs], [[], []]);
    }
  });

  test("sends nothing more, also of what waits", async () => {
    const controller = new AbortController();
    const bench = new Bench({
      "tools/call": ({ progress }) => {
        for (let step = 1; step <= 8; step++) progress({ progress: step });
        return new Promise(() => {});
      },
    });
    const { answer, notices } = bench.ask("tools/call", { signal: controller.signal, meta: { progressToken: 1 } });
    await bench.clock.settle();
    assertEquals(notices.length, 5);
    controller.abort();
    await answer;
    await bench.clock.advance(1_000);
    assertEquals([notices.length, bench.clock.waiting], [5, 0]);
  });

  test("before it began is not run", async () => {
    let runs = 0;
    const bench = new Bench({ "tools/call": () => text(++runs) });
    assertEquals(await bench.ask("tools/call", { signal: AbortSignal.abort() }).answer, undefined);
    assertEquals(runs, 0);
  });
});

test("who calls is told to the handler as the binding found it, and nothing of the request changes it", async () => {
  const auth = { principal: "ada", scopes: ["read"] };
  const bench = new Bench({
    "tools/call": (context) =>
      text([context.auth?.principal ?? null, context.era, context.revision, context.meta.x ?? 0]),
  });
  const result = await bench.result("tools/call", { auth, meta: { x: 5, principal: "bob" } });
  assertStringIncludes(JSON.stringify(result.content), '[\\"ada\\",\\"modern\\",\\"2026-07-28\\",5]');
});

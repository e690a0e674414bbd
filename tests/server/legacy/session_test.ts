import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { ConnectionClosedError, InvalidParamsError, RpcError } from "../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";
import type { Incoming } from "../../../src/server/seam.ts";
import { said, standIn } from "../stand_in.ts";
import { bench, hello, opened } from "./support.ts";

const logTen = {
  "tools/call": (_: unknown, context: RequestContext) => {
    for (const level of ["debug", "info", "error"] as const) context.log(level, { level }, "part");
    return said("done");
  },
};

describe("the handshake", () => {
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    test(`${revision} is spoken when it is asked for`, async () => {
      const { session, result } = bench(standIn());
      assertEquals(session.open, false);
      const { protocolVersion, serverInfo, instructions } = await result("initialize", hello(revision));
      assertEquals([protocolVersion, session.revision, session.open], [revision, revision, true]);
      assertEquals(instructions, "Stand there");
      const title = revision < "2025-06-18" ? {} : { title: "A Stand-in" };
      const websiteUrl = revision < "2025-11-25" ? {} : { websiteUrl: "https://stand.in/" };
      assertEquals(serverInfo, { name: "stand-in", version: "1.2.3", ...title, ...websiteUrl });
    });
  }

  test("an unknown, a modern and a future revision get the newest of this era", async () => {
    for (const revision of ["1999-01-01", "2026-07-28", "2030-01-01"]) {
      const { result } = bench(standIn());
      assertEquals((await result("initialize", hello(revision))).protocolVersion, "2025-11-25");
    }
  });

  test("what is there is declared, with its notices", async () => {
    const { result } = bench(standIn());
    assertEquals((await result("initialize", hello())).capabilities, {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    });
    const old = bench(standIn({}, { tools: {}, completions: {} }));
    assertEquals((await old.result("initialize", hello("2024-11-05"))).capabilities, {
      tools: { listChanged: true },
      logging: {},
    });
  });

  test("before it only a ping is answered, and after it there is no second one", async () => {
    const { result, failure } = bench(standIn(logTen));
    assertEquals(await result("ping"), {});
    for (const method of ["tools/call", "logging/setLevel", "what/ever"]) assertEquals(await failure(method), [-32600]);
    assertEquals(await failure("initialize", {}), [-32602]);
    await result("initialize", hello());
    assertEquals(await failure("initialize", hello()), [-32600]);
    assertEquals(await result("ping"), {});
  });
});

describe("answers", () => {
  test("an unknown method is -32601, with the status of success", async () => {
    const { request } = await opened(standIn());
    const { response, status } = await request("what/ever") ?? {};
    assertEquals([response?.error?.code, status], [-32601, 200]);
  });

  test("what the caller did wrong is told; a missing resource has the code of this era", async () => {
    const wrong = () => {
      throw new InvalidParamsError("no", { rpcCode: -32602, data: { uri: "a:b" } });
    };
    const { failure } = await opened(standIn({ "resources/read": wrong, "tools/call": wrong }));
    assertEquals(await failure("resources/read", { uri: "a:b" }), [-32002, { uri: "a:b" }]);
    assertEquals(await failure("tools/call"), [-32602, { uri: "a:b" }]);
  });

  test("what went wrong inside is not told, but logged", async () => {
    const secret = new Error("the password is 1234");
    const foreign = new RpcError("of another server", { rpcCode: -32000, method: "tools/call" });
    for (const error of [secret, foreign, new ConnectionClosedError("upstream"), "text"]) {
      const { request, log } = await opened(standIn({
        "prompts/get": () => {
          throw error;
        },
      }));
      const answer = await request("prompts/get");
      assertEquals(answer?.response.error, { code: -32603, message: "Internal error" });
      assertEquals(log.map(({ fields }) => fields?.error), [error]);
    }
  });

  test("a handler that throws before it waits does no harm", async () => {
    const { methods } = standIn();
    const run = () => {
      throw new Error("at once");
    };
    const { failure } = await opened({ ...standIn(), methods: { ...methods, run } });
    assertEquals(await failure("tools/call"), [-32603]);
  });
});

describe("log messages", () => {
  test("go to the client from info up, until it says what it wants", async () => {
    const { result, failure, notices } = await opened(standIn(logTen));
    const levels = () => notices.splice(0).map(({ method, params }) => [method, params?.level, params?.logger]);
    await result("tools/call");
    assertEquals(levels(), [
      ["notifications/message", "info", "part"],
      ["notifications/message", "error", "part"],
    ]);
    assertEquals(await result("logging/setLevel", { level: "error" }), {});
    await result("tools/call");
    assertEquals(levels().map(([, level]) => level), ["error"]);
    await result("logging/setLevel", { level: "debug" });
    await result("tools/call");
    assertEquals(levels().length, 3);
    assertEquals(await failure("logging/setLevel", { level: "loud" }), [-32602]);
    assertEquals(await failure("logging/setLevel"), [-32602]);
  });

  test("are dropped when the request is answered", async () => {
    let kept: RequestContext | undefined;
    const { result, notices } = await opened(standIn({
      "tools/call": (_, context) => {
        kept = context;
        return said("done");
      },
    }));
    await result("tools/call");
    kept?.log("error", "late");
    assertEquals(notices, []);
  });
});

describe("being called off", () => {
  test("aborts the request's signal, and nothing is answered", async () => {
    let seen: AbortSignal | undefined;
    const { request, notify, log, result } = await opened(standIn({
      "tools/call": async (_, { signal }) => {
        seen = signal;
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return said("never");
      },
    }));
    const answer = request("tools/call", {}, { id: "x" });
    notify("notifications/cancelled", { requestId: "nobody" });
    assertEquals(seen?.aborted, false);
    notify("notifications/cancelled", { requestId: "x" });
    assertEquals(await answer, undefined);
    assertEquals([seen?.aborted, log], [true, []]);
    assertEquals(await result("ping"), {});
  });

  test("is not held up by a handler that does not heed it, whose end is not told", async () => {
    let finish: () => void = () => {};
    const { request, notify, notices } = await opened(standIn({
      "tools/call": async (_, context) => {
        await new Promise<void>((resolve) => finish = resolve);
        context.log("error", "still here");
        throw new Error("late");
      },
    }));
    const answer = request("tools/call", {}, { id: 9 });
    notify("notifications/cancelled", { requestId: 9 });
    assertEquals(await answer, undefined);
    finish();
    await Promise.resolve();
    assertEquals(notices, []);
  });

  test("happens also by the binding, and to all when the session ends", async () => {
    const signals: AbortSignal[] = [];
    const { request, session } = await opened(standIn({
      "tools/call": (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    }));
    const controller = new AbortController();
    const first = request("tools/call", {}, { signal: controller.signal });
    const second = request("tools/call");
    controller.abort();
    assertEquals(await first, undefined);
    assertEquals(signals.map(({ aborted }) => aborted), [true, false]);
    session.close();
    assertEquals(await second, undefined);
    assertEquals(signals[1]?.aborted, true);
    assertEquals([session.open, await request("ping")], [false, undefined]);
  });

  test("a session that its own handler ends answers nothing more, and waits for nothing", async () => {
    const gives: (() => JsonObject | Promise<JsonObject>)[] = [
      () => said("at once"),
      () => Promise.resolve(said("later")),
      () => new Promise(() => {}),
      () => {
        throw new Error("at once");
      },
    ];
    for (const give of gives) {
      let end = () => {};
      const { request, session, log } = await opened(standIn({
        "tools/call": () => {
          end();
          return give();
        },
      }));
      end = () => session.close();
      assertEquals(await request("tools/call"), undefined);
      assertEquals(log, []);
    }
  });

  test("what a method gives without a promise is answered without one", async () => {
    const { session } = await opened(standIn({ "tools/call": () => said("now") }));
    const auth = undefined;
    const incoming = (id: number): Incoming => ({
      message: { jsonrpc: "2.0", id, method: "tools/call" },
      ...{ signal: new AbortController().signal, auth, notify: () => {} },
    });
    for (const id of [1, 1]) {
      assertEquals(session.answer(incoming(id)), {
        response: { jsonrpc: "2.0", id, result: said("now") },
        status: 200,
      });
    }
  });

  test("an id in work is not taken twice", async () => {
    let finish: () => void = () => {};
    const { request } = await opened(standIn({
      "tools/call": async () => {
        await new Promise<void>((resolve) => finish = resolve);
        return said("first");
      },
    }));
    const first = request("tools/call", {}, { id: 5 });
    assertEquals((await request("tools/call", {}, { id: 5 }))?.response.error?.code, -32600);
    finish();
    assertEquals((await first)?.response.result, said("first"));
    assertEquals((await request("ping", {}, { id: 5 }))?.response.result, {});
  });
});

/** Authors whose handlers do what they must not: nobody else is to notice. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { modernMeta, modernPost } from "../http/support.ts";
import { answerOf, call, openSession, stage, textOf } from "./support.ts";

const thrower = (): never => {
  throw new Error("a getter threw");
};

/** What handlers do, by name; `healthy` has to go on working. */
const handlers: Record<string, (args: JsonObject, context: RequestContext) => unknown> = {
  healthy: () => "fine",
  sync: () => {
    throw new Error("sync broke");
  },
  async: async () => {
    await undefined;
    throw new Error("async broke");
  },
  text: () => {
    throw "just a text";
  },
  nothing: () => {
    throw undefined;
  },
  none: () => {
    throw null;
  },
  symbol: () => {
    throw Symbol("s");
  },
  plain: () => {
    throw { message: "a plain object", secret: "x" };
  },
  callable: () => {
    throw () => "what?";
  },
  bare: () => {
    throw Object.create(null);
  },
  message: () => {
    throw Object.defineProperty(new Error(), "message", { get: thrower });
  },
  proxyThrown: () => {
    throw new Proxy(new Error("x"), { get: thrower, getPrototypeOf: thrower, has: thrower });
  },
  cycle: () => {
    const ring: Record<string, unknown> = {};
    ring.ring = ring;
    return ring;
  },
  bigint: () => ({ value: 1n }),
  deep: () => {
    let value: unknown = 1;
    for (let at = 0; at < 100_000; at++) value = [value];
    return value;
  },
  proxy: () => new Proxy({}, { get: thrower, ownKeys: thrower, getOwnPropertyDescriptor: thrower, has: thrower }),
  getter: () => Object.defineProperty({}, "x", { enumerable: true, get: thrower }),
  toJson: () => ({ toJSON: thrower }),
  thenable: () => Object.defineProperty({}, "then", { get: thrower }),
  content: () => ({ content: [{ type: "text", text: 1n }] }),
  hugeArray: () => new Array(2 ** 32 - 1),
  changing: () => {
    let reads = 0;
    return Object.defineProperty({}, "x", { enumerable: true, get: () => ++reads > 1 ? 1n : 1 });
  },
  badLog: (_args, { log, progress }) => {
    progress({ progress: 1, total: 1n as never });
    log("info", 1n as never);
    log("error", { toJSON: thrower } as never);
    return "fine";
  },
};

const both = {
  modern: () => {
    const open = stage(handlers as never);
    return Promise.resolve({
      open,
      run: (name: string) => call(open, name, {}, { progressToken: "t", "io.modelcontextprotocol/logLevel": "debug" }),
    });
  },
  legacy: async () => {
    const open = stage(handlers as never);
    const session = await openSession(open);
    return { open, run: (name: string) => session.call(name, {}, { progressToken: "t" }) };
  },
};

for (const [era, begin] of Object.entries(both)) {
  describe(`handlers that break, ${era}`, () => {
    test("each call gets a JSON-RPC answer, and the next one works", async () => {
      const { open, run } = await begin();
      for (const name of Object.keys(handlers)) {
        const answer = await run(name);
        const [text = "", failed] = textOf(answer);
        assertEquals(failed, !["healthy", "badLog"].includes(name), name);
        assert(!/\bat .*:\d+:\d+/.test(JSON.stringify(answer)), `${name} shows a stack: ${text}`);
        assertEquals(textOf(await run("healthy")), ["fine", false], name);
      }
      assertEquals(open.clock.waiting, era === "modern" ? 0 : 1);
    });

    test("what is thrown is the result's text (S-072)", async () => {
      const { run } = await begin();
      for (
        const [name, words] of [["sync", "sync broke"], ["async", "async broke"], ["text", "just a text"]] as const
      ) {
        assertEquals(textOf(await run(name)), [words, true]);
      }
    });

    test("progress that waits and is no JSON ends no process", async () => {
      const { open, run } = await begin();
      let finish: (value: string) => void = () => {};
      open.server.tool("slow", {}, (_args, { progress }) => {
        for (let at = 1; at < 20; at++) progress({ progress: at });
        progress({ progress: 20, total: 1n as never, message: { toJSON: thrower } as never });
        return new Promise((resolve) => finish = resolve);
      });
      const answer = run("slow");
      await open.clock.settle();
      // What a timer throws is nobody's to catch.
      await open.clock.advance(1_000);
      finish("done");
      assertEquals(textOf(await answer), ["done", false]);
    });

    test("progress that is changed after it was told never falls (S-061)", async () => {
      const { open } = await begin();
      const told: number[] = [];
      open.server.tool("mutable", {}, async (_args, { progress }) => {
        const state = { progress: 1 };
        for (; state.progress < 20; state.progress++) progress(state);
        state.progress = 0;
        await undefined;
        return "done";
      });
      const params = { name: "mutable", _meta: { ...modernMeta(), progressToken: "t" } };
      const response = era === "modern"
        ? await open.handler(modernPost("tools/call", params))
        : await (await openSession(open)).send({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "mutable", _meta: { progressToken: "t" } },
        });
      for (const [, data = ""] of (await response.text()).matchAll(/^data: (.+)$/gm)) {
        const { params } = JSON.parse(data);
        if (params?.progress !== undefined) told.push(params.progress);
      }
      assertEquals(told, [...told].sort((a, b) => a - b));
      assertEquals(told.at(-1), 19);
    });

    test("what is told after the answer goes nowhere", async () => {
      const { open, run } = await begin();
      let late: RequestContext | undefined;
      open.server.tool("leaks", {}, (_args, context) => {
        late = context;
        Promise.reject(new Error("not mine")).catch(() => {});
        return "done";
      });
      assertEquals(textOf(await run("leaks")), ["done", false]);
      late?.progress({ progress: 1 });
      late?.log("error", "late");
      const asked = await late?.elicit({ message: "?" }).then(() => "answered", () => "refused");
      assertEquals(asked, "refused");
      await open.clock.advance(1_000);
    });

    test("a logger that throws, or rejects, changes no answer", async () => {
      const logger = (): never => {
        throw new Error("the disk is full");
      };
      for (const broken of [logger, () => Promise.reject(new Error("the network is down")) as unknown as void]) {
        const server = new McpServer({ name: "s", version: "1" }, { logger: broken });
        server.tool("fails", {}, () => {
          throw new Error("broken");
        });
        server.prompt("fails", {}, () => {
          throw new Error("broken");
        });
        const handler = createHandler(server, { logger: broken });
        assertEquals(textOf(await call({ handler }, "fails")), ["broken", true]);
        const answer = await answerOf(await handler(modernPost("prompts/get", { name: "fails" })));
        assertEquals(answer.error, { code: -32603, message: "Internal error" });
      }
    });
  });
}

describe("handlers that hang or flood", () => {
  test("a call that never settles is called off with its client, and holds up nobody", async () => {
    let aborted = 0;
    const open = stage({
      hangs: (_args, { signal }) => {
        signal.addEventListener("abort", () => aborted++);
        return new Promise<string>(() => {});
      },
      healthy: () => "fine",
    });
    const gone = new AbortController();
    const hanging = Array.from(
      { length: 100 },
      () => open.handler(modernPost("tools/call", { name: "hangs" }, {}, { signal: gone.signal })),
    );
    assertEquals(textOf(await call(open, "healthy")), ["fine", false]);
    await open.clock.settle();
    gone.abort();
    await Promise.all(hanging);
    await open.clock.settle();
    assertEquals(aborted, 100);
    assertEquals(open.clock.waiting, 0);
  });

  test("an answer of 100 MB is refused as on a pipe, and the next call works", async () => {
    const open = stage({
      big: () => "x".repeat(100 * 2 ** 20),
      bigError: () => {
        throw new Error("x".repeat(100 * 2 ** 20));
      },
      streamed: (_args, { log }) => {
        log("error", "first");
        return "x".repeat(100 * 2 ** 20);
      },
      healthy: () => "fine",
    });
    for (const name of ["big", "bigError", "streamed"]) {
      const answer = await call(open, name, {}, { "io.modelcontextprotocol/logLevel": "debug" });
      assert(JSON.stringify(answer).length < 70 * 2 ** 20, name);
      assertEquals(textOf(await call(open, "healthy")), ["fine", false]);
    }
    assertStringIncludes(JSON.stringify(open.logs.map(({ message }) => message)), "cannot be sent");
  });
});

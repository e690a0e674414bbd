/** A client on a pipe that sends what it must not, and handlers that break there. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createMemoryPair } from "../../../mod.ts";
import type { JsonRpcResponse } from "../../../src/protocol/json_rpc.ts";
import { McpServer, serveChannel } from "../../../src/server/mod.ts";
import { modernMeta } from "../http/support.ts";

const thrower = (): never => {
  throw new Error("a getter threw");
};

async function open() {
  const server = new McpServer({ name: "s", version: "1" }, {
    logger: () => {
      throw new Error("no log");
    },
  });
  const tool = (name: string, run: () => unknown) => server.tool(name, { input: { type: "object" } }, run as never);
  tool("healthy", () => "fine");
  tool("bigint", () => ({ n: 1n }));
  tool("thrown", () => {
    throw new Proxy(new Error("x"), { get: thrower, getPrototypeOf: thrower });
  });
  tool("huge", () => "x".repeat(70 * 2 ** 20));
  tool("hangs", () => new Promise(() => {}));
  const [near, far] = createMemoryPair();
  const served = serveChannel(server, far, { logger: thrower });
  const answers: (JsonRpcResponse | JsonRpcResponse[])[] = [];
  let wake = () => {};
  await near.open({
    text: (text) => {
      answers.push(JSON.parse(text));
      wake();
    },
    end: () => wake(),
  });
  const next = async () => {
    while (answers.length === 0) await new Promise<void>((resolve) => wake = resolve);
    return answers.shift() as JsonRpcResponse;
  };
  let id = 0;
  const call = async (name: string) => {
    const params = { name, arguments: {}, _meta: modernMeta() };
    await near.write([JSON.stringify({ jsonrpc: "2.0", id: `c${++id}`, method: "tools/call", params })]);
    return await next();
  };
  return { near, next, call, served };
}

describe("a pipe under attack", () => {
  test("answers what can be answered, and goes on", async () => {
    const { near, next, call, served } = await open();
    const answered: [string, number][] = [
      ["{", -32700],
      ["[]", -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
      ["1", -32600],
      ["null", -32600],
      ["{}", -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":1,"method":5}', -32600],
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}', -32600],
      ['{"jsonrpc":"2.0","id":"__proto__","method":"tools/call","params":{"__proto__":1}}', -32600],
      ["[".repeat(100_000), -32700],
      ["[".repeat(500) + "]".repeat(500), -32600],
    ];
    for (const [text, code] of answered) {
      await near.write([text]);
      const { error } = await next();
      assertEquals(error?.code, code, text.slice(0, 80));
      assertEquals((await call("healthy")).result?.isError, undefined);
    }
    for (
      const silent of [
        '{"jsonrpc":"2.0","id":"constructor","result":{}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"__proto__"}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        '{"jsonrpc":"2.0","method":"__proto__","params":{"__proto__":{"polluted":true}}}',
        '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}',
        " ",
      ]
    ) {
      await near.write([silent]);
      assertEquals((await call("healthy")).error, undefined, silent);
    }
    assertEquals(({} as Record<string, unknown>).polluted, undefined);
    await served.close();
  });

  test("gives an answer for each handler that breaks, also with a logger that throws", async () => {
    const { call, served } = await open();
    for (const name of ["bigint", "thrown", "huge"]) {
      const answer = await call(name);
      assert(answer.error || answer.result?.isError, name);
      assertEquals((await call("healthy")).error, undefined);
    }
    await served.close();
  });

  test("takes no second request with an id that is in work, and ends with calls that hang", async () => {
    const { near, next, served } = await open();
    const params = { name: "hangs", arguments: {}, _meta: modernMeta() };
    const hanging = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    await near.write([hanging, hanging]);
    assertEquals((await next()).error?.code, -32600);
    await served.close();
    await served.closed;
  });
});

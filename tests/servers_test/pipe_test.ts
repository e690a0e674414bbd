import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { createLineSplitter, createPipeServer, type PipeOptions, type PipeServer } from "../servers/pipe.ts";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";
import { modernMeta, textOf, until } from "./support.ts";

interface Pipe {
  readonly server: PipeServer;
  readonly out: JsonObject[];
  send(message: unknown): void;
  /** Waits for the answer to a request. */
  answer(id: number | string): Promise<JsonObject>;
}

function open(era: PipeOptions["era"], options: Partial<PipeOptions> = {}): Pipe {
  const out: JsonObject[] = [];
  const server = createPipeServer({
    era,
    ...options,
    send(text) {
      const value: unknown = JSON.parse(text);
      assert(!text.includes("\n"));
      out.push(...(Array.isArray(value) ? value : [value]).filter(isJsonObject));
    },
  });
  const find = (id: number | string) => out.find((message) => message.id === id && message.method === undefined);
  return {
    server,
    out,
    send: (message) => server.receive(JSON.stringify(message)),
    async answer(id) {
      await until(() => find(id) !== undefined);
      return find(id) ?? {};
    },
  };
}

const call = (id: number | string, name: string, args: JsonObject, modern: boolean): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(modern ? { _meta: modernMeta() } : {}) },
});
const clientInfo = { name: "plain", version: "1" };
const hello = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo };

describe("the server on a pipe", () => {
  test("modern: answers, cancels silently, and complains of unknown ids", async () => {
    const pipe = open("modern");
    pipe.send(call("a", "echo", { text: "hi" }, true));
    assertEquals(textOf(objectAt(await pipe.answer("a"), "result")), "hi");
    pipe.send(call(2, "slow", {}, true));
    await until(() => pipe.server.calls("slow") === 1);
    pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2, reason: "enough" } });
    await until(() => pipe.server.cancellations.length === 1);
    assertEquals(pipe.server.cancellations[0]?.reason, "enough");
    pipe.send(call(3, "echo", { text: "after" }, true));
    await pipe.answer(3);
    assertEquals(pipe.out.map((message) => message.id), ["a", 3]);
    pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } });
    assertEquals(pipe.server.violations.length, 1);
  });

  test("modern: a subscription ends with a result and a notice, or with the notice alone", async () => {
    const pipe = open("modern");
    const params = { _meta: modernMeta(), notifications: { toolsListChanged: true } };
    for (const id of ["one", "two"]) {
      pipe.send({ jsonrpc: "2.0", id, method: "subscriptions/listen", params });
      await until(() => pipe.server.listeners() === 1);
      pipe.server.emit({ type: "tools" });
      pipe.server.endSubscriptions(id === "one" ? "graceful" : "drop");
      await until(() => pipe.server.listeners() === 0);
      await until(() => pipe.out.at(-1)?.method === "notifications/cancelled");
    }
    const methods = pipe.out.map((message) => message.method ?? "result");
    const [ack, changed, over] = [
      "notifications/subscriptions/acknowledged",
      "notifications/tools/list_changed",
      "notifications/cancelled",
    ];
    assertEquals(methods, [ack, changed, "result", over, ack, changed, over]);
    assertEquals(objectAt(pipe.out.at(-1) ?? {}, "params").requestId, "two");
  });

  test("legacy: handshake, server requests, cancellation", async () => {
    const pipe = open("legacy");
    pipe.send({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: modernMeta() } });
    assertEquals(objectAt(await pipe.answer(1), "error").code, -32601);
    pipe.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    assertEquals(objectAt(await pipe.answer(2), "error").code, -32600);
    pipe.send({ jsonrpc: "2.0", id: 3, method: "initialize", params: hello });
    assertEquals(objectAt(await pipe.answer(3), "result").protocolVersion, "2025-11-25");
    pipe.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    pipe.send(call(4, "ask", {}, false));
    await until(() => pipe.out.some((message) => message.method === "elicitation/create"));
    const asked = pipe.out.at(-1);
    pipe.send({ jsonrpc: "2.0", id: asked?.id, result: { action: "accept", content: { name: "Ada" } } });
    assertEquals(textOf(objectAt(await pipe.answer(4), "result")), '["Ada"]');
    assertEquals(pipe.server.violations, []);
  });

  test("legacy: silent to a probe, or gone because of it", () => {
    let gone = 0;
    const probe = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: modernMeta() } };
    const silent = open("legacy", { probe: "silent" });
    silent.send(probe);
    const fragile = open("legacy", { probe: "exit", exit: () => void gone++ });
    fragile.send(probe);
    assertEquals([silent.out.length, fragile.out.length, gone], [0, 0, 1]);
  });

  test("both: the claim in the body decides", async () => {
    const pipe = open("both");
    pipe.send(call(1, "echo", { text: "modern" }, true));
    assertEquals(objectAt(await pipe.answer(1), "result").resultType, "complete");
    pipe.send({ jsonrpc: "2.0", id: 2, method: "initialize", params: hello });
    await pipe.answer(2);
    pipe.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    pipe.send(call(3, "echo", { text: "legacy" }, false));
    const result = objectAt(await pipe.answer(3), "result");
    assertEquals([textOf(result), result.resultType], ["legacy", undefined]);
    assertEquals(pipe.server.violations, []);
  });

  test("answers what is no JSON, and splits lines wherever chunks end", () => {
    const pipe = open("modern");
    pipe.server.receive("{");
    assertEquals(objectAt(pipe.out[0] ?? {}, "error").code, -32700);
    const lines: string[] = [];
    const split = createLineSplitter((line) => lines.push(line));
    for (const chunk of ["a", "b\nc", "", "\n\nd\ne"]) split(chunk);
    assertEquals(lines, ["ab", "c", "d"]);
  });
});

/** What a client carries between rounds, in the hands of an attacker (S-089, S-090). */
import { describe, test } from "node:test";
import { assertEquals, assertNotEquals } from "@std/assert";
import type { JsonObject, JsonRpcResponse } from "../../../src/protocol/json_rpc.ts";
import { modernMeta, modernPost } from "../http/support.ts";
import { answerOf, stage, textOf } from "./support.ts";

const meta = {
  ...modernMeta(),
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};

function world() {
  const open = stage({
    pay: async ({ to }, { elicit, auth }) => {
      const { action } = await elicit({ message: `Pay ${to}?` });
      return `${auth?.principal} ${action} ${to}`;
    },
    other: async (_args, { elicit }) => (await elicit({ message: "Other?" })).action,
  }, { auth: ({ headers }) => ({ principal: headers.get("authorization") ?? "nobody" }) });
  open.server.prompt("pay", {}, async (_args, { elicit }) => (await elicit({ message: "Other?" })).action);
  const send = async (params: JsonObject, who = "alice", method = "tools/call"): Promise<JsonRpcResponse> => {
    const request = modernPost(method, { name: "pay", arguments: { to: "bob" }, _meta: meta, ...params }, {
      authorization: who,
    });
    return await answerOf(await open.handler(request));
  };
  return { open, send };
}

const accept = { elicit_1: { action: "accept", content: {} } };

async function begin() {
  const { open, send } = world();
  const { result } = await send({});
  assertEquals(result?.resultType, "input_required");
  return { open, send, requestState: result?.requestState as string };
}

describe("a request state", () => {
  test("is good for the request that it came from", async () => {
    const { send, requestState } = await begin();
    assertEquals(textOf(await send({ requestState, inputResponses: accept })), ["alice accept bob", false]);
  });

  test("is refused when it was changed anywhere, and says nothing of why", async () => {
    const { send, requestState } = await begin();
    const messages = new Set<string>();
    for (let at = 0; at < requestState.length; at += 3) {
      const swapped = requestState[at] === "A" ? "B" : "A";
      const changed = requestState.slice(0, at) + swapped + requestState.slice(at + 1);
      const { error } = await send({ requestState: changed, inputResponses: accept });
      assertEquals(error?.code, -32602);
      messages.add(JSON.stringify(error));
    }
    for (
      const changed of [requestState + "A", requestState.slice(1), requestState + "=", "", "AAAA", "é", "A".repeat(1e6)]
    ) {
      assertEquals((await send({ requestState: changed, inputResponses: accept })).error?.code, -32602);
    }
    for (const odd of [1, null, {}, [], true]) {
      assertEquals((await send({ requestState: odd, inputResponses: accept })).error?.code, -32602);
    }
    assertEquals(messages.size, 1);
  });

  test("is refused when it is too old", async () => {
    const { open, send, requestState } = await begin();
    await open.clock.advance(600_000);
    assertEquals((await send({ requestState, inputResponses: accept })).error?.code, -32602);
  });

  test("is refused with other parameters, another tool, another method, another principal", async () => {
    const { send, requestState } = await begin();
    const good = { requestState, inputResponses: accept };
    assertEquals((await send({ ...good, arguments: { to: "mallory" } })).error?.code, -32602);
    assertEquals((await send({ ...good, arguments: { to: "bob", more: 1 } })).error?.code, -32602);
    assertEquals((await send({ ...good, name: "other" })).error?.code, -32602);
    assertEquals((await send(good, "mallory")).error?.code, -32602);
    assertEquals((await send(good, "nobody")).error?.code, -32602);
    assertEquals((await send({ ...good, arguments: {} }, "alice", "prompts/get")).error?.code, -32602);
  });

  test("of another server is refused, and so is one of the same server after a restart", async () => {
    const { requestState } = await begin();
    const { send } = world();
    assertEquals((await send({ requestState, inputResponses: accept })).error?.code, -32602);
  });

  test("never repeats, and shows nothing of what it holds", async () => {
    const { requestState, send } = await begin();
    const again = (await send({})).result?.requestState;
    assertNotEquals(again, requestState);
    assertEquals(requestState.includes(btoa("elicit").slice(0, 6)), false);
  });

  test("answers with names of the prototype harm nothing and answer nothing (S-091)", async () => {
    for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const inputResponses = JSON.parse(`{"${key}":{"action":"accept","content":{}}}`);
      const { send, requestState } = await begin();
      for (const state of [{ requestState }, {}]) {
        assertEquals((await send({ ...state, inputResponses })).result?.resultType, "input_required");
      }
    }
    for (const odd of [null, 1, [], "x", [accept]]) {
      // A state is good once.
      const { send, requestState } = await begin();
      const { result, error } = await send({ requestState, inputResponses: odd as never });
      assertEquals(result?.resultType ?? error?.code, error ? -32602 : "input_required");
    }
    assertEquals(({} as Record<string, unknown>).action, undefined);
  });
});

import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { telemetry } from "../../mod.ts";
import type { ElicitRequest } from "../../mod.ts";
import { resumed } from "../../src/client/extras/resumed.ts";
import type { PendingInput } from "../../src/client/input/seam.ts";
import type { ClientRequest } from "../../src/client/session/request.ts";
import { askForTasks } from "../../src/hub/gateway/calls/relay_tasks.ts";
import { createRelay } from "../../src/hub/gateway/mod.ts";
import type { RelayedCall } from "../../src/hub/relayed_call.ts";
import { InputRequiredError } from "../../src/protocol/errors.ts";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import { McpServer } from "../../src/server/mod.ts";
import { inMemory, openHub, textOf } from "./support.ts";

function asking(): McpServer {
  const server = new McpServer({ name: "asking", version: "1.0.0" });
  const requestedSchema: ElicitRequest["requestedSchema"] = {
    type: "object",
    properties: { name: { type: "string" } },
  };
  server.tool("ask", {}, async (_, context) => {
    const { content } = await context.elicit({ message: "Who?", requestedSchema });
    return `it is ${content?.name}`;
  });
  return server;
}

function call(name: string): RelayedCall & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    server: "one",
    caller: name,
    meta: {},
    asked,
    ask: ({ params }) => {
      asked.push(String(params?.message));
      return Promise.resolve({ action: "accept", content: { name } });
    },
  };
}

describe("a relay", () => {
  // A middleware that hands on a trace makes another `_meta`: the call is known again all the same.
  const middleware = [telemetry({ onEvent() {} })];

  test("takes the questions of a legacy server to the call that they belong to, through a middleware", async () => {
    const relay = createRelay();
    const { handlers, features } = relay;
    await using hub = await openHub({ one: inMemory(asking(), { eras: ["legacy"] }).config }, {
      handlers,
      features,
      middleware,
    });
    const ada = call("Ada");
    relay.begin(ada);
    assertEquals(textOf(await hub.callTool("one__ask", {}, { meta: ada.meta })), "it is Ada");
    assertEquals(ada.asked, ["Who?"]);
    relay.end(ada);
    assertEquals((await hub.callTool("one__ask", {}, { meta: ada.meta })).isError, true);
    assertEquals(ada.asked, ["Who?"]);
  });

  test("hands a modern server's questions to who has called, through a middleware, with all that resumes the call", async () => {
    const relay = createRelay();
    const { handlers, features } = relay;
    await using hub = await openHub({ one: inMemory(asking(), { eras: ["modern"] }).config }, {
      handlers,
      features,
      middleware,
    });
    const eve = call("Eve");
    relay.begin(eve);
    const error = await hub.callTool("one__ask", {}, { meta: eve.meta, throws: true }).catch((reason) => reason);
    assertEquals(error instanceof InputRequiredError, true);
    const pending = structuredClone<PendingInput>(error.pending);
    const [key = ""] = Object.keys(pending.inputRequests);
    const resume = resumed(pending, { [key]: { action: "accept", content: { name: "Eve" } } });
    const again = { meta: eve.meta, throws: true, resume };
    assertEquals(textOf(await hub.callTool("one__ask", {}, again)), "it is Eve");
    assertEquals(eve.asked, []);
  });

  test("has a task cancelled whose call was given up before it was known", async () => {
    for (const answer of [{ task: { taskId: "t1" } }, { content: [] }]) {
      const stop = new AbortController();
      const seen: ClientRequest[] = [];
      let settle = (_: JsonObject): void => {};
      const ask = askForTasks(() => ({ ...call("ada"), wantsTask: true }))((request) => {
        seen.push(request);
        return new Promise((resolve) => settle = resolve);
      });
      const given = ask({ method: "tools/call", params: { name: "slow" }, options: { signal: stop.signal } });
      stop.abort(new Error("enough"));
      await assertRejects(() => given, Error, "enough");
      // Its server may have made a task of it: so it is not called off by itself.
      assertEquals(seen, [{ method: "tools/call", params: { name: "slow", task: {} }, options: {} }]);
      settle(answer);
      for (let turn = 0; turn < 10; turn++) await undefined;
      const cancel = { method: "tasks/cancel", params: { taskId: "t1" }, options: {} };
      assertEquals(seen.slice(1), "task" in answer ? [cancel] : []);
    }
  });
});

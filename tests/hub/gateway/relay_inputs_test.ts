import { test } from "node:test";
import { assertRejects, assertThrows } from "@std/assert";
import { InputRequiredError, ProtocolViolationError } from "../../../mod.ts";
import { RelayInputs } from "../../../src/hub/gateway/calls/relay_inputs.ts";

test("what is no question of a server is not handed to the caller in front", async () => {
  const inputs = new RelayInputs({}, () => ({}) as never);
  const request = { method: "tools/call", params: { name: "ask" }, options: {} };
  const ask = (inputRequests: Record<string, object>) =>
    inputs.answerRound({ inputRequests } as never, { request, round: 1 }, "one", (work) => work as never);
  for (const wrong of [{}, { method: 5 }, { method: "roots/list", params: [] }]) {
    assertThrows(() => ask({ a: wrong }), ProtocolViolationError, '"inputRequests.a.');
  }
  await assertRejects(() => ask({ a: { method: "roots/list" } }), InputRequiredError, "of the client in front");
});

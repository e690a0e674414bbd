import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createReplay } from "../../../src/cli/wire/replay.ts";

const call = (id: number, name = "slow") => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
const told = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } };

/** What replays these messages: those to the server were sent, the others came. */
function replayOf(...wire: (readonly [to: "server" | "client", message: object])[]): ReturnType<typeof createReplay> {
  return createReplay(wire.map(([to, message]) => JSON.stringify({ at: 0, to, message })).join("\n"), "wire");
}

describe("a recording that was cut off", () => {
  test("answers what had no answer yet with an error, after what was told of it", () => {
    const replay = replayOf(["server", call(1)], ["client", told]);
    const error = { code: -32603, message: "The recording ends before the answer to tools/call" };
    assertEquals(replay(call(7)), [told, { jsonrpc: "2.0", id: 7, error }]);
    assertEquals(replay(call(8)), [told, { jsonrpc: "2.0", id: 8, error }]);
  });

  test("leaves open what was called off, and streams of changes", () => {
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const listen = { jsonrpc: "2.0", id: 2, method: "subscriptions/listen", params: {} };
    const replay = replayOf(["server", call(1)], ["server", cancelled], ["server", listen], ["client", told]);
    assertEquals(replay(call(7)), []);
    assertEquals(replay({ ...listen, id: 8 }), [told]);
  });

  test("calls off the last request of an id, and none that has its answer", () => {
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const answer = { jsonrpc: "2.0", id: 1, result: {} };
    const replay = replayOf(["server", call(1)], ["client", answer], ["server", cancelled], ["server", call(1, "x")]);
    assertEquals(replay(call(7)), [{ ...answer, id: 7 }]);
    assertEquals(replay(call(8, "x")).length, 1);
  });
});

import { describe, test } from "node:test";
import { assertEquals, assertLess } from "@std/assert";
import { createReplay } from "../../../src/cli/wire/replay.ts";
import { growth } from "../../support/clocks/growth.ts";

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

describe("a recording", () => {
  test("answers a question in the order of its answers, and then by the last one again", () => {
    const answer = (id: number, text: string) => ({ jsonrpc: "2.0", id, result: { text } });
    const ask = (id: number) => [["server", call(id)], ["client", answer(id, `answer ${id}`)]] as const;
    const replay = replayOf(...ask(1), ["server", call(2, "other")], ["client", answer(2, "other")], ...ask(3));
    for (const [id, text] of [[7, "answer 1"], [8, "answer 3"], [9, "answer 3"]] as const) {
      assertEquals(replay(call(id)), [answer(id, text)]);
    }
    assertEquals(replay(call(10, "other")), [answer(10, "other")]);
  });

  test("tells of a change on its stream, also where it came while a call was under way", () => {
    const about = (subscriptionId: unknown) => ({
      _meta: { "io.modelcontextprotocol/subscriptionId": subscriptionId },
    });
    const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    const listen = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: {} };
    const answer = { jsonrpc: "2.0", id: 2, result: {} };
    const replay = replayOf(
      ["server", listen],
      ["server", call(2)],
      ["client", { ...changed, params: about(1) }],
      ["client", told],
      ["client", answer],
    );
    assertEquals(replay({ ...listen, id: 7 }), [{ ...changed, params: about(7) }]);
    assertEquals(replay(call(8)), [told, { ...answer, id: 8 }]);
  });

  test("takes as long for each of 4,000 questions as for each of 1,000", async () => {
    const answering = await growth(1_000, (length) => {
      const ids = Array.from({ length }, (_, id) => id);
      const wire = ids.flatMap((id) =>
        [
          ["server", call(id, `tool ${id}`)],
          ["client", told],
          ["client", { jsonrpc: "2.0", id, result: { id } }],
        ] as const
      );
      return () => {
        const replay = replayOf(...wire);
        const found = ids.map((id) => replay(call(1, `tool ${id}`)).at(-1)?.result);
        assertEquals(JSON.stringify(found), JSON.stringify(ids.map((id) => ({ id }))));
      };
    });
    assertLess(answering, 10);
  });
});

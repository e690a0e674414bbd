import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createModelHandler } from "../../src/agent/mod.ts";
import { BothAgent, chat, post } from "./support.ts";

/** A caller, and how many listeners wait for them to leave. */
function createCaller() {
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (type: string, listener: never) => {
    waiting.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: never) => {
    waiting.delete(listener);
    remove(type, listener);
  };
  const ask = (respond: BothAgent["respond"], stream: boolean): Promise<Response> => {
    const request = post("/v1/chat/completions", chat({ stream }));
    Object.defineProperty(request, "signal", { value: signal });
    return createModelHandler(new BothAgent(respond))(request);
  };
  return { ask, leave: () => controller.abort(), waiting };
}

async function* failing(): AsyncGenerator<string> {
  yield "so far";
  throw new Error("it is broken");
}

describe("the caller of a model is watched", () => {
  for (const stream of [false, true]) {
    test(`until the reply is whole, or has failed${stream ? ", as a stream" : ""}`, async () => {
      const replies: BothAgent["respond"][] = [() => "hi", failing, () => Promise.reject(new Error("it is broken"))];
      for (const respond of replies) {
        const { ask, waiting } = createCaller();
        await (await ask(respond, stream)).text();
        assertEquals(waiting.size, 0);
      }
    });
  }

  test("until its reader cancels the stream", async () => {
    const { ask, waiting } = createCaller();
    const response = await ask(failing, true);
    assertEquals(waiting.size, 1);
    await response.body?.cancel();
    assertEquals(waiting.size, 0);
  });

  test("not at all where it has left before it is answered", async () => {
    for (const stream of [false, true]) {
      const { ask, leave, waiting } = createCaller();
      leave();
      const response = await ask(failing, stream);
      assertEquals([response.status, (await response.text()).includes("so far")], [stream ? 200 : 499, false]);
      assertEquals(waiting.size, 0);
    }
  });

  test("until it has left, in whatever moment", async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { ask, leave, waiting } = createCaller();
      let fail = (): void => {};
      const response = await ask(async function* () {
        yield "so far";
        await new Promise<never>((_, reject) => fail = () => reject(new Error("it is broken")));
      }, true);
      const reader = response.body!.getReader();
      await reader.read();
      await reader.read();
      const read = reader.read();
      while (waiting.size === 0) await Promise.resolve();
      await new Promise((resolve) => setTimeout(resolve, 0));
      fail();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      leave();
      await read;
      assertEquals(waiting.size, 0, `${turns} turns`);
    }
  });
});

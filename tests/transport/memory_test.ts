import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { ConnectionClosedError, createMemoryPair } from "../../mod.ts";
import type { McpError } from "../../mod.ts";
import { createPipe } from "../support/clients.ts";
import { transportSuite } from "../suites/transport.ts";
import { subjectOf } from "./support.ts";

for (const era of ["modern", "legacy"] as const) {
  transportSuite(`memory, ${era}`, () => {
    const pipe = createPipe({ era });
    return subjectOf(pipe.transport, era, () => pipe.server);
  });
}

/** One end, and what it heard. */
function heard() {
  const texts: string[] = [];
  const ends: (McpError | undefined)[] = [];
  return {
    texts,
    ends,
    receiver: {
      text: (text: string) => void texts.push(text),
      end: (reason?: McpError) => void ends.push(reason),
    },
  };
}

describe("a pair of channels in memory", () => {
  test("what one writes the other hears, in order, and not in the same tick", async () => {
    const [left, right] = createMemoryPair();
    const [here, there] = [heard(), heard()];
    await left.open(here.receiver);
    await right.open(there.receiver);
    void left.write(["1", "2"]);
    void left.write(["3"]);
    void right.write(["back"]);
    assertEquals([there.texts, here.texts], [[], []]);
    await Promise.resolve();
    await Promise.resolve();
    assertEquals([there.texts, here.texts], [["1", "2", "3"], ["back"]]);
    await left.close();
  });

  test("what is written before the other end opens waits for it", async () => {
    const [left, right] = createMemoryPair();
    await left.open(heard().receiver);
    void left.write(["early"]);
    await Promise.resolve();
    const there = heard();
    await right.open(there.receiver);
    await Promise.resolve();
    assertEquals(there.texts, ["early"]);
    await right.close();
  });

  test("closing one end ends both, once, after what was still under way", async () => {
    const [left, right] = createMemoryPair();
    const [here, there] = [heard(), heard()];
    await left.open(here.receiver);
    await right.open(there.receiver);
    void left.write(["last words"]);
    await left.close();
    await left.close();
    await right.close();
    assertEquals([there.texts, here.ends.length, there.ends.length], [["last words"], 1, 1]);
    assertThrows(() => left.write(["late"]), ConnectionClosedError);
    assertThrows(() => right.write(["late"]), ConnectionClosedError);
  });

  test("an end that was closed before it opened says so at once", async () => {
    const [left, right] = createMemoryPair();
    await left.close();
    const there = heard();
    await right.open(there.receiver);
    assertEquals(there.ends.length, 1);
  });

  test("what is written while a message is taken comes after it", async () => {
    const [left, right] = createMemoryPair();
    const there = heard();
    await right.open(there.receiver);
    await left.open({ text: (text) => void left.write([`${text}!`]), end() {} });
    void right.write(["a", "b"]);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    assertEquals(there.texts, ["a!", "b!"]);
    await left.close();
  });
});

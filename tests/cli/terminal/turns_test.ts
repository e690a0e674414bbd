import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { createTurns } from "../../../src/cli/ask/ask.ts";

describe("questions at a terminal, one after the other", () => {
  test("what nobody wants to know any more when its turn comes is not asked", async () => {
    const inTurn = createTurns(() => ({ next: () => Promise.resolve("yes") }));
    const { signal } = new AbortController();
    let answer = (): void => {};
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => begin = resolve);
    const first = inTurn(signal, () => {
      begin();
      return new Promise<void>((resolve) => answer = resolve);
    });
    const late = new AbortController();
    let asked = 0;
    const second = inTurn(late.signal, () => Promise.resolve(asked++));
    const third = inTurn(signal, () => Promise.resolve("asked"));
    await begun;
    late.abort(new Error("its time is over"));
    answer();
    await first;
    await assertRejects(() => second, Error, "its time is over");
    assertEquals([await third, asked], ["asked", 0]);
  });
});

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

  test("an answer that is typed when the time of its question is over answers no other one", async () => {
    const typed: string[] = [];
    const inTurn = createTurns(() => ({
      next: (signal) =>
        new Promise((resolve) => {
          if (typed.length > 0 || signal.aborted) return resolve(typed.shift());
          signal.addEventListener("abort", () => resolve(undefined));
        }),
    }));
    const late = new AbortController();
    const first = inTurn(late.signal, ({ ask }) => {
      const answer = ask("Delete it? ");
      late.abort(new Error("its time is over"));
      return answer;
    });
    assertEquals(await first, undefined);
    typed.push("yes", "no");
    const { signal } = new AbortController();
    const answers = [
      inTurn(signal, ({ ask }) => ask("And the other one? ")),
      inTurn(signal, ({ ask }) => ask("Well? ")),
    ];
    typed.push("maybe");
    assertEquals(await Promise.all(answers), ["no", "maybe"]);
  });
});

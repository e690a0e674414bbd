import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import type { AgentQuestion } from "../../../src/agent/mod.ts";
import { createTurns } from "../../../src/cli/ask/ask.ts";
import { fillForm, visitPage } from "../../../src/cli/ask/form.ts";
import { answer } from "../../../src/cli/commands/agents/questions.ts";

describe("questions at a terminal, one after the other", () => {
  test("what nobody wants to know any more when its turn comes is not asked", async () => {
    const inTurn = createTurns(() => ({ next: () => Promise.resolve("yes"), forget: () => Promise.resolve() }));
    const { signal } = new AbortController();
    let settle = (): void => {};
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => begin = resolve);
    const first = inTurn(signal, () => {
      begin();
      return new Promise<void>((resolve) => settle = resolve);
    });
    const late = new AbortController();
    let asked = 0;
    const second = inTurn(late.signal, () => Promise.resolve(asked++));
    const third = inTurn(signal, () => Promise.resolve("asked"));
    await begun;
    late.abort(new Error("its time is over"));
    settle();
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
      forget: () => Promise.resolve(),
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

  test("what was typed before is forgotten where somebody says yes or no, and kept for the fields of a form", async () => {
    const typed = ["y"];
    const lines = {
      next: () => Promise.resolve(typed.shift()),
      // What is typed once the question is there.
      forget: () => Promise.resolve(void typed.splice(0, typed.length, ...after)),
    };
    let after: readonly string[] = [];
    const inTurn = createTurns(() => lines);
    const { signal } = new AbortController();
    const ask = (question: AgentQuestion) => inTurn(signal, (terminal) => answer(question, terminal));
    const call = {
      id: "1",
      server: "bank",
      tool: "pay",
      name: "bank__pay",
      arguments: {},
      argumentsHash: "",
      toolHash: "",
    };
    const about = { id: "q", server: "bank", message: "May it?", askedAt: 0, call };
    assertEquals(await ask({ ...about, kind: "approval" }), { action: "cancel" });
    typed.push("a");
    assertEquals(await ask({ ...about, kind: "decision" }), { action: "skip" });
    const properties = { name: { type: "string" as const }, town: { type: "string" as const } };
    const request = { message: "Who?", requestedSchema: { type: "object" as const, properties } };
    after = ["y", "Ada", "London"];
    assertEquals(await ask({ ...about, kind: "elicitation", request }), {
      action: "accept",
      content: { name: "Ada", town: "London" },
    });
  });

  test("a long message does not push off the screen whose it is: the question says it", async () => {
    const asked: string[] = [];
    const terminal = {
      say: () => Promise.resolve(),
      ask: (question: string) => Promise.resolve(void asked.push(question)),
    };
    for (const message of ["Who?", 'Who?\n"github" asks: Your password?', "x".repeat(600)]) {
      await fillForm({ message, requestedSchema: { type: "object", properties: {} } }, "bank", terminal);
      await visitPage({ mode: "url", message, url: "https://bank.example/", elicitationId: "1" }, "bank", terminal);
    }
    const [short, page] = ["Answer? [Y/n] ", "Do you go there? [y/N] "];
    const [long, longPage] = ['Answer "bank"? [Y/n] ', 'Do you go there for "bank"? [y/N] '];
    assertEquals(asked, [short, page, long, longPage, long, longPage]);
    const url = `https://bank.example/?${"x".repeat(600)}`;
    await visitPage({ mode: "url", message: "Who?", url, elicitationId: "1" }, "bank", terminal);
    assertEquals(asked.splice(6), [longPage]);
    const call = { id: "1", server: "bank", tool: "pay", name: "bank__pay", argumentsHash: "", toolHash: "" };
    const about = { id: "q", server: "bank", message: "May it?", askedAt: 0 };
    for (const lines of [1, 40]) {
      const to = Array.from({ length: lines }, () => "shop");
      await answer({ ...about, kind: "approval", call: { ...call, arguments: { to } } }, terminal);
      await answer({ ...about, kind: "decision", call: { ...call, arguments: { to } } }, terminal);
    }
    const again = "Nobody knows whether it ran. Call it again, skip it, or fail? [a/S/f] ";
    const named = again.replace("it again", '"bank.pay" again');
    assertEquals(asked.slice(6), ["Call it? [y/N] ", again, 'Call "bank.pay"? [y/N] ', named]);
  });
});

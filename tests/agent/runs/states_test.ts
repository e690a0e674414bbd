/** The tables of states: every pair, and that what is over stays so. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { isOver, nextRunState, nextStepState, waitingState } from "../../../src/agent/runs/states.ts";
import type { RunAct, StepAct, StepState } from "../../../src/agent/runs/states.ts";
import type { RunState } from "../../../src/agent/mod.ts";

const acts: readonly RunAct[] = ["take", "ask", "decide", "answer", "succeed", "fail", "cancel"];
const rows: readonly (readonly [RunState, ...(RunState | undefined)[]])[] = [
  ["accepted", "running", undefined, undefined, undefined, undefined, "failed", "cancelled"],
  ["running", "running", "needs_input", "needs_decision", undefined, "succeeded", "failed", "cancelled"],
  ["needs_input", "running", "needs_input", "needs_decision", "running", "succeeded", "failed", "cancelled"],
  ["needs_decision", "running", "needs_decision", "needs_decision", "running", "succeeded", "failed", "cancelled"],
  ["succeeded", undefined, undefined, undefined, undefined, undefined, undefined, undefined],
  ["failed", undefined, undefined, undefined, undefined, undefined, undefined, undefined],
  ["cancelled", undefined, undefined, undefined, undefined, undefined, undefined, undefined],
];
const stepActs: readonly StepAct[] = ["begin", "repeat", "finish", "throw", "lose"];
const stepRows: readonly (readonly [StepState, ...(StepState | undefined)[]])[] = [
  ["planned", "intent", undefined, undefined, undefined, undefined],
  ["intent", undefined, "intent", "result", "error", "unknown"],
  ["result", undefined, undefined, undefined, undefined, undefined],
  ["error", undefined, undefined, undefined, undefined, undefined],
  ["unknown", undefined, undefined, undefined, undefined, undefined],
];

describe("the states of runs and steps", () => {
  test("each act leads where the table says, and nowhere else", () => {
    for (const [state, ...next] of rows) {
      assertEquals([state, ...acts.map((act) => nextRunState(state, act))], [state, ...next]);
    }
    for (const [state, ...next] of stepRows) {
      assertEquals([state, ...stepActs.map((act) => nextStepState(state, act))], [state, ...next]);
    }
  });

  test("three states are over", () => {
    assertEquals(rows.map(([state]) => state).filter(isOver), ["succeeded", "failed", "cancelled"]);
  });

  test("a decision comes before other questions", () => {
    assertEquals(waitingState([]), "running");
    assertEquals(waitingState([{ kind: "approval" }, { kind: "sampling" }]), "needs_input");
    assertEquals(waitingState([{ kind: "approval" }, { kind: "decision" }]), "needs_decision");
  });
});

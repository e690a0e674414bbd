/**
 * Where a run and a step can stand, and what leads from one to the other: tables without anything else.
 *
 * @module
 */
import type { AgentEnd, AgentQuestion } from "../loop/seam.ts";
import type { RunState } from "./seam.ts";

/** What can happen to a run. */
export type RunAct = "take" | "ask" | "decide" | "answer" | "succeed" | "fail" | "cancel";

/** Where a step stands. `planned` is one that nothing is kept of. */
export type StepState = "planned" | "intent" | "result" | "error" | "unknown";

/** What can happen to a step. */
export type StepAct = "begin" | "repeat" | "finish" | "throw" | "lose";

const runTable: Readonly<Record<RunState, Readonly<Partial<Record<RunAct, RunState>>>>> = {
  accepted: { take: "running", fail: "failed", cancel: "cancelled" },
  running: {
    take: "running",
    ask: "needs_input",
    decide: "needs_decision",
    succeed: "succeeded",
    fail: "failed",
    cancel: "cancelled",
  },
  needs_input: {
    take: "running",
    ask: "needs_input",
    decide: "needs_decision",
    answer: "running",
    succeed: "succeeded",
    fail: "failed",
    cancel: "cancelled",
  },
  needs_decision: {
    take: "running",
    ask: "needs_decision",
    decide: "needs_decision",
    answer: "running",
    succeed: "succeeded",
    fail: "failed",
    cancel: "cancelled",
  },
  succeeded: {},
  failed: {},
  cancelled: {},
};

const stepTable: Readonly<Record<StepState, Readonly<Partial<Record<StepAct, StepState>>>>> = {
  planned: { begin: "intent" },
  // `repeat` is the word of whoever asks for the step: only then an interrupted one begins again.
  intent: { repeat: "intent", finish: "result", throw: "error", lose: "unknown" },
  result: {},
  error: {},
  unknown: {},
};

/** Where an act leads to; undefined where it cannot happen. */
export function nextRunState(state: RunState, act: RunAct): RunState | undefined {
  return runTable[state][act];
}

/** Where an act leads to; undefined where it cannot happen. */
export function nextStepState(state: StepState, act: StepAct): StepState | undefined {
  return stepTable[state][act];
}

/** Whether nothing can happen any more. */
export function isOver(state: RunState): boolean {
  return Object.keys(runTable[state]).length === 0;
}

/** Whether a text is the name of a state. */
export function isRunState(text: unknown): text is RunState {
  return typeof text === "string" && Object.hasOwn(runTable, text);
}

/** What leads to an end. */
export function actOf(end: AgentEnd): RunAct {
  return end.type === "succeeded" ? "succeed" : end.type === "failed" ? "fail" : "cancel";
}

/** The state of a run with these open questions. */
export function waitingState(questions: readonly Pick<AgentQuestion, "kind">[]): RunState {
  if (questions.length === 0) return "running";
  return questions.some(({ kind }) => kind === "decision") ? "needs_decision" : "needs_input";
}

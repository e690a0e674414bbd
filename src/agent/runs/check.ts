/**
 * What a run is started with, and what it is answered, looked at before anything is kept.
 *
 * @module
 */
import type { Random } from "../../ports.ts";
import { randomHex } from "../../ports.ts";
import { LimitExceededError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { AgentAnswer, AgentTask } from "../loop/seam.ts";
import { toJsonSchema } from "../loop/schemas.ts";
import { checkSettings } from "../loop/settings.ts";
import type { RunLimits } from "./options.ts";
import type { StartRun } from "./seam.ts";
import type { QuestionRow } from "./tables/questions.ts";

/** A run that can be started. */
export interface CheckedStart {
  readonly id: string;
  readonly task: AgentTask;
  readonly deadline: number | undefined;
}

const actionsOf: Readonly<Record<QuestionRow["kind"], readonly string[]>> = {
  approval: ["accept", "decline", "cancel"],
  elicitation: ["accept", "decline", "cancel"],
  sampling: ["accept", "decline", "cancel"],
  decision: ["retry", "skip", "fail", "cancel"],
};

/**
 * Looks at what a run is started with.
 *
 * @throws {TypeError} When a field is wrong.
 * @throws {LimitExceededError} When the task is too long.
 */
export function checkStart(run: StartRun, random: Random, limits: RunLimits): CheckedStart {
  const { agent, principal, input, output, deadline, id = randomHex(random, 16) } = run;
  checkName("agent", agent);
  checkName("principal", principal);
  if (typeof id !== "string" || !/^[A-Za-z0-9_-]{16,64}$/.test(id)) {
    throw new TypeError(`"id" is ${JSON.stringify(id)}, expected 16 to 64 characters of A-Z, a-z, 0-9, "_" and "-"`);
  }
  const isInput = typeof input === "string" ? input !== "" : Array.isArray(input) && input.length > 0;
  if (!isInput) throw new TypeError(`"input" is ${JSON.stringify(input)}, expected a text or messages`);
  if (output !== undefined && !isObject(output)) {
    throw new TypeError(`"output" is ${JSON.stringify(output)}, expected a JSON Schema`);
  }
  if (deadline !== undefined && !(Number.isFinite(deadline) && deadline > 0)) {
    throw new TypeError(`"deadline" is ${String(deadline)}, expected milliseconds since 1970`);
  }
  const settings = checkSettings(run.settings);
  const shape = output && toJsonSchema("the run", "output", output);
  const task: AgentTask = { input, ...(shape && { output: shape }), ...(settings && { settings }) };
  const length = JSON.stringify(task).length;
  if (length > limits.valueBytes) throw new LimitExceededError("limits.valueBytes", limits.valueBytes, length);
  return { id, task, deadline: deadline === undefined ? undefined : Math.ceil(deadline) };
}

/**
 * Looks at an answer, and leaves out what does not belong to it.
 *
 * @throws {TypeError} When it is none for this kind of question.
 * @throws {LimitExceededError} When it is too long.
 */
export function checkAnswer(answer: AgentAnswer, kind: QuestionRow["kind"], limits: RunLimits): AgentAnswer {
  const actions = actionsOf[kind];
  if (!isObject(answer) || typeof answer.action !== "string" || !actions.includes(answer.action)) {
    const action = isObject(answer) ? answer.action : answer;
    throw new TypeError(`"action" is ${JSON.stringify(action)}, expected one of ${actions.join(", ")} (${kind})`);
  }
  const checked = readAnswer(answer);
  const length = JSON.stringify(checked).length;
  if (length > limits.valueBytes) throw new LimitExceededError("limits.valueBytes", limits.valueBytes, length);
  return checked;
}

function readAnswer(answer: AgentAnswer): AgentAnswer {
  if (answer.action === "accept") {
    const { content } = answer;
    if (content !== undefined && !isObject(content)) {
      throw new TypeError(`"content" is ${JSON.stringify(content)}, expected an object`);
    }
    return content === undefined ? { action: "accept" } : { action: "accept", content };
  }
  if (answer.action === "decline") {
    const { reason } = answer;
    if (reason !== undefined && typeof reason !== "string") {
      throw new TypeError(`"reason" is ${JSON.stringify(reason)}, expected a text`);
    }
    return reason === undefined ? { action: "decline" } : { action: "decline", reason };
  }
  return { action: answer.action };
}

function checkName(field: string, value: unknown): void {
  if (typeof value === "string" && value !== "" && value.length <= 512 && !value.includes("\0")) return;
  throw new TypeError(`"${field}" is ${JSON.stringify(value)}, expected 1 to 512 characters`);
}

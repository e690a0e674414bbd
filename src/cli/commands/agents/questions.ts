/**
 * Questions of a run, put to the person at the terminal. Where nobody sits there, each is a no.
 *
 * @module
 */
import type { AgentAnswer, AgentQuestion, ProposedCall } from "../../../agent/loop/seam.ts";
import { createTurns } from "../../ask/ask.ts";
import { askYes, fillForm, visitPage, whose } from "../../ask/form.ts";
import type { Terminal } from "../../ask/form.ts";
import { isAttended } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";

/** Answers a question. */
export type AnswerRun = (question: AgentQuestion, signal: AbortSignal) => Promise<AgentAnswer>;

/** Makes what answers, one question after the other. */
export function createAnswerer(): AnswerRun {
  const inTurn = createTurns();
  return (question, signal) => {
    if (!isAttended()) return Promise.resolve(nobody(question));
    return inTurn(signal, async (terminal) => {
      const given = await answer(question, terminal);
      // Who interrupts has not answered: the question is still open when the run goes on.
      signal.throwIfAborted();
      return given;
    });
  };
}

function nobody({ kind }: AgentQuestion): AgentAnswer {
  if (kind === "decision") return { action: "skip" };
  return { action: "decline", reason: "nobody is there who could be asked" };
}

/** Puts one question. */
export async function answer(question: AgentQuestion, terminal: Terminal): Promise<AgentAnswer> {
  const { kind, server } = question;
  if (kind === "elicitation") {
    const { request } = question;
    const ask = request.mode === "url" ? visitPage : fillForm;
    const { action, content } = await ask(request, server, terminal);
    return action === "accept" ? { action, content: { ...content } } : { action };
  }
  await terminal.say(`${oneLine(question.message)}\n`);
  if (kind === "decision") return await decide(question.call, terminal);
  const text = kind === "approval" ? callText(question.call) : `${plainJson(question.request)}\n`;
  await terminal.say(text);
  const named = whose(text, kind === "approval" ? nameOf(question.call) : server, 10) || " it";
  const consent = await askYes(
    kind === "approval" ? `Call${named}? [y/N] ` : `Let${named} ask the model? [y/N] `,
    false,
    terminal,
  );
  if (consent === undefined) return { action: "cancel" };
  return consent ? { action: "accept" } : { action: "decline", reason: "the person said no" };
}

async function decide(call: ProposedCall, terminal: Terminal): Promise<AgentAnswer> {
  const text = callText(call);
  await terminal.say(text);
  const named = whose(text, nameOf(call), 10) || " it";
  for (;;) {
    const question = `Nobody knows whether it ran. Call${named} again, skip it, or fail? [a/S/f] `;
    const said = (await terminal.ask(question, true))?.trim().toLowerCase();
    if (said === undefined || said === "" || /^s(kip)?$/.test(said)) return { action: "skip" };
    if (/^a(gain)?$/.test(said)) return { action: "retry" };
    if (/^f(ail)?$/.test(said)) return { action: "fail" };
  }
}

/** Exactly what would be sent, and what of it cannot be seen. */
function callText({ arguments: args, hidden = [], ...call }: ProposedCall): string {
  const unseen = hidden.map((one) => `  hidden: ${oneLine(one)}\n`).join("");
  return `  ${oneLine(nameOf(call))} ${plainJson(args).replaceAll("\n", "\n  ")}\n${unseen}`;
}

function nameOf({ server, tool }: Pick<ProposedCall, "server" | "tool">): string {
  return [server, tool].filter((part) => part !== "").join(".");
}

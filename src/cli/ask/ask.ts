/**
 * Questions of servers, put to the person at the terminal. Where nobody sits there, they are declined.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import type { HandlerContext, Handlers } from "../../client/mod.ts";
import type { ElicitRequest, ElicitResult } from "../../protocol/mod.ts";
import { eraseLine, isAttended, writeError } from "../terminal.ts";
import { plain } from "../text/plain.ts";
import { fillForm, visitPage } from "./form.ts";
import type { Terminal } from "./form.ts";

/** The handlers for forms and pages: one question at a time. */
export function createAsker(): Handlers {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (ask: typeof fillForm) => (request: ElicitRequest, context: HandlerContext): Promise<ElicitResult> => {
    if (!isAttended()) return Promise.resolve({ action: "decline" });
    const answer = last.then(() => atTerminal(context.signal, (terminal) => ask(request, context.server, terminal)));
    last = answer.catch(() => {});
    return answer;
  };
  return { elicitation: inTurn(fillForm), elicitationUrl: inTurn(visitPage) };
}

/** Lines from the standard input while `use` runs. The terminal stays as it is, so that Ctrl-C is a signal as ever. */
async function atTerminal<Value>(signal: AbortSignal, use: (terminal: Terminal) => Promise<Value>): Promise<Value> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const waiting: ((line: string | undefined) => void)[] = [];
  const arrived: string[] = [];
  let ended = false;
  const end = (): void => {
    ended = true;
    for (const resolve of waiting.splice(0)) resolve(undefined);
  };
  lines.on("line", (line) => {
    const resolve = waiting.shift();
    if (resolve) resolve(line);
    else arrived.push(line);
  });
  lines.on("close", end);
  signal.addEventListener("abort", end, { once: true });
  try {
    await writeError(eraseLine);
    return await use({
      say: (text) => writeError(plain(text)),
      ask: async (question) => {
        await writeError(plain(question));
        const line = arrived.shift();
        if (line !== undefined || ended || signal.aborted) return line;
        return await new Promise((resolve) => waiting.push(resolve));
      },
    });
  } finally {
    signal.removeEventListener("abort", end);
    lines.close();
  }
}

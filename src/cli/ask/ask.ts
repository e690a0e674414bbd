/**
 * Questions of servers, put to the person at the terminal. Where nobody sits there, they are declined.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import type { HandlerContext, Handlers } from "../../client/mod.ts";
import type { ElicitRequest, ElicitResult } from "../../protocol/mod.ts";
import { clearLine, isAttended, writeError } from "../terminal.ts";
import { plain } from "../text/plain.ts";
import { wrap } from "../text/table.ts";
import { fillForm, visitPage } from "./form.ts";
import type { Terminal } from "./form.ts";

/**
 * The handlers for forms and pages: one question at a time.
 *
 * @param isSilent Whether all are declined: two that ask at once would take one line as the answer to both.
 */
export function createAsker(isSilent = false): Handlers {
  const inTurn = createTurns();
  const asked = (ask: typeof fillForm) => (request: ElicitRequest, context: HandlerContext): Promise<ElicitResult> => {
    if (isSilent || !isAttended()) return Promise.resolve({ action: "decline" });
    return inTurn(context.signal, (terminal) => ask(request, context.server, terminal));
  };
  return { elicitation: asked(fillForm), elicitationUrl: asked(visitPage) };
}

/** Asks the person at the terminal, when those who asked before have their answer. */
export type AskInTurn = <Answer>(signal: AbortSignal, ask: (terminal: Terminal) => Promise<Answer>) => Promise<Answer>;

/**
 * Makes what puts questions one after the other. One whose signal is aborted before its turn is not asked: it rejects.
 *
 * @param read Reads what is answered, from the first question on: the standard input, where nothing else is given.
 */
export function createTurns(read: () => Lines = readLines): AskInTurn {
  let lines: Lines | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isOwed = false;
  return (signal, ask) => {
    const input = lines ??= read();
    const line = async (question: string, isConsent = false): Promise<string | undefined> => {
      if (isConsent) await input.forget();
      await writeError(plain(question));
      const typed = await input.next(signal);
      isOwed = typed === undefined && signal.aborted;
      return typed;
    };
    const answer = last.then(async () => {
      signal.throwIfAborted();
      await clearLine();
      // Who was at a question when its time ended still types the end of the answer: it must not answer this one.
      if (isOwed) await line("\nThe time of that question is over. Press Enter for the next one: ");
      return await ask({
        say: (text) => writeError(fitted(plain(text), process.stderr.columns || 80)),
        ask: line,
      });
    });
    last = answer.catch(() => {});
    return answer;
  };
}

/** Broken at spaces where it is wider than the terminal. What is indented stays as it is: an address, or what will be sent. */
function fitted(text: string, width: number): string {
  return text.split("\n").map((line) => /^\S.*\s/.test(line) ? wrap(line, width).join("\n") : line).join("\n");
}

/** The lines that a person types. */
export interface Lines {
  /** The next one; undefined at the end of the input, or when the signal says that none is wanted any more. */
  next(signal: AbortSignal): Promise<string | undefined>;
  /** Forgets what was typed before now: it was no answer to what is asked next, whatever a server or a model had shown. */
  forget(): Promise<void>;
}

/** How long an interruption may come after the end of a terminal, in milliseconds: the shell in it is interrupted first, and has to end. */
const hangUpTime = 10_000;
/**
 * How many turns of the event loop, and how long each at least, in milliseconds, the system may take to hand over what was typed before
 * somebody read it. Time alone is no measure: it also runs out while this program stands still, and then nothing was read.
 */
const handOver = { turns: 10, pause: 10 };
/** And how many turns what was typed meanwhile takes later. */
const turnsToRead = 2;

/** Reads on to the end, so that what is typed ahead for the fields of a form is kept. The terminal stays as it is: Ctrl-C is a signal as ever. */
export function readLines(input: Readable = process.stdin): Lines {
  const arrived: string[] = [];
  let ended = false;
  let wake = (): void => {};
  const lines = createInterface({ input, terminal: false });
  lines.on("line", (line) => {
    arrived.push(line);
    wake();
  });
  lines.on("close", () => {
    // A terminal that is closed ends its input first, is none any more, and then interrupts. With Ctrl-D it is there still.
    const isGone = input === process.stdin && !isatty(0);
    setTimeout(() => {
      ended = true;
      wake();
    }, isGone ? hangUpTime : 0);
  });
  const handedOver = turns(handOver.turns, handOver.pause);
  return {
    async next(signal) {
      const aborted = (): void => wake();
      signal.addEventListener("abort", aborted);
      while (arrived.length === 0 && !ended && !signal.aborted) {
        await new Promise<void>((resolve) => wake = resolve);
      }
      signal.removeEventListener("abort", aborted);
      return signal.aborted ? undefined : arrived.shift();
    },
    async forget() {
      await handedOver;
      await turns(turnsToRead, 0);
      arrived.length = 0;
    },
  };
}

async function turns(count: number, pause: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setTimeout(resolve, pause));
}

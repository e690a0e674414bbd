/**
 * Where the command writes: results to the standard output, all else to the standard error.
 *
 * @module
 */
import process from "node:process";
import type { Progress } from "../protocol/mod.ts";
import { isObject } from "../protocol/json_rpc.ts";
import { InterruptedError, OutputError } from "./failure.ts";
import { ignoresHangUp } from "./session/hang_up.ts";
import { errorsOnTheirWay, writeError } from "./standard_error.ts";
import { writeAll } from "./streams.ts";
import { oneLine } from "./text/plain.ts";
import { cut } from "./text/width.ts";

export { writeError } from "./standard_error.ts";

/** Begins the current line of a terminal anew. */
const eraseLine: string = `\r${String.fromCharCode(27)}[K`;

/**
 * Writes a result. Resolves when it is out, or when nobody reads it any more.
 *
 * @throws {OutputError} When it cannot be written: the disk may be full.
 */
export async function writeOut(text: string): Promise<void> {
  await writeResult(text);
}

/**
 * Writes one of many results.
 *
 * @returns False when nobody reads them any more.
 * @throws {OutputError} When it cannot be written.
 */
export function writeNext(text: string): Promise<boolean> {
  return writeResult(text);
}

/**
 * Writes a result that is no text.
 *
 * @throws {OutputError} When it cannot be written.
 */
export async function writeBytes(bytes: Uint8Array): Promise<void> {
  await writeResult(bytes);
}

/** True when a person reads the standard error. */
export function isWatched(): boolean {
  return process.stderr.isTTY === true;
}

/** Whether a line of the terminal can be drawn anew: a dumb one shows what would erase it. */
function canRedraw(): boolean {
  return isWatched() && process.env.TERM !== "dumb";
}

/** Erases the line that shows what is under way, where one can be there. */
export async function clearLine(): Promise<void> {
  if (canRedraw()) await writeError(eraseLine);
}

/** Warns of something that is done all the same. */
export async function writeWarning(text: string): Promise<void> {
  await writeError(`causeway: warning: ${oneLine(text)}\n`);
}

/** True when a person can be asked. */
export function isAttended(): boolean {
  return isWatched() && process.stdin.isTTY === true;
}

/** The columns of the terminal that reads the results; undefined where a program reads them: then nothing is cut. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY === true ? process.stdout.columns || 80 : undefined;
}

/** Whether results may have colours: on a terminal, where `NO_COLOR` is not set and the terminal is not dumb. */
export function hasColors(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}

/** What takes no longer than this is not said to be under way, in milliseconds. */
const moment = 1_000;

/** Shows on a terminal that can redraw a line that something is under way, once it takes longer than a moment. */
export function createSpinner(text: string): { clear(): void } {
  if (!canRedraw()) return { clear() {} };
  const begin = performance.now();
  let turn = 0;
  const timer = setInterval(() => {
    if (performance.now() - begin < moment) return;
    const shown = `${"|/-\\"[turn++ % 4]} ${oneLine(text)}`;
    void writeError(eraseLine + cut(shown, (process.stderr.columns || 80) - 1));
  }, 120);
  return {
    clear() {
      clearInterval(timer);
      if (turn > 0) void writeError(eraseLine);
    },
  };
}

/** One line that shows how far a call is, on a terminal that can redraw it only. */
export interface ProgressLine {
  show(progress: Progress): void;
  clear(): void;
}

const pause = 50;

/** Makes a line of progress; it is redrawn at most 20 times a second. */
export function createProgressLine(): ProgressLine {
  let shownAt = -Infinity;
  let shown = false;
  return {
    show({ progress, total, message }) {
      const now = performance.now();
      if (!canRedraw() || (now - shownAt < pause && progress !== total)) return;
      shownAt = now;
      shown = true;
      // Servers may say anything here: only the number of the progress was looked at.
      const amount = typeof total === "number" ? `${progress}/${total}` : `${progress}`;
      const text = `${amount} ${typeof message === "string" ? oneLine(message) : ""}`;
      void writeError(eraseLine + cut(text, (process.stderr.columns || 80) - 1));
    },
    clear() {
      if (shown) void writeError(eraseLine);
      shown = false;
    },
  };
}

/** False: nobody reads it. */
async function writeResult(chunk: string | Uint8Array): Promise<boolean> {
  let ignoreStop = (): void => {};
  // A reader may be there, and take nothing: who ends the command does not wait for it.
  const stopped = new Promise<never>((_, reject) => {
    const codes = { SIGINT: 130, SIGTERM: 143, ...(!ignoresHangUp && { SIGHUP: 129 }) };
    const ends = Object.entries(codes).map(([name, exitCode]) => {
      const stop = (): void => reject(new InterruptedError(exitCode));
      process.on(name, stop);
      return () => void process.off(name, stop);
    });
    ignoreStop = () => ends.forEach((end) => end());
  });
  try {
    await Promise.race([stopped, errorsOnTheirWay().then(() => writeAll("stdout", chunk))]);
    return true;
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    // Deno's have no code.
    const code = isObject(error) ? String(error.code ?? error.name) : "";
    const message = error instanceof Error ? error.message : String(error);
    // A reader that goes away before the end is no error of ours.
    if (/^(EPIPE|EOF|ERR_STREAM_DESTROYED|BrokenPipe)$/.test(code) || /broken pipe/i.test(message)) return false;
    const isFull = code === "ENOSPC" || /no space left/i.test(message);
    throw new OutputError(`Cannot write the results: ${isFull ? "the disk is full" : oneLine(message)}`);
  } finally {
    ignoreStop();
  }
}

/**
 * The standard error: what is said there is in order, and nobody who ends the command waits for a reader that takes nothing.
 *
 * @module
 */
import { isHeldUpBy, writeAll } from "./streams.ts";

/** How long the end waits for what is said to be taken, in milliseconds. */
const moment = 1_000;

/** Those that wait, each as what gives it no more than a moment. */
const waiting = new Set<() => void>();
/** When all that was said is out. */
let last: Promise<void> = Promise.resolve();
let isEnding = false;
/** When {@linkcode hurry} is called of itself where somebody waits then, by the monotonic clock. */
let endsAt = Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

/** From now on nothing is waited for longer than a moment, until {@linkcode forget}. */
function hurry(): void {
  if (isEnding) return;
  isEnding = true;
  look();
  for (const hasten of waiting) hasten();
}

/** From the end of this signal on, nothing is waited for longer than a moment, until {@linkcode forget}. */
export function hurryAfter(signal: AbortSignal): void {
  if (signal.aborted) hurry();
  else signal.addEventListener("abort", hurry, { once: true });
}

/** In so many milliseconds {@linkcode hurryAfter} comes true without its signal, also where all but this is done by then. */
export function hurryIn(milliseconds: number): void {
  endsAt = performance.now() + milliseconds;
  look();
}

/** Has a timer as long as somebody waits who may have to be hurried. */
function look(): void {
  clearTimeout(timer);
  timer = waiting.size > 0 && !isEnding && endsAt < Infinity
    ? setTimeout(hurry, Math.max(0, endsAt - performance.now()))
    : undefined;
}

/** Whoever ended by this signal is done. */
export function forget(signal: AbortSignal): void {
  signal.removeEventListener("abort", hurry);
  endsAt = Infinity;
  isEnding = false;
  look();
}

/** Writes what is no result. Resolves when it is out, or cannot be written: that has nobody who would hear of it. */
export function writeError(text: string): Promise<void> {
  // Elsewhere than on Deno the stream itself keeps the order.
  const before = isHeldUpBy("stderr") ? last : undefined;
  const written = before ? before.then(() => writeAll("stderr", text)) : writeAll("stderr", text);
  last = Promise.allSettled([last, written]).then(() => {});
  return patiently(last);
}

/** Resolves when all that was said is out. */
export function errorsWritten(): Promise<void> {
  return patiently(last);
}

/** Resolves when all that was said is on its way, as it is at once but on Deno: what is written elsewhere comes behind it then. */
export function errorsOnTheirWay(): Promise<void> {
  return isHeldUpBy("stderr") ? errorsWritten() : Promise.resolve();
}

function patiently(written: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    let end: ReturnType<typeof setTimeout> | undefined;
    const hasten = (): void => void (end = setTimeout(done, moment));
    const done = (): void => {
      waiting.delete(hasten);
      clearTimeout(end);
      if (waiting.size === 0) look();
      resolve();
    };
    waiting.add(hasten);
    if (isEnding) hasten();
    else if (waiting.size === 1) look();
    void written.then(done);
  });
}

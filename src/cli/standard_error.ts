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
/** What calls {@linkcode hurry} at a time. */
const timers = new Set<ReturnType<typeof setTimeout>>();

/** From now on nothing is waited for longer than a moment, until {@linkcode forget}. */
function hurry(): void {
  if (isEnding) return;
  isEnding = true;
  for (const hasten of waiting) hasten();
}

/** From the end of this signal on, nothing is waited for longer than a moment, until {@linkcode forget}. */
export function hurryAfter(signal: AbortSignal): void {
  if (signal.aborted) hurry();
  else signal.addEventListener("abort", hurry, { once: true });
}

/** From so many milliseconds on nothing is waited for longer than a moment, until {@linkcode forget}: also where all is done by then but this. */
export function hurryIn(milliseconds: number): void {
  timers.add(setTimeout(hurry, milliseconds));
}

/** Whoever ended by this signal is done. */
export function forget(signal: AbortSignal): void {
  signal.removeEventListener("abort", hurry);
  for (const timer of timers) clearTimeout(timer);
  timers.clear();
  isEnding = false;
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hasten = (): void => void (timer = setTimeout(done, moment));
    const done = (): void => {
      waiting.delete(hasten);
      clearTimeout(timer);
      resolve();
    };
    waiting.add(hasten);
    if (isEnding) hasten();
    void written.then(done);
  });
}

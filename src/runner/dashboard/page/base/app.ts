/**
 * What the views of the page share.
 *
 * @module
 */
import { ApiProblem, unreachable } from "./api.ts";
import type { Ask } from "./api.ts";
import type { Editor } from "../form/seam.ts";

/** How long an answer is waited for that is asked for again and again, in milliseconds. */
const longestLoad = 30_000;

/** However long a refusal says to stay away, in seconds. */
const longestPause = 300;

/** What every view is given. */
export interface App {
  readonly ask: Ask;
  /** Where the runner is, without a slash at the end. */
  readonly origin: string;
  /** Aborted when the view is left. */
  readonly signal: AbortSignal;
  /** Arguments of tools that are being written, by the tool and its schema: they outlive the view. */
  readonly drafts: Map<string, Editor>;
  /** Tells something in a sentence, to the eye and to screen readers. */
  announce(text: string): void;
  /** Tells screen readers what everybody else sees. */
  whisper(text: string): void;
  /** Goes to another view: `tools/alpha__echo`. */
  go(path: string): void;
  /** The time of the runner, as far as it is known: the clock of this machine may be wrong. */
  now(): number;
  /** Waits some milliseconds, or until the signal. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A view of the page. */
export interface View {
  /** What the window is called. */
  readonly title: string;
  /** Goes to another part of the same place, where it can: what is typed and scrolled stays. */
  update?(name: string | undefined): void;
  readonly element: HTMLElement;
  /** Takes the keys that nothing else has taken. Says whether it did. */
  key?(event: KeyboardEvent): boolean;
}

/** Waits some milliseconds, or until the signal. Never rejects. */
export function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done, { once: true });
  });
}

/**
 * Loads something now, and again and again while the page is looked at. What goes wrong is told, and tried again as well; what
 * never comes has gone wrong, too.
 *
 * @param interval In milliseconds.
 */
export function keepLoading(
  app: Pick<App, "signal">,
  interval: number,
  load: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): void {
  inBackground(app, async () => {
    for (let isFirst = true; !app.signal.aborted; isFirst = false) {
      let pause = interval;
      if (isFirst || !document.hidden) {
        const late = new AbortController();
        const timer = setTimeout(() => late.abort(unreachable()), longestLoad);
        await load(AbortSignal.any([app.signal, late.signal])).catch((error: unknown) => {
          const { retryAfter = 0 } = error instanceof ApiProblem ? error : {};
          pause = Math.max(interval, Math.min(retryAfter, longestPause) * 1_000);
          if (!app.signal.aborted) failed(error);
        });
        clearTimeout(timer);
      }
      await waitFor(pause, app.signal);
    }
  }, failed);
}

/** Runs what nobody waits for; what it throws is told, unless the view was left. */
export function inBackground(
  app: Pick<App, "signal">,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
): void {
  work().catch((error: unknown) => {
    if (!app.signal.aborted) failed(error);
  });
}

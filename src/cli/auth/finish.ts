/**
 * Takes the answers that come for one sign-in: from the browser, and from whoever else asks the callback server.
 *
 * @module
 */
import type { OAuth, SignInStatus } from "./oauth.ts";
import { readUrl } from "../../egress/url.ts";

/** One sign-in that waits for its answer. */
export interface Finisher {
  /** How it went. Rejects with the signal's reason when that comes first. */
  readonly done: Promise<SignInStatus>;
  /**
   * Takes an address that somebody came back with. One with a foreign state changes nothing; the first with our own decides.
   *
   * @returns False when it is certainly none of ours.
   */
  take(url: string): boolean;
}

/** Answers that wait for their turn, where the state cannot be told apart here. */
const mostWaiting = 16;

/**
 * Waits for the answer.
 *
 * @param authorizationUrl Where the person was sent: it holds the state that the answer has to have.
 */
export function createFinisher(oauth: OAuth, authorizationUrl: string, signal: AbortSignal): Finisher {
  const state = stateOf(authorizationUrl);
  let resolve: (result: SignInStatus) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const done = new Promise<SignInStatus>((...settle) => [resolve, reject] = settle);
  let decided = false;
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const aborted = (): void => reject(signal.reason);
  signal.addEventListener("abort", aborted);
  if (signal.aborted) aborted();
  void done.catch(() => {}).finally(() => signal.removeEventListener("abort", aborted));
  return {
    done,
    take(url) {
      const given = stateOf(url);
      if (given === undefined || (state !== undefined && given !== state)) return false;
      if (state !== undefined) {
        // The state is our own, and good once: what comes of it is how the sign-in went. A second one is a page loaded anew.
        if (!decided) oauth.finishAuth(url, { signal }).then(resolve, reject);
        decided = true;
      } else if (waiting < mostWaiting) {
        waiting++;
        turn = turn.then(() => oauth.finishAuth(url, { signal })).then(resolve, () => {}).finally(() => waiting--);
      }
      return true;
    },
  };
}

function stateOf(url: string): string | undefined {
  return readUrl(url)?.searchParams.get("state") ?? undefined;
}

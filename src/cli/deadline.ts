/**
 * `--timeout`: how long the whole command may take.
 *
 * @module
 */
import { DeadlineError } from "./failure.ts";
import { hurryIn } from "./standard_error.ts";

/**
 * Runs with a signal that ends with the given one, and after so many milliseconds with what `late` makes.
 *
 * @param timeout Undefined: as long as it takes.
 */
export async function withDeadline<Result>(
  given: AbortSignal,
  timeout: number | undefined,
  run: (signal: AbortSignal) => Promise<Result>,
  late: (timeout: number) => Error = notDone,
): Promise<Result> {
  const stop = new AbortController();
  const pass = (): void => stop.abort(given.reason);
  given.addEventListener("abort", pass);
  if (given.aborted) pass();
  if (timeout !== undefined) hurryIn(timeout);
  const timer = timeout === undefined ? undefined : setTimeout(() => stop.abort(late(timeout)), timeout);
  try {
    return await run(stop.signal);
  } finally {
    clearTimeout(timer);
    given.removeEventListener("abort", pass);
  }
}

function notDone(timeout: number): DeadlineError {
  return new DeadlineError(`Not done within ${timeout} ms: check that the server answers, or raise --timeout`);
}

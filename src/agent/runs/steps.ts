/**
 * Work that is done once, though the process may die in between.
 *
 * @module
 */

/** How a step is done. */
export interface StepOptions {
  /**
   * Your word that doing it twice is the same as doing it once: after a crash it is done again (false). Without it a step that was
   * begun and has no result is `unknown`.
   */
  readonly repeatable?: boolean | undefined;
  /** SHA-256 of what it is done with, where that matters: after a restart, a step of the same name with another one is refused. */
  readonly argumentsHash?: string | undefined;
  /** Milliseconds that it may take (as long as it likes). One that is not `repeatable` is `unknown` then. */
  readonly timeout?: number | undefined;
}

/** Does what must not be done twice. `WorkflowStep` of Cloudflare Workflows fits, without the promise of `repeatable`. */
export interface Steps {
  /**
   * Does it, and keeps what it gave: another process gets that and does not do it again.
   *
   * @param name Unique in the run, and the same in each process.
   * @returns What `work` gave, as JSON gives it back.
   * @throws {StepUnknownError} When it was begun by a process that died, and is not `repeatable`.
   * @throws What `work` threw. It is kept too: as an `Error` with the same name and message after a restart. With a
   * `StepUnknownError` it says that the step may have been done.
   */
  do<Value>(name: string, options: StepOptions, work: () => Promise<Value>): Promise<Value>;
  /** Waits; after a restart only for what is left. */
  sleep(name: string, milliseconds: number): Promise<void>;
  /**
   * Waits for something that somebody sends to the run.
   *
   * @param options `type` names it: one for each question. `timeout` is in milliseconds.
   */
  waitForEvent(
    name: string,
    options: { readonly type: string; readonly timeout?: number | undefined },
  ): Promise<{ readonly payload: unknown }>;
}

/** A step was begun by a process that died, and nobody knows whether it was done. It was not done again. */
export class StepUnknownError extends Error {
  /** The step's name. */
  readonly step: string;

  /** Makes an error. */
  constructor(step: string) {
    super(`The step "${step}" was begun and did not end: it may have been done`);
    this.name = "StepUnknownError";
    this.step = step;
  }
}

/** Why a run was left: it waits, was ended from outside, or goes on somewhere else. */
export type LeaveReason =
  /** It waits for a person, an event or a time, and begins again then. */
  | "waiting"
  /** It was cancelled, or its deadline has passed. */
  | "ended"
  /** Another process has it now. */
  | "lost"
  /** This process gives it up. */
  | "closed"
  /** What it did could not be kept. */
  | "failed";

/** A run was left in the middle. Let it pass: what the run would do now is done by nobody, or by another process. */
export class RunLeftError extends Error {
  /** Why. */
  readonly reason: LeaveReason;

  /** Makes an error. */
  constructor(reason: LeaveReason, options?: { cause?: unknown }) {
    super(`The run was left (${reason})`, options);
    this.name = "RunLeftError";
    this.reason = reason;
  }
}

/**
 * What ends a run before it is done.
 *
 * @module
 */

/** The run ends as failed. */
export class RunFailure extends Error {
  /** In one word, as `AgentEnd` says. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "RunFailure";
    this.code = code;
  }
}

/** Its time is over. A process that finds it in a journal knows it by its name. */
export class RunDeadlineError extends Error {
  constructor() {
    super("The run was not done in time");
    this.name = "RunDeadlineError";
  }
}

/** Waits for all of some work, and throws the first failure once nothing is under way any more. */
export async function settleAll<Value>(work: Iterable<Promise<Value>>): Promise<Value[]> {
  const settled = await Promise.allSettled(work);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

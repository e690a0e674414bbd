/**
 * What the handler of a modern task is given.
 *
 * @module
 */
import type { ClientCapabilities } from "../../protocol/types.ts";
import type { RequestContext } from "../definitions.ts";
import { elicitation } from "../modern/questions/elicitation.ts";
import { demand, type QuestionKind } from "../modern/questions/kind.ts";
import { roots } from "../modern/questions/roots.ts";
import { sampling } from "../modern/questions/sampling.ts";
import type { TaskRun } from "./run.ts";

/**
 * The context of a task: its questions are the task's (`tasks/update` answers them), and it tells neither progress nor log
 * messages (S-109).
 *
 * @param context The context of the call that it came of.
 */
export function modernTaskContext(
  context: RequestContext,
  run: TaskRun,
  capabilities: ClientCapabilities,
): RequestContext {
  async function ask<Request, Reply>(
    kind: QuestionKind<Request, Reply>,
    request: Request,
    key: string | undefined,
  ): Promise<Reply> {
    demand(kind, capabilities, request);
    const params = kind.params(request, capabilities);
    const question = { method: kind.method, ...(params && { params }) };
    return await run.ask(key ?? kind.name, question, (answer) => kind.read(answer, request));
  }
  return {
    signal: run.signal,
    auth: context.auth,
    client: context.client,
    era: context.era,
    revision: context.revision,
    meta: context.meta,
    progress: () => {},
    log: () => {},
    elicit: (request, options) => handled(ask(elicitation, request, options?.key)),
    sample: (request, options) => handled(ask(sampling, request, options?.key)),
    roots: (options) => handled(ask(roots, undefined, options?.key)),
    can: context.can,
    continueAsTask: () => Promise.resolve(),
  };
}

/**
 * The context of a call that goes on as a task when its handler says so: the call's until then, the task's afterwards.
 *
 * @param begin Begins the task; it hands the task over before that is at work.
 */
export function switchingContext(
  call: RequestContext,
  capabilities: ClientCapabilities,
  begin: (adopt: (run: TaskRun) => void) => Promise<void>,
): RequestContext {
  const controller = new AbortController();
  const follow = (signal: AbortSignal): () => void => {
    const aborted = (): void => controller.abort(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    return () => signal.removeEventListener("abort", aborted);
  };
  const unfollow = follow(call.signal);
  let current = call;
  let begun: Promise<void> | undefined;
  const adopt = (run: TaskRun): void => {
    unfollow();
    follow(run.signal);
    current = modernTaskContext(call, run, capabilities);
  };
  return {
    signal: controller.signal,
    auth: call.auth,
    client: call.client,
    era: call.era,
    revision: call.revision,
    meta: call.meta,
    progress: (progress) => current.progress(progress),
    log: (level, data, logger) => current.log(level, data, logger),
    elicit: (request, options) => current.elicit(request, options),
    sample: (request, options) => current.sample(request, options),
    roots: (options) => current.roots(options),
    can: (what) => current.can(what),
    continueAsTask: () => begun ??= begin(adopt),
  };
}

/** Who does not wait for an answer must not end the process with it. */
function handled<Reply>(asked: Promise<Reply>): Promise<Reply> {
  asked.catch(() => {});
  return asked;
}

/**
 * What the handler of a modern task is given.
 *
 * @module
 */
import type { ClientCapabilities } from "../../protocol/types.ts";
import { forgivable } from "../common/forgivable.ts";
import type { AskOptions, RequestContext } from "../definitions.ts";
import { elicitation } from "../modern/questions/elicitation.ts";
import { demand, type QuestionKind } from "../modern/questions/kind.ts";
import { roots } from "../modern/questions/roots.ts";
import { sampling } from "../modern/questions/sampling.ts";
import { keptOfCall } from "./call_context.ts";
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
    options: AskOptions | undefined,
  ): Promise<Reply> {
    demand(kind, capabilities, request);
    const params = kind.params(request, capabilities);
    const question = { method: kind.method, ...(params && { params }) };
    const name = options?.key ?? kind.name;
    return await run.ask(name, question, (answer) => kind.read(answer, request), options?.signal);
  }
  return {
    ...keptOfCall(context),
    signal: run.signal,
    progress: () => {},
    log: () => {},
    elicit: (request, options) => forgivable(ask(elicitation, request, options)),
    sample: (request, options) => forgivable(ask(sampling, request, options)),
    roots: (options) => forgivable(ask(roots, undefined, options)),
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
    ...keptOfCall(call),
    get rounds() {
      return current === call ? call.rounds : undefined;
    },
    signal: controller.signal,
    progress: (progress) => current.progress(progress),
    log: (level, data, logger) => current.log(level, data, logger),
    elicit: (request, options) => current.elicit(request, options),
    sample: (request, options) => current.sample(request, options),
    roots: (options) => current.roots(options),
    continueAsTask: () => begun ??= forgivable(begin(adopt)),
  };
}

/**
 * The modern era (2026-07-28) of a server: every request stands for itself.
 *
 * @module
 */
import { MissingCapabilityError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { inputMethods } from "../../protocol/modern.ts";
import { modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { CacheHints } from "../../protocol/types.ts";
import type { Answer, Incoming, ModernServing, ServerParts } from "../seam.ts";
import { completeAnswer, errorAnswer, internalAnswer, resultAnswer } from "./answers.ts";
import { declared } from "../common/declared.ts";
import { isOver, unknownMethod } from "../common/requests.ts";
import { ModernContext } from "./context.ts";
import { type Envelope, hint, readEnvelope, readWishes, type Wishes } from "./envelope.ts";
import { InputNeeded, Rounds, withoutAnswers } from "./rounds.ts";
import { Subscriptions } from "./subscriptions.ts";
import { isPromise } from "../../protocol/promise.ts";

/** What the modern era may be told. */
export interface ModernOptions {
  /** The revisions with a handshake that the same endpoint serves: named to clients beside the modern ones. Default: none. */
  legacyRevisions?: readonly Revision[] | undefined;
}

/** What this era answers itself, beside tasks. */
const own: readonly string[] = ["server/discover", "subscriptions/listen"];

/** What belongs to the handshake era, and is served there alone. */
const removed: readonly string[] = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
];

/** Makes the modern era of a server: one for all its clients. */
export function createModern(parts: ServerParts, options: ModernOptions = {}): ModernServing {
  return new ModernPeer(parts, [...modernRevisions, ...options.legacyRevisions ?? []]);
}

class ModernPeer implements ModernServing {
  readonly #parts: ServerParts;
  readonly #supported: readonly Revision[];
  readonly #subscriptions: Subscriptions;

  constructor(parts: ServerParts, supported: readonly Revision[]) {
    this.#parts = parts;
    this.#supported = supported;
    this.#subscriptions = new Subscriptions(parts);
  }

  answer(incoming: Incoming): Promise<Answer | undefined> {
    const answered = this.#safely(incoming);
    return incoming.over ? answered : untilAborted(answered, incoming.signal);
  }

  close(): void {
    this.#subscriptions.close();
  }

  async #safely(incoming: Incoming): Promise<Answer | undefined> {
    if (isOver(incoming)) return undefined;
    try {
      const answer = await this.#answer(incoming);
      return isOver(incoming) ? undefined : answer;
    } catch (error) {
      if (isOver(incoming)) return undefined;
      const { id, method } = incoming.message;
      const answer = errorAnswer(id, error);
      if (!answer) this.#log(method, error);
      return answer ?? internalAnswer(id);
    }
  }

  /** Reads a request; then this era answers it itself, or runs a method. */
  #answer(incoming: Incoming): Promise<Answer | undefined> {
    const { message, auth } = incoming;
    const { method, params = {} } = message;
    const { tasks, state } = this.#parts;
    const envelope = readEnvelope(message, this.#supported);
    if (removed.includes(method)) throw unknownMethod(method, hint(message, this.#supported));
    const wishes = readWishes(envelope.meta);
    if (own.includes(method) || (tasks && method.startsWith("tasks/"))) return this.#answerSelf(incoming, envelope);
    const run = (rounds?: Rounds): Promise<Answer> => this.#run(incoming, envelope, wishes, rounds);
    const opened = inputMethods.includes(method) ? Rounds.open({ method, params, auth }, state) : undefined;
    return isPromise(opened) ? opened.then(run) : run(opened);
  }

  async #answerSelf(incoming: Incoming, { capabilities }: Envelope): Promise<Answer | undefined> {
    const { message: { id, method, params = {} }, auth } = incoming;
    const { methods, tasks } = this.#parts;
    const caller = { auth, capabilities };
    let result: JsonObject | undefined;
    let more: JsonObject | undefined;
    if (method === "server/discover") result = this.#describe();
    else if (method === "subscriptions/listen") {
      const wanted = tasks && isObject(params.notifications) ? params.notifications.taskIds : undefined;
      const taskIds = wanted === undefined ? [] : await tasks?.modern.listen(wanted, caller);
      more = await this.#subscriptions.listen(incoming, taskIds);
      if (!more) return undefined;
      result = {};
    } else result = await tasks?.modern.request(method, params, caller);
    if (!result) throw unknownMethod(method);
    return completeAnswer(id, method, result, methods.info, methods.cache, more);
  }

  /** Runs a method. The usual one is waited for here once: each further wait costs as much as many a tool does. */
  async #run(incoming: Incoming, envelope: Envelope, wishes: Wishes, rounds: Rounds | undefined): Promise<Answer> {
    const { id, method, params: given = {} } = incoming.message;
    const { methods, tasks, clock } = this.#parts;
    const params = rounds ? withoutAnswers(given) : given;
    const context = new ModernContext(incoming, envelope, wishes, rounds, clock);
    let result: JsonObject | undefined;
    try {
      const { capabilities } = envelope;
      const waiting = (): boolean => rounds?.waiting === true;
      const outcome = tasks && method === "tools/call" &&
        await tasks.modern.call({ params, context, capabilities, waiting });
      if (outcome && "task" in outcome) return resultAnswer(id, outcome.task, methods.info);
      const running = outcome ? outcome.result : methods.run(method, params, context);
      // Waiting for what is there costs as much as many a tool does.
      result = isPromise(running) ? await running : running;
    } catch (error) {
      // What else a handler threw may come of the question; but what the client cannot be asked, no answer will mend.
      if (!rounds?.waiting || error instanceof MissingCapabilityError) throw error;
      if (!(error instanceof InputNeeded)) this.#log(method, error);
    } finally {
      context.end();
    }
    if (rounds?.waiting) return resultAnswer(id, await rounds.result(), methods.info);
    if (!result) throw unknownMethod(method);
    return completeAnswer(id, method, result, methods.info, this.#hints(method, rounds));
  }

  #hints(method: string, rounds: Rounds | undefined): CacheHints | undefined {
    if (rounds?.answered) return undefined;
    return method === "resources/read" ? {} : this.#parts.methods.cache;
  }

  #describe(): JsonObject {
    const { methods, tasks } = this.#parts;
    const { instructions } = methods;
    const capabilities = declared(methods.capabilities());
    if (tasks) capabilities.extensions = { ...capabilities.extensions, ...tasks.modern.extensions };
    return {
      supportedVersions: [...this.#supported],
      capabilities: capabilities as JsonObject,
      ...(instructions !== undefined && { instructions }),
    };
  }

  #log(method: string, error: unknown): void {
    this.#parts.logger?.({
      level: "error",
      message: "A request failed inside",
      fields: { method: excerpt(method, 64), error },
    });
  }
}

/** Waits for work, and no longer for what nobody wants any more. */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const stopped = () => resolve(undefined);
    signal.addEventListener("abort", stopped, { once: true });
    const done = () => signal.removeEventListener("abort", stopped);
    work.finally(done).then(resolve, reject);
  });
}

/**
 * The modern era (2026-07-28) of a server: every request stands for itself.
 *
 * @module
 */
import { MethodNotFoundError, MissingCapabilityError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { CacheHints, ServerCapabilities } from "../../protocol/types.ts";
import type { Answer, Incoming, ModernServing, ServerParts } from "../seam.ts";
import { complete, errorAnswer, internalAnswer, resultAnswer } from "./answers.ts";
import { isOver } from "../common/over.ts";
import { ModernContext } from "./context.ts";
import { type Envelope, hint, readEnvelope, readWishes } from "./envelope.ts";
import { inputMethods, InputNeeded, Rounds, withoutAnswers } from "./rounds.ts";
import { Subscriptions } from "./subscriptions.ts";

/** What the modern era may be told. */
export interface ModernOptions {
  /** The revisions with a handshake that the same endpoint serves: named to clients beside the modern ones. Default: none. */
  legacyRevisions?: readonly Revision[] | undefined;
}

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
    this.#subscriptions = new Subscriptions(parts.methods, parts.clock, parts.tasks?.modern);
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

  async #answer(incoming: Incoming): Promise<Answer | undefined> {
    const { id, method } = incoming.message;
    const { methods } = this.#parts;
    const envelope = readEnvelope(incoming.message, this.#supported);
    if (removed.includes(method)) throw unknown(method, hint(incoming.message, this.#supported));
    const wishes = readWishes(envelope.meta);
    if (method === "server/discover") {
      return resultAnswer(id, complete(method, this.#describe(), methods.cache), methods.info);
    }
    const { tasks } = this.#parts;
    const { params = {} } = incoming.message;
    const caller = { auth: incoming.auth, capabilities: envelope.capabilities };
    if (method === "subscriptions/listen") {
      const wanted = tasks && isObject(params.notifications) ? params.notifications.taskIds : undefined;
      const taskIds = wanted === undefined ? [] : await tasks?.modern.listen(wanted, caller);
      const more = await this.#subscriptions.listen(incoming, taskIds);
      return more && resultAnswer(id, complete(method, {}, undefined), methods.info, more);
    }
    if (tasks && method.startsWith("tasks/")) {
      const result = await tasks.modern.request(method, params, caller);
      if (!result) throw unknown(method);
      return resultAnswer(id, complete(method, result, undefined), methods.info);
    }
    const asks = inputMethods.includes(method);
    const opened = asks ? Rounds.open({ method, params, auth: incoming.auth }, this.#parts.state) : undefined;
    const rounds = opened instanceof Promise ? await opened : opened;
    const context = new ModernContext(incoming, envelope, wishes, rounds, this.#parts.clock);
    try {
      const result = await this.#run(method, asks ? withoutAnswers(params) : params, context, rounds, envelope);
      return resultAnswer(id, result, methods.info);
    } finally {
      context.end();
    }
  }

  async #run(
    method: string,
    params: JsonObject,
    context: ModernContext,
    rounds: Rounds | undefined,
    { capabilities }: Envelope,
  ): Promise<JsonObject> {
    const { methods, tasks } = this.#parts;
    let result: JsonObject | undefined;
    try {
      const tasked = tasks && method === "tools/call"
        ? tasks.modern.call({ params, context, capabilities, waiting: () => rounds?.waiting === true })
        : undefined;
      const outcome = tasked && await tasked;
      if (outcome && "task" in outcome) return outcome.task;
      result = outcome?.result ?? await methods.run(method, params, context);
    } catch (error) {
      // What else a handler threw may come of the question; but what the client cannot be asked, no answer will mend.
      if (!rounds?.waiting || error instanceof MissingCapabilityError) throw error;
      if (!(error instanceof InputNeeded)) this.#log(method, error);
    }
    if (rounds?.waiting) return await rounds.result();
    if (!result) throw unknown(method);
    return complete(method, result, this.#hints(method, rounds));
  }

  #hints(method: string, rounds: Rounds | undefined): CacheHints | undefined {
    if (rounds?.answered) return undefined;
    return method === "resources/read" ? {} : this.#parts.methods.cache;
  }

  #describe(): JsonObject {
    const { methods } = this.#parts;
    const { instructions } = methods;
    return {
      supportedVersions: [...this.#supported],
      capabilities: { ...declared(methods.capabilities()), ...this.#extensions() } as JsonObject,
      ...(instructions !== undefined && { instructions }),
    };
  }

  #extensions(): ServerCapabilities {
    const { methods, tasks } = this.#parts;
    return tasks ? { extensions: { ...methods.capabilities().extensions, ...tasks.modern.extensions } } : {};
  }

  #log(method: string, error: unknown): void {
    this.#parts.logger?.({
      level: "error",
      message: "A request failed inside",
      fields: { method: excerpt(method, 64), error },
    });
  }
}

/** What is there, with what this era makes of it: changes are told, log messages are sent to those who want them. */
function declared({ tasks: _, tools, prompts, resources, ...others }: ServerCapabilities): ServerCapabilities {
  return {
    ...others,
    logging: {},
    ...(tools && { tools: { ...tools, listChanged: true } }),
    ...(prompts && { prompts: { ...prompts, listChanged: true } }),
    ...(resources && { resources: { ...resources, subscribe: true, listChanged: true } }),
  };
}

function unknown(method: string, data?: JsonObject): MethodNotFoundError {
  return new MethodNotFoundError(`Method "${excerpt(method, 64)}" is not known here`, { rpcCode: -32601, data });
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

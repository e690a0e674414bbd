/**
 * One call of a client in front, while a server behind works on it.
 *
 * @module
 */
import { unlessAborted } from "../../../client/core_client.ts";
import { InvalidParamsError, MissingCapabilityError, ProtocolViolationError } from "../../../protocol/errors.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { CreateMessageRequest, ElicitRequest, InputRequest, Progress } from "../../../protocol/types.ts";
import { EraSignal } from "../../../server/common/era_signal.ts";
import type { AskOptions, RequestContext } from "../../../server/definitions.ts";
import { metaFor } from "./passing.ts";

/** A question of a server that has no answer yet. */
interface Question {
  readonly request: InputRequest;
  resolve(answer: JsonObject): void;
  reject(reason: unknown): void;
}

/** Where a call goes, and how. */
export interface Destination {
  readonly server: string;
  readonly wantsTask?: boolean;
}

/** A call that goes through. In front it may take several requests (modern): between them nobody is there to be told anything. */
export class Passage {
  /** The server behind. */
  readonly server: string;
  /** Names who calls, where that is known. */
  readonly caller: string | undefined;
  /** The `_meta` that the server is given: the call is known again by it. */
  readonly meta: JsonObject;
  /** Whether a legacy server is asked for a task: by itself it makes none. */
  readonly wantsTask: boolean;
  /** What it comes to, once it was begun. */
  work: Promise<unknown> | undefined;
  /** Ends its turn at the server, where it has one. */
  endTurn: (() => void) | undefined;
  readonly #controller = new AbortController();
  readonly #questions = new Map<string, Question>();
  #count = 0;
  #context: RequestContext | undefined;
  #asked = (): void => {};

  constructor({ server, wantsTask = false }: Destination, caller: string | undefined, context: RequestContext) {
    this.server = server;
    this.caller = caller;
    this.meta = metaFor(context);
    this.wantsTask = wantsTask;
    this.#context = context;
  }

  /** The request in front that it serves now. */
  get context(): RequestContext | undefined {
    return this.#context;
  }

  /** Aborted when nobody waits for it any more. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Tells the caller how far it is. */
  readonly progress = (progress: Progress): void => this.#context?.progress(progress);

  /**
   * It goes on as a task behind, and in front too where the caller can follow one; any other caller waits.
   *
   * @throws {RpcError} When there are too many tasks in front.
   */
  async goOnAsTask(): Promise<void> {
    await this.#context?.continueAsTask?.();
  }

  /** Calls it off. */
  abort(reason?: unknown): void {
    this.#controller.abort(reason);
    for (const { reject } of this.#questions.values()) reject(this.signal.reason);
    this.#questions.clear();
  }

  /**
   * Asks the caller something for the server.
   *
   * @param signal Aborted when the server does not want to know any more.
   * @throws {MissingCapabilityError} When the caller cannot be asked this.
   */
  ask(request: InputRequest, signal: AbortSignal): Promise<JsonObject> {
    const context = this.#context;
    if (context && !context.rounds) return ask(context, request, { signal });
    const over = [signal, this.signal].find(({ aborted }) => aborted);
    if (over) return Promise.reject(over.reason);
    const key = `question_${++this.#count}`;
    const answered = new Promise<JsonObject>((resolve, reject) => {
      this.#questions.set(key, { request, resolve, reject });
      this.#asked();
    });
    return unlessAborted(answered, signal).finally(() => this.#questions.delete(key));
  }

  /**
   * Waits for what it comes to, in the course of one request in front.
   *
   * @throws {EraSignal} When the caller has to be asked first: it goes on with the request that brings the answers.
   */
  async serve<Result>(context: RequestContext, work: Promise<Result>): Promise<Result> {
    const { signal } = context;
    const stop = (): void => this.abort(signal.reason);
    this.#context = context;
    this.work = work;
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    try {
      for (let isDone = false; !isDone;) {
        const asked = new Promise<boolean>((resolve) => this.#asked = () => resolve(false));
        await this.#answer(context);
        isDone = await Promise.race([work.then(() => true), asked]);
      }
      return await work;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#context = undefined;
    }
  }

  /** Has the open questions answered: all that are there are asked together. */
  async #answer(context: RequestContext): Promise<void> {
    await Promise.all(Array.from(this.#questions, async ([key, question]) => {
      try {
        question.resolve(await ask(context, question.request, { key }));
      } catch (error) {
        if (error instanceof EraSignal) throw error;
        question.reject(error);
      }
      this.#questions.delete(key);
    }));
  }
}

/**
 * Asks a caller what a server wants to know.
 *
 * @param options `key` names the question within the call (modern); `signal` is aborted when the answer is not wanted any more.
 * @returns The answer as it travels.
 */
export async function ask(
  context: RequestContext,
  request: InputRequest,
  options: AskOptions,
): Promise<JsonObject> {
  const { method, params = {} } = request as { method: string; params?: JsonObject };
  switch (method) {
    case "elicitation/create":
      return await context.elicit(params as ElicitRequest, options) as unknown as JsonObject;
    case "sampling/createMessage":
      return await context.sample(params as unknown as CreateMessageRequest, options) as unknown as JsonObject;
    case "roots/list":
      return { roots: await context.roots(options) as unknown as JsonObject[] };
    default:
      throw new ProtocolViolationError(`The server asks for "${method}", which nobody knows`);
  }
}

/** What a server is told of a question that its caller cannot be asked. */
export function refusal(error: unknown, method: string): unknown {
  return error instanceof MissingCapabilityError
    ? new InvalidParamsError(`"${method}" cannot be answered: the client in front does not support it`)
    : error;
}

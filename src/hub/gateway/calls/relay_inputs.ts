/**
 * What answers the servers behind a gateway: their questions are known by the call, or by the task, that they belong to.
 *
 * @module
 */
import { Inputs } from "../../../client/input/input.ts";
import { LegacyServerRequests } from "../../../client/input/legacy_input.ts";
import { attend } from "../../../client/input/seam.ts";
import type {
  AskingCall,
  HandlerContext,
  Handlers,
  InputAnswers,
  InputContext,
  InputOptions,
  LegacyInput,
  LegacyInputHost,
  Wait,
} from "../../../client/input/seam.ts";
import type { ClientRequest } from "../../../client/session/request.ts";
import {
  InputRequiredError,
  InvalidParamsError,
  MethodNotFoundError,
  UrlElicitationRequiredError,
} from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import { invalid, metaPrefix } from "../../../protocol/modern.ts";
import { checkInputs } from "../../../protocol/shapes/inputs.ts";
import type { InputRequest, PendingInput } from "../../../protocol/types.ts";
import type { RelayedCall as Passage } from "../../relayed_call.ts";

/** Names the task that a message belongs to (2025-11-25). */
export const relatedTask: string = metaPrefix + "related-task";

/** The call of a gateway that has this `_meta`. */
export type FindPassage = (meta: JsonObject | undefined) => Passage | undefined;

/** Has something told that belongs to this call; undefined: nobody says whose it is. */
export type TellOf = (passage: Passage | undefined, tell: () => Promise<void>) => Promise<void>;

/** A handler's context, with what the connection tells of the question. */
export interface AskedContext extends HandlerContext {
  /** The request that it came with. */
  readonly asking?: ClientRequest | undefined;
  /** The call whose task asks. */
  readonly passage?: Passage | undefined;
  /** Is told what the caller in front answered. */
  readonly answered?: ((answer: JsonObject) => void) | undefined;
  /** Is told what the handler makes of a form: the same, or what whoever stands around the relay's has put in its place. */
  readonly made?: ((answer: unknown) => void) | undefined;
}

/** The answers of one client behind. */
export class RelayInputs extends Inputs {
  readonly #find: FindPassage;
  readonly #tellOf: TellOf;
  /** The tasks that are followed, by their ids at the server. */
  readonly #tasks = new Map<unknown, Passage>();

  constructor(options: InputOptions, find: FindPassage, tellOf: TellOf = (_passage, tell) => tell()) {
    super({ ...options, handlers: telling(options.handlers) });
    this.#find = find;
    this.#tellOf = tellOf;
  }

  /** What a task asks and tells belongs to a call, until the returned function is called. */
  follow(taskId: string, passage: Passage): () => void {
    this.#tasks.set(taskId, passage);
    return () => void this.#tasks.delete(taskId);
  }

  /** What a modern task asks goes to the caller, as it is. */
  override async answerAll(requests: Record<string, InputRequest>, context: InputContext): Promise<JsonObject> {
    const passage = context.method === "tasks/update" ? this.#tasks.get(context.params.taskId) : undefined;
    if (!passage) return await super.answerAll(requests, context);
    if (passage.isUnattended) return await this.#answerFor(passage, requests, context);
    const answers = await Promise.all(
      Object.entries(requests).map(async ([key, request]) => [key, await passage.ask(request, context.signal)]),
    );
    return { inputResponses: Object.fromEntries(answers) };
  }

  /** The progress of a task comes when its call is over. Whose a log message is, the call tells that it comes with. */
  override notified(
    method: string,
    params: JsonObject | undefined,
    call?: Pick<AskingCall, "request">,
  ): Promise<void> {
    const { progress, total, message } = params ?? {};
    const task = this.#taskOf(params);
    if (method !== "notifications/progress" || typeof progress !== "number") {
      const passage = task ?? this.#find(call?.request.options.meta);
      return this.#tellOf(passage, () => super.notified(method, params));
    }
    task?.progress?.({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
    return Promise.resolve();
  }

  /**
   * A modern server's questions go to the caller with all that belongs to them: nothing of it is kept here.
   *
   * @throws {ProtocolViolationError} When one of them is none.
   */
  override answerRound(result: JsonObject, asking: AskingCall, server: string, wait: Wait): Promise<JsonObject> {
    const { request: { method, params, options }, round } = asking;
    const passage = this.#find(options.meta);
    if (!passage) return super.answerRound(result, asking, server, wait);
    const wrong = checkInputs(result);
    if (wrong) throw invalid(method, wrong);
    const { inputRequests, requestState } = result;
    if (passage.isUnattended) {
      const requests = inputRequests as unknown as Record<string, InputRequest>;
      const round = { method, params, round: asking.round, requestState: requestState as string | undefined, server };
      return attend(wait, (signal) => this.#answerFor(passage, requests, { ...round, signal }));
    }
    // What was checked is of the shape that the protocol says.
    const pending = { method, params, inputRequests, requestState, round } as unknown as PendingInput;
    return wait(
      Promise.reject(new InputRequiredError(`"${method}" waits for input of the client in front`, { pending })),
    );
  }

  /** A legacy server's request may come with the call that it belongs to. */
  override legacy(session: LegacyInputHost): LegacyInput {
    let asking: ClientRequest | undefined;
    let passage: Passage | undefined;
    const answers: InputAnswers = {
      handlers: this.handlers,
      capabilities: this.capabilities,
      logger: this.logger,
      answer: async (method, params, context) => {
        let given: JsonObject | undefined;
        let isGiven = false;
        const asked: AskedContext = {
          ...context,
          asking,
          passage,
          answered: (answer) => void (given = answer),
          made: (answer) => void (isGiven = answer === given),
        };
        const answer = await this.answer(method, params, asked);
        // A person's form goes on as it was sent: a field that was left empty gets no default here.
        return isGiven && given ? given : answer;
      },
      answerAll: (requests, context) => this.answerAll(requests, context),
      answerRound: (result, call, server, wait) => this.answerRound(result, call, server, wait),
      dropped: () => this.dropped(),
      notified: (method, params) => this.notified(method, params),
      legacy: (host) => this.legacy(host),
    };
    const inner = new LegacyServerRequests(answers, session);
    return {
      requested: (request, call) => {
        // It is answered from here on without a pause before `answer`.
        asking = (call as Partial<AskingCall> | undefined)?.request;
        passage = this.#taskOf(request.params);
        try {
          return inner.requested(request, call);
        } finally {
          asking = passage = undefined;
        }
      },
      notified: (method, params) => inner.notified(method, params),
      satisfy: async (error, call, wait) => {
        try {
          await inner.satisfy(error, call, wait);
        } catch (reason) {
          const isRefused = reason instanceof InvalidParamsError || reason instanceof MethodNotFoundError;
          // Nobody could be asked: the server's own answer names the pages.
          throw isRefused && error instanceof UrlElicitationRequiredError ? error : reason;
        }
      },
      stop: () => inner.stop(),
    };
  }

  /** Whoever made the relay answers, if anybody does: nobody else's call is asked. */
  #answerFor(
    passage: Passage,
    requests: Record<string, InputRequest>,
    context: InputContext,
  ): Promise<JsonObject> {
    const asked: InputContext & AskedContext = { ...context, passage };
    return super.answerAll(requests, asked);
  }

  #taskOf(params: JsonObject | undefined): Passage | undefined {
    const { _meta } = params ?? {};
    const related = isObject(_meta) ? _meta[relatedTask] : undefined;
    return isObject(related) ? this.#tasks.get(related.taskId) : undefined;
  }
}

/** The same handlers; what they make of a form is told. */
function telling(handlers: Handlers = {}): Handlers {
  const { elicitation } = handlers;
  if (!elicitation) return handlers;
  return {
    ...handlers,
    elicitation: async (form, context: AskedContext) => {
      const answer = await elicitation(form, context);
      context.made?.(answer);
      return answer;
    },
  };
}

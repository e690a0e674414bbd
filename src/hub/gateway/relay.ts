/**
 * Questions of the servers behind a gateway, taken to whoever's call they belong to.
 *
 * @module
 */
import { allFeatures } from "../../client/features.ts";
import type { Features } from "../../client/features.ts";
import { Inputs } from "../../client/input/input.ts";
import { LegacyServerRequests } from "../../client/input/legacy_input.ts";
import type {
  AskingCall,
  HandlerContext,
  Handlers,
  InputAnswers,
  InputOptions,
  LegacyInput,
  LegacyInputParts,
  Wait,
} from "../../client/input/seam.ts";
import type { ClientRequest } from "../../client/session/request.ts";
import { InputRequiredError, MethodNotFoundError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type {
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  InputRequest,
  LogMessage,
  Root,
} from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import { RelayedCalls } from "../relayed_call.ts";
import type { RelayedCall as Passage } from "../relayed_call.ts";
import { refusal } from "./passage.ts";

/** Options of a relay. */
export interface RelayOptions {
  /** Answer what the servers ask in calls that do not come through a gateway. */
  readonly handlers?: Handlers | undefined;
}

/** A handler's context, with the request that the question came with, where the connection tells. */
interface AskedContext extends HandlerContext {
  readonly asking?: ClientRequest | undefined;
}

/**
 * Takes what servers ask to the callers of a gateway, and their answers back. It is made before the hub: its `handlers` and
 * `features` are the hub's options. See {@linkcode createRelay}.
 */
export class Relay {
  /** For the hub. Servers are told that everything can be asked; what a caller cannot be asked is refused then. */
  readonly handlers: Handlers;
  /** For the hub. */
  readonly features: Features;
  readonly #own: Handlers;
  readonly #calls = new RelayedCalls();

  /** Makes one. */
  constructor(options: RelayOptions) {
    const own = this.#own = options.handlers ?? {};
    const elicit = (request: ElicitRequest, context: HandlerContext): Promise<ElicitResult> => {
      const handler = request.mode === "url" ? own.elicitationUrl : own.elicitation;
      const ask = { method: "elicitation/create", params: request } as InputRequest;
      return this.#ask<ElicitResult>(ask, context, handler && (() => handler(request, context)));
    };
    this.handlers = {
      elicitation: elicit,
      elicitationUrl: elicit,
      samplingTools: true,
      sampling: (request, context) => {
        const { sampling } = own;
        const ask = { method: "sampling/createMessage", params: request } as unknown as InputRequest;
        return this.#ask<CreateMessageResult | undefined>(ask, context, sampling && (() => sampling(request, context)));
      },
      roots: async (context) => {
        const { roots } = own;
        const answer = await this.#ask<{ roots: readonly Root[] }>(
          { method: "roots/list" } as InputRequest,
          context,
          roots && (async () => ({ roots: typeof roots === "function" ? await roots(context) : roots })),
        );
        return answer.roots;
      },
      log: (message, about) => this.#log(message, about?.server),
    };
    this.features = { ...allFeatures, inputs: (inputs) => new RelayInputs(inputs, (meta) => this.find(meta)) };
  }

  /** @internal A call goes through from now on. */
  begin(passage: Passage): void {
    this.#calls.add(passage);
  }

  /** @internal It is over. */
  end(passage: Passage): void {
    this.#calls.delete(passage);
  }

  /** @internal The call with this `_meta`. */
  find(meta: JsonObject | undefined): Passage | undefined {
    return this.#calls.find(meta);
  }

  async #ask<Answer>(
    request: InputRequest,
    context: AskedContext,
    own: (() => Answer | Promise<Answer>) | undefined,
  ): Promise<Answer> {
    const { asking, server, signal } = context;
    const passage = asking ? this.find(asking.options.meta) : this.#onlyOne(server);
    if (!passage) {
      if (own && (asking || !this.#at(server).length)) return await own();
      throw new MethodNotFoundError(`"${request.method}" cannot be answered: it is not known whom to ask`);
    }
    try {
      // The context in front has checked that it is one.
      return await passage.ask(request, signal) as Answer;
    } catch (error) {
      throw refusal(error, request.method);
    }
  }

  #log({ level, data, logger }: LogMessage, server: string | undefined): void {
    if (server !== undefined) this.#onlyOne(server)?.context?.log(level, data, logger ?? server);
  }

  #at(server: string): Passage[] {
    return this.#calls.at(server);
  }

  /** Whose it must be: nobody else has a call at this server now. */
  #onlyOne(server: string): Passage | undefined {
    const passages = this.#at(server);
    const last = passages.at(-1);
    const isOne = passages.every(({ caller }) => caller !== undefined && caller === last?.caller);
    return passages.length === 1 || isOne ? last : undefined;
  }
}

/**
 * Makes a relay: with it what servers ask (elicitation, sampling, roots) and log reaches the clients of a gateway.
 *
 * @example A hub that may ask its gateway's clients
 * ```ts
 * import { openHub } from "@causeway/mcp";
 * import { createGateway, createRelay } from "@causeway/mcp/gateway";
 *
 * const relay = createRelay();
 * const { handlers, features } = relay;
 * await using hub = await openHub({}, { handlers, features });
 * const gateway = createGateway(hub, { relay });
 * console.assert(gateway.methods.capabilities().tools !== undefined);
 * ```
 */
export function createRelay(options: RelayOptions = {}): Relay {
  return new Relay(options);
}

/** The answers of one client behind. */
class RelayInputs extends Inputs {
  readonly #find: (meta: JsonObject | undefined) => Passage | undefined;

  constructor(options: InputOptions, find: (meta: JsonObject | undefined) => Passage | undefined) {
    super(options);
    this.#find = find;
  }

  /** A modern server's questions go to the caller with all that belongs to them: nothing of it is kept here. */
  override answerRound(result: JsonObject, asking: AskingCall, server: string, wait: Wait): Promise<JsonObject> {
    const { request: { method, params, options }, round } = asking;
    if (!this.#find(options.meta)) return super.answerRound(result, asking, server, wait);
    const { inputRequests, requestState } = result;
    const pending = { method, params, inputRequests, requestState, round };
    return wait(
      Promise.reject(new InputRequiredError(`"${method}" waits for input of the client in front`, { pending })),
    );
  }

  /** A legacy server's request may come with the call that it belongs to. */
  override legacy(parts: LegacyInputParts, send: () => SendOptions): LegacyInput {
    let asking: ClientRequest | undefined;
    const answers: InputAnswers = {
      handlers: this.handlers,
      capabilities: this.capabilities,
      answer: (method, params, context) => {
        const asked: AskedContext = { ...context, asking };
        return this.answer(method, params, asked);
      },
      answerAll: (requests, context) => this.answerAll(requests, context),
      answerRound: (result, call, server, wait) => this.answerRound(result, call, server, wait),
      notified: (method, params) => this.notified(method, params),
      legacy: (...given) => this.legacy(...given),
    };
    const inner = new LegacyServerRequests(answers, parts, send);
    return {
      requested: (request, call) => {
        // It is answered from here on without a pause before `answer`.
        asking = (call as Partial<AskingCall> | undefined)?.request;
        try {
          return inner.requested(request, call);
        } finally {
          asking = undefined;
        }
      },
      notified: (method, params) => inner.notified(method, params),
      satisfy: (error, round, wait) => inner.satisfy(error, round, wait),
      stop: () => inner.stop(),
    };
  }
}

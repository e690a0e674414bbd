/**
 * Questions of the servers behind a gateway, taken to whoever's call they belong to.
 *
 * @module
 */
import { allFeatures } from "../../../client/features.ts";
import type { Features } from "../../../client/features.ts";
import type { HandlerContext, Handlers } from "../../../client/input/seam.ts";
import type { Middleware } from "../../../client/options.ts";
import type { TaskSupport } from "../../../client/task_support.ts";
import type { Clock } from "../../../ports.ts";
import { MethodNotFoundError } from "../../../protocol/errors.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type {
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  InputRequest,
  LogMessage,
  Root,
} from "../../../protocol/types.ts";
import { RelayedCalls } from "../../relayed_call.ts";
import type { RelayedCall as Passage } from "../../relayed_call.ts";
import { Fronts } from "./fronts.ts";
import { ParkedCalls } from "./parked.ts";
import { refusal } from "./passage.ts";
import { type AskedContext, RelayInputs, type TellOf } from "./relay_inputs.ts";
import { askForTasks, createRelayTasks } from "./relay_tasks.ts";
import { Turns } from "./turns.ts";

/** How long a server that does not say whose its questions are may still ask for a call that was given up, in milliseconds. */
export const doubt = 5_000;

/** Options of a relay. */
export interface RelayOptions {
  /** Answer what the servers ask in calls that do not come through a gateway, such as those by a runner's plain HTTP. */
  readonly handlers?: Handlers | undefined;
}

/**
 * Takes what servers ask to the callers of a gateway, and their answers back, and has servers make tasks for them. It is made
 * before the hub: its `handlers`, `features`, `middleware` and `tasks` are the hub's options. See {@linkcode createRelay}.
 */
export class Relay {
  /** For the hub. Servers are told that everything can be asked; what a caller cannot be asked is refused then. */
  readonly handlers: Handlers;
  /** For the hub. */
  readonly features: Features;
  /** For the hub: asks legacy servers for tasks, where the caller wants one or the tool has to be one. */
  readonly middleware: readonly Middleware[];
  /** For the hub: follows tasks to their end. */
  readonly tasks: TaskSupport;
  /**
   * Calls that wait for their caller's answers.
   *
   * @internal
   */
  readonly parked: ParkedCalls = new ParkedCalls();
  /**
   * Who has the turn at the servers.
   *
   * @internal
   */
  readonly turns: Turns = new Turns();
  /**
   * The sessions of legacy clients.
   *
   * @internal
   */
  readonly fronts: Fronts = new Fronts();
  readonly #calls = new RelayedCalls();
  /** Those that were given up, and for which a server may still ask. */
  readonly #left = new Set<Passage>();
  /** Whose log message is being told. */
  #telling: Passage | undefined;

  /** Makes one. */
  constructor(options: RelayOptions) {
    const own = options.handlers ?? {};
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
    const find = (meta: JsonObject | undefined): Passage | undefined => this.find(meta);
    const tellOf: TellOf = (passage, tell) => {
      this.#telling = passage;
      try {
        return tell();
      } finally {
        this.#telling = undefined;
      }
    };
    this.features = { ...allFeatures, inputs: (inputs) => new RelayInputs(inputs, find, tellOf) };
    this.middleware = [askForTasks(find)];
    this.tasks = createRelayTasks(find);
  }

  /** @internal A call goes through from now on. */
  begin(passage: Passage): void {
    this.#calls.add(passage);
    // What an older server logs behind it is for nobody who called before; a gateway says whose session it is.
    this.fronts.called(passage.server, undefined);
  }

  /** @internal It is over. */
  end(passage: Passage): void {
    this.#calls.delete(passage);
    this.#left.delete(passage);
  }

  /** @internal Its caller has given it up: nobody is asked for it any more, and nobody else in its place. */
  leave(passage: Passage): void {
    this.#left.add(passage);
  }

  /** @internal It is over for its caller: where that gave it up, or it took too long, not yet for its server. */
  finish(passage: Passage, isGivenUp: boolean, clock: Clock): void {
    if (!isGivenUp) return this.end(passage);
    this.leave(passage);
    clock.schedule(() => this.end(passage), doubt, { background: true });
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
    const passage = context.passage ?? (asking ? this.find(asking.options.meta) : this.#onlyOne(server));
    if (own && passage?.isUnattended) return await own();
    if (!passage) {
      const isIdle = !this.#at(server).length;
      if (own && (asking || isIdle)) return await own();
      const roots = isIdle && request.method === "roots/list" ? this.fronts.roots(server, signal) : undefined;
      // Only roots are answered by roots.
      if (roots) return { roots: await roots } as Answer;
      throw new MethodNotFoundError(`"${request.method}" cannot be answered: it is not known whom to ask`);
    }
    try {
      // The context in front has checked that it is one.
      const answer = await passage.ask(request, signal);
      context.answered?.(answer);
      return answer as Answer;
    } catch (error) {
      throw refusal(error, request.method);
    }
  }

  #log(message: LogMessage, server: string | undefined): void {
    if (server === undefined) return;
    const { level, data, logger } = message;
    const passage = this.#telling ?? this.#onlyOne(server);
    if (passage) passage.context?.log(level, data, logger ?? server);
    else if (!this.#at(server).length) this.fronts.log(server, message);
  }

  #at(server: string): Passage[] {
    return this.#calls.at(server);
  }

  /** Whose it must be: nobody else has a call at this server now. */
  #onlyOne(server: string): Passage | undefined {
    const passages = this.#at(server);
    const last = passages.findLast((passage) => !this.#left.has(passage));
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
 * const { handlers, features, middleware, tasks } = relay;
 * await using hub = await openHub({}, { handlers, features, middleware, tasks });
 * const gateway = createGateway(hub, { relay });
 * console.assert(gateway.methods.capabilities().tools !== undefined);
 * ```
 */
export function createRelay(options: RelayOptions = {}): Relay {
  return new Relay(options);
}

/**
 * What a handler of the modern era is given beside its arguments.
 *
 * @module
 */
import { InternalError } from "../../protocol/errors.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { Era, Revision } from "../../protocol/revisions.ts";
import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  Implementation,
  LoggingLevel,
  Meta,
  Progress,
  Root,
} from "../../protocol/types.ts";
import type { Clock } from "../../ports.ts";
import type { AskOptions, AuthInfo, RequestContext } from "../definitions.ts";
import type { Incoming } from "../seam.ts";
import { forgivable } from "../common/forgivable.ts";
import { loggingLevels } from "../common/logging_levels.ts";
import { createMeter, sendLog } from "../common/notices.ts";
import { isOver } from "../common/requests.ts";
import type { ProgressMeter } from "../common/progress.ts";
import type { Envelope, Wishes } from "./envelope.ts";
import { elicitation } from "./questions/elicitation.ts";
import { demand, type QuestionKind } from "./questions/kind.ts";
import { roots } from "./questions/roots.ts";
import { sampling } from "./questions/sampling.ts";
import { InputNeeded, type Rounds } from "./rounds.ts";

const questions: { readonly [What in Parameters<RequestContext["can"]>[0]]: (of: Envelope) => JsonObject | undefined } =
  {
    elicit: ({ capabilities }) => elicitation.lacks(capabilities, { message: "" }),
    elicitUrl: ({ capabilities }) => elicitation.lacks(capabilities, { mode: "url", message: "" }),
    sample: ({ capabilities }) => sampling.lacks(capabilities, { messages: [], maxTokens: 0 }),
    sampleWithTools: ({ capabilities }) => sampling.lacks(capabilities, { messages: [], maxTokens: 0, tools: [] }),
    roots: ({ capabilities }) => roots.lacks(capabilities, undefined),
  };

/** The context of one request. Its functions may be taken out of it: they know where they belong. */
export class ModernContext implements RequestContext {
  readonly era: Era = "modern";
  readonly revision: Revision;
  readonly auth: AuthInfo | undefined;
  readonly client: Implementation | undefined;
  readonly meta: Meta;
  readonly #incoming: Incoming;
  readonly #envelope: Envelope;
  readonly rounds: Rounds | undefined;
  readonly #lowestLevel: number;
  readonly #progress: ProgressMeter | undefined;
  #ended: boolean | undefined;

  /** @param rounds Missing where nothing can be asked. */
  constructor(incoming: Incoming, envelope: Envelope, wishes: Wishes, rounds: Rounds | undefined, clock: Clock) {
    const { progressToken, logLevel } = wishes;
    this.revision = envelope.revision;
    this.auth = incoming.auth;
    this.client = envelope.client;
    this.meta = envelope.meta;
    this.#incoming = incoming;
    this.#envelope = envelope;
    this.rounds = rounds;
    this.#lowestLevel = logLevel ? loggingLevels.indexOf(logLevel) : Infinity;
    if (progressToken !== undefined) {
      // So many may go out at once after a pause.
      this.#progress = createMeter(incoming, progressToken, { clock, burst: 5, words: true });
    }
  }

  /** Ends it with its request: what waits is sent, unless the caller is gone; nothing goes out afterwards. */
  end(): void {
    this.#ended = true;
    this.#progress?.end(true);
  }

  // Each is made when it is asked for: most handlers need none.

  get signal(): AbortSignal {
    return this.#incoming.signal;
  }

  get progress(): RequestContext["progress"] {
    return (progress: Progress): void => {
      if (!this.#over) this.#progress?.tell(progress);
    };
  }

  get log(): RequestContext["log"] {
    return (level: LoggingLevel, data: JsonValue, logger?: string): void => {
      if (!this.#over && loggingLevels.indexOf(level) >= this.#lowestLevel) {
        sendLog(this.#incoming, level, data, logger);
      }
    };
  }

  get elicit(): RequestContext["elicit"] {
    return (request: ElicitRequest, options?: AskOptions): Promise<ElicitResult> =>
      this.#ask(elicitation, request, options);
  }

  get sample(): RequestContext["sample"] {
    return (request: CreateMessageRequest, options?: AskOptions): Promise<CreateMessageResult> =>
      this.#ask(sampling, request, options);
  }

  get roots(): RequestContext["roots"] {
    return (options?: AskOptions): Promise<Root[]> => this.#ask(roots, undefined, options);
  }

  get can(): RequestContext["can"] {
    return (what) => this.rounds !== undefined && Object.hasOwn(questions, what) && !questions[what](this.#envelope);
  }

  get #over(): boolean {
    return this.#ended || isOver(this.#incoming);
  }

  #ask<Request, Reply>(kind: QuestionKind<Request, Reply>, request: Request, options?: AskOptions): Promise<Reply> {
    // A handler that stops at another question leaves this one behind.
    return forgivable(this.#asked(kind, request, options?.key));
  }

  async #asked<Request, Reply>(
    kind: QuestionKind<Request, Reply>,
    request: Request,
    key: string | undefined,
  ): Promise<Reply> {
    if (this.#ended) throw new InternalError("The request is over: nothing can be asked", { rpcCode: -32603 });
    if (!this.rounds) {
      const { method } = this.#incoming.message;
      throw new InternalError(`"${method}" must not ask the client: ask in a tool, a prompt or a resource`, {
        rpcCode: -32603,
      });
    }
    const { capabilities } = this.#envelope;
    demand(kind, capabilities, request);
    const reply = this.rounds.ask(kind, request, capabilities, key);
    if (!(reply instanceof InputNeeded)) return reply;
    // What is asked together and cannot be asked at all is heard of first.
    await undefined;
    throw reply;
  }
}

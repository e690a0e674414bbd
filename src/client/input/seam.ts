/**
 * The seam between the client and what answers its servers, so that a client without handlers does not carry their code.
 *
 * @module
 */
import type { JsonObject, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import type { CoreLimits } from "../../protocol/limits.ts";
import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  InputRequest,
  LogMessage,
  Root,
} from "../../protocol/types.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";
import type { Logger } from "../../ports.ts";
import type { SendOptions, Transport } from "../../transport/transport.ts";
import type { ClientRequest } from "../session/request.ts";

export type { PendingInput } from "../../protocol/types.ts";

/** What a handler is told beside the request. */
export interface HandlerContext {
  /** Which server asks: show it to the user. */
  readonly server: string;
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignal;
  /** The method of the call that the server asks for (modern). */
  readonly method?: string | undefined;
}

/** Asks the user and tells the answer: `accept` with content, `decline`, or `cancel`. */
export type ElicitationHandler = (
  request: ElicitRequest,
  context: HandlerContext,
) => ElicitResult | Promise<ElicitResult>;

/**
 * Asks a model and gives its answer; `undefined` refuses.
 *
 * @deprecated Sampling is deprecated in 2026-07-28.
 */
export type SamplingHandler = (
  request: CreateMessageRequest,
  context: HandlerContext,
) => CreateMessageResult | undefined | Promise<CreateMessageResult | undefined>;

/** The client's side of what servers ask for. A capability is declared for each handler that is there. */
export interface Handlers {
  /**
   * Asks the user to fill in a form. Missing fields of an accepted form get their defaults; one that does not fit what the
   * server asked for is not sent where there is a `validator`, and the call rejects with a `TypeError` (modern).
   */
  elicitation?: ElicitationHandler | undefined;
  /** Asks the user to visit a URL. Show it in full; never open it without consent. */
  elicitationUrl?: ElicitationHandler | undefined;
  /**
   * Asks a model; resolve with `undefined` to refuse.
   *
   * @deprecated Sampling is deprecated in 2026-07-28.
   */
  sampling?: SamplingHandler | undefined;
  /**
   * Whether `sampling` takes tools.
   *
   * @deprecated Sampling is deprecated in 2026-07-28.
   */
  samplingTools?: boolean | undefined;
  /**
   * The places that servers may work in.
   *
   * @deprecated Roots are deprecated in 2026-07-28.
   */
  roots?: readonly Root[] | ((context: HandlerContext) => readonly Root[] | Promise<readonly Root[]>) | undefined;
  /**
   * Takes the server's log messages. Untrusted text. `about` tells whose they are, where a hub has several servers.
   *
   * @deprecated Logging is deprecated in 2026-07-28.
   */
  log?: ((message: LogMessage, about?: Pick<HandlerContext, "server">) => void) | undefined;
}

/** The call that asks, while its input is gathered. */
export interface InputContext extends HandlerContext {
  readonly method: string;
  readonly params: JsonObject;
  readonly round: number;
  readonly requestState: string | undefined;
}

/** The call that asks, as its session knows it. */
export interface AskingCall {
  readonly request: ClientRequest;
  readonly round: number;
}

/** Waits for work between two rounds, but no longer than the request lives. */
export type Wait = (work: Promise<JsonObject | void>) => Promise<JsonObject>;

/** Does work that is waited for: when the waiting ends early, the signal is aborted with the reason. */
export async function attend(
  wait: Wait,
  work: (signal: AbortSignal) => Promise<JsonObject | void>,
): Promise<JsonObject> {
  const controller = new AbortController();
  try {
    return await wait(work(controller.signal));
  } catch (reason) {
    controller.abort(reason);
    throw reason;
  }
}

/** A call that tells of its end. */
export interface EndingCall {
  over: (() => void) | undefined;
}

/** A call that its server refused. */
export interface RefusedCall {
  /** How often it was sent. */
  readonly round: number;
  /** The user was done with a page while it was under way: what it is refused for may be made good already. */
  readonly visited?: boolean | undefined;
}

/** The requests of one legacy server, in work. */
export interface LegacyInput {
  /**
   * Takes a request; the answer goes out when it is there. Never rejects.
   *
   * @param call The call that it came with, where that is known: when it ends, the answer is not wanted any more.
   */
  requested(request: JsonRpcRequest, call?: EndingCall): Promise<void>;
  /** Takes a notification that concerns it. */
  notified(method: string, params: JsonObject | undefined): void;
  /**
   * Takes the user through what an error asks for (-32042); the request may be sent again once it resolves.
   *
   * @param wait Waits no longer than the request lives.
   * @throws The error, when there is nothing to be done about it.
   */
  satisfy(error: unknown, call: RefusedCall, wait: Wait): Promise<void>;
  /** Calls everything off. */
  stop(): void;
}

/** The legacy session whose server asks. */
export interface LegacyInputHost {
  readonly parts: { readonly transport: Transport; readonly limits: CoreLimits };
  /** How much is in work that the server waits for. */
  held: number;
  /** All that waits for the server. */
  all(): { visited?: boolean | undefined; touch(): void }[];
  /** The headers and marks of a message. */
  dress(): SendOptions;
}

/**
 * Answers requests for input with the handlers that are there.
 *
 * @internal
 */
export interface InputAnswers {
  readonly handlers: Handlers;
  /** Hears of what went wrong. */
  readonly logger: Logger | undefined;
  /** What is declared to servers. */
  readonly capabilities: ClientCapabilities;
  /** Answers all requests of one `input_required` result, side by side: gives `{ inputResponses }` for the next round. */
  answerAll(requests: Record<string, InputRequest>, context: InputContext): Promise<JsonObject>;
  /**
   * Answers what the result of one round asks for.
   *
   * @param server Who asks, for people.
   * @param wait Waits no longer than the request lives.
   * @throws The reason for which it gave up waiting; the handlers' signal is aborted then.
   */
  answerRound(result: JsonObject, asking: AskingCall, server: string, wait: Wait): Promise<JsonObject>;
  /** Answers one request. */
  answer(method: string, params: JsonObject, context: HandlerContext): Promise<JsonObject>;
  /** Notes that a modern server's request was dropped. */
  dropped(): void;
  /**
   * Takes what the server tells on its own account.
   *
   * @param call The call that it came with, where that is known.
   */
  notified(method: string, params: JsonObject | undefined, call?: Pick<AskingCall, "request">): void;
  /** For one legacy session. */
  legacy(session: LegacyInputHost): LegacyInput;
}

/** What the answers of one client are made of. */
export interface InputOptions {
  /** What answers. */
  readonly handlers?: Handlers | undefined;
  /** Capabilities beside those of the handlers. */
  readonly capabilities?: ClientCapabilities | undefined;
  /** Checks what the user fills in against the server's form. */
  readonly validator?: SchemaValidator | undefined;
  /** Hears of handlers that failed. */
  readonly logger?: Logger | undefined;
}

/**
 * Makes the answers of one client.
 *
 * @internal
 */
export type InputFeature = (options: InputOptions) => InputAnswers;

/**
 * What a server may ask of the client in the middle of a call, in both eras: the same handlers answer it.
 *
 * @module
 */
import {
  InputRequiredError,
  InvalidParamsError,
  MethodNotFoundError,
  ProtocolViolationError,
} from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { invalid } from "../../protocol/modern.ts";
import { find } from "../../protocol/shapes/shape.ts";
import { inputRequest as asking } from "../../protocol/shapes/inputs.ts";
import type { ClientCapabilities, InputRequest, LogMessage } from "../../protocol/types.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";
import type { Logger } from "../../ports.ts";
import { answerElicitation } from "./elicitation.ts";
import { LegacyServerRequests } from "./legacy_input.ts";
import { answerRoots } from "./roots.ts";
import { answerSampling } from "./sampling.ts";
import { attend } from "./seam.ts";
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
} from "./seam.ts";

/** Answers requests for input with the handlers that are there. */
export class Inputs implements InputAnswers {
  declare readonly handlers: Handlers;
  /** What is declared to servers. */
  declare readonly capabilities: ClientCapabilities;
  declare readonly logger: Logger | undefined;
  readonly #validator: SchemaValidator | undefined;

  /**
   * @param options `handlers` answer; `capabilities` are declared beside theirs: input of a kind that is declared there and has
   * no handler stops the call with an {@linkcode InputRequiredError}; `validator` checks what is filled in against the server's form.
   */
  constructor({ handlers = {}, capabilities, validator, logger }: InputOptions) {
    this.handlers = handlers;
    this.#validator = validator;
    this.logger = logger;
    const { elicitation, elicitationUrl } = handlers;
    this.capabilities = {
      ...((elicitation || elicitationUrl) && {
        elicitation: { ...(elicitation && { form: {} }), ...(elicitationUrl && { url: {} }) },
      }),
      ...(handlers.sampling && { sampling: handlers.samplingTools ? { tools: {} } : {} }),
      ...(handlers.roots && { roots: { listChanged: true } }),
      ...capabilities,
    };
  }

  /**
   * Answers all requests of one `input_required` result, side by side: gives the `inputResponses` of the next round.
   *
   * @throws {InputRequiredError} When one of them has no handler but was declared: nothing was answered then.
   * @throws {ProtocolViolationError} When the server asks for what is no request, or was never declared.
   */
  async answerAll(requests: Record<string, InputRequest>, context: InputContext): Promise<JsonObject> {
    let count = 0;
    for (const key in requests) {
      // What waits for people and models stays in memory, whatever a server asks for.
      const wrong = ++count > 1_000 ? '" is one of more than 1,000' : find(requests[key], asking);
      if (wrong) throw invalid(context.method, `"inputRequests.${key.slice(0, 99)}${wrong}`);
      const { method: asked, params } = requests[key] as InputRequest;
      if (this.#answerer(asked, params ?? {})) continue;
      if (!this.#declared(asked)) {
        throw new ProtocolViolationError(`The server asks for "${asked}", which was not declared`, {
          delivery: "answered",
        });
      }
      const { requestState, round } = context;
      throw new InputRequiredError(`"${context.method}" waits for input: use client.resume(error.pending, answers)`, {
        pending: { method: context.method, params: context.params, inputRequests: requests, requestState, round },
      });
    }
    const answers = Object.entries(requests).map(async ([key, { method, params }]) =>
      [key, await this.answer(method, params ?? {}, context)] as const
    );
    return { inputResponses: Object.fromEntries(await Promise.all(answers)) };
  }

  /** Answers what one round asks for, as long as it is waited for. */
  answerRound(
    result: JsonObject,
    { request: { method, params }, round }: AskingCall,
    server: string,
    wait: Wait,
  ): Promise<JsonObject> {
    const { inputRequests, requestState } = result;
    return attend(
      wait,
      (signal) =>
        this.answerAll(inputRequests as unknown as Record<string, InputRequest>, {
          method,
          params,
          round,
          requestState: requestState as string | undefined,
          server,
          signal,
        }),
    );
  }

  /**
   * Answers one request.
   *
   * @throws {MethodNotFoundError} When nothing answers this method.
   * @throws {InvalidParamsError} When the request is not one that was declared.
   * @throws {InputRequiredError} When the user refuses.
   */
  async answer(method: string, params: JsonObject, context: HandlerContext): Promise<JsonObject> {
    const answer = this.#answerer(method, params);
    if (!answer) {
      throw this.#declared(method)
        ? new InvalidParamsError(`"${method}" in this mode was not declared`)
        : new MethodNotFoundError(`"${method}" is not supported`);
    }
    return await answer(context);
  }

  /** Notes that a request was dropped, for the operator's log. */
  dropped(): void {
    this.logger?.({ level: "warning", message: "A server's request was dropped" });
  }

  /** Takes a log message of the server to its handler, which may be an async function. Never rejects. */
  async notified(method: string, params: JsonObject | undefined): Promise<void> {
    try {
      if (method === "notifications/message" && params) await this.handlers.log?.(params as unknown as LogMessage);
    } catch (error) {
      this.logger?.({ level: "warning", message: "The log handler failed", fields: { error } });
    }
  }

  legacy(session: LegacyInputHost): LegacyInput {
    return new LegacyServerRequests(this, session);
  }

  #answerer(method: string, params: JsonObject): ((context: HandlerContext) => Promise<JsonObject>) | undefined {
    return kinds.get(method)?.[1](this.handlers, params as never, this.#validator);
  }

  #declared(method: string): unknown {
    const [capability] = kinds.get(method) ?? [];
    return capability && this.capabilities[capability];
  }
}

/** What can be asked for: the capability that covers it, and what makes the handler ready. */
const kinds: ReadonlyMap<
  string,
  readonly [
    "elicitation" | "sampling" | "roots",
    (
      handlers: Handlers,
      params: never,
      validator: SchemaValidator | undefined,
    ) => ((context: HandlerContext) => Promise<JsonObject>) | undefined,
  ]
> = /* @__PURE__ */ new Map([
  ["elicitation/create", ["elicitation", answerElicitation]],
  ["sampling/createMessage", ["sampling", answerSampling]],
  ["roots/list", ["roots", answerRoots]],
]);

/**
 * Answers the requests of a legacy server, beside the read loop, so that a slow handler holds nothing up.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcRequest, RequestId } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import {
  InputRequiredError,
  InvalidParamsError,
  MethodNotFoundError,
  TimeoutError,
  UrlElicitationRequiredError,
} from "../../protocol/errors.ts";
import { attend } from "./seam.ts";
import type { EndingCall, InputAnswers, LegacyInput, LegacyInputHost, RefusedCall, Wait } from "./seam.ts";
import { answerUrls } from "./url_elicitation.ts";
import type { UrlNotices } from "./url_elicitation.ts";

/** What calls a request off, with the call that it came with. */
type Working = AbortController & { call: EndingCall | undefined };

/** The server's requests in work. */
export class LegacyServerRequests implements LegacyInput {
  readonly #inputs: InputAnswers;
  readonly #notices: UrlNotices = new Map();
  readonly #session: LegacyInputHost;
  readonly #working = new Map<RequestId, Working>();

  constructor(inputs: InputAnswers, session: LegacyInputHost) {
    this.#inputs = inputs;
    this.#session = session;
  }

  /** Answers one request; one that is in work already (a resumed stream may repeat it) is not answered twice. */
  async requested(request: JsonRpcRequest, call?: EndingCall): Promise<void> {
    if (this.#working.has(request.id)) return;
    const controller = Object.assign(new AbortController(), { call });
    const { signal } = controller;
    // A handler that goes on when nobody wants its answer any more is not waited for.
    const unwanted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    this.#working.set(request.id, controller);
    // One for all that came with a call, however many those are. What is answered at once, as roots are, goes out all the same.
    const over = (): void => this.#working.forEach((one) => one.call === call && one.abort());
    if (call) call.over = () => queueMicrotask(over);
    // Meanwhile the server waits for us: no idle time runs out, and it starts over afterwards.
    const session = this.#session;
    session.held++;
    await Promise.race([this.#answer(request, signal), unwanted]);
    this.#working.delete(request.id);
    session.held--;
    session.all().forEach((one) => one.touch());
  }

  notified(method: string, params: JsonObject = {}): void {
    if (method === "notifications/cancelled") this.#working.get(params.requestId as RequestId)?.abort();
    else if (method === "notifications/elicitation/complete") {
      this.#notices.forEach((done, item) => item.elicitationId === params.elicitationId && done());
      this.#session.all().forEach((call) => call.visited = true);
    }
  }

  async satisfy(error: unknown, { round, visited }: RefusedCall, wait: Wait): Promise<void> {
    const { limits, transport: { label: server } } = this.#session.parts;
    if (!(error instanceof UrlElicitationRequiredError) || round > limits.inputRounds) throw error;
    if (visited) return;
    try {
      await attend(wait, (signal) => {
        const context = { server, signal };
        return answerUrls(error, { inputs: this.#inputs, notices: this.#notices, context });
      });
    } catch (reason) {
      // The server need not tell that its user is done: then its own answer stands, and the caller may try again.
      throw reason instanceof TimeoutError ? error : reason;
    }
  }

  /** Calls everything off. */
  stop(): void {
    this.#working.forEach((one) => one.abort());
    this.#working.clear();
  }

  async #answer(request: JsonRpcRequest, signal: AbortSignal): Promise<void> {
    const { id, method, params = {} } = request;
    const { transport } = this.#session.parts;
    const reply = (body: { result: JsonObject } | { error: { code: number; message: string } }): void => {
      if (!signal.aborted) transport.send({ jsonrpc: "2.0", id, ...body }, undefined, this.#session.dress());
    };
    // What waits for people and models stays in memory, whatever a server asks for.
    if (this.#working.size > 1_000) return reply({ error: refusal(0) });
    try {
      // What is no JSON cannot be sent.
      reply({
        result: related(params, await this.#inputs.answer(method, params, { server: transport.label, signal })),
      });
    } catch (error) {
      reply({ error: refusal(error) });
      this.#inputs.logger?.({ level: "warning", message: `Could not answer "${method}"`, fields: { error } });
    }
  }
}

/** The JSON-RPC error that tells a legacy server why its request got no result. */
function refusal(error: unknown): { code: number; message: string } {
  if (error instanceof MethodNotFoundError) return { code: -32601, message: error.message };
  if (error instanceof InvalidParamsError) return { code: -32602, message: error.message };
  if (error instanceof InputRequiredError) return { code: -1, message: error.message };
  return { code: -32603, message: "The client could not answer" };
}

/** An answer to a request that belongs to a task says so too (specification 2025-11-25: tasks, Associating). */
function related({ _meta }: JsonObject, result: JsonObject): JsonObject {
  const task = isObject(_meta) ? _meta[metaPrefix + "related-task"] as JsonObject | undefined : undefined;
  return task ? { ...result, _meta: { ...result._meta as JsonObject, [metaPrefix + "related-task"]: task } } : result;
}

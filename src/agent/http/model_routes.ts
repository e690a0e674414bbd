/**
 * Agents as models: OpenAI's chat completions and list of models.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { type ApiAgentShape, defaultModelId, defaultModelInfo, ModelError } from "../api_agent.ts";
import { askAgent, gather, writtenCalls, writtenUsage } from "./chat_reply.ts";
import { type ChatRequest, readChatRequest } from "./chat_request.ts";
import { streamReply } from "./chat_stream.ts";
import { type Asked, type Leaving, readObject, type RouteParts, type Routes, watchCaller } from "./front.ts";
import { notAllowed, reply } from "./replies.ts";

const completions = "/v1/chat/completions";
const models = "/v1/models";

/** The routes `POST /v1/chat/completions`, `GET /v1/models` and `GET /v1/models/{id}`. */
export class ModelRoutes implements Routes {
  readonly #parts: RouteParts;
  readonly #models: ReadonlyMap<string, ApiAgentShape>;
  readonly #since: number;
  readonly #missing: (chat: ChatRequest) => void | Promise<void>;
  /** Whom something is streamed to. */
  readonly #streams = new Set<Leaving>();

  /**
   * @param missing Told of each that is asked and is not there, before that is said.
   * @throws {TypeError} When an agent has no `respond`, no sound id, or the id of another one.
   */
  constructor(
    agents: readonly ApiAgentShape[],
    parts: RouteParts,
    missing: (chat: ChatRequest) => void | Promise<void> = () => {},
  ) {
    const named = new Map<string, ApiAgentShape>();
    for (const agent of agents) {
      if (typeof agent?.respond !== "function") throw new TypeError('Cannot serve a model: it has no "respond"');
      const id: unknown = agent.getModelId?.() ?? defaultModelId(agent);
      if (typeof id !== "string" || id === "" || named.has(id)) {
        throw new TypeError(`Cannot serve a model: expected an id of its own, and it is ${JSON.stringify(id)}`);
      }
      named.set(id, agent);
    }
    this.#models = named;
    this.#parts = parts;
    this.#missing = missing;
    this.#since = seconds(parts);
  }

  has(path: string): boolean {
    return path === completions || path === models || path.startsWith(`${models}/`);
  }

  answer({ request, path, auth }: Asked): Response | Promise<Response> {
    if (path === completions) return request.method === "POST" ? this.#complete(request, auth) : notAllowed("POST");
    if (request.method !== "GET") return notAllowed("GET");
    if (path === models) {
      return reply({ object: "list", data: [...this.#models].map(([id, agent]) => this.#describe(id, agent)) });
    }
    const id = decode(path.slice(models.length + 1));
    return reply(this.#describe(id, this.#find(id)));
  }

  /** Ends the streams: their agents are told that the caller is gone. */
  close(): void {
    for (const leaving of this.#streams) leaving.leave();
  }

  async #complete(request: Request, auth: Asked["auth"]): Promise<Response> {
    const chat = readChatRequest(await readObject(request, this.#parts));
    if (!this.#models.has(chat.model)) await this.#missing(chat);
    const agent = this.#find(chat.model);
    const leaving = watchCaller(request, () => this.#streams.delete(leaving));
    if (chat.stream) this.#streams.add(leaving);
    const { model, messages, body, includeUsage } = chat;
    const context = { model, signal: leaving.signal, auth, request: body };
    const { limits, random } = this.#parts;
    const pieces = askAgent(agent, messages, { context, limit: limits.messageBytes, left: leaving.left });
    const id = `chatcmpl-${randomHex(random, 12)}`;
    const head = { id, created: seconds(this.#parts), model };
    try {
      if (chat.stream) return await streamReply({ parts: this.#parts, head, pieces, leaving, includeUsage });
      const whole = await Promise.race([gather(pieces), leaving.left]);
      leaving.done();
      // Nobody reads it, but whoever called the handler waits for one.
      if (!whole) return new Response(null, { status: 499 });
      const calls = writtenCalls(whole);
      const message = {
        role: "assistant",
        content: calls.length && whole.content === "" ? null : whole.content,
        refusal: null,
        ...(calls.length && { tool_calls: calls }),
      };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: whole.finishReason }];
      return reply({ ...head, object: "chat.completion", choices, usage: writtenUsage(whole) });
    } catch (error) {
      leaving.done();
      if (leaving.signal.aborted) return new Response(null, { status: 499 });
      throw error;
    }
  }

  #find(id: ChatRequest["model"]): ApiAgentShape {
    const agent = this.#models.get(id);
    if (agent) return agent;
    const message = `The model "${excerpt(id, 200)}" does not exist`;
    throw new ModelError(message, { status: 404, param: "model", code: "model_not_found" });
  }

  #describe(id: string, agent: ApiAgentShape): JsonObject {
    const { maxInputTokens, maxOutputTokens, description, ownedBy = "causeway", created = this.#since } =
      agent.getModelInfo?.() ?? defaultModelInfo();
    return {
      id,
      object: "model",
      created,
      owned_by: ownedBy,
      ...(description !== undefined && { description }),
      ...(maxInputTokens !== undefined && { max_input_tokens: maxInputTokens }),
      ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    };
  }
}

function seconds({ clock }: RouteParts): number {
  return Math.floor(clock.now() / 1000);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

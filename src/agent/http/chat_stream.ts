/**
 * A chat completion on its way, as server-sent events in OpenAI's form.
 *
 * @module
 */
import { inOneLine } from "../../egress/one_line.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { ReplyEnd } from "../api_agent.ts";
import { type Pieces, writtenCalls, writtenUsage } from "./chat_reply.ts";
import type { Leaving, RouteParts } from "./front.ts";
import { keepOpen } from "./keep_alive.ts";
import { errorBody, toModelError } from "./replies.ts";

// It keeps nothing between two calls.
const encoder = new TextEncoder();

/** What names a completion. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** What a stream is made of. */
export interface ChatStreamOptions {
  readonly parts: RouteParts;
  readonly head: CompletionHead;
  readonly pieces: Pieces;
  readonly leaving: Leaving;
  readonly includeUsage: boolean;
}

/**
 * Streams a reply. It begins with the first piece, so that what fails before has a status of its own, or when the agent
 * was silent for long.
 *
 * @throws What the agent threw before its first piece.
 */
export async function streamReply(options: ChatStreamOptions): Promise<Response> {
  const { parts: { clock, keepAlive }, pieces, leaving } = options;
  const first = pieces.next();
  let stop: () => void = () => {};
  const silence = new Promise<void>((resolve) => stop = clock.schedule(resolve, keepAlive, { background: true }));
  try {
    await Promise.race([first, silence, leaving.left]);
  } finally {
    stop();
  }
  // It fails while it is read, and is answered there.
  first.catch(() => {});
  return new Response(new ChatStream(options, first).body, {
    headers: {
      "content-type": "text/event-stream",
      // What compresses on the way would wait for more than one event.
      "cache-control": "no-cache, no-transform",
      // nginx would hold events back.
      "x-accel-buffering": "no",
    },
  });
}

class ChatStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: ChatStreamOptions;
  #next: ReturnType<Pieces["next"]> | undefined;
  /** Ends the wait for a piece. */
  #giveUp = (): void => {};

  constructor(options: ChatStreamOptions, first: ReturnType<Pieces["next"]>) {
    this.#options = options;
    this.#next = first;
    void options.leaving.left.then(() => this.#giveUp());
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => this.#chunk(controller, { role: "assistant", content: "" }),
      // Asked for when there is room: a slow reader holds the agent back.
      pull: (controller) => this.#pull(controller),
      cancel: () => options.leaving.leave(),
    });
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { pieces, leaving, parts } = this.#options;
    const next = this.#next ?? pieces.next();
    this.#next = undefined;
    const quiet = keepOpen(controller, parts);
    try {
      const step = await this.#unlessLeft(next);
      if (!step) {
        leaving.leave();
        controller.close();
      } else if (step.done) this.#end(controller, step.value);
      else this.#chunk(controller, { content: step.value });
    } catch (error) {
      if (leaving.signal.aborted) return controller.close();
      // Without the last line: nobody is to take it for whole.
      this.#send(controller, errorBody(toModelError(error, parts.logger, "A model broke off")));
      leaving.done();
      controller.close();
    } finally {
      quiet();
    }
  }

  /** What the agent gives, or nothing once the caller has left. A race with `left` would keep each piece until the stream is over. */
  #unlessLeft<Step>(next: Promise<Step>): Promise<Step | undefined> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(undefined);
      next.then(resolve, reject);
      if (this.#options.leaving.signal.aborted) this.#giveUp();
    });
  }

  #end(controller: ReadableStreamDefaultController<Uint8Array>, end: Required<ReplyEnd>): void {
    const calls = writtenCalls(end).map((call, index) => ({ index, ...call }));
    if (calls.length) this.#chunk(controller, { tool_calls: calls });
    this.#chunk(controller, {}, end.finishReason);
    if (this.#options.includeUsage) {
      this.#send(controller, { ...this.#head(), choices: [], usage: writtenUsage(end) });
    }
    controller.enqueue(encoder.encode("data: [DONE]\n\n"));
    this.#options.leaving.done();
    controller.close();
  }

  #chunk(
    controller: ReadableStreamDefaultController<Uint8Array>,
    delta: JsonObject,
    reason: string | null = null,
  ): void {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }];
    this.#send(controller, { ...this.#head(), choices, ...(this.#options.includeUsage && { usage: null }) });
  }

  #head(): JsonObject {
    return { ...this.#options.head, object: "chat.completion.chunk" };
  }

  #send(controller: ReadableStreamDefaultController<Uint8Array>, data: object): void {
    controller.enqueue(encoder.encode(`data: ${inOneLine(JSON.stringify(data))}\n\n`));
  }
}

/**
 * A server on one channel: both eras, side by side (specification: versioning, Backward Compatibility).
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";
import { classify, isObject, isRequestId } from "../protocol/json_rpc.ts";
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from "../protocol/json_rpc.ts";
import { parseJson } from "../protocol/limits/json_scan.ts";
import type { Channel } from "../transport/channel.ts";
import { ChannelCall } from "./channel_call.ts";
import type { CallHost, Done } from "./channel_call.ts";
import { Outbox } from "./channel_outbox.ts";
import { claimsModern, countedMethods, refusal } from "./channel_parts.ts";
import type { ChannelServerOptions } from "./channel_parts.ts";
import { writeMessage } from "./common/write_message.ts";
import type { AuthInfo } from "./definitions.ts";
import type { LegacyServing, Methods, ModernServing, ServerParts } from "./seam.ts";
import { createServing } from "./serving.ts";
import type { Servable } from "./serving.ts";
import { isPromise } from "../protocol/promise.ts";

export type { ChannelServerOptions } from "./channel_parts.ts";
export type { Servable } from "./serving.ts";

/** A server at work on one channel. */
export interface ChannelServer {
  /** Resolves when the channel has ended, from whichever side, and all work is called off. Never rejects. */
  readonly closed: Promise<void>;
  /** Ends it: streams of changes get their results, all other work is called off. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves one client over a channel, in whichever era it speaks. Each channel is a client of its own.
 *
 * @param server What is served.
 * @param channel The way to the client; it is opened here.
 *
 * @example Client and server in one process
 * ```ts
 * import { ChannelTransport, Client, createMemoryPair } from "@causeway/mcp";
 * import { McpServer, serveChannel } from "@causeway/mcp/server";
 *
 * const [near, far] = createMemoryPair();
 * void serveChannel(new McpServer({ name: "greeter", version: "1.0.0" }), far);
 * await using client = new Client(new ChannelTransport(() => near));
 * await client.ping();
 * ```
 */
export function serveChannel(
  server: Servable,
  channel: Channel,
  options: ChannelServerOptions = {},
): ChannelServer {
  return new ChannelServing(server.methods, channel, options);
}

/** How long the last messages may take to be written at the end, in milliseconds. */
const lastWords = 1_000;
const defaultMaxRequests = 256;
/** What tells the era: a client whose question was not answered for a while shakes hands, too, and takes what it hears first. */
const openings: readonly unknown[] = ["server/discover", "initialize"];

class ChannelServing implements ChannelServer {
  readonly closed: Promise<void>;
  readonly #channel: Channel;
  readonly #parts: ServerParts;
  readonly #outbox: Outbox;
  readonly #modern: ModernServing | undefined;
  readonly #legacy: LegacyServing | undefined;
  readonly #auth: AuthInfo | undefined;
  readonly #most: number;
  readonly #drainTime: number;
  /** Requests that are not answered yet. */
  #work = new Map<RequestId, ChannelCall>();
  #taken = 0;
  /** Streams of changes that are open. */
  readonly #streams = new Set<Promise<unknown>>();
  readonly #host: CallHost = {
    send: (notification) => this.#send(notification),
    ended: ({ message: { id } }) => void this.#work.delete(id),
    failed: (method, error) => this.#log("error", "A request failed", { method, error }),
  };
  /** Sends what one message gets. */
  readonly #answered: Done = (response) => {
    if (response) this.#send(response);
    this.#settled();
  };
  /** Handlers that run, and replies that are not sent yet. */
  #running = 0;
  #owed = 0;
  #strays = 0;
  /** What came while one of `openings` is being answered: nothing may overtake that answer. */
  #waiting: string[] | undefined;
  #isEnding = false;
  #inputEnded = false;
  /** Called when nothing is owed any more. */
  #idle: () => void = () => {};
  #resolveClosed: () => void = () => {};

  constructor(methods: Methods, channel: Channel, options: ChannelServerOptions) {
    const { auth, maxRequests = defaultMaxRequests, drainTimeout = 0 } = options;
    this.#channel = channel;
    this.#auth = auth;
    this.#most = maxRequests;
    this.#drainTime = drainTimeout;
    const counted = countedMethods(methods, (by) => {
      this.#running += by;
    });
    const { parts, modern, legacy } = createServing({ methods: counted }, options);
    this.#parts = parts;
    this.#outbox = new Outbox(channel, this.#parts.limits.outboxBytes, (error) => this.#broken(error));
    this.#modern = options.modern?.(parts) ?? modern;
    this.#legacy = legacy?.({ send: (message) => this.#send(message) });
    this.closed = new Promise((resolve) => this.#resolveClosed = resolve);
    channel.open({
      text: (text) => this.#receive(text),
      end: (reason) => this.#inputEnd(reason),
    }).catch((error) => this.#broken(error));
  }

  close(): Promise<void> {
    // What is called off may ask for the end once more.
    if (!this.#isEnding) {
      this.#isEnding = true;
      void this.#finish();
    }
    return this.closed;
  }

  async #finish(): Promise<void> {
    this.#modern?.close();
    // Streams of changes end with a result, which still goes out.
    if (!this.#inputEnded && this.#streams.size > 0) await this.#within(Promise.allSettled(this.#streams));
    this.#legacy?.close();
    for (const call of [...this.#work.values()]) call.callOff();
    await this.#within(this.#outbox.flushed());
    this.#outbox.close();
    try {
      await this.#channel.close();
    } catch (error) {
      this.#log("warning", "A channel could not be closed", { error });
    }
    this.#resolveClosed();
  }

  /** Waits for something, but not for long. */
  async #within(work: Promise<unknown>): Promise<void> {
    let callOff = () => {};
    const enough = new Promise<void>((resolve) => callOff = this.#parts.clock.schedule(resolve, lastWords));
    await Promise.race([work, enough]);
    callOff();
  }

  #inputEnd(reason: Error | undefined): void {
    if (this.#inputEnded) return;
    if (reason) return this.#broken(reason);
    this.#inputEnded = true;
    if (this.#drainTime <= 0 || this.#owed === 0) return void this.close();
    const callOff = this.#parts.clock.schedule(() => void this.close(), this.#drainTime);
    this.#idle = () => {
      callOff();
      void this.close();
    };
  }

  #broken(error: unknown): void {
    if (this.#isEnding) return;
    this.#log("warning", "A channel has broken", { error });
    this.#inputEnded = true;
    this.#outbox.close();
    void this.close();
  }

  #receive(text: string): void {
    if (this.#isEnding || text.trim() === "") return;
    if (this.#waiting) return void this.#waiting.push(text);
    let value: unknown;
    try {
      value = parseJson(text, this.#parts.limits);
    } catch (error) {
      this.#stray();
      return this.#send(
        error instanceof LimitExceededError
          ? refusal(null, -32600, "The message nests too deep or holds too many values")
          : refusal(null, -32700, "Parse error: this is no JSON"),
      );
    }
    this.#owed++;
    if (Array.isArray(value)) this.#batch(value);
    else if (isObject(value) && openings.includes(value.method)) this.#opening(value);
    else this.#take(value, this.#answered);
  }

  /** Until it is answered, what comes waits; that is owed too, also when the other side has ended meanwhile. */
  #opening(value: unknown): void {
    this.#waiting = [];
    this.#take(value, (response) => {
      if (response) this.#send(response);
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const text of waiting) this.#receive(text);
      this.#settled();
    });
  }

  #settled(): void {
    if (--this.#owed === 0) this.#idle();
  }

  /** Batches were in 2025-03-26 only; their answers are one array (JSON-RPC 2.0, section 6). */
  #batch(items: readonly unknown[]): void {
    const allowed = this.#legacy?.open && this.#legacy.revision === "2025-03-26";
    if (!allowed || items.length === 0 || items.length > this.#most) {
      this.#stray();
      const words = allowed ? `A batch has 1 to ${this.#most} messages` : "There are no batches in this revision";
      return this.#answered(refusal(null, -32600, words));
    }
    const responses: (JsonRpcResponse | undefined)[] = [];
    let left = items.length;
    items.forEach((item, at) =>
      this.#take(item, (response) => {
        responses[at] = response;
        if (--left > 0) return;
        const texts = responses.filter((given) => given !== undefined).map((given) => this.#textOf(given));
        if (texts.length > 0) this.#outbox.push(`[${texts.join(",")}]`);
        this.#settled();
      })
    );
  }

  /** Takes one message; `done` is called once, with what is to be sent for it. */
  #take(value: unknown, done: Done): void {
    switch (classify(value)) {
      case "request":
        return this.#request(value as JsonRpcRequest, done);
      case "notification":
        this.#notification(value as JsonRpcNotification);
        return done(undefined);
      case "response":
        if (!this.#legacy?.answered(value as JsonRpcResponse)) this.#stray();
        return done(undefined);
      default:
        return done(this.#malformed(value));
    }
  }

  /** Something that wants an answer gets one; a broken answer fails the request of ours that it names. */
  #malformed(value: unknown): JsonRpcResponse | undefined {
    this.#stray();
    const { id, method, result, error }: Record<string, unknown> = isObject(value) ? value : {};
    const known = isRequestId(id) ? id : null;
    if (method === undefined && (result !== undefined || error !== undefined)) {
      if (known !== null) this.#legacy?.answered(refusal(known, -32603, "The answer is neither a result nor an error"));
      return undefined;
    }
    return refusal(known, -32600, "This is no JSON-RPC 2.0 request");
  }

  #notification(notification: JsonRpcNotification): void {
    const { method, params } = notification;
    const called = method === "notifications/cancelled" ? this.#work.get(params?.requestId as RequestId) : undefined;
    if (called?.isModern) called.callOff();
    else this.#legacy?.notified(notification);
  }

  #request(message: JsonRpcRequest, done: Done): void {
    const { id, method } = message;
    if (this.#work.has(id)) return done(refusal(id, -32600, "A request with this id is in work"));
    if (method !== "ping" && Math.max(this.#work.size, this.#running) >= this.#most) {
      return done(refusal(id, -32603, `Busy: ${this.#most} requests are in work`));
    }
    const modern = claimsModern(message) || !this.#legacy ? this.#modern : undefined;
    const call = new ChannelCall(this.#host, message, this.#auth, modern !== undefined, done);
    // V8 keeps what was in the tables that a map has had, once one of them is old. Another map, now and then, has none.
    if (!(++this.#taken % 1_000)) this.#work = new Map(this.#work);
    this.#work.set(id, call);
    const answering = (modern ?? this.#legacy as LegacyServing).answer(call);
    call.follow(answering);
    if (method !== "subscriptions/listen" || !isPromise(answering)) return;
    // Its result has gone out by then: without HTTP, where a stream is over is said in words too (S-052).
    const ended = answering.catch(() => undefined).then((answer) => {
      this.#streams.delete(ended);
      if (!answer?.response.result) return;
      this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    });
    this.#streams.add(ended);
  }

  #send(message: JsonRpcMessage): void {
    const text = this.#textOf(message);
    if (text !== "") this.#outbox.push(text);
  }

  /** The text of a message: an answer that cannot be sent becomes an error, anything else is dropped. */
  #textOf(message: JsonRpcMessage): string {
    const text = writeMessage(message, this.#parts);
    if (text !== undefined) return text;
    return "method" in message ? "" : JSON.stringify(refusal(message.id ?? null, -32603, "Internal error"));
  }

  /** Too much that means nothing ends it. */
  #stray(): void {
    const { strays } = this.#parts.limits;
    if (++this.#strays > strays) this.#broken(new LimitExceededError("limits.strays", strays, this.#strays));
  }

  #log(level: "warning" | "error", message: string, fields: Record<string, unknown>): void {
    this.#parts.logger?.({ level, message, fields });
  }
}

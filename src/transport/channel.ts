/**
 * One pipe that all requests share: stdio, WebSocket, memory, legacy HTTP+SSE. Answers are paired with requests by id.
 *
 * @module
 */
import { ConnectionClosedError, LimitExceededError, McpError, ProtocolViolationError } from "../protocol/errors.ts";
import { classify, isObject } from "../protocol/json_rpc.ts";
import type { JsonRpcMessage, JsonRpcRequest, RequestId } from "../protocol/json_rpc.ts";
import { parseJson } from "../protocol/json_scan.ts";
import { defaultLimits } from "../protocol/limits.ts";
import type { Limits } from "../protocol/limits.ts";
import { asMcpError, reasonText } from "./failure.ts";
import type { Cancel, Exchange, Transport } from "./transport.ts";

/** A pipe that carries whole messages. */
export interface Channel {
  /** What names the other side to people: a command, or a URL without its query. */
  readonly label: string;
  /**
   * Starts it. `receiver.text` gets one message's text at a time, `receiver.end` is called once when nothing more will come.
   *
   * @throws {McpError} When it cannot be started.
   */
  open(receiver: ChannelReceiver): Promise<void>;
  /**
   * Writes messages: JSON texts without newlines. A returned promise holds the next write back.
   *
   * @throws {McpError} When it cannot be written any more.
   */
  write(messages: readonly string[]): void | Promise<void>;
  /** Ends it; resolves when nothing of it is left. Idempotent. */
  close(): Promise<void>;
}

/** Who hears what comes over a channel. */
export interface ChannelReceiver {
  /** One message, unparsed. */
  text(message: string): void;
  /** Nothing more will come. */
  end(reason?: McpError): void;
}

/** What a channel transport has seen that belonged to nothing. */
export interface ChannelStats {
  /** Lines and messages that were no JSON-RPC. */
  noise: number;
  /** Answers to nothing in flight: late, doubled or made up. */
  strays: number;
}

/** Options of {@linkcode ChannelTransport}. */
export interface ChannelTransportOptions {
  /** `messageBytes`, `jsonDepth`, `jsonNodes`, `outboxBytes` and `strays` are used. */
  limits?: Partial<Limits> | undefined;
}

/**
 * A transport over any {@linkcode Channel}. It opens the channel with the first message, joins what is sent in one tick
 * into one write, and fails every exchange at once when the channel ends.
 *
 * Cancelling writes `notifications/cancelled` (specification: cancellation, Transport-Specific).
 */
export class ChannelTransport implements Transport {
  readonly kind = "channel";
  /** What belonged to nothing, counted since the start. */
  readonly stats: ChannelStats = { noise: 0, strays: 0 };
  /** Legacy 2025-03-26: arrays of messages are taken apart. */
  batches = false;
  readonly #make: () => Channel;
  readonly #limits: Limits;
  readonly #pending = new Map<RequestId, Exchange>();
  #channel: Channel;
  #unsolicited: Exchange | undefined;
  #outbox: string[] = [];
  #outboxSize = 0;
  #state: "new" | "opening" | "open" | "writing" | "ended" = "new";
  #flushPlanned = false;
  #reason: McpError | undefined;
  #generation = 0;
  #cancelled = 0;

  /**
   * @param make Makes the channel: called now, and again for each {@linkcode restart}.
   */
  constructor(make: () => Channel, options: ChannelTransportOptions = {}) {
    this.#make = make;
    this.#channel = make();
    this.#limits = { ...defaultLimits, ...options.limits };
  }

  /** What names the other side to people. */
  get label(): string {
    return this.#channel.label;
  }

  get ended(): boolean {
    return this.#state === "ended";
  }

  send(message: JsonRpcMessage, exchange?: Exchange): Cancel {
    if (this.#state === "ended") {
      exchange?.end(this.#ended("not-sent"));
      return ignore;
    }
    const text = JSON.stringify(message);
    const size = text.length + 1;
    if (this.#outboxSize + size > this.#limits.outboxBytes) {
      const seen = this.#outboxSize + size;
      exchange?.end(
        new LimitExceededError("limits.outboxBytes", this.#limits.outboxBytes, seen, { delivery: "not-sent" }),
      );
      return ignore;
    }
    const isRequest = "method" in message && "id" in message;
    if (isRequest && exchange) this.#pending.set(message.id, exchange);
    this.#push(text, size);
    if (!isRequest) {
      exchange?.end();
      return ignore;
    }
    return (reason) => this.#cancel(message, reason);
  }

  open(exchange: Exchange): Cancel {
    this.#unsolicited = exchange;
    if (this.#state === "ended") exchange.end(this.#ended("not-sent"));
    return () => {
      if (this.#unsolicited === exchange) this.#unsolicited = undefined;
    };
  }

  async restart(): Promise<void> {
    this.#finish(new ConnectionClosedError("The connection was restarted"));
    await this.#channel.close();
    this.#channel = this.#make();
    this.#state = "new";
    this.#reason = undefined;
    this.#cancelled = 0;
    this.stats.noise = this.stats.strays = 0;
  }

  async close(reason?: McpError): Promise<void> {
    this.#finish(reason ?? new ConnectionClosedError("The client closed the connection"));
    await this.#channel.close();
  }

  #push(text: string, size: number): void {
    this.#outbox.push(text);
    this.#outboxSize += size;
    if (this.#state === "new") void this.#start();
    else if (this.#state === "open" && !this.#flushPlanned) {
      this.#flushPlanned = true;
      queueMicrotask(() => this.#flush());
    }
  }

  async #start(): Promise<void> {
    this.#state = "opening";
    const generation = ++this.#generation;
    try {
      await this.#channel.open({
        text: (text) => {
          if (generation === this.#generation) this.#receive(text);
        },
        end: (reason) => {
          if (generation === this.#generation) this.#finish(reason ?? this.#closedByPeer());
        },
      });
    } catch (error) {
      if (generation === this.#generation) this.#finish(asMcpError(error));
      return;
    }
    if (generation !== this.#generation || this.#state !== "opening") return;
    this.#state = "open";
    this.#flush();
  }

  #flush(): void {
    this.#flushPlanned = false;
    if (this.#state !== "open" || this.#outbox.length === 0) return;
    const batch = this.#outbox;
    this.#outbox = [];
    let written: void | Promise<void>;
    try {
      written = this.#channel.write(batch);
    } catch (error) {
      return this.#finish(asMcpError(error));
    }
    if (written) void this.#writing(written, this.#generation);
    else this.#outboxSize = 0;
  }

  async #writing(written: Promise<void>, generation: number): Promise<void> {
    this.#state = "writing";
    try {
      await written;
    } catch (error) {
      if (generation === this.#generation) this.#finish(asMcpError(error));
      return;
    }
    if (generation !== this.#generation || this.#state !== "writing") return;
    this.#state = "open";
    this.#outboxSize = 0;
    for (const text of this.#outbox) this.#outboxSize += text.length + 1;
    this.#flush();
  }

  #cancel(message: JsonRpcRequest, reason: unknown): void {
    if (!this.#pending.delete(message.id) || this.#state === "ended") return;
    this.#cancelled++;
    if (message.method === "initialize") return;
    const params = { requestId: message.id, reason: reasonText(reason) };
    const text = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    this.#push(text, text.length + 1);
  }

  #receive(text: string): void {
    let value: unknown;
    try {
      value = parseJson(text, this.#limits);
    } catch (error) {
      if (error instanceof McpError) this.#finish(error);
      else this.#stray("noise");
      return;
    }
    if (Array.isArray(value) && this.batches) { for (const item of value) this.#dispatch(item); }
    else this.#dispatch(value);
  }

  #dispatch(value: unknown): void {
    const kind = classify(value);
    if (kind === undefined) return this.#badEnvelope(value);
    const message = value as JsonRpcMessage;
    if (kind === "response") {
      const { id } = message as { id?: RequestId | null };
      const exchange = id == null ? undefined : this.#pending.get(id);
      if (!exchange) return this.#stray("strays");
      this.#pending.delete(id as RequestId);
      void exchange.message(message);
    } else {
      void (this.#owner(message) ?? this.#unsolicited)?.message(message);
    }
  }

  /** An answer that breaks the rules still ends its own request when it names one in flight. */
  #badEnvelope(value: unknown): void {
    const id = isObject(value) && !("method" in value) ? value.id as RequestId : undefined;
    const exchange = id === undefined ? undefined : this.#pending.get(id);
    if (!exchange) return this.#stray("noise");
    this.#pending.delete(id as RequestId);
    exchange.end(new ProtocolViolationError("The answer is neither a result nor an error, or it is both"));
  }

  /** The request in flight that a notification names. */
  #owner(message: JsonRpcMessage): Exchange | undefined {
    const { method, params, id } = message as Partial<JsonRpcRequest>;
    if (!params || id !== undefined) return undefined;
    const subscription = isObject(params._meta) ? params._meta["io.modelcontextprotocol/subscriptionId"] : undefined;
    const owner = params.progressToken ?? subscription ??
      (method === "notifications/cancelled" ? params.requestId : undefined);
    return owner === undefined ? undefined : this.#pending.get(owner as RequestId);
  }

  #stray(kind: keyof ChannelStats): void {
    const count = ++this.stats[kind];
    const limit = this.#limits.strays + (kind === "strays" ? this.#cancelled : 0);
    if (count > limit) this.#finish(new LimitExceededError("limits.strays", this.#limits.strays, count));
  }

  #finish(reason: McpError): void {
    if (this.#state === "ended") return;
    const unsent = this.#state === "new" || this.#state === "opening";
    this.#state = "ended";
    this.#reason = reason;
    this.#generation++;
    this.#outbox = [];
    this.#outboxSize = 0;
    if (unsent) reason.delivery = "not-sent";
    const exchanges = [...this.#pending.values()];
    this.#pending.clear();
    for (const exchange of exchanges) exchange.end(reason);
    this.#unsolicited?.end(reason);
    void this.#channel.close().catch(() => {});
  }

  #ended(delivery: "not-sent"): McpError {
    const { message } = this.#reason ?? new ConnectionClosedError("The connection has ended");
    return new ConnectionClosedError(message, { cause: this.#reason, delivery });
  }

  #closedByPeer(): McpError {
    return new ConnectionClosedError(`"${this.label}" closed the connection`, { retryable: true });
  }
}

function ignore(): void {}

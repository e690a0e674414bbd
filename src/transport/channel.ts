/**
 * One pipe that all requests share: stdio, WebSocket, memory, legacy HTTP+SSE. Answers are paired with requests by id.
 *
 * @module
 */
import { ConnectionClosedError, LimitExceededError, McpError, ProtocolViolationError } from "../protocol/errors.ts";
import { classifyReceived, isObject } from "../protocol/json_rpc.ts";
import type { JsonRpcMessage, JsonRpcRequest, RequestId } from "../protocol/json_rpc.ts";
import { parseJson } from "../protocol/limits/json_scan.ts";
import { defaultLimits, fillIn } from "../protocol/limits.ts";
import { metaPrefix } from "../protocol/modern.ts";
import type { Authorizer } from "../ports.ts";
import type { Limits } from "../protocol/limits.ts";
import { asMcpError, reasonText, withoutSecrets } from "./failure.ts";
import type { Cancel, Exchange, Transport } from "./transport.ts";

/** A pipe that carries whole messages. */
export interface Channel {
  /** What names the other side to people: a command, or a URL without its query. */
  readonly label: string;
  /** The whole URL, where `connect` can use it again. May hold secrets. */
  readonly address?: string | undefined;
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
  /** Takes its own secrets out of the errors that come, in the place of `auth`. */
  redact?(text: string): string;
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
  /** `jsonDepth`, `jsonNodes`, `outboxBytes` and `strays` are used; `messageBytes` is the channel's own. */
  limits?: Partial<Limits> | undefined;
  /** Takes its secrets out of the errors that come. */
  auth?: Authorizer | undefined;
}

/**
 * A transport over any {@linkcode Channel}. It opens the channel with the first message, joins what is sent in one tick
 * into one write, and fails every exchange at once when the channel ends.
 *
 * Cancelling writes `notifications/cancelled` (specification: cancellation, Transport-Specific).
 */
export class ChannelTransport implements Transport {
  /** The family of the binding. */
  readonly kind = "channel";
  /** What belonged to nothing, counted since the start. */
  readonly stats: ChannelStats = { noise: 0, strays: 0 };
  /** Legacy 2025-03-26: arrays of messages are taken apart. */
  batches = false;
  readonly #make: () => Channel;
  readonly #limits: Limits;
  readonly #auth: Authorizer | undefined;
  #pending = new Map<RequestId, Exchange>();
  #channel: Channel;
  #unsolicited: Exchange | undefined;
  #outbox: string[] = [];
  /** Of what is in the outbox or being written. */
  #outboxSize = 0;
  /** How many waited for answers beside what was pushed last: that it could not be written says nothing of them. */
  #others: number | undefined;
  #opened: boolean | undefined;
  #writing: boolean | undefined;
  /** Why it has ended. */
  #reason: McpError | undefined;
  #cancelled = 0;
  #answers = 0;
  #closed: boolean | undefined;

  /**
   * Makes a transport over a channel.
   *
   * @param make Makes the channel: called now, and again for each {@linkcode restart}.
   */
  constructor(make: () => Channel, options: ChannelTransportOptions = {}) {
    this.#make = make;
    this.#channel = make();
    this.#limits = fillIn(defaultLimits, options.limits);
    this.#auth = options.auth;
  }

  /** What names the other side to people. */
  get label(): string {
    return this.#channel.label;
  }

  /** The whole URL of the other side, where it has one. May hold secrets. */
  get address(): string | undefined {
    return this.#channel.address;
  }

  /** True once it has broken or was closed: what has broken `restart` brings back. */
  get ended(): boolean {
    return !!this.#reason;
  }

  /** Sends one message; what comes back goes into the exchange. */
  send(message: JsonRpcMessage, exchange?: Exchange): Cancel {
    const isRequest = "method" in message && "id" in message;
    // It may end while it is opened.
    const refused = this.#refusal() ?? this.#push(message) ?? this.#refusal();
    if (refused || !isRequest) {
      exchange?.end(refused);
      return () => {};
    }
    if (exchange) this.#pending.set(message.id, exchange);
    const { id, method } = message;
    return (reason) => {
      if (!this.#pending.delete(id)) return;
      this.#cancelled++;
      if (method === "initialize") return;
      this.#push(
        {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: id, reason: reasonText(reason) },
        },
        Infinity,
      );
    };
  }

  /** Legacy: opens the stream that belongs to no request. */
  open(exchange: Exchange): Cancel {
    this.#unsolicited = exchange;
    const refused = this.#refusal();
    if (refused) exchange.end(refused);
    return () => {
      if (this.#unsolicited === exchange) this.#unsolicited = undefined;
    };
  }

  /** Gives the wire back to its first state, unless it was closed meanwhile: then nothing is started any more. */
  async restart(): Promise<void> {
    this.#finish(new ConnectionClosedError("The session is closed"));
    await this.#channel.close();
    if (this.#closed) return;
    this.#channel = this.#make();
    this.#reason = this.#opened = this.#writing = undefined;
    this.#cancelled = this.stats.noise = this.stats.strays = 0;
  }

  /** Ends it, and every exchange on it. Idempotent. */
  async close(reason?: McpError): Promise<void> {
    this.#closed = true;
    this.#finish(reason ?? new ConnectionClosedError("The client is closed"));
    await this.#channel.close();
  }

  /** Why nothing can be sent any more. */
  #refusal(): McpError | undefined {
    const cause = this.#reason;
    return cause && new ConnectionClosedError(cause.message, { cause, delivery: "not-sent" });
  }

  #push(message: JsonRpcMessage, limit = this.#limits.outboxBytes): McpError | undefined {
    const text = JSON.stringify(message);
    const size = this.#outboxSize + text.length + 1;
    if (size > limit) return new LimitExceededError("limits.outboxBytes", limit, size, { delivery: "not-sent" });
    this.#others = this.#pending.size;
    this.#outbox.push(text);
    this.#outboxSize = size;
    if (!this.#writing) void this.#write(this.#channel);
    return undefined;
  }

  /** Opens the channel where that is still to be done, and writes until nothing is left. */
  async #write(channel: Channel): Promise<void> {
    const current = (): boolean => channel === this.#channel && !this.#reason;
    this.#writing = true;
    try {
      await (this.#opened || channel.open({
        text: (text) => {
          if (current()) this.#receive(text);
        },
        end: (reason) => {
          if (!current()) return;
          this.#finish(
            reason ?? new ConnectionClosedError(`"${this.label}" closed the connection`, { retryable: true }),
          );
        },
      }));
      while (current() && this.#outbox.length) {
        const batch = this.#outbox;
        const size = this.#outboxSize;
        this.#opened = true;
        this.#outbox = [];
        await channel.write(batch);
        if (current()) this.#outboxSize -= size;
      }
      if (current()) this.#writing = false;
    } catch (error) {
      // A turn later: what throws at once was called by a message whose exchange is not known yet.
      await channel;
      if (current()) this.#finish(asMcpError(error));
    }
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
    for (const item of this.batches && Array.isArray(value) ? value : [value]) this.#dispatch(item);
  }

  #dispatch(value: unknown): void {
    const kind = classifyReceived(value);
    const message = value as Partial<JsonRpcRequest>;
    if (kind && kind !== "response") {
      return (this.#owner(message) ?? this.#unsolicited)?.message(message as JsonRpcMessage);
    }
    // An answer that breaks the rules still ends its own request when it names one in flight.
    const id = isObject(value) && !("method" in value) ? message.id : undefined;
    const exchange = this.#pending.get(id as RequestId);
    if (!exchange) return this.#stray(kind ? "strays" : "noise");
    this.#pending.delete(id as RequestId);
    // V8 keeps what was in the tables that a map has had, once one of them is old. Another map, now and then, has none.
    if (!(++this.#answers % 1_000)) this.#pending = new Map(this.#pending);
    const channel = this.#channel;
    const keeper = channel.redact ? channel as Required<Channel> : this.#auth;
    if (kind) exchange.message(withoutSecrets(message as JsonRpcMessage, keeper));
    else exchange.end(new ProtocolViolationError("The answer is not a result or an error"));
  }

  /** The request in flight that a notification names. */
  #owner({ method, params, id }: Partial<JsonRpcRequest>): Exchange | undefined {
    if (!params || id !== undefined) return undefined;
    const subscription = isObject(params._meta) ? params._meta[metaPrefix + "subscriptionId"] : undefined;
    const owner = params.progressToken ?? subscription ??
      (method === "notifications/cancelled" ? params.requestId : undefined);
    return this.#pending.get(owner as RequestId);
  }

  #stray(kind: keyof ChannelStats): void {
    const { strays } = this.#limits;
    const count = ++this.stats[kind];
    if (count > strays + (kind === "strays" ? this.#cancelled : 0)) {
      this.#finish(new LimitExceededError("limits.strays", strays, count));
    }
  }

  #finish(reason: McpError): void {
    if (this.#reason) return;
    if (this.#others) reason.delivery = "unknown";
    if (!this.#opened) reason.delivery = "not-sent";
    this.#reason = reason;
    this.#outbox = [];
    this.#outboxSize = 0;
    const pending = this.#pending;
    this.#pending = new Map();
    for (const exchange of pending.values()) exchange.end(reason);
    this.#unsolicited?.end(reason);
    void this.#channel.close().catch(() => {});
  }
}

/**
 * A transport that tells what goes over it.
 *
 * @module
 */
import type { JsonRpcMessage } from "../../protocol/json_rpc.ts";
import type { Cancel, Exchange, SendOptions, Transport } from "../../transport/transport.ts";
import type { McpError } from "../../protocol/errors.ts";

/** One message on its way. */
export interface WireLine {
  /** Milliseconds since the wire was first used. */
  readonly at: number;
  readonly to: "server" | "client";
  readonly message: JsonRpcMessage;
  /** Its name, where there are several. */
  readonly server?: string | undefined;
}

/** Hears of each message, in the order in which they pass. */
export type HearWire = (line: WireLine) => void;

/** The same transport, which tells of each message. */
export function tapTransport(inner: Transport, hear: HearWire): Transport {
  const begin = performance.now();
  return new Tap(inner, (to, message) => hear({ at: Math.round(performance.now() - begin), to, message }));
}

class Tap implements Transport {
  readonly kind: "http" | "channel";
  readonly #inner: Transport;
  readonly #tell: (to: WireLine["to"], message: JsonRpcMessage) => void;

  constructor(inner: Transport, tell: (to: WireLine["to"], message: JsonRpcMessage) => void) {
    this.kind = inner.kind;
    this.#inner = inner;
    this.#tell = tell;
  }

  get label(): string {
    return this.#inner.label;
  }

  get address(): string | undefined {
    return this.#inner.address;
  }

  get ended(): boolean | undefined {
    return this.#inner.ended;
  }

  get batches(): boolean {
    return this.#inner.batches ?? false;
  }

  set batches(value: boolean) {
    this.#inner.batches = value;
  }

  set legacy(options: SendOptions) {
    this.#inner.legacy = options;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  set sessionId(value: string | undefined) {
    this.#inner.sessionId = value;
  }

  send(message: JsonRpcMessage, exchange?: Exchange, options?: SendOptions): Cancel {
    this.#tell("server", message);
    const cancel = this.#inner.send(message, exchange && this.#heard(exchange), options);
    if (!("id" in message && "method" in message)) return cancel;
    return (reason) => {
      cancel(reason);
      // A modern server over HTTP hears of it by the end of its request; all others are written to.
      if ((this.kind === "channel" || options?.legacy) && message.method !== "initialize") {
        const params = { requestId: message.id };
        this.#tell("server", { jsonrpc: "2.0", method: "notifications/cancelled", params });
      }
    };
  }

  open(exchange: Exchange, options?: SendOptions): Cancel {
    return this.#inner.open?.(this.#heard(exchange), options) ?? (() => {});
  }

  restart(): Promise<void> {
    return this.#inner.restart?.() ?? Promise.resolve();
  }

  close(reason?: McpError): Promise<void> {
    return this.#inner.close(reason);
  }

  #heard(exchange: Exchange): Exchange {
    return {
      message: (message) => {
        this.#tell("client", message);
        exchange.message(message);
      },
      begin: () => exchange.begin?.(),
      end: (reason) => exchange.end(reason),
    };
  }
}

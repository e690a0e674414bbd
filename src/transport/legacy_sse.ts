/**
 * HTTP+SSE of 2024-11-05: a GET stream whose first event names where to POST (specification 2024-11-05: transports).
 * Deprecated since 2025-03-26; delete this file to be rid of it.
 *
 * @module
 */
import { discard, eachChunk } from "../egress/body.ts";
import { egressFetch } from "../egress/fetch.ts";
import { readUrl } from "../egress/url.ts";
import { urlWithoutQuery } from "../egress/redact.ts";
import {
  ConnectionClosedError,
  type McpError,
  ProtocolViolationError,
  RedirectRefusedError,
  UnauthorizedError,
} from "../protocol/errors.ts";
import { defaultLimits } from "../protocol/limits.ts";
import { systemClock } from "../ports.ts";
import type { Clock } from "../ports.ts";
import { asMcpError, statusError } from "./failure.ts";
import type { Channel, ChannelReceiver } from "./channel.ts";
import { outlet } from "./http.ts";
import type { HttpTransportOptions } from "./http.ts";
import { eventStream, type HttpContext, isOf } from "./http_reply.ts";
import { SseParser } from "./sse.ts";
import { startInTime } from "./start.ts";

/**
 * A channel over the old two-endpoint binding.
 *
 * @param url The address of the SSE stream.
 * @deprecated The binding is deprecated; it is here for servers that know nothing else.
 */
export function createLegacySseChannel(url: string | URL, options: HttpTransportOptions = {}): Channel {
  return new LegacySseChannel(String(url), options);
}

class LegacySseChannel implements Channel {
  declare readonly label: string;
  declare readonly address: string;
  readonly #options: HttpTransportOptions;
  readonly #clock: Clock;
  readonly #outlet: Pick<HttpContext, "fetch" | "headers" | "redact">;
  readonly #controller = new AbortController();
  readonly #signal = this.#controller.signal;
  #endpoint = "";
  /** The message that went out last. */
  #last: Promise<void> | undefined;

  constructor(url: string, options: HttpTransportOptions) {
    this.label = urlWithoutQuery(this.address = url);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#outlet = outlet(url, options);
  }

  open(receiver: ChannelReceiver): Promise<void> {
    return startInTime(this.#controller, this.#clock, this.#options.timeouts, async (signal) => {
      const response = await this.#send(this.address, { accept: eventStream });
      if (!isOf(response, eventStream)) {
        discard(response);
        throw new ProtocolViolationError(`Cannot connect to "${this.label}": expected events`);
      }
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        void this.#read(response, receiver, resolve).then((ended) => {
          // Who called it off knows why.
          const reason = signal.aborted ? signal.reason : ended;
          reject(reason);
          receiver.end(reason);
        });
      });
    });
  }

  /** Posts one after the other. Where a head is held back for longer than a second, the next one does not wait for it. */
  async write(messages: readonly string[]): Promise<void> {
    for (const body of messages) {
      let stop: (() => void) | undefined;
      const posted = this.#last = this.#send(this.#endpoint, { "content-type": "application/json" }, body).then(
        discard,
      );
      posted.catch((error) => {
        // What went out behind it may have run.
        if (posted !== this.#last) error.delivery = "unknown";
        this.#controller.abort(error);
      });
      await Promise.race([posted, new Promise<void>((resolve) => stop = this.#clock.schedule(resolve, 1_000))]).finally(
        stop,
      );
    }
  }

  close(): Promise<void> {
    this.#controller.abort();
    return Promise.resolve();
  }

  /** Sends a request and gives its reply; a status that is no success is thrown. */
  async #send(target: string, own: Record<string, string>, body?: string): Promise<Response> {
    const { headers, redact } = this.#outlet;
    const response = await egressFetch(
      this.#outlet.fetch,
      target,
      { body: body as string, headers: { ...headers, ...own }, method: body ? "POST" : "GET", signal: this.#signal },
      redact,
    );
    if (response.ok) return response;
    const error = await statusError(response, { label: this.label, clock: this.#clock, redact });
    // It ends the channel, and with it what was sent before.
    if (!(error instanceof UnauthorizedError)) error.delivery = "unknown";
    throw error;
  }

  /** Reads to the end and gives the reason for it. Never rejects. */
  async #read(response: Response, receiver: ChannelReceiver, ready: () => void): Promise<McpError> {
    const limit = this.#options.limits?.messageBytes ?? defaultLimits.messageBytes;
    const parser = new SseParser(limit, (data, event) => {
      if (event === "endpoint") {
        this.#endpoint ||= this.#checked(data);
        ready();
      } else if (event === "message") receiver.text(data);
    });
    try {
      await eachChunk(
        response,
        false,
        (chunk) => parser.push(chunk),
        (cancel) => this.#signal.addEventListener("abort", cancel),
      );
      return new ConnectionClosedError(`"${this.label}" ended the stream`, { retryable: true });
    } catch (error) {
      return asMcpError(error);
    }
  }

  /** The POST address has to be of the same origin: it gets the messages and the credentials. */
  #checked(data: string): string {
    const target = readUrl(data, this.address);
    if (target?.origin === new URL(this.address).origin) return target.href;
    throw new RedirectRefusedError(
      `Cannot post to "${this.#outlet.redact(urlWithoutQuery(data))}": expected the origin of "${this.label}"`,
    );
  }
}

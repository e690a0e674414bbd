/**
 * HTTP+SSE of 2024-11-05: a GET stream whose first event names where to POST (specification 2024-11-05: transports).
 * Deprecated since 2025-03-26; delete this file to be rid of it.
 *
 * @module
 */
import { discard, excerpt, readErrorText } from "../egress/body.ts";
import { egressFetch } from "../egress/fetch.ts";
import { urlWithoutQuery } from "../egress/redact.ts";
import {
  ConnectionClosedError,
  HttpStatusError,
  type McpError,
  ProtocolViolationError,
  RedirectRefusedError,
  TimeoutError,
  UnauthorizedError,
} from "../protocol/errors.ts";
import { defaultLimits, defaultTimeouts } from "../protocol/limits.ts";
import { systemClock } from "../ports.ts";
import type { Fetch } from "../ports.ts";
import { asMcpError } from "./failure.ts";
import type { Channel, ChannelReceiver } from "./channel.ts";
import type { HttpTransportOptions } from "./http.ts";
import { SseParser } from "./sse.ts";

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
  readonly label: string;
  readonly #url: string;
  readonly #options: HttpTransportOptions;
  readonly #fetch: Fetch;
  readonly #controller = new AbortController();
  #endpoint: string | undefined;

  constructor(url: string, options: HttpTransportOptions) {
    this.#url = url;
    this.label = urlWithoutQuery(url);
    this.#options = options;
    const { fetch = globalThis.fetch } = options;
    this.#fetch = (target, init) => fetch(target, init);
  }

  async open(receiver: ChannelReceiver): Promise<void> {
    const { signal } = this.#controller;
    const milliseconds = this.#options.timeouts?.start ?? defaultTimeouts.start;
    const late = new TimeoutError("start", milliseconds, { delivery: "not-sent" });
    const stop = (this.#options.clock ?? systemClock).schedule(() => this.#controller.abort(late), milliseconds);
    try {
      const headers = { ...this.#options.headers, Accept: "text/event-stream" };
      const response = await egressFetch(this.#fetch, this.#url, { method: "GET", headers, signal });
      if (!response.ok) throw await this.#refused(response);
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        discard(response);
        throw new ProtocolViolationError(`Cannot listen to "${this.label}": expected an event stream`);
      }
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        void this.#read(response, receiver, resolve).then((reason) => {
          reject(reason);
          receiver.end(reason);
        });
      });
    } catch (error) {
      this.#controller.abort();
      throw error === late ? late : asMcpError(error);
    } finally {
      stop();
    }
  }

  async write(messages: readonly string[]): Promise<void> {
    for (const body of messages) {
      const headers = { ...this.#options.headers, "Content-Type": "application/json" };
      const init = { method: "POST", headers, body, signal: this.#controller.signal };
      const response = await egressFetch(this.#fetch, this.#endpoint as string, init);
      if (!response.ok) throw await this.#refused(response);
      discard(response);
    }
  }

  close(): Promise<void> {
    this.#controller.abort();
    return Promise.resolve();
  }

  /** Reads to the end and gives the reason for it. Never rejects. */
  async #read(response: Response, receiver: ChannelReceiver, ready: () => void): Promise<McpError> {
    const limit = this.#options.limits?.messageBytes ?? defaultLimits.messageBytes;
    const parser = new SseParser(limit, (data, event) => {
      if (event === "endpoint") {
        this.#endpoint ??= this.#checked(data);
        ready();
      } else if (!event || event === "message") receiver.text(data);
    });
    const reader = response.body?.getReader();
    const stop = (): void => void reader?.cancel().catch(() => {});
    this.#controller.signal.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader?.read() ?? { done: true };
        if (done || !value) return new ConnectionClosedError(`"${this.label}" ended the stream`, { retryable: true });
        parser.push(value);
      }
    } catch (error) {
      stop();
      return asMcpError(error);
    }
  }

  /** The POST address has to be of the same origin: it gets the messages and the credentials. */
  #checked(data: string): string {
    const target = URL.canParse(data, this.#url) ? new URL(data, this.#url) : undefined;
    if (target?.origin === new URL(this.#url).origin) return target.href;
    throw new RedirectRefusedError(
      `Cannot post to "${urlWithoutQuery(data)}", which "${this.label}" named: expected the same origin`,
    );
  }

  async #refused(response: Response): Promise<McpError> {
    const { status, headers } = response;
    const text = (this.#options.redact ?? String)(await readErrorText(response, this.#options.clock ?? systemClock));
    if (status === 401 || status === 403) {
      const challenge = headers.get("www-authenticate") ?? "";
      return new UnauthorizedError(`"${this.label}" asks for authorization`, { status, challenge });
    }
    return new HttpStatusError(`"${this.label}" answered ${status}`, {
      status,
      body: excerpt(text),
      retryable: status === 429 || status >= 500,
    });
  }
}

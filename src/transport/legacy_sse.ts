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
  const address = String(url);
  const label = urlWithoutQuery(address);
  const { fetch = globalThis.fetch, clock = systemClock, redact = String } = options;
  const controller = new AbortController();
  const { signal } = controller;
  let endpoint = "";

  return {
    label,
    async open(receiver) {
      const milliseconds = options.timeouts?.start ?? defaultTimeouts.start;
      const late = new TimeoutError("start", milliseconds, { delivery: "not-sent" });
      const stop = clock.schedule(() => controller.abort(late), milliseconds);
      try {
        const response = await send(address, { method: "GET", headers: { Accept: "text/event-stream" } });
        if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
          discard(response);
          throw new ProtocolViolationError(`Cannot listen to "${label}": expected an event stream`);
        }
        await new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          void read(response, receiver, resolve).then((reason) => {
            reject(reason);
            receiver.end(reason);
          });
        });
      } catch (error) {
        controller.abort();
        throw error === late ? late : asMcpError(error);
      } finally {
        stop();
      }
    },
    async write(messages) {
      for (const body of messages) {
        discard(await send(endpoint, { method: "POST", headers: { "Content-Type": "application/json" }, body }));
      }
    },
    close() {
      controller.abort();
      return Promise.resolve();
    },
  };

  async function send(target: string, init: RequestInit): Promise<Response> {
    const headers = { ...options.headers, ...init.headers as Record<string, string> };
    const response = await egressFetch((target, init) => fetch(target, init), target, { ...init, headers, signal });
    if (response.ok) return response;
    const { status } = response;
    const body = excerpt(redact(await readErrorText(response, clock)));
    const message = `"${label}" answered ${status}`;
    if (status === 401 || status === 403) {
      throw new UnauthorizedError(message, { status, challenge: response.headers.get("www-authenticate") ?? "" });
    }
    throw new HttpStatusError(message, { status, body, retryable: status === 429 || status > 499 });
  }

  /** Reads to the end and gives the reason for it. Never rejects. */
  async function read(response: Response, receiver: ChannelReceiver, ready: () => void): Promise<McpError> {
    const parser = new SseParser(options.limits?.messageBytes ?? defaultLimits.messageBytes, (data, event) => {
      if (event === "endpoint") {
        endpoint ||= checked(data);
        ready();
      } else if (event === "message") receiver.text(data);
    });
    const reader = response.body?.getReader();
    const stop = (): void => void reader?.cancel().catch(() => {});
    signal.addEventListener("abort", stop);
    try {
      for (;;) {
        const { value } = await reader?.read() ?? {};
        if (!value) return new ConnectionClosedError(`"${label}" ended the stream`, { retryable: true });
        parser.push(value);
      }
    } catch (error) {
      stop();
      return asMcpError(error);
    }
  }

  /** The POST address has to be of the same origin: it gets the messages and the credentials. */
  function checked(data: string): string {
    const target = URL.canParse(data, address) ? new URL(data, address) : undefined;
    if (target?.origin === new URL(address).origin) return target.href;
    throw new RedirectRefusedError(
      `Cannot post to "${urlWithoutQuery(data)}", which "${label}" named: expected the same origin`,
    );
  }
}

/**
 * A server of 2024-11-05 over HTTP+SSE: one GET stream that begins with `endpoint`, and a second address to POST to.
 *
 * @module
 */
import { createCore } from "./core/core.ts";
import type { LedgerView } from "./core/ledger.ts";
import { createLegacySession, type LegacySession, type LegacySessionOptions } from "./core/legacy_session.ts";
import { createSseStream, sseResponse, type SseStream } from "./core/sse.ts";
import { isJsonObject, type ServerChange } from "./core/wire.ts";

/** What an HTTP+SSE server lets one choose. */
export interface Sse2024Options extends LegacySessionOptions {
  /** How the address to POST to is named: by path, whole, or (hostile) at another origin (`relative`). */
  endpoint?: "relative" | "absolute" | "foreign";
  /** The status for a POST to the stream's own address (405). */
  postStatus?: number;
}

/** An HTTP+SSE server, and what a test may see of it and do to it. */
export interface Sse2024Server extends LedgerView {
  /** Any path with a `sessionId` in its query is the address to POST to; all else is the stream. */
  fetch(request: Request): Promise<Response>;
  /** How many streams are open. */
  streams(): number;
  /** Ends all streams, and their sessions with them. */
  dropStreams(): void;
  emit(change: ServerChange): void;
  release(): number;
}

interface Line {
  readonly session: LegacySession;
  readonly stream: SseStream;
}

/** Makes an HTTP+SSE server. */
export function createSse2024Server(options: Sse2024Options = {}): Sse2024Server {
  const core = createCore(options);
  const { ledger } = core;
  const lines = new Map<string, Line>();
  const leave = (id: string) => {
    lines.get(id)?.session.close();
    lines.delete(id);
  };
  const connect = (request: Request) => {
    const id = crypto.randomUUID();
    const stream = createSseStream(() => leave(id));
    const send = (message: unknown) => stream.send({ event: "message", data: JSON.stringify(message) });
    const session = createLegacySession(core, send, { revision: "2024-11-05", ...options });
    lines.set(id, { session, stream });
    stream.send({ event: "endpoint", data: endpointOf(request.url, id, options.endpoint ?? "relative") });
    return sseResponse(stream);
  };
  return {
    ...ledger.view(),
    streams: () => lines.size,
    emit: (change) => lines.forEach(({ session }) => session.emit(change)),
    release: () => core.release(),
    dropStreams() {
      for (const [id, { stream }] of lines) {
        stream.close();
        leave(id);
      }
    },
    async fetch(request) {
      const text = request.method === "POST" ? await request.text() : "";
      const body = parse(text);
      ledger.http(request, isJsonObject(body) ? body : undefined);
      const id = new URL(request.url).searchParams.get("sessionId");
      if (request.method === "GET" && id === null) return connect(request);
      if (request.method !== "POST" || id === null) return new Response("", { status: options.postStatus ?? 405 });
      const line = lines.get(id);
      if (line === undefined) return new Response("Session not found", { status: 404 });
      if (!isJsonObject(body)) return new Response("Invalid message", { status: 400 });
      const send = (message: unknown) => line.stream.send({ event: "message", data: JSON.stringify(message) });
      void line.session.receive(body, { send, closeStream: () => {} }).then((response) => {
        if (response !== undefined) send(response);
      });
      return new Response("Accepted", { status: 202 });
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function endpointOf(url: string, id: string, form: "relative" | "absolute" | "foreign"): string {
  const path = `${new URL(url).pathname.replace(/\/[^/]*$/, "")}/messages?sessionId=${id}`;
  if (form === "relative") return path;
  return form === "absolute" ? new URL(path, url).href : `https://other.invalid${path}`;
}

/**
 * A server of 2024-11-05 over HTTP+SSE that is healthy but for one thing: on its event stream, or in the replies to POSTs.
 *
 * @module
 */
import { formatEvent } from "../../servers/core/sse.ts";
import { isId, isJsonObject, type JsonObject, type RequestId } from "../../servers/core/wire.ts";
import { createSse2024Server, type Sse2024Server } from "../../servers/sse_2024.ts";
import { isPipeMessage, type PipeContext, type PipeFault, type PipeMessage, pipeMessages } from "./pipe_faults.ts";

/** Faults of this binding alone. */
export type SseFault =
  | "post-never"
  | "post-500"
  | "post-404"
  | "post-401"
  | "post-429"
  | "post-moved"
  | "post-breaks"
  | "get-never"
  | "get-404"
  | "get-html"
  | "get-breaks"
  | "endpoint-never"
  | "endpoint-foreign"
  | "endpoint-garbage"
  | "truncated-event"
  | "endless-line";

/** A hostile server, and what a test may see of it. */
export interface HostileSse {
  fetch(request: Request): Promise<Response>;
  readonly healthy: Sse2024Server;
  hits(): number;
  /** Answers of the client to what the fault asked in the server's name. */
  answers(): number;
}

interface State {
  readonly fault: PipeFault | SseFault;
  readonly times: number;
  readonly on: string;
  readonly healthy: Sse2024Server;
  readonly spoilt: Map<RequestId, PipeContext>;
  hits: number;
  answers: number;
}

/** Makes one. A fault of the GET spoils the first streams; the others spoil calls. */
export function createHostileSse(
  fault: PipeFault | SseFault,
  options: { times: number; on: string },
): HostileSse {
  const healthy = createSse2024Server(fault === "endpoint-foreign" ? { endpoint: "foreign" } : {});
  const state: State = { ...options, fault, healthy, spoilt: new Map(), hits: 0, answers: 0 };
  return {
    healthy,
    hits: () => state.hits,
    answers: () => state.answers,
    async fetch(request) {
      const stream = request.method === "GET";
      const text = stream ? "" : await request.clone().text();
      if (stream && /^(get|endpoint)-/.test(fault) && state.hits < state.times) return await spoiltGet(request, state);
      if (stream) return await spoiltStream(await healthy.fetch(request), state);
      return await post(request, objectOf(text), state);
    },
  };
}

async function post(request: Request, message: JsonObject, state: State): Promise<Response> {
  const { fault, healthy } = state;
  if (message.id === "asked" && message.method === undefined) {
    state.answers++;
    return new Response("Accepted", { status: 202 });
  }
  if (message.method !== state.on || state.hits >= state.times || !isId(message.id)) {
    return await healthy.fetch(request);
  }
  state.hits++;
  switch (fault) {
    case "post-never":
      return await untilAborted(request);
    case "post-500":
      return new Response("secret-token-in-an-error", { status: 500 });
    case "post-404":
      return new Response("Session not found", { status: 404 });
    case "post-401":
      return new Response("", { status: 401 });
    case "post-429":
      return new Response("later", { status: 429, headers: { "retry-after": "1" } });
    case "post-moved":
      return new Response("", { status: 307, headers: { location: "http://other.invalid/messages" } });
    case "post-breaks":
      throw new TypeError("fetch failed");
    case "ends-before":
      healthy.dropStreams();
      return new Response("Accepted", { status: 202 });
    default:
      state.spoilt.set(message.id, { request: message, id: message.id, attempt: state.hits });
      return await healthy.fetch(request);
  }
}

async function spoiltGet(request: Request, state: State): Promise<Response> {
  state.hits++;
  const stream = { headers: { "content-type": "text/event-stream" } };
  switch (state.fault) {
    case "get-never":
      return await untilAborted(request);
    case "get-404":
      return new Response("Not Found", { status: 404 });
    case "get-html":
      return new Response("<p>Please log in", { headers: { "content-type": "text/html" } });
    case "get-breaks":
      throw new TypeError("fetch failed");
    case "endpoint-never":
      return new Response(new ReadableStream<Uint8Array>({ start() {} }), stream);
    case "endpoint-garbage":
      return new Response("event: endpoint\ndata: http://[\n\n", stream);
    default:
      return await state.healthy.fetch(request);
  }
}

/** Passes the events on, one by one; answers to spoilt calls are replaced. */
function spoiltStream(response: Response, state: State): Response {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await reader?.read();
      if (next === undefined || next.done) return controller.close();
      const text = decoder.decode(next.value); // the fake peer writes one event at a time
      const replaced = replace(text, state);
      if (replaced === undefined) {
        state.healthy.dropStreams();
        return controller.close();
      }
      controller.enqueue(encoder.encode(replaced));
      if (state.fault !== "truncated-event" || replaced === text) return;
      state.healthy.dropStreams();
      controller.close();
    },
    cancel: (reason) => reader?.cancel(reason),
  }, { highWaterMark: 0 });
  return new Response(body, { headers: response.headers });
}

/** The text in the place of an event; undefined when the stream ends there. */
function replace(text: string, state: State): string | undefined {
  const answer = objectOf(/^data: (.*)$/m.exec(text)?.[1] ?? "");
  const context = isId(answer.id) && answer.method === undefined ? state.spoilt.get(answer.id) : undefined;
  if (context === undefined) return text;
  state.spoilt.delete(context.id);
  const { fault } = state;
  if (fault === "truncated-event") return text.slice(0, -5);
  if (fault === "endless-line") return `data: ${"x".repeat(2 ** 21)}`;
  if (fault === "ends-after" || !isPipe(fault)) return undefined;
  const items = pipeMessages[fault](answer, context);
  return items.map((item) => formatEvent({ data: typeof item === "string" ? item : JSON.stringify(item) })).join("");
}

function isPipe(fault: PipeFault | SseFault): fault is PipeMessage {
  return isPipeMessage(fault as PipeFault); // by name: the other union shares none of them
}

function untilAborted(request: Request): Promise<Response> {
  return new Promise((_resolve, reject) => {
    request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
  });
}

function objectOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

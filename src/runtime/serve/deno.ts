/**
 * HTTP and WebSockets served by `Deno.serve`.
 *
 * @module
 */
import type { WebSocketLike } from "../../ports.ts";
import { subprotocol, wantsSocket } from "../../protocol/web_socket.ts";
import { ownReply } from "./answer.ts";
import { type ListenHttp, socketSilence } from "./listen.ts";

declare const Deno: {
  serve(
    options: { hostname: string; port: number; signal: AbortSignal; onListen(): void; onError(): Response },
    answer: (request: Request, info: { readonly completed: Promise<void> }) => Promise<Response>,
  ): { readonly addr: { hostname: string; port: number }; readonly finished: Promise<void> };
  upgradeWebSocket(
    request: Request,
    options: { idleTimeout: number; protocol?: string },
  ): { socket: WebSocketLike; response: Response };
};

/** Silence before a WebSocket is given up, in seconds: the other side is asked at half of it. */
const idleTimeout = 2 * socketSilence;
/** How long the system is given to take what was answered at last, in milliseconds. */
const flushTime = 20;

/**
 * Makes a WebSocket of a request on Deno.
 *
 * @param accept Takes the socket, which is about to open.
 * @throws {TypeError} When the handshake is malformed.
 */
export function upgradeDeno(request: Request, accept: (socket: WebSocketLike) => unknown): Response {
  const asked = request.headers.get("sec-websocket-protocol")?.split(", ").includes(subprotocol);
  const options = asked ? { idleTimeout, protocol: subprotocol } : { idleTimeout };
  const { socket, response } = Deno.upgradeWebSocket(request, options);
  // As an option Deno finds it only in a list with a space behind each comma; until 2.5.0 nothing can be added to its reply.
  if (!asked) response.headers.set("sec-websocket-protocol", subprotocol);
  accept(socket);
  return response;
}

/** Serves by `Deno.serve`. */
export const listenDeno: ListenHttp = ({ answer, admit }, at) => {
  async function upgrade(request: Request): Promise<Response> {
    const admitted = await admit!(request);
    if (typeof admitted !== "function") return checked(admitted);
    try {
      return upgradeDeno(request, admitted);
    } catch {
      return new Response(null, { status: 400 });
    }
  }
  const controller = new AbortController();
  const replies = new Set<Promise<unknown>>();
  const options = {
    ...at,
    signal: controller.signal,
    onListen: () => {},
    onError: () => new Response(null, { status: 500 }),
  };
  let closing = false;
  const server = Deno.serve(options, (request, { completed }) => {
    if (closing) return Promise.resolve(new Response(null, { status: 503, headers: { connection: "close" } }));
    if (admit && wantsSocket(request)) return upgrade(request);
    const done = completed.catch(() => {}).finally(() => replies.delete(done));
    replies.add(done);
    return answer(request).then(checked);
  });
  return Promise.resolve({
    ...server.addr,
    close: async (grace) => {
      closing = true;
      // `shutdown()` cannot be cut short: Deno breaks when the signal is aborted during it.
      const start = performance.now();
      await within(grace, Promise.all(replies));
      // A reply counts as complete before the system has taken its last bytes, and an abort would lose them.
      const left = Math.max(0, grace - (performance.now() - start));
      await new Promise((resolve) => setTimeout(resolve, Math.min(flushTime, left)));
      controller.abort();
      await server.finished;
    },
  });
};

/** Deno ends the whole process for a control character in the value of a header, which `Headers` takes. */
function checked(response: Response): Response {
  for (const [, value] of response.headers) {
    if (/[^\t -~\x80-\xff]/.test(value)) return new Response(null, { status: 500 });
  }
  return ownReply(response);
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer;
  const enough = new Promise<void>((resolve) => timer = setTimeout(resolve, milliseconds));
  await Promise.race([work, enough]);
  clearTimeout(timer);
}
